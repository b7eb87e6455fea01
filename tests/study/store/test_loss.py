"""What is said of a study file that was lost, and what a writer remembers for that day."""

from pathlib import Path

from ampler.study.store.loss import Insurance, Saved

LOST = Path("/studies/study.db")


def test_a_file_that_could_be_copied_has_all_runs_and_one_that_could_not_those_in_memory():
    whole, rest = (Saved(Path("/studies/study-saved.db"), whole).words(LOST, 12) for whole in (True, False))

    assert whole.startswith("its 12 runs are saved in study-saved.db; add them to a copy of study.db with ampler merge")
    assert rest.startswith("the 12 runs of this session that were in memory are saved in study-saved.db, and what is")
    assert "study.db may be read with ampler rescue" in rest


def test_a_file_in_another_folder_is_named_with_its_folder():
    elsewhere = Path("/elsewhere/study-saved.db")

    assert "saved in /elsewhere/study-saved.db;" in Saved(elsewhere, whole=True).words(LOST, 12)


def test_what_became_of_the_file_is_said_from_then_on(tmp_path):
    study = tmp_path / "study.db"
    study.write_bytes(b"x")
    insurance = Insurance(study)
    study.unlink()

    what = insurance.became(lambda: None)
    told = insurance.lose(what, "all is saved")

    assert str(told) == "study.db was removed or renamed while the study ran; all is saved"
    assert insurance.loss is told
