"""Results as other tools leave them: folders of COCO and IOH, BenchExec's XML, Optuna's studies, logs in JSON lines.

    a file or a folder ─► choose: whose is it? ─► its reader ─► Imported: one row per run, and what the columns are

In reading order:

* `imported`: what a reader gives;
* `choose`: which reader, by what is there;
* `coco`, `ioh`, `benchexec`, `optuna`, `jsonlines`: one file for each tool;
* `safely`: files of a stranger: bounded, inside their folder, without pickles and without entities of XML.

None of these tools needs to be installed. What is not understood is refused in one sentence.
"""

from ampler.data.imports.choose import read_import
from ampler.data.imports.imported import Imported

__all__ = ["Imported", "read_import"]
