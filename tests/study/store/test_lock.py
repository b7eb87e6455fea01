"""One writer at a time: who holds a study, and what is told to the others."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from ampler.core.errors import StoreBusy
from ampler.study.store import open_store
from ampler.testing import contract_plan


def test_a_second_writer_is_refused_and_told_who_holds_the_study(study, elsewhere):
    with open_store(study):
        with pytest.raises(StoreBusy, match=r"already open .* in this process"):
            open_store(study)
        answer = elsewhere(f"open_store({str(study)!r})")
        assert answer.returncode == 1
        assert f"StoreBusy: study.db is being run by process {os.getpid()} on " in answer.stderr
    with open_store(study):
        pass
    assert elsewhere(f"open_store({str(study)!r}).close()").returncode == 0


def test_a_refused_writer_does_not_loosen_the_lock_of_the_first(study, elsewhere, runs):
    with open_store(study) as store:
        for _ in range(3):
            with pytest.raises(StoreBusy):
                open_store(study.parent / "." / study.name)
            assert "StoreBusy" in elsewhere(f"open_store({str(study)!r})").stderr
        store.begin(contract_plan(), {})
        store.add(runs(3))
    assert not study.with_name("study.db.lock").exists()


def test_the_lock_is_not_inherited_by_forked_workers(study, elsewhere):
    """A worker that outlives a killed driver must not keep the study locked."""
    code = f"""
        store = open_store({str(study)!r})
        store.begin(contract_plan(), {{}})
        child = os.fork()
        if child == 0:
            os.close(1); os.close(2)
            store.close()
            time.sleep(60)
        print(child, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    worker = int(elsewhere(code).stdout)
    try:
        with open_store(study) as store:
            assert len(store.plans()) == 1
    finally:
        os.kill(worker, signal.SIGKILL)


def test_threads_of_one_process_do_not_write_one_study_together(study):
    with ThreadPoolExecutor(8) as threads:
        opened = list(threads.map(lambda _: opened_or_busy(study), range(8)))
    stores = [store for store in opened if store is not None]
    assert len(stores) == 1
    stores[0].close()


def opened_or_busy(path):
    try:
        return open_store(path)
    except StoreBusy:
        return None
