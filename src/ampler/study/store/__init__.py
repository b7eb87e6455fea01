"""The study file: every run, plan and session of a study in one SQLite file. Only this package speaks SQL.

In reading order:

* `schema`: the tables, each explained in the file itself, and how files of earlier versions are brought up to date
* `columns`: a run as a row, by the names of its fields
* `sqlite`: the store itself, as `core.contracts.Store` wants it
* `counting`: runs counted for those who watch; `presence`: whether somebody carries the study out now
* `checks`: what every store insists on; `batches`: the same for many runs at once
* `places`: where a study file can be
* `connections`: files made sure of before they are used, and SQLite's errors in our words
* `tidying`: readers that leave nothing beside the file
* `structure`: whether a file is built as ours are; `patience`: the work that reading it may take
* `damage`: the sentence for a file that is damaged
* `lock`: one writer at a time; `plain_lock`: the same without POSIX locks
* `filesystem`: where locks cannot be relied on
* `loss`: a file that is lost while it is open; `watch`: whether it is still the one that was opened; `beside`: where
  what it held is saved
* `journal`: runs are written in groups
* `environment`: what a session remembers of its machine
* `merge`: parts of a study become one file
* `rescue`: what can be read of a damaged file becomes a new one; `pages`: the records in it, page by page
"""

from ampler.study.store.environment import environment as environment
from ampler.study.store.journal import Journal as Journal
from ampler.study.store.merge import Merged as Merged
from ampler.study.store.merge import merge_stores as merge_stores
from ampler.study.store.rescue import Rescued as Rescued
from ampler.study.store.rescue import rescue_store as rescue_store
from ampler.study.store.sqlite import SqliteStore as SqliteStore
from ampler.study.store.sqlite import open_store as open_store
from ampler.study.store.sqlite import read_store as read_store
from ampler.study.store.sqlite import recorded_better as recorded_better
