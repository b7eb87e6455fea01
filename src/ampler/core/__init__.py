"""The words we share: values, errors and contracts, and how they are checked, written and told. No statistics.

In reading order:

* `errors`: everything that can go wrong, as one tree;
* `choices`: the words of every choice, as types;
* `values`: what crosses rooms: an instance, an algorithm, a plan, a run and what it gave, what a rule decides;
* `failures`: what a failed run counts as: its types, how people write it, its words, its numbers;
* `settings`: what is asked of an analysis, one value from the shell, the browser and Python;
* `samples`: the runs of one instance, as a rule sees them; `runs`: many runs as columns, as an analysis takes them;
* `contracts`: what a plug-in can fill: a rule, a statistic, an executor, a store;
* `arrays`: the kinds of arrays and pairs, named once;
* `checks`: a number or a word that fits, or one sentence why not;
* `wording`: numbers, counts, lists, times and sizes as a sentence has them; `names`: names as people know them;
  `enumerated`: several names in one text; `layout`: tables as text that fits a width;
  `spoken`: parameters in messages, for Python and for a shell; `notebooks`: how a value asks to be shown in one;
* `plain`: values as JSON, as records and as digests; `typed`: data from a file held against the types of our values;
* `files`: write beside, then replace; the only module here that touches files.

A run's way through the values: an `Instance` and an `Algorithm` of a `Plan` meet in a `RunKey`; running it gives an
`Observation`; those of one instance are `Samples`, on which a rule takes a `Decision`; those of a study are `Runs`, on
which an analysis rests, and what its reader must know is a `Caution`.

This room imports nothing of ampler. numpy comes with arrays only, so that the shell can use values and start quickly.
"""
