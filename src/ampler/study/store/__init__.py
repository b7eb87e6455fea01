"""The study file: every run, plan and session of a study in one SQLite file. Only this package speaks SQL."""

from ampler.study.store.environment import environment as environment
from ampler.study.store.journal import Journal as Journal
from ampler.study.store.merge import Merged as Merged
from ampler.study.store.merge import merge_stores as merge_stores
from ampler.study.store.sqlite import SqliteStore as SqliteStore
from ampler.study.store.sqlite import open_store as open_store
from ampler.study.store.sqlite import read_store as read_store
