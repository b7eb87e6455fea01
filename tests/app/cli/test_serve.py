from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest


@pytest.fixture
def server(start, tmp_path):
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}  # few have it
    return start("serve", cwd=tmp_path, env=env)


def test_it_prints_the_address_answers_there_and_ends_with_ctrl_c(server):
    address = server.stdout.readline().strip()

    visitor = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with visitor.open(address.replace("/?", "/design?"), timeout=60) as reply:
        assert b"57 instances" in reply.read()
    with pytest.raises(urllib.error.HTTPError, match="401"):  # as another user of this machine, without the token
        urllib.request.urlopen(address.partition("?")[0], timeout=60)
    server.send_signal(signal.SIGINT)
    _, err = server.communicate()

    assert server.returncode == 130
    assert address.startswith("http://127.0.0.1:")
    assert err == "Open this address in a browser; Ctrl-C ends it.\n"


def test_a_study_that_is_not_there_is_one_sentence(shell, tmp_path):
    answer = shell("serve", tmp_path / "gone.db")

    assert answer.code == 1
    assert answer.err == f"ampler: there is no results file {tmp_path / 'gone.db'}; `ampler run` creates it\n"


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_that_cannot_be_is_wrong_usage(shell, port):
    answer = shell("serve", "--port", port)

    assert answer.code == 2
    assert "--port must be between 0 and 65535" in answer.err


def test_without_the_extra_it_says_what_to_install(tmp_path):
    for name in ("starlette", "uvicorn"):
        (tmp_path / f"{name}.py").write_text(f"raise ModuleNotFoundError('No module named {name}', name='{name}')")
    child = subprocess.run(
        [sys.executable, "-m", "ampler", "serve"],
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert child.returncode == 1
    assert child.stderr == "ampler: the browser needs Starlette and uvicorn: pip install 'ampler[web]'\n"


@pytest.mark.parametrize("code", ["import ampler; ampler.analyse", "from ampler.app.cli import main; main()"])
def test_the_web_libraries_are_loaded_for_the_browser_alone(loaded, code):
    words = ("design", "--comparisons", "21", "--effect", "0.5", "--power", "0.8")
    assert not loaded(*words, code=code).modules & {"starlette", "uvicorn", "anyio", "jinja2"}
