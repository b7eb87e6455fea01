"""Whether somebody carries a study out at this moment; nothing is locked to find out."""

from __future__ import annotations

from pathlib import Path

SOCKETS = "/proc/net/unix"


def is_carried_out(study: Path, *, sockets: str = SOCKETS) -> bool | None:
    """Return whether a process of this machine holds a study file to write it; None where the system does not tell.

    The writer shows a sign in the kernel's list of names, see `lock`.
    """
    try:
        found, names = study.stat(), Path(sockets).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    sign = f"@ampler-study-{found.st_dev:x}-{found.st_ino:x}"
    return any(line.endswith(sign) for line in names.splitlines())
