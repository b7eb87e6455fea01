"""The results file: every run, plan and session of a study in one SQLite file. Only this package speaks SQL.

In reading order:

* `rows`: a run as a row, by the names of its fields: what makes it valid, queries, and counts
* `store`: the store itself, as `core.contracts.Store` wants it
* `access`: where a results file can be, one writer at a time, connections and their errors, the versions of the tables
  (`migrations`, in SQL), copies of the file, the environment of a session, and runs written in groups
* `transfer`: parts of a study become one file, and what can be read of a damaged file becomes a new one
"""

from ampler.study.store.access import Journal as Journal
from ampler.study.store.access import environment as environment
from ampler.study.store.store import SqliteStore as SqliteStore
from ampler.study.store.store import open_store as open_store
from ampler.study.store.store import read_store as read_store
from ampler.study.store.store import recorded_better as recorded_better
from ampler.study.store.transfer import Merged as Merged
from ampler.study.store.transfer import Rescued as Rescued
from ampler.study.store.transfer import merge_stores as merge_stores
from ampler.study.store.transfer import rescue_store as rescue_store
