from __future__ import annotations

import threading

from ampler.app.web.drawn import Figures, figure_files, one_at_a_time, pictures
from ampler.report.drawings import Drawing
from ampler.report.subject import subject_of


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

    (found,) = pictures(lambda: [Drawing("x", "pair", "caption", "words", plt.figure().add_subplot())])
    plt.close("all")

    assert found.svg.startswith("<svg")
    assert "<style" not in found.svg


def test_every_figure_has_its_file(finished_study):
    files = figure_files(subject_of(finished_study), "svg")

    assert "intervals.svg" in files
    assert all(content.startswith(b"<?xml") for content in files.values())


def test_figures_are_drawn_once_for_all_who_ask(finished_study, monkeypatch):
    import ampler.report

    drawn = []
    monkeypatch.setattr(ampler.report, "write_figures", lambda subject, folder, kind: drawn.append(kind) or ())
    kept, subject = Figures(), subject_of(finished_study)
    for kind in ("svg", "pdf", "svg"):
        assert kept.of(subject, kind) == {}

    assert drawn == ["svg", "pdf"]
