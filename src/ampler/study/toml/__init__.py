"""From study.toml to a Plan; errors name the line and the key.

In reading order:

* `reading`: the way through the others, from text to plan; costs written into the file
* `keys`: the keys there are, what their values must be, and the line on which each stands
* `instances`: what the file names outside of itself: instances, their features, objects of Python modules
"""

from ampler.study.toml.reading import StudyFile as StudyFile
from ampler.study.toml.reading import read_study_file as read_study_file
