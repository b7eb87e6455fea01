"""From tables of any shape to runs.

    a file or a frame ─► reading ─► columns: which is what, long or wide ─► shapes: every cell checked ─► ResultsTable

In reading order:

* `reading`: `read_table`, the way through the others;
* `files`: what is on disk (CSV, ARFF, Parquet) as a data frame; other formats and tools are in `imports`;
* `vocabulary`: the words people use for their columns, and which values are better by their name;
* `columns`: which column names the algorithm, the instance, the value, whether the table is long or wide, and columns
  that may be something else: there the user is asked;
* `column_roles`: how each column is understood, shown to a person who may correct it;
* `cells`: numbers with their decimal marks, names and ends of runs as people write them;
* `shapes`: a data frame of known shape as runs.
"""

from ampler.data.tables.columns import Columns, UnknownColumn
from ampler.data.tables.files import LIMIT
from ampler.data.tables.reading import Files, read_table
from ampler.data.tables.shapes import ResultsTable

__all__ = ["LIMIT", "Columns", "Files", "ResultsTable", "UnknownColumn", "read_table"]
