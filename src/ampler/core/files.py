"""Write beside, then replace: a reader sees the old file or the new one, never half of it.

The one module of this room that touches files; the rooms that write share it.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ampler.core.errors import InvalidInput

KEPT = 40  # characters of the target's name in that of the draft, which tell whose it is and leave room for the rest


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield an empty file in the same folder to be written; it takes the place of `path` when all went well.

    Nothing of it stays otherwise. Its name cannot be foreseen, so nobody can have put a file or a link there, and two
    writers never meet; its mode is that of any new file.
    """
    target = Path(path)
    draft = target.with_name(f".{target.name[:KEPT]}.{secrets.token_hex(8)}.part")
    _create(draft, target)
    try:
        yield draft
        draft.replace(target)
    except OSError as problem:
        raise _named(problem, draft, target) from None
    finally:
        draft.unlink(missing_ok=True)


def written_new(texts: Mapping[Path, str]) -> None:
    """Write texts into files that are not there yet, all or none; no link is followed."""
    made: list[Path] = []
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            _create(path, path)
            made.append(path)
            path.write_text(text, encoding="utf-8")
    except OSError as problem:
        for path in made:
            path.unlink(missing_ok=True)
        raise _named(problem, made[-1] if made else None, made[-1] if made else None) from None


def _named(problem: OSError, draft: Path | None, target: Path | None) -> OSError:
    """The error with the file that was asked for: a full disk does not say which, and a draft is nobody's."""
    if target is None or problem.filename not in (None, str(draft)):
        return problem
    return OSError(problem.errno or errno.EIO, problem.strerror or str(problem), str(target))


def check_not_input(output: str | os.PathLike[str], *inputs: object) -> None:
    """Raise InvalidInput when what is to be written is one of the files that are read, under whatever name.

    Inputs that are no paths (data frames, stores) are no files.
    """
    for file in inputs:
        if isinstance(file, str | os.PathLike) and _same_file(output, file):
            raise InvalidInput(
                f"the file to write must not be the one that is read, got {os.fspath(output)!r} for both;"
                " choose another name"
            )


def _same_file(first: str | os.PathLike[str], second: str | os.PathLike[str]) -> bool:
    try:
        return os.path.samefile(first, second)
    except (OSError, ValueError):  # one of them is not there yet
        return os.path.realpath(first) == os.path.realpath(second)


def _create(draft: Path, target: Path) -> None:
    """Make an empty file where there is none; an error names the file that was asked for."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)  # some systems have no links to follow
    try:
        os.close(os.open(draft, flags, 0o666))
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror, str(target)) from None
