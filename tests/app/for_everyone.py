"""What axe finds in a page that shuts somebody out: seriously or critically, as it calls that."""

from __future__ import annotations

from typing import Any

SERIOUS = """async () => {
  const grave = (what) => ["serious", "critical"].includes(what.impact);
  const others = axe._audit.rules.filter((rule) => !grave(rule)).map((rule) => [rule.id, { enabled: false }]);
  const found = await axe.run({ resultTypes: ["violations"], rules: Object.fromEntries(others) });
  return found.violations.filter(grave).map((each) => [each.id, each.nodes[0].html.slice(0, 200)]);
}"""  # rules that find what is less than serious need not be tried


def axe_script() -> str:
    """What a page must have loaded before it can be asked."""
    from axe_playwright_python.sync_playwright import Axe

    return Axe().axe_script


def shut_out(page: Any) -> list[list[str]]:
    """The rules that a page breaks, each with the first element that does."""
    found: list[list[str]] = page.evaluate(SERIOUS)
    return found
