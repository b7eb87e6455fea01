"""Every command with wrong words and wrong files: 2 for wrong usage, 1 for what the data refuse, always a sentence."""

from __future__ import annotations

import os

import pytest

from hostile import every_second_slow, refused

ROWS = "".join(f"i{n},{name},{n}.{k}{n}\n" for n in range(6) for name in "ab" for k in (1, 4, 7))
TABLE = "instance,algorithm,value\n" + ROWS
SIMPLE = ("--difference", "simple", "--better", "lower")
ANALYSE, REPORT = ("analyse", "runs.csv", *SIMPLE), ("report", "runs.csv", *SIMPLE, "-o", "out.md")
ADVISE = ("advise", "runs.csv", "--difference", "simple", "--detect", "1")
DESIGN = ("design", "--comparisons", "3", "--effect", "0.5", "--power", "0.8")

NO_NUMBERS = ("x", "", "1,5", "0x10", "--", "1e", "½", "nan nan")
NOT_FINITE = ("nan", "inf", "-inf", "1e999")
SHARES = (*NO_NUMBERS, *NOT_FINITE, "-1", "0", "1", "2", "-0.5")
POSITIVE = (*NO_NUMBERS, *NOT_FINITE, "-1", "0", "-0.5")
WHOLE = (*NO_NUMBERS, *NOT_FINITE, "1.5", "-1", "0")
WORDS = ("x", "", "SIMPLE ", "1", "t;", "None")
POLICIES = (
    *("", "x", "par", "par=", "par=x", "par=-1", "par=0", "par=nan", "par=inf", "par=10,cutoff=0", "par=10,cutoff=-1"),
    *("par=10,cutoff=nan", "par=10,cutoff", "par=10,limit=3", "penalty", "penalty=", "penalty=x", "penalty=nan"),
    *("penalty=inf", "penalty=1,2", "drop=3", "DROP", "stop,drop"),
)
ASSIGNMENTS = ("", "x", "=", "=3", "x=")

USAGE = {
    ANALYSE: {
        **dict.fromkeys(("--alpha", "--power"), SHARES),
        **dict.fromkeys(("--se", "--margin", "--floor", "--effect"), POSITIVE),
        **dict.fromkeys(("--budget", "--start"), WHOLE),
        **dict.fromkeys(("--test", "--alternative", "--guard", "--formula", "--difference", "--better"), WORDS),
        "--statistic": ("x", "", "quantile:2", "quantile:x", "MEAN "),
        "--on-failure": POLICIES,
        "--where": ASSIGNMENTS,
        "--encoding": ("x", "utf-9", "\\"),
    },
    REPORT: {
        "--figure-format": WORDS,
        "--alpha": SHARES[:3],
        "--on-failure": POLICIES[:6],
        "-o": ("out", "out.pdf", "runs.csv", "./runs.csv", ".md.", "out.HTML.x"),
    },
    ADVISE: {
        "--detect": POSITIVE,
        **dict.fromkeys(("--power", "--alpha"), SHARES),
        "--start": (*WHOLE, "1"),
        "--available": (*WHOLE, "1"),
        "--instance-cost": (*NO_NUMBERS, *NOT_FINITE, "-1"),
        "--cost": (*ASSIGNMENTS, "a=x", "a=0", "a=-1", "a=nan", "a=inf"),
        "--effect": ("1", "-1", "x"),
        "--test": WORDS,
        "--target": ("x", "", "0", "-1", "1.5"),
    },
    ("advise",): {"--detect": POSITIVE},
    ("advise", "--detect", "1"): {"--effect": POSITIVE},
    DESIGN: {
        "--alpha": SHARES,
        "--effect": POSITIVE,
        "--power": SHARES,
        "--comparisons": WHOLE,
        **dict.fromkeys(("--test", "--alternative", "--correction", "--target"), ("x", "", "0", "-1")),
        "--available": (*WHOLE, "1"),
        "--plot": ("out.doc", "out"),
    },
    ("run", "study.toml"): {
        "--workers": (*NO_NUMBERS, "-1", "0", "1.5", "nan", "4097", "9" * 30),
        "--part": ("", "x", "1", "0/3", "4/3", "1/0", "-1/3", "1/x", "1/3/5", "１/３x"),
    },
    ("check", "study.toml"): {"--workers": (*NO_NUMBERS, "-1", "0", "1.5")},
    ("demo",): {"--workers": ("x", "-1", "0")},
    ("export", "study.db"): {"": ("out", "out.xlsx", "study.db", "./study.db")},
    ("merge",): {"-o": ("out.db",)},
    ("merge", "study.db"): {"-o": ("study.db", "./study.db")},
    ("init",): {"--python": ("--irace",), "--command": ("--worker",)},
    (): {"": ("x", "--x", "-")},
    **{(command,): {"": ()} for command in ("analyse", "report", "status", "export", "run", "check", "rescue")},
    **{(command, "study.db"): {"--nonsense": ("1",)} for command in ("analyse", "report", "status", "rescue", "check")},
}
WRONG = [
    (*words, *filter(None, [option]), value)
    for words, options in USAGE.items()
    for option, values in options.items()
    for value in values
] + [(command,) for command in ("analyse", "report", "status", "export", "run", "check", "rescue", "merge")]

FILES = {
    "missing": lambda path: None,
    "a folder": lambda path: path.mkdir(),
    "empty": lambda path: path.write_bytes(b""),
    "one byte": lambda path: path.write_bytes(b"\0"),
    "noise": lambda path: path.write_bytes(bytes(range(256)) * 20),
    "an image": lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(500)),
    "latin-1": lambda path: path.write_bytes("instance,algorithm,value\nGr\xfcn,a,1\n".encode("latin-1")),
    "UTF-16": lambda path: path.write_bytes("no = table".encode("utf-16")),
    "nothing but a header": lambda path: path.write_text("instance,algorithm,value\n"),
    "prose": lambda path: path.write_text("Dear reader,\nthis is no table, nor a study.\n"),
    "deep": lambda path: path.write_text("[" * 20_000),
    "a link to itself": lambda path: path.symlink_to(path),
    "a long name": lambda path: None,
}
TAKING = {
    "analyse": ("runs.csv", ("analyse", "@", *SIMPLE)),
    "report": ("runs.csv", ("report", "@", *SIMPLE, "-o", "out.html")),
    "advise": ("runs.csv", ("advise", "@", "--detect", "1", "--difference", "simple")),
    "analyse, JSON": ("runs.json", ("analyse", "@", *SIMPLE)),
    "analyse, Parquet": ("runs.parquet", ("analyse", "@", *SIMPLE)),
    "analyse, ARFF": ("runs.arff", ("analyse", "@", *SIMPLE)),
    "status": ("bad.db", ("status", "@")),
    "analyse, study": ("bad.db", ("analyse", "@")),
    "export": ("bad.db", ("export", "@", "out.csv")),
    "merge": ("bad.db", ("merge", "@", "-o", "out.db")),
    "rescue": ("bad.db", ("rescue", "@", "-o", "out.db")),
    "run": ("bad.toml", ("run", "@")),
    "check": ("bad.toml", ("check", "@")),
}


@pytest.fixture
def folder(study):
    (study.parent / "runs.csv").write_text(TABLE)
    return study.parent


def shown(words):
    return " ".join(words).encode("unicode_escape").decode()


def left(folder):
    return {path.name: path.stat().st_size for path in folder.iterdir() if not path.name.endswith(("-wal", "-shm"))}


def by_command(cases, marks=()):
    """The cases of each command."""
    commands = dict.fromkeys(words[0] for words in cases)
    return [
        pytest.param([words for words in cases if words[0] == command], id=command, marks=marks) for command in commands
    ]


@pytest.mark.parametrize("wrong", [*by_command(WRONG[::2]), *by_command(WRONG[1::2], pytest.mark.slow)])
def test_wrong_usage_is_told_with_exit_code_2_before_anything_is_done(folder, shell, wrong):
    before = left(folder)
    for words in wrong:
        answer = shell(*words)

        assert (answer.code, answer.out, bool(answer.err)) == (2, "", True), shown(words)
        refused(answer, 2)
        assert left(folder) == before, shown(words)


@pytest.mark.parametrize("kind", every_second_slow(FILES))
@pytest.mark.parametrize("command", TAKING)
def test_a_file_that_cannot_be_used_is_one_sentence_with_exit_code_1(tmp_path, monkeypatch, shell, command, kind):
    monkeypatch.chdir(tmp_path)
    name, words = TAKING[command]
    name = "x" * 300 + name if kind == "a long name" else name
    FILES[kind](tmp_path / name) if kind != "a long name" else None
    before = left(tmp_path) if kind != "a link to itself" else os.listdir()

    answer = shell(*(word.replace("@", name) for word in words))

    sentence = refused(answer, 1)
    assert answer.err.count("\n") == 1, sentence
    assert (left(tmp_path) if kind != "a link to itself" else os.listdir()) == before


def test_a_title_that_is_no_text_is_written_as_far_as_it_is(folder, shell):
    answer = shell("report", "runs.csv", *SIMPLE, "-o", "out.md", "--title", "a\udcffb")

    assert answer.code == 0, answer.err
    assert "a?b" in (folder / "out.md").read_text(encoding="utf-8")


def test_the_tables_are_as_long_as_they_are_said_to_be():
    assert len(WRONG) + len(FILES) * len(TAKING) >= 400
