#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.2.9"]
# ///
"""Sessions for those who prefer nox to make: `nox -s tests`, `nox -s checks`, `nox -s docs`."""

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"
EXTRAS = (".[parquet,excel,dask,web]", "./case_studies/upmsp")


def _install(session: nox.Session, *groups: str) -> None:
    """Install the package with its extras, the case study and groups of development tools."""
    pyproject = nox.project.load_toml("pyproject.toml")
    for path in EXTRAS:
        session.install("-e", path)
    session.install(*nox.project.dependency_groups(pyproject, *groups))


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def tests(session: nox.Session) -> None:
    """Run the fast tests; further arguments go to pytest."""
    _install(session, "dev")
    session.run(
        "pytest", "-n", "2", "--dist", "worksteal", "--hypothesis-profile", "ci", "-m", "not slow", *session.posargs
    )


@nox.session
def checks(session: nox.Session) -> None:
    """Run ruff, mypy --strict and import-linter."""
    _install(session, "dev")
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")
    session.run("mypy")
    session.run("lint-imports")


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the documentation; warnings are errors."""
    _install(session, "dev", "docs")
    session.run("sphinx-build", "-n", "-W", "-b", "html", "docs", "docs/_build/html")


if __name__ == "__main__":
    nox.main()
