"""Progress on stderr; how it looks in a terminal is tested with `ampler run`."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from ampler.app.cli.output import note
from ampler.running import Progress
from ampler.running.progress import ProgressBar, share_done, under_way

SOME = Progress(40, 12, runs=8419, new=300, failures=3, seconds=75, rate=4.25, error=0.0621, target=0.05, left=200)


def test_without_a_terminal_progress_is_a_line_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr("ampler.running.progress.LINE_INTERVAL", 0.05)
    with ProgressBar(note) as bar:
        for _ in range(3):
            bar(SOME)
        time.sleep(0.06)
        bar(SOME)
        bar(SOME)

    assert capsys.readouterr().err == under_way(SOME) + "\n"


@pytest.mark.parametrize(
    ("progress", "share"),
    [
        (replace(SOME, runs=300), 75 / 275),  # all runs are of this session: the times tell
        (SOME, 12 / 40),  # earlier sessions made most of them
        (replace(SOME, left=None), 12 / 40),
        (replace(SOME, finished=40, left=None), 1.0),
        (Progress(0, 0), 1.0),
    ],
)
def test_the_share_that_is_done_goes_by_time_where_it_can_be_told(progress, share):
    assert share_done(progress) == pytest.approx(share)
