"""Install what was built, wheel and sdist, each in an environment of its own, and use it as a stranger would.

    python tests/packaging/smoke.py dist

`make package` runs this; it needs what pip needs, so it is no test of `make test`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

WHOLE = ("src", "tests", "docs", "benchmarks", "case_studies")
EXTRAS = "web,dask,parquet"
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def main(folder: Path) -> None:
    """Try every file of the folder."""
    wheel, sdist = next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))
    check_whole(sdist)
    for built, extras in ((wheel, f"[{EXTRAS}]"), (sdist, "")):
        with tempfile.TemporaryDirectory() as home:
            python = installed(built, extras, Path(home))
            use(python, Path(home))
        print(f"{built.name}{extras}: installed in a clean environment and used")


def check_whole(sdist: Path) -> None:
    """Every file that git tracks in the folders of the sdist is in it."""
    listed = subprocess.run(["git", "ls-files", *WHOLE], capture_output=True, text=True, check=True).stdout.split("\n")
    with tarfile.open(sdist) as archive:
        held = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    if missing := sorted({name for name in listed if name} - held):
        raise SystemExit(f"{sdist.name} lacks {len(missing)} files, the first is {missing[0]}")


def installed(built: Path, extras: str, home: Path) -> Path:
    """Return the Python of a new environment that has the package."""
    venv.create(home / "env", with_pip=True)
    python = home / "env" / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, f"{built.resolve()}{extras}"], check=True, env=ENVIRONMENT)
    return python


def use(python: Path, home: Path) -> None:
    """Plan, begin, run, conclude and report, as the README has it."""
    for words in (
        ["--version"],
        ["design", "--algorithms", "22", "--vs-one", "--effect", "0.5", "--power", "0.8"],
        ["init"],
        ["run", "study.toml"],
        ["analyse", "study.db"],
        ["report", "study.db", "-o", "study.html"],
    ):
        command = [python, "-m", "ampler", *words]
        answer = subprocess.run(command, cwd=home, env=ENVIRONMENT, capture_output=True, text=True, check=False)
        if answer.returncode:
            raise SystemExit(f"ampler {' '.join(words)} left with {answer.returncode}: {answer.stderr}")
    if not (home / "study.html").stat().st_size:
        raise SystemExit("the report is empty")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
