from __future__ import annotations

import gzip
import json
import random
import re
import stat
from urllib.parse import quote

import pandas as pd
import pytest

from ampler.app.web import uploads
from ampler.app.web.pages import NotThere
from ampler.app.web.uploads import MAX_FILES, TooLarge, Uploads, check_content, safe_name
from ampler.core.errors import InvalidData


def test_a_file_is_kept_for_its_owner_alone():
    files = Uploads()
    kept = files.add("my runs.csv", b"a,b\n1,2\n")

    assert files.find(kept.key) == kept
    assert kept.path.read_bytes() == b"a,b\n1,2\n"
    assert stat.S_IMODE(kept.path.parent.stat().st_mode) == 0o700


def test_the_oldest_goes_when_there_are_too_many():
    files = Uploads()
    kept = [files.add(f"{n}.csv", b"a") for n in range(MAX_FILES + 1)]

    assert not kept[0].path.exists()
    assert kept[1].path.exists()
    with pytest.raises(NotThere, match="bring it again"):
        files.find(kept[0].key)


def test_a_file_that_nobody_looks_at_goes_away(monkeypatch):
    files = Uploads()
    kept = files.add("a.csv", b"a")
    monkeypatch.setattr(uploads, "LIFETIME", -1.0)

    with pytest.raises(NotThere):
        files.find(kept.key)
    assert not kept.path.exists()


def test_all_go_with_the_server():
    files = Uploads()
    kept = files.add("a.csv", b"a")
    del files

    assert not kept.path.exists()


@pytest.mark.parametrize("content", [b"", b" \n ", b"SQLite format 3\0 and more"])
def test_what_is_no_table_is_refused(content):
    with pytest.raises(InvalidData):
        check_content(content)


def test_a_file_beyond_the_limit_is_refused(monkeypatch):
    monkeypatch.setattr(uploads, "MAX_BYTES", 3)
    with pytest.raises(InvalidData, match="larger than"):
        check_content(b"1234")
    assert "command line" in str(TooLarge())


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("C:\\data\\runs.csv", "runs.csv"),
        ("a/../../b.parquet", "b.parquet"),
        ("..", "results.csv"),
        ("x\0\n<b>.json", "x-b-.json"),
        ("ü" * 300 + ".csv", "ü" * 98 + ".csv"),
        ("算法" * 300 + ".csv", "法" + "算法" * 32 + ".csv"),
    ],
)
def test_a_name_is_only_a_name(name, safe):
    assert safe_name(name) == safe


def table(algorithms: str = "solver", instances: str = "problem", value: str = "result") -> bytes:
    rng = random.Random(1)
    rows = [f"{algorithms},{instances},{value},note"]
    for n in range(8):
        for name, worse in (("a", 0), ("b<i>", 2)):
            rows += [f"{name},p{n},{10 + n + worse + rng.random():.4f},n{n % 2}" for _ in range(2)]
    return "\n".join(rows).encode()


def brings(browser, content: bytes, name: str = "my%20runs.csv"):
    return browser.ask("POST", "/results", headers=[("x-file-name", name)], body=[content[:100], content[100:]])


def test_a_table_is_taken_in_and_shown_as_it_was_understood(browser):
    reply = brings(browser, table())
    page = browser.get(reply.json["where"])

    assert reply.status == 201
    assert "This is how I read your columns." in page.words
    assert "32 runs of 2 algorithms on 8 instances" in page.words
    assert "b&lt;i&gt;" in page.text
    assert "b<i>" not in page.text


def test_a_column_that_was_wrongly_guessed_is_corrected_and_analysed(browser):
    content = table(algorithms="what", instances="where", value="quality")
    where = brings(browser, content).json["where"]
    assert "I cannot read these columns yet." in browser.get(where).words

    led = browser.get(f"{where}/read?role0=algorithm&role1=instance&role2=value&role3=")
    corrected = browser.get(led.headers["location"])
    assert led.status == 303
    assert "32 runs of 2 algorithms on 8 instances" in corrected.words

    query = led.headers["location"].partition("?")[2]
    results = browser.get(f"{where}/analysis?{query}&difference=simple&better=lower")
    assert results.status == 200
    assert re.search(r"<h1>.*is.better.than", results.text, re.DOTALL)


def test_how_many_more_instances_are_needed_is_answered(browser):
    where = brings(browser, table()).json["where"]
    asked = "difference=simple&better=lower&view=more"

    assert "How many more instances do I need?" in browser.get(f"{where}/analysis?{asked}").words
    answer = browser.get(f"{where}/analysis?{asked}&detect=0.1").words
    assert "Variance components" in answer
    assert browser.get(f"{where}/analysis?{asked}&detect=-1").status == 200


def test_what_is_missing_is_asked_for(browser):
    where = brings(browser, table()).json["where"]
    reply = browser.get(f"{where}/analysis")

    assert reply.status == 422
    assert "Choose the kind of difference" in reply.words


def test_downloads_of_brought_results_are_those_of_the_command_line(browser, shell, tmp_path):
    (tmp_path / "my runs.csv").write_bytes(table())
    where = brings(browser, table()).json["where"]
    words = ["--difference", "simple", "--better", "lower"]
    shell("report", tmp_path / "my runs.csv", "-o", tmp_path / "x.md", *words)

    got = browser.get(f"{where}/analysis/report.md?difference=simple&better=lower")
    assert got.body == (tmp_path / "x.md").read_bytes()


def test_json_and_parquet_are_read_too(browser, tmp_path):
    frame = pd.DataFrame({"solver": ["a", "b"] * 4, "problem": [1, 1, 2, 2, 3, 3, 4, 4], "result": [1.5, 2.5] * 4})
    frame.to_parquet(tmp_path / "x.parquet")
    lines = "\n".join(json.dumps(row) for row in frame.to_dict("records"))

    records = frame.to_json(orient="records").encode()
    packed = (tmp_path / "x.parquet").read_bytes()
    for name, content in (("x.parquet", packed), ("x.jsonl", lines.encode()), ("x.json", records)):
        where = brings(browser, content, name).json["where"]
        assert "2 algorithms on 4 instances" in browser.get(where).words, name


def test_two_columns_cannot_both_be_the_value(browser):
    where = brings(browser, table()).json["where"]

    reply = browser.get(f"{where}/read?role0=algorithm&role1=instance&role2=value&role3=value")
    assert reply.status == 422
    assert "One column is the value, got 2" in reply.words


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"", "The file is empty"), (b"\0\1", "not a text table"), (b"SQLite format 3\0", "ampler serve study.db")],
)
def test_what_cannot_be_read_is_told(browser, content, sentence):
    reply = brings(browser, content)

    assert reply.status == 422
    assert sentence in reply.json["problem"]


def test_too_much_is_refused_packed_and_unpacked(browser, monkeypatch):
    bomb = gzip.compress(b"solver,problem,result\n" + b"a,b,1\n" * 200_000)
    monkeypatch.setattr("ampler.app.web.uploads.MAX_TABLE_BYTES", 10_000)
    reply = brings(browser, bomb, "runs.csv.gz")
    assert reply.status == 422
    assert "unpack" in reply.json["problem"] or "more than" in reply.json["problem"]

    monkeypatch.setattr("ampler.app.web.uploads.MAX_BYTES", 50)
    assert brings(browser, table()).status == 413


def test_a_parquet_file_that_unpacks_to_too_much_is_refused(browser, monkeypatch, tmp_path):
    frame = pd.DataFrame({"solver": "a", "problem": "b", "result": [1.0] * 300_000})
    frame.to_parquet(tmp_path / "bomb.parquet")
    assert (tmp_path / "bomb.parquet").stat().st_size < 50_000
    monkeypatch.setattr("ampler.app.web.uploads.MAX_TABLE_BYTES", 100_000)
    reply = brings(browser, (tmp_path / "bomb.parquet").read_bytes(), "bomb.parquet")

    assert reply.status == 422
    assert "unpacks to more than" in reply.json["problem"]


@pytest.mark.parametrize("content", [b"\0\1", gzip.compress(b"solver,problem,result\n" + b"a,b,1\n" * 20_000)])
def test_nothing_is_left_of_a_file_that_is_refused(browser, monkeypatch, tmp_path, content):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("ampler.app.web.uploads.MAX_TABLE_BYTES", 10_000)
    assert brings(browser, content, "x.csv.gz").status == 422

    assert list(tmp_path.iterdir()) == []


def test_long_names_are_taken_and_nothing_is_left_where_nothing_can_be_written(browser, monkeypatch, tmp_path):
    assert brings(browser, table(), quote("算法" * 300 + ".csv")).status == 201

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(uploads, "safe_name", lambda name: "x" * 300)
    reply = brings(browser, table())
    assert (reply.status, "cannot be stored" in reply.json["problem"]) == (422, True)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_not_there_is_told(browser):
    for rest in ("", "/read", "/analysis", "/analysis/report.md"):
        assert browser.get(f"/results/nothing{rest}").status == 404


def test_columns_whose_names_hold_commas_are_chosen_like_others(browser):
    rows = ['"solver, version","problem, size","cost, in EUR",note']
    for n in range(8):
        rows += [f"{name},p{n},{10 + n + worse},x" for name, worse in (("a", 0), ("b", 2 + n % 3))]
    where = brings(browser, "\n".join(rows).encode()).json["where"]

    led = browser.get(f"{where}/read?role0=algorithm&role1=instance&role2=value&role3=ignored")
    page = browser.get(led.headers["location"])
    assert "16 runs of 2 algorithms on 8 instances" in page.words

    query = led.headers["location"].partition("?")[2]
    taken = browser.get(f"{where}/analysis?{query}&difference=simple&better=lower&view=take")
    assert taken.status == 200
    assert "--algorithm &#39;&#34;solver, version&#34;&#39;" in taken.text


def test_many_columns_can_be_ignored(browser):
    names = [f"a column with a long name, number {n}" for n in range(60)]
    rows = ["solver,problem,result," + ",".join(f'"{name}"' for name in names)]
    rows += [f"{name},p{n},{n + worse}," + ",".join("1" * 60) for n in range(6) for name, worse in (("a", 0), ("b", 1))]
    where = brings(browser, "\n".join(rows).encode()).json["where"]

    led = browser.get(f"{where}/read?" + "&".join(f"role{place}=ignored" for place in range(3, 63)))
    assert browser.get(led.headers["location"]).status == 200


def test_a_column_that_was_found_to_be_something_can_be_made_to_describe_instances(browser):
    rows = ["solver,problem,status,result"]
    rows += [
        f"{name},p{n},{'open' if n % 2 else 'closed'},{n + worse}"
        for n in range(8)
        for name, worse in (("a", 0), ("b", 1))
    ]
    where = brings(browser, "\n".join(rows).encode()).json["where"]
    assert "is the status of a run" in browser.get(where).words

    led = browser.get(f"{where}/read?role0=algorithm&role1=instance&role2=group&role3=value")
    page = browser.get(led.headers["location"])
    assert led.headers["location"].endswith("?describing=status")
    assert "16 runs of 2 algorithms on 8 instances." in page.words
    groups = browser.get(
        f"{led.headers['location'].replace('?', '/analysis?')}&difference=simple&better=lower&view=groups"
    )
    assert "Does it hold in every group?" in groups.words


def test_values_that_stand_side_by_side_stay_when_another_column_is_corrected(browser):
    rows = ["solver,problem,run1,run2,size"]
    rows += [
        f"{name},p{n},{n + worse},{n + worse + 0.1 * n},{n % 2}"
        for n in range(8)
        for name, worse in (("a", 0), ("b", 1))
    ]
    where = brings(browser, "\n".join(rows).encode()).json["where"]

    led = browser.get(f"{where}/read?role0=algorithm&role1=instance&role2=value&role3=value&role4=ignored")
    assert led.headers["location"].endswith("?ignore=size")
    assert "32 runs of 2 algorithms on 8 instances" in browser.get(led.headers["location"]).words


def preselected(page, name):
    """The value that a form sends where nobody touches the field; None: the browser refuses to send it."""
    (select,) = re.findall(rf'<select id="{name}"[^>]*>.*?</select>', page.text, re.DOTALL)
    value = (re.findall(r'<option value="([^"]*)" selected', select) + re.findall(r'<option value="([^"]*)"', select))[
        0
    ]
    return value or (None if re.match(r"<select[^>]* required", select) else "")


@pytest.mark.parametrize(("value", "better"), [("accuracy", "higher"), ("seconds", "lower"), ("score", None)])
def test_no_direction_is_preselected_unless_the_name_of_the_values_implies_it(browser, value, better):
    page = browser.get(brings(browser, table(value=value)).json["where"])
    assert preselected(page, "better") == better


def test_what_failed_runs_count_as_is_asked_for_and_never_assumed(browser):
    lines = table(value="accuracy").decode().splitlines()
    cells = lines[1].split(",")
    failed = "\n".join([lines[0], ",".join([*cells[:2], "", *cells[3:]]), *lines[2:]]).encode()
    where = brings(browser, failed).json["where"]
    page = browser.get(where)
    assert "1 of them without a value" in page.words
    assert preselected(page, "on_failure") is None
    refused = browser.get(f"{where}/analysis?difference=simple&better=higher")
    assert refused.status == 422
    assert "failed" in refused.words
    assert browser.get(f"{where}/analysis?difference=simple&better=higher&on_failure=drop").status == 200
