"""How the tests of the pages ask: the server's own interface, in this process, without a socket."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import commands
import pytest
from flat_study import flat_study

import ampler as am
from ampler.app.web.server import application
from ampler.core.failures import Drop


@dataclass(frozen=True)
class Reply:
    """What was answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def words(self) -> str:
        """The text with the line breaks taken out."""
        return " ".join(self.text.split())

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Browser:
    """Asks an application, one request after the other."""

    def __init__(self, app: Any, loop: asyncio.AbstractEventLoop) -> None:
        self.app, self.loop = app, loop

    def get(self, where: str, **headers: str) -> Reply:
        return self.ask("GET", where, headers=headers.items())

    def ask(
        self, method: str, where: str, *, headers: Iterable[tuple[str, str]] = (), body: Iterable[bytes] = ()
    ) -> Reply:
        said = {"host": "127.0.0.1:8000"} | {name.replace("_", "-"): value for name, value in headers}
        path, _, query = where.partition("?")
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in said.items()],
            "client": ("127.0.0.1", 40000),
            "server": ("127.0.0.1", 8000),
        }
        return self.loop.run_until_complete(self._asked(scope, list(body)))

    async def _asked(self, scope: dict[str, Any], body: list[bytes]) -> Reply:
        sent: list[dict[str, Any]] = []
        waiting = [{"type": "http.request", "body": part, "more_body": True} for part in body]
        waiting.append({"type": "http.request", "body": b"", "more_body": False})

        async def receive() -> dict[str, Any]:
            return waiting.pop(0) if waiting else {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in sent[0]["headers"]}
        return Reply(sent[0]["status"], headers, b"".join(each.get("body", b"") for each in sent[1:]))


@pytest.fixture
def browse() -> Iterator[Callable[..., Browser]]:
    """`browse(study, …)`: a browser before the pages over these files; other words are those of `application`."""
    loop = asyncio.new_event_loop()
    yield lambda *paths, **words: Browser(application([Path(path) for path in paths], **words), loop)
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


@pytest.fixture
def browser(browse: Callable[..., Browser]) -> Browser:
    return browse()


def solved(instance: int, seed: int, better: float = 0.0) -> float:
    """A run of the studies that are looked at."""
    return instance + better + random.Random(seed).random()


def broken(instance: int, seed: int) -> float:
    """A run that sometimes fails."""
    if seed % 5 == 0:
        raise RuntimeError(f"no <b>solution</b> of {instance}")
    return solved(instance, seed, better=0.3)


def small_study(instances: int = 6, **words: Any) -> am.Study:
    """A study of three algorithms, one of which has a name that must be escaped and fails at times."""
    asked: dict[str, Any] = {"difference": "simple", "reference": "plain", "se": 0.15, "use": "all", "seed": 1}
    return flat_study(
        algorithms={"plain": solved, "worse": partial(solved, better=0.5), "<i>odd</i>": broken},
        instances={f"number-{n}/<u>": 10 * n for n in range(1, instances + 1)},
        start=4,
        budget=60,
        on_failure=Drop(),
        name="small",
        **asked | words,
    )


@pytest.fixture(scope="session")
def finished_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("studies") / "small.db"
    small_study().run(path, workers=1)
    return path


@pytest.fixture
def study(finished_study: Path, tmp_path: Path) -> Path:
    """A finished study, in a file of its own."""
    return Path(shutil.copy(finished_study, tmp_path / "small.db"))


@pytest.fixture(scope="session")
def serve() -> Callable[..., Any]:
    """`with serve(study) as address`: `ampler serve` in a process of its own."""

    @contextmanager
    def served(*paths: Path) -> Iterator[str]:
        """The address of the pages over some files."""
        child = commands.start("serve", *paths)
        try:
            yield child.stdout.readline().strip()
        finally:
            child.send_signal(signal.SIGINT)
            child.wait(60)
            commands.end(child)

    return served
