"""Is a file on a network file system? There, SQLite's shared memory and its locks cannot be relied on."""

from __future__ import annotations

import re
from pathlib import Path

# The types under which Linux mounts file systems that other machines may write to at the same time.
# fmt: off
NETWORK_TYPES = frozenset({
    "9p", "afs", "beegfs", "ceph", "cifs", "coda", "fuse.beegfs", "fuse.ceph", "fuse.cvmfs2", "fuse.glusterfs",
    "fuse.juicefs", "fuse.s3fs", "fuse.sshfs", "gfs2", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2",
    "orangefs", "panfs", "pvfs2", "smb3", "smbfs", "vboxsf", "wekafs",
})
# fmt: on


def on_network(path: str | Path) -> bool:
    """Whether the file lies on a network file system; where the system does not say, it does not."""
    return filesystem_type(path) in NETWORK_TYPES


def filesystem_type(path: str | Path, *, mounts: str | Path = "/proc/self/mountinfo") -> str:
    """Return the type of the file system a path lies on, as the mount table names it; empty when it is not known."""
    try:
        lines = Path(mounts).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    where, kind = Path(path).resolve(), ""
    longest = -1
    for line in lines:  # proc(5): "36 35 98:0 /root /mount/point options [tags] - type source options"
        before, _, after = line.partition(" - ")
        point = Path(_unescaped(before.split(" ")[4]))
        # Later lines hide earlier ones at the same point.
        if where.is_relative_to(point) and len(point.parts) >= longest:
            longest, kind = len(point.parts), after.split(" ")[0]
    return kind


def _unescaped(text: str) -> str:
    """The mount table writes blanks and backslashes in octal."""
    return re.sub(r"\\(\d{3})", lambda match: chr(int(match[1], 8)), text)
