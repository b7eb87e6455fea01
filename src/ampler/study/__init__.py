"""A study written down: what is compared (plan, study.toml) and what was run (study.db).

    study.toml ─► toml ─► plan ─► record ─► store ◄── what was run
                            │                 │
                   run_inputs, stopping       └─► status, evidence

In reading order:

* `plan`: design, algorithms, instances, rule and seed become a plan
* `run_inputs`: the seed of every run, the order of the instances, the arguments of a command
* `record`: what is kept of a plan, with a value for every setting that nobody chose
* `changes`: what happens when a results file meets another plan, and what then must stay as it is
* `stopping`: decisions over instances, taken again when a study continues
* `detect`: the study rule that finds its own size; `interim`: the one with interim analyses
* `families`: algorithms that join a finished study, whose comparisons are a later family
* `code`: the files behind an algorithm; `code_changes`: what happens when they change
* `toml`: study.toml, read with the line of whatever does not fit; `starters`: studies to start from
* `store`: study.db, the only place that speaks SQL
* `status`: the progress of a study, also while it grows; `evidence`: what its file says in addition to its runs
* `warnings`: plans that were enlarged after results were there, machines that were busy while times were measured
* `forecast`, `failure_patterns`: what it will take, and what its failed runs say
* `text`: all of this in sentences, the same for shell and browser

It may import `analysis` and all below it, and knows not who makes runs; only `interim` asks what they mean.
Only `toml`, `code`, `store` and `starters` touch files.
"""
