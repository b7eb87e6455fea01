"""What pages that watch a study are told: the parts that changed since their last look, made once for all who ask."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from starlette.types import ASGIApp, Receive, Scope, Send

from ampler.app.web.live import LiveStudy, Seen

K = TypeVar("K")
V = TypeVar("V")
Parts = Mapping[str, str]

KEPT = 6  # looks whose parts are known, and answers
BEFORE, AFTER = "/study/", "/live"  # around the name of a study in the address of its news
LONGEST = 18  # digits of the number of a look


class News:
    """The news of one study; `parts_of` makes the parts of its page from a look."""

    def __init__(self, live: LiveStudy, parts_of: Callable[[LiveStudy, Seen], Parts]) -> None:
        self.live, self._parts_of = live, parts_of
        self._parts: OrderedDict[int, Parts] = OrderedDict()
        self._answers: OrderedDict[tuple[int, int], bytes] = OrderedDict()
        self._lock = threading.Lock()

    def known(self, since: int) -> bytes | None:
        """Return the answer to a page that has the look `since`, if nothing has to be worked out for it."""
        seen = self.live.recent()
        return None if seen is None else self._known(seen, since)

    def answer(self, since: int) -> bytes:
        """Return the answer to a page that has the look `since`: what changed, or all if that look is forgotten."""
        seen = self.live.seen()
        with self._lock:  # who asks for the same meanwhile gets it, too
            told = self._known(seen, since)
            return self._made(seen, since) if told is None else told

    def _known(self, seen: Seen, since: int) -> bytes | None:
        if since == seen.number:
            return b'{"number": %d}' % since
        return self._answers.get((since, seen.number))

    def _made(self, seen: Seen, since: int) -> bytes:
        if seen.number not in self._parts:
            _keep(self._parts, seen.number, self._parts_of(self.live, seen))
        before = self._parts.get(since, {})
        changed = {name: said for name, said in self._parts[seen.number].items() if before.get(name) != said}
        told = json.dumps({"number": seen.number, "ended": seen.look.ended, "parts": changed}).encode()
        _keep(self._answers, (since, seen.number), told)
        return told


def _keep(kept: OrderedDict[K, V], key: K, value: V) -> None:
    kept[key] = value
    while len(kept) > KEPT:
        kept.popitem(last=False)


def look_number(said: str) -> int:
    """Return the number of the look that a page has; 0, which no look has, where it says none.

    >>> look_number("57"), look_number(""), look_number("many")
    (57, 0, 0)
    """
    return int(said) if said.isascii() and said.isdigit() and len(said) <= LONGEST else 0


@dataclass(frozen=True, slots=True)
class ForWatchers:
    """Answers pages that watch where the answer is known, before anything else is done; all else goes to the pages."""

    app: ASGIApp
    news: Mapping[str, News]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer at once, or let the pages answer."""
        told = self._known(scope["method"], scope["path"], scope["query_string"].decode("latin-1"))
        if told is None:
            await self.app(scope, receive, send)
            return
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(told))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": told})

    def _known(self, method: str, path: str, query: str) -> bytes | None:
        since = look_number(query.removeprefix("seen="))
        if method != "GET" or not since or not path.endswith(AFTER):
            return None
        news = self.news.get(path.removeprefix(BEFORE).removesuffix(AFTER))
        return None if news is None else news.known(since)
