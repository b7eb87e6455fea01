from __future__ import annotations

import threading
from itertools import islice

import pytest

from ampler.app.web.drawn import KEPT, Figures, one_at_a_time, pictures
from ampler.report.drawings import Drawing, figures_of
from ampler.report.subject import Subject, subject_of


def test_one_draws_at_a_time():
    busy, most = [], []

    def draw():
        busy.append(1)
        most.append(len(busy))
        busy.pop()

    threads = [threading.Thread(target=lambda: one_at_a_time(draw)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1


def test_figures_become_elements_of_a_page():
    import matplotlib.pyplot as plt

    (found,) = pictures(lambda: [Drawing("x", "pair", "caption", "words", plt.figure().add_subplot)])
    plt.close("all")

    assert found.svg.startswith("<svg")
    assert "<style" not in found.svg


FEW = 3  # figures that are drawn in the fast suite: the way of each is the same


@pytest.mark.parametrize("most", [FEW, pytest.param(None, marks=pytest.mark.slow)])
def test_every_figure_has_its_file(finished_study, monkeypatch, most):
    monkeypatch.setattr("ampler.report.drawings.figures_of", lambda analysis: islice(figures_of(analysis), most))
    files = Figures().every(subject_of(finished_study), "svg")

    assert {"verdict.svg", "intervals.svg"} <= set(files)
    assert len(files) >= FEW
    assert all(content.startswith(b"<?xml") for content in files.values())


class Counted:
    """Figures of which we see when they are drawn."""

    def __init__(self, monkeypatch, names):
        import matplotlib.pyplot as plt

        self.drawn = []

        def drawing(name):
            def draw():
                self.drawn.append(name)
                return plt.Figure().add_subplot()

            return Drawing(name, "pair", "caption", "words", draw)

        monkeypatch.setattr("ampler.report.drawings.figures_of", lambda analysis: map(drawing, names))


def test_figures_are_drawn_once_for_all_who_ask(finished_study, monkeypatch):
    counted, kept, subject = Counted(monkeypatch, "ab"), Figures(), subject_of(finished_study)
    for kind in ("svg", "pdf", "svg"):
        assert list(kept.every(subject, kind)) == [f"a.{kind}", f"b.{kind}"]

    assert counted.drawn == ["a", "b", "a", "b"]


def test_who_wants_one_figure_waits_for_no_other(finished_study, monkeypatch):
    counted, kept, subject = Counted(monkeypatch, "abc"), Figures(), subject_of(finished_study)

    assert kept.names(subject) == ["a", "b", "c"]
    assert kept.one(subject, "nothing.svg") is None
    assert counted.drawn == []
    assert kept.one(subject, "b.svg") == kept.one(subject, "b.svg")
    assert counted.drawn == ["b"]


def test_figures_of_few_subjects_are_kept(finished_study, monkeypatch):
    counted, kept, first = Counted(monkeypatch, "a"), Figures(), subject_of(finished_study)
    for subject in (first, *(Subject(str(n), first.analysis) for n in range(KEPT)), first):
        kept.one(subject, "a.svg")

    assert len(counted.drawn) == KEPT + 2
