from __future__ import annotations

import re


def test_the_doors_of_the_first_page_lead_somewhere(browser):
    first = browser.get("/")

    doors = re.findall(r'class="door" href="([^"]+)"', first.text)
    assert doors[0] == "/design"
    assert all(browser.get(door).status == 200 for door in doors)
    assert "what may I conclude?" in first.words
