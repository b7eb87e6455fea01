"""A study written down: what is compared (plan, study.toml) and what was run (study.db).

    study.toml ─► toml ─► plan ─► record ─► store ◄── what was run
                            │                 │
                   seeds, stopping            └─► status, evidence

In reading order:

* `plan`: design, algorithms, instances, rule and seed become a plan
* `seeds`: the seed of every run, the order of the instances
* `defaults`: a value for every setting that nobody chose
* `record`: what is kept of a plan; `changes`: what happens when a study file meets another one
* `stopping`: decisions over instances, taken again when a study goes on; `decided`: what then must stay as it is
* `detect_rule`: the study rule that finds its own size; `detect`: its decision; `cells`: what it sees of the runs
* `looks_rule`: the study rule that is looked at on the way; `looks_analysed`: when such a study may be analysed
* `asked`: what a plan says of its analysis
* `code`: the files behind an algorithm, and what happens when they change
* `command_line`: the arguments of a command, with places for instance, seed and parameters
* `toml`: study.toml, read with the line of whatever does not fit; `starters`: studies to start from
* `store`: study.db, the only place that speaks SQL
* `status`, `evidence`: where a study stands, and what its file says besides its runs
* `following`: where it stands, look by look while it grows
* `repeated_testing`: plans that were enlarged after results were there
* `forecast`, `failing`: what it will take, and what its failed runs say
* `fairness`: whether the machine was busy, or drifted, while times were measured
* `words`: all of this in sentences, the same for shell and browser

It may import `analysis` and all below it, and knows not who makes runs; only `looks_rule` asks what they mean.
Only `toml`, `code`, `store` and `starters` touch files.
"""
