"""The tree of errors is what its page draws."""

import inspect
import re

from ampler.core import errors


def drawn() -> dict[str, str]:
    """Each error of the drawing, with the one it hangs from."""
    lines = [line for line in inspect.getdoc(errors).splitlines() if re.match(r"^ {4}(AmplerError|[├└│])", line)]
    above: dict[str, str] = {}
    path: list[str] = []
    for line in lines:
        name = re.search(r"\w+", line)[0]
        depth = (line.index(name) - 4) // 4
        path[depth:] = [name]
        above[name] = path[depth - 1] if depth else "Exception"
    return above


def test_every_error_stands_in_the_drawing_below_its_parent():
    classes = {
        name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)
    }
    assert {name: kind.__bases__[0].__name__ for name, kind in classes.items()} == drawn()


def test_what_cannot_be_used_is_a_value_error_and_everything_is_an_ampler_error():
    assert issubclass(errors.InvalidDesign, ValueError)
    assert issubclass(errors.StoreBusy, errors.AmplerError)
    assert not issubclass(errors.StoreBusy, ValueError)
