"""Pages for everyone: accessibility checks by axe, and pages without scripts."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SERIOUS = """async () => {
  const serious = (rule) => ["serious", "critical"].includes(rule.impact);
  const others = axe._audit.rules.filter((rule) => !serious(rule)).map((rule) => [rule.id, { enabled: false }]);
  const result = await axe.run({ resultTypes: ["violations"], rules: Object.fromEntries(others) });
  return result.violations.filter(serious).map((rule) => [rule.id, rule.nodes[0].html.slice(0, 200)]);
}"""  # rules for less serious violations are switched off to save time


def axe_script() -> str:
    """Return the script that a page must load before `violations` can check it."""
    from axe_playwright_python.sync_playwright import Axe

    return Axe().axe_script


def violations(page: Any) -> list[list[str]]:
    """Return the serious or critical rules that a page breaks, each with the first element that breaks it."""
    broken: list[list[str]] = page.evaluate(SERIOUS)
    return broken


@contextmanager
def without_scripts(page: Any) -> Iterator[None]:
    """Let no script run in the documents that this page opens meanwhile."""
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        yield
    finally:
        session.send("Emulation.setScriptExecutionDisabled", {"value": False})
        session.detach()
