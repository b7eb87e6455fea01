"""Whatever is asked, the answer is an answer or a refusal: never a defect."""

from __future__ import annotations

import random
import string
from urllib.parse import quote

import pytest

from ampler.app.web.design_page import DesignForm
from ampler.app.web.pages import COLUMNS, SETTINGS

WORDS = [
    *(
        "",
        "0",
        "1",
        "2",
        "-1",
        "0.5",
        "1e-9",
        "1e308",
        "-0",
        "nan",
        "inf",
        "½",
        "٣",
        "0x10",
        "1_000",
        "9" * 40,
        "1e400",
    ),
    *("<script>alert(1)</script>", "'; DROP TABLE run; --", "\x00", "a" * 5000, "../../etc/passwd", "%s%n{0}{{7*7}}"),
    *(
        "plain",
        "worse",
        "<i>odd</i>",
        "one",
        "all",
        "own",
        "sd",
        "mean",
        "number",
        "t",
        "wilcoxon",
        "sign",
        "less",
        "median",
    ),
    *("percent", "simple", "ratio", "lower", "higher", "drop", "par=10", "penalty=1", "quantile:2", "rate", "pair"),
]
FILES = ["x.csv", "x.json", "x.jsonl", "x.parquet", "x.csv.gz", "x.json.gz", "x.arff", "x"]
HEADERS = ["origin", "cookie", "accept", "range", "if-none-match", "x-file-name", "content-length", "transfer-encoding"]
CHEAP = ["findings", "take", "nothing", "probable", "more"]  # views without figures


def as_header(word: str) -> str:
    """A word as a header can carry it."""
    return word.encode("latin-1", "replace").decode("latin-1")


class Asker:
    """Makes up requests, the same ones for the same seed."""

    def __init__(self, seed: int, known: list[str]) -> None:
        self.rng, self.known = random.Random(seed), known

    def word(self) -> str:
        if self.rng.random() < 0.8:
            return self.rng.choice(WORDS)
        return "".join(self.rng.choice(string.printable + "äß😀\ud7ff") for _ in range(self.rng.randrange(12)))

    def query(self, names: list[str]) -> str:
        chosen = self.rng.sample(names, self.rng.randrange(min(5, len(names)) + 1))
        return "&".join(f"{name}={quote(self.word())}" for name in chosen)

    def where(self) -> str:
        kind = self.rng.randrange(6)
        if kind < 2:
            names = [*DesignForm.__slots__, "other"]
            return f"{self.rng.choice(['/design', '/design/answer'])}?{self.query([n for n in names if n != 'looks'])}"
        if kind == 2:
            view = self.rng.choice(CHEAP)
            names = [*SETTINGS, *COLUMNS, "pair", "detect"]
            base = self.rng.choice([each for each in self.known if "analysis" in each or "results" in each])
            return f"{base}?view={view}&{self.query(names)}"
        if kind == 3:
            names = ["seen", "all", "token", "role0", "role1", "value", "view"]
            return f"{self.rng.choice(self.known)}?{self.query(names)}"
        if kind == 4:
            return f"{self.rng.choice(self.known)}/{quote(self.word())}"
        return "/" + "/".join(quote(self.word()) for _ in range(self.rng.randrange(4)))

    def headers(self) -> list[tuple[str, str]]:
        return [
            (name, self.word().encode("latin-1", "replace").decode("latin-1"))
            for name in self.rng.sample(HEADERS, self.rng.randrange(3))
        ]

    def body(self, tables: list[bytes]) -> bytes:
        content = bytearray(self.rng.choice(tables))
        for _ in range(self.rng.randrange(6)):
            place = self.rng.randrange(len(content) + 1)
            content[place : place + self.rng.randrange(9)] = self.rng.randbytes(self.rng.randrange(9))
        return bytes(content)


TABLES = [
    b"solver,problem,result\na,p1,1.5\nb,p1,2.5\na,p2,1.0\nb,p2,3.0\n",
    b"dataset,old,new\nd1,1,2\nd2,2,3\nd3,1,5\n",
    b'{"results": [{"command": "a", "times": [1.0, 2.0], "parameters": {"instance": "x"}}]}',
    b'{"solver": "a", "problem": "p", "value": 1.0}\n' * 3,
    b'[{"solver": "a", "problem": "p", "value": 1}, {"solver": "b", "problem": "p", "value": null}]',
    b'{"solver": {"0": "a", "1": "b"}, "problem": {"0": "p", "1": "p"}, "value": {"0": 1e400, "1": 99999999999999999}}',
    b"PAR1" + bytes(40) + b"PAR1",
    b"\x1f\x8b\x08\x00" + bytes(20),
    b"@relation x\n@attribute a numeric\n@data\n1\n",
]


def known_pages(browser) -> list[str]:
    where = browser.ask("POST", "/results", headers=[("x-file-name", "a.csv")], body=[TABLES[0]]).json["where"]
    study = "/study/small"
    pages = ["/", "/studies", "/results", study, f"{study}/live", f"{study}/instance/1", f"{study}/results"]
    return [*pages, where, f"{where}/read", f"{where}/analysis", "/static/ampler.css"]


@pytest.mark.parametrize(
    ("seed", "requests"), [(0, 200), (1, 200), *(pytest.param(seed, 430, marks=pytest.mark.slow) for seed in range(5))]
)
def test_requests_of_every_kind_meet_answers_or_refusals(browse, study, seed, requests):
    browser = browse(study)
    asker = Asker(seed, known_pages(browser))
    for _ in range(requests):
        method = asker.rng.choices(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"], [20, 1, 3, 1, 1, 1])[0]
        where = "/results" if method == "POST" and asker.rng.random() < 0.8 else asker.where()
        body = [asker.body(TABLES)] if method == "POST" else []
        headers = asker.headers()
        if asker.rng.random() < 0.05:
            headers.append(("host", as_header(asker.word())))
        if body and asker.rng.random() < 0.8:
            headers.append(("x-file-name", asker.rng.choice(FILES)))
        reply = browser.ask(method, where, headers=headers, body=body)
        assert 200 <= reply.status < 500, (method, where, headers, body, reply.text[:300])
        assert "html" not in reply.headers.get("content-type", "") or b"<script>alert" not in reply.body
        if reply.status == 201:  # a file was taken: its pages are asked for, too
            roles = asker.query(["role0", "role1", "role2"])
            for page in ("", "/analysis?difference=simple&better=lower", f"/read?{roles}"):
                assert 200 <= browser.get(f"{reply.json['where']}{page}").status < 500, (page, headers, body)
