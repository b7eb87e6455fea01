"""One run of an algorithm: a Command or a Function executed under limits, and nothing left behind.

In reading order:

* `execution`: `run_once`, whatever happens becomes an outcome; what is done before and after a run is not measured;
  programs that are started once and make run after run
* `functions`: calls of Python functions, and what is put back of what they change
* `processes`: process groups under limits, and what a run leaves behind
* `supervisor`: the parent of all workers, which ends with its driver, and everything with it
* `readings`: the value in what a command printed or a function returned
"""
