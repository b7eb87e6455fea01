"""The bar of a study that runs: in a terminal, in a notebook, and not in a pipe."""

import io
import sys
import types

import pytest

import ampler as am
from ampler.running import Progress
from ampler.running.bar import ProgressBar, bar_html, bar_line

HALF = Progress(4, 2, runs=80, new=0, seconds=2.0, rate=40.0, error=None, target=None, left=None)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_has_a_line_that_changes_and_is_gone_at_the_end(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with ProgressBar() as bar:
        bar(HALF)
        assert screen.getvalue().endswith("runs/s")

    assert screen.getvalue().endswith("\r\x1b[K")
    assert "\n" not in screen.getvalue()


def test_a_pipe_has_nothing(monkeypatch):
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    with ProgressBar() as bar:
        bar(HALF)

    assert pipe.getvalue() == ""


@pytest.mark.parametrize("width", [10, 40, 80])
def test_the_line_fits(width):
    assert len(bar_line(HALF, width)) < width


def test_a_notebook_has_one_bar_that_is_updated(monkeypatch):
    shown = []
    handle = types.SimpleNamespace(update=lambda page, raw: shown.append(page))

    def display(page, raw, display_id):
        shown.append(page)
        return handle

    notebook = types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    with ProgressBar() as bar:
        bar(HALF)
        bar(HALF)

    assert [page["text/html"] for page in shown] == [bar_html(HALF)] * 2
    assert 'value="0.5000"' in bar_html(HALF)


@pytest.mark.parametrize(("said", "bars"), [({}, True), ({"report": None}, False)])
def test_a_study_shows_it_unless_told_not_to(monkeypatch, tmp_path, said, bars):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    study = am.Study(
        algorithms={"a": lambda instance, seed: seed % 5, "b": lambda instance, seed: seed % 7},
        instances=["x", "y", "z"],
        difference="simple",
        rule=am.Fixed(runs=3),
        use="all",
        better="lower",
    )
    study.run(tmp_path / "study.db", workers=1, **said)

    assert ("instances" in screen.getvalue()) is bars
