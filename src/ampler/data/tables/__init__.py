"""Results people already have → runs, whatever shape their table has.

    a file or a frame ─► reading ─► columns: which is what, long or wide ─► shapes: every cell checked ─► ResultsTable

In reading order:

* `reading`: `read_table`, the way through the others;
* `files`, `records`, `hyperfine`: what is on disk (CSV, ARFF, Parquet, JSON, hyperfine's JSON) as a data frame; other
  tools are in `imports`, the folder beside this one;
* `vocabulary`: the words people use for their columns;
* `columns`: which column names the algorithm, the instance, the value, and whether the table is long or wide;
* `suspects`: columns that look like algorithms and may be something else: there the user is asked;
* `understood`: what each column is taken for, shown to a person who may correct it;
* `shapes`: a data frame of known shape as runs;
* `directions`: whether higher or lower is better, where the name of the values says it;
* `numerals`: decimal marks and separators of thousands;
* `cells`, `codes`, `outcomes`: numbers, names and endings of runs as people write them.
"""

from ampler.data.tables.columns import Columns
from ampler.data.tables.files import LIMIT
from ampler.data.tables.reading import read_table
from ampler.data.tables.shapes import ResultsTable

__all__ = ["LIMIT", "Columns", "ResultsTable", "read_table"]
