"""study.toml becomes a Plan; what does not fit is an error that points at the line and the key."""

from ampler.study.toml.reading import StudyFile as StudyFile
from ampler.study.toml.reading import read_study_file as read_study_file
