from __future__ import annotations

import socket

import pytest

from ampler.app.web.server import address_of, listening_socket
from ampler.core.errors import InvalidInput


def test_a_free_port_is_found_and_told():
    with listening_socket("127.0.0.1", 0) as opened:
        address = address_of(opened, "127.0.0.1", None)

    assert address.startswith("http://127.0.0.1:")
    assert address.endswith("/")


def test_the_address_for_others_has_the_token():
    with listening_socket("127.0.0.1", 0) as opened:
        assert address_of(opened, "127.0.0.1", "secret").endswith("/?token=secret")


def test_a_port_that_is_taken_is_told_with_the_way_out():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(InvalidInput, match="leave --port out"):
            listening_socket("127.0.0.1", other.getsockname()[1])
