"""The `ampler` command. Each command lives in the module of its name; this one joins them."""

from ampler.app.shell.app import main

__all__ = ["main"]
