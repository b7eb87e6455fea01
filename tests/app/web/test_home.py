from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"


def test_the_doors_of_the_first_page_lead_somewhere(browser):
    first = browser.get("/")

    doors = re.findall(r'class="door" href="([^"]+)"', first.text)
    assert doors[0] == "/design"
    assert all(browser.get(door).status == 200 for door in doors)
    assert "what may I conclude?" in first.words


def test_every_page_has_its_pictures_in_the_documentation():
    page = (DOCS / "browser.md").read_text(encoding="utf-8")
    pictures = sorted((DOCS / "browser").glob("*.webp"))

    assert {path.name for path in pictures} == set(re.findall(r"browser/([\w-]+\.webp)", page))
    assert sum("-dark" in path.name for path in pictures) == len(pictures) / 2
    assert sum(path.stat().st_size for path in pictures) < 1.5e6
