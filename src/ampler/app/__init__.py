"""The fronts. Answers: how do people at a terminal or a browser reach the rooms below?

* `shell`: the `ampler` command;
* `web`: the pages of `ampler serve`;
* `surroundings`: what lies in the working folder is data, and runs nothing.

Thin: a front reads options and lays out words. What is said of a design, a study, an analysis or advice stands in the
`words` of their rooms, so that every front says the same. May import every room but `testing`; nothing imports it.
"""
