"""The code behind algorithms: which files their runs hang on, and what happens when these change.

In reading order:

* `files`: the files of an algorithm, each with its hash
* `modules`: what a Python file imports from its own folder
* `scripts`: functions of the program that was started, or of a notebook, where a file says too much or nothing
* `instances`: instances that are Python objects: a digest of what each contains
* `changes`: the code of recorded runs against the present one; `joining`: that of several study files. Pure

The others read files; nothing is executed.
"""
