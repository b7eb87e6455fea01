"""study.toml becomes a Plan; what does not fit is an error that points at the line and the key.

In reading order:

* `reading`: the way through the others, from text to plan
* `keys`: the keys there are, and what their values must be
* `sizes`: the keys of a study that finds its own size
* `lines`: the line on which each key stands
* `instances`, `imports`: what the file names outside of itself
* `costs`: costs written into the file, and nothing else in it changed
"""

from ampler.study.toml.reading import StudyFile as StudyFile
from ampler.study.toml.reading import read_study_file as read_study_file
