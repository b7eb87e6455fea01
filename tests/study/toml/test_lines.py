"""The line of every key, whatever the values hold."""

from __future__ import annotations

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from ampler.study.toml.keys import key_lines, line_of

keys = st.from_regex(r"[A-Za-z0-9_-]{1,6}", fullmatch=True) | st.text(
    st.characters(exclude_categories=("Cs", "Cc")), max_size=6
)
scalars = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=("Cs",)), max_size=12),
)


@given(
    st.dictionaries(
        keys, scalars | st.lists(scalars, max_size=3) | st.dictionaries(keys, scalars, max_size=3), max_size=4
    ),
    st.dictionaries(keys, scalars, max_size=3),
    st.lists(st.dictionaries(keys, scalars, max_size=3), max_size=3),
)
def test_every_key_is_found_on_its_line(as_toml, top, table, array):
    lines, expected = [], {}

    def write(text, path=None):
        if path is not None:
            expected[path] = len(lines) + 1
        lines.extend(text.split("\n"))

    top = {f"t{name}": value for name, value in top.items()}
    for name, value in top.items():
        write('# seed = 1 [x] "\n')
        write(f"{as_toml.key(name)} = {as_toml(value)}  # ' \"", (name,))
    write("[ some . 'table' ]", ("some", "table"))
    for name, value in table.items():
        write(f"  {as_toml.key(name)} = {as_toml(value)}", ("some", "table", name))
    for place, entry in enumerate(array):
        write("[[many]] # [[many]]", ("many", place))
        for name, value in entry.items():
            write(f"{as_toml.key('e' + name)}={as_toml(value)}", ("many", place, "e" + name))
        write("[many.inner]", ("many", place, "inner"))
        write("x.y = 1", ("many", place, "inner", "x", "y"))
    text = "\n".join(lines)
    tomllib.loads(text)
    assert key_lines(text) == expected
    assert line_of(key_lines(text), ("some", "table", "unheard", "of")) == expected["some", "table"]
    assert line_of(key_lines(text), ("unheard",)) is None
