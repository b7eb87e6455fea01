"""The environment a session ran in: what a reader needs to judge times and to repeat the study."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path

PACKAGES = ("ampler", "numpy", "scipy")


def environment() -> dict[str, str]:
    """Return versions, operating system and processor; nothing that names a person or a machine."""
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        **{package: _version(package) for package in PACKAGES},
        "system": platform.platform(),
        "processor": _processor(),
        "cores": str(os.cpu_count() or "unknown"),
    }


@cache
def _version(package: str) -> str:
    """The version as it was installed; only the line that says it is read of the page on the package."""
    from importlib.metadata import PackageNotFoundError, distribution  # loads much that those who only read do without

    try:
        installed = distribution(package)
    except PackageNotFoundError:  # a source tree on the path, not installed
        return "unknown"
    lines = (installed.read_text("METADATA") or "").splitlines()
    said = (line.removeprefix("Version:").strip() for line in lines if line.startswith("Version:"))
    return next(said, None) or installed.version


@cache
def _processor() -> str:
    """The model's name; Linux keeps it in /proc only."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.lower().startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine() or "unknown"
