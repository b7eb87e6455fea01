"""The bar of a study that runs: in a terminal, in a notebook, and not in a pipe."""

import io
import sys
import types

import pytest

import ampler as am
from ampler.running import Progress
from ampler.running.progress import ProgressBar, bar_html

HALF = Progress(4, 2, runs=80, new=0, seconds=2.0, rate=40.0, error=None, target=None, left=None)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("columns", ["30", "80"])
def test_a_terminal_has_a_bar_that_changes_and_is_gone_at_the_end(monkeypatch, columns):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", columns)
    with ProgressBar() as bar:
        bar(HALF)
        shown = screen.getvalue()

    assert "50%" in shown
    assert "2/4 instances" in shown
    assert "\x1b[2K" in screen.getvalue().removeprefix(shown), "its lines are erased"


def test_a_pipe_has_nothing(monkeypatch):
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    with ProgressBar() as bar:
        bar(HALF)

    assert pipe.getvalue() == ""


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


@pytest.mark.parametrize(("said", "bars"), [({}, True), ({"progress": False}, False)])
def test_a_study_shows_it_unless_told_not_to(monkeypatch, tmp_path, said, bars):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    study = am.Study(
        algorithms={"a": lambda instance, seed: seed % 5, "b": lambda instance, seed: seed % 7},
        instances=["x", "y", "z"],
        difference="simple",
        design=am.FixedSize(runs=3),
        better="lower",
    )
    study.run(tmp_path / "study.db", workers=1, **said)

    assert ("instances" in screen.getvalue()) is bars
