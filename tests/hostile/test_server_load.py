"""The browser under many requests, slow clients, endless uploads and hostile names: it answers, in bounded memory."""

import http.client
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from urllib.parse import quote, urlsplit

import commands
import psutil
import pytest

PATHS = [
    *("/", "/results", "/design", "/studies", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/study/" + "x" * 5000),
    *("/%00", "/%ff", f"/{quote('{{7*191919191}}')}", "/design?effect=1e400&power=nan", "//evil.example", "/static/x"),
    f"/design?effect={quote('{{7*191919191}}')}",
]


@pytest.fixture
def server(study):
    """The process of `ampler serve`, and `ask(method, path, body, name)`, which returns the status of the answer."""
    process = commands.start("serve", study, "--port", "0", stderr=commands.subprocess.STDOUT)
    line = next(line for line in process.stdout if "http" in line)
    address = urlsplit(re.search(r"http://\S+", line)[0])

    def request(method, path, body=None, name="", cookie=""):
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
        connection.request(method, path, body=body, headers={"Cookie": cookie, "X-File-Name": quote(name)})
        answer = connection.getresponse()
        assert b"1343434337" not in answer.read()
        connection.close()
        return answer

    cookie = request("GET", f"{address.path}?{address.query}").getheader("set-cookie").partition(";")[0]
    assert request("GET", "/").status == 401
    yield process, address, lambda *words, **named: request(*words, **named, cookie=cookie).status
    commands.end(process)


def test_many_requests_slow_clients_and_endless_uploads_are_answered_in_bounded_memory(server):
    process, address, ask = server
    with ThreadPoolExecutor(60) as threads:
        answers = set(threads.map(lambda path: ask("GET", path), PATHS * 10))
    assert all(200 <= status < 500 for status in answers), answers

    slow = [socket.create_connection((address.hostname, address.port)) for _ in range(50)]
    for client in slow:
        client.send(b"POST /results HTTP/1.1\r\nContent-Length: 1000000\r\n")
    table = b"solver,problem,result\na,p,1\nb,p,2\na,q,2\nb,q,3\n"
    for name in ("算法" * 300 + ".csv", "../../../etc/passwd", "{{7*191919191}}.csv", '"><script>.csv', "\0", ""):
        assert ask("POST", "/results", table, name) in (201, 422)
    with suppress(OSError):  # it may close the connection before it has read everything
        assert ask("POST", "/results", (b"a,p,1\n" * 10**6 for _ in range(100)), "endless.csv") == 413
    for client in slow:
        client.close()
    assert ask("GET", "/") == 200
    assert psutil.Process(process.pid).memory_info().rss < 600 * 10**6
