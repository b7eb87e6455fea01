from __future__ import annotations

import http.client
import os
import signal
import socket
import sys
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from ampler.app.web.server import address_of, listening_socket
from ampler.core.errors import InvalidInput


def test_a_free_port_is_found_and_told():
    with listening_socket("127.0.0.1", 0) as opened:
        address = address_of(opened, "127.0.0.1", None)

    assert address.startswith("http://127.0.0.1:")
    assert address.endswith("/")


def test_the_address_has_the_token():
    with listening_socket("127.0.0.1", 0) as opened:
        assert address_of(opened, "127.0.0.1", "secret").endswith("/?token=secret")


def test_a_port_that_is_taken_is_told_with_the_way_out():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(InvalidInput, match="omit --port"):
            listening_socket("127.0.0.1", other.getsockname()[1])


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="a system without these signals")
@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_however_the_server_ends_no_file_that_was_brought_is_left(tmp_path, start, how):
    server = start("serve", cwd=tmp_path, env=os.environ | {"TMPDIR": str(tmp_path)})
    address = urlsplit(server.stdout.readline().strip())
    with closing(http.client.HTTPConnection(address.netloc)) as connection:
        connection.request("GET", f"/?{address.query}")
        welcome = connection.getresponse()
        welcome.read()
        headers = {"x-file-name": "a.csv", "cookie": welcome.headers["set-cookie"].partition(";")[0]}
        connection.request("POST", "/results", b"solver,problem,result\na,p,1\nb,p,2\n", headers)
        assert connection.getresponse().status == 201
    assert len(list(tmp_path.iterdir())) == 1
    server.send_signal(getattr(signal, how))
    assert server.wait(60) == 128 + getattr(signal, how)

    assert list(tmp_path.iterdir()) == []


SIGNALLED = """
import os, signal
from ampler.app.web.server import address_of, answer_requests, listening_socket

async def app(scope, receive, send):
    os.kill(os.getpid(), signal.SIGHUP)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"answered"})

with listening_socket("127.0.0.1", 0) as opened:
    print(address_of(opened, "127.0.0.1", None), flush=True)
    answer_requests(app, opened)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="a system without this signal")
def test_a_signal_in_the_middle_of_a_request_ends_the_server_after_the_answer(start):
    server = start("-c", SIGNALLED, program=(sys.executable,))
    address = urlsplit(server.stdout.readline().strip()).netloc
    with closing(http.client.HTTPConnection(address)) as connection:
        connection.request("GET", "/")
        assert connection.getresponse().read() == b"answered"
    assert server.wait(60) == 128 + signal.SIGHUP
