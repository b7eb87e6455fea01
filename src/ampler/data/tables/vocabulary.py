"""The words people use for their columns, by what such a column holds. Pure: names alone, no cells.

Names are compared as letters and digits only (`fold`), or word by word where a longer name says the same: "CPU time",
"number of jobs".
"""

from __future__ import annotations

import re

# A word begins at a capital after a small letter (TestAccuracy), and at what is no letter or digit (test_accuracy).
BREAK = re.compile(r"(?<=[a-z])(?=[A-Z])|[^0-9A-Za-z]+")


def fold(name: object) -> str:
    """Return a column's name as it is compared: lower case, letters and digits only.

    >>> fold("Data set_Name")
    'datasetname'
    """
    return re.sub(r"[^0-9a-z]", "", str(name).lower())


def words_of(name: object) -> list[str]:
    """Return the words of a name in lower case.

    >>> words_of("TestAccuracy (%)"), words_of("n_jobs")
    (['test', 'accuracy'], ['n', 'jobs'])
    """
    return [word.lower() for word in BREAK.split(str(name)) if word]


def word_set(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


# who was run on what ----------------------------------------------------------------------------------------------

ALGORITHM = word_set(
    "algorithm algorithmname algorithmid alg algname algid algo algoname algoid solver solvername solverid method"
    " methodname methodid classifier classifiername classifierid optimizer optimiser optimizername optimisername"
    " optimizerid heuristic heuristicname metaheuristic variant variantname config configuration configurationid"
    " configname configid approach approachname learner learnername learnerid estimator estimatorname"
)
ALGORITHM_ELSE = word_set(  # where none of the above is there
    "model modelname modelid agent agentname agentid policy policyname strategy strategyname system systemname tool"
    " toolname implementation technique detector predictor sampler planner prover compiler llm engine backend"
)
INSTANCE = word_set(
    "instance instanceid instancename inst instname problem problemname problemid prob dataset datasetname datasetid"
    " data dataname database benchmark benchmarkname benchmarkid bench func funcid funcname function functionid"
    " functionname functionnumber fid"
)
INSTANCE_ELSE = word_set(
    "task taskid taskname testcase case caseid file filename input inputfile inputname graph graphname matrix"
    " matrixname env envid envname environment environmentname game scenario scenarioname circuit formula query queryid"
    " question questionid prompt promptid docid itemid"
)
DIMENSION = word_set("dim dims dimension dimensions ndim dimensionality")

# what a run is among others ---------------------------------------------------------------------------------------

INDEX = word_set(
    "index run runid runno runnumber runindex rep repid repno repetition repetitionid repetitions replicate replicateid"
    " replication repeat repeatid execution executionid iteration trial trialid trialno trialnumber fold foldid cvfold"
    " kfold split splitid try tryid draw restart replica"
)
# One of the runs of a table that has them side by side: run.1, run_2, rep3, trial 5.
RUN_WORD = re.compile(r"(?:run|rep|repetition|replicate|trial|fold|seed|split|attempt)[\s._-]*\d+", re.IGNORECASE)
FOLDS = word_set("fold foldid cvfold split splitid cv kfold")  # of a cross-validation
STEP = word_set("iteration")  # numbers the runs, unless another column does: then it counts steps within a run
STEPS = word_set(  # never numbers the runs: rows that differ in it are moments of one run
    "epoch step timestep generation gen iter evals nevals evaluation evaluations nevaluations fevals nfev checkpoint"
    " episode globalstep totalsteps"
)
SEED = word_set("seed seedid randomseed rngseed rndseed rseed randomstate")
ATTEMPT = word_set("attempt attemptid attemptno")
METRIC = word_set("metric metricname metricid measure measurename indicator indicatorname criterion criterionname")
STATUS = word_set("status runstatus state exitstatus exitcode solverstatus")
DIRECTION = word_set("maximize maximise maximization maximisation")

# what was measured ------------------------------------------------------------------------------------------------

VALUE = word_set("value observation obs metricvalue result results y finalfv fx finalvalue bestvalue")
MEASURE = word_set(  # what the value may be called when no column is called value
    "accuracy acc auc auroc error errorrate loss score fitness bestfitness finalfitness objective objectivevalue obj"
    " objval objvalue bestobjective fbest bestf best bestsofar bestcost cost makespan quality gap time times runtime"
    " runningtime seconds duration cputime walltime usertime elapsed elapsedtime latency rt evaluations fe ert"
    " performance hypervolume hv igd f1 rmse mse mae profit reward return returns regret success passed pass correct"
    " solved precision recall"
)
# Columns in which true and false mean that a run succeeded or not.
SUCCESS = word_set("success succeeded successful passed pass correct iscorrect solved issolved resolved accepted won")
# Words that say what values are, and those that stand beside them.
MEASURING = (
    MEASURE
    | VALUE
    | word_set(
        "r2 mcc kappa ndcg mrr iou dice bleu rouge perplexity nll logloss brier mape wer cer throughput speedup memory"
        " makespan tardiness distance fscore sensitivity specificity auprc par2 par10 conflicts"
    )
)
UNSURE = word_set("y fx fe rt hv")  # short enough to be the name of anything
BESIDE_A_MEASURE = word_set(
    "test train training validation valid val dev mean avg average median final best total cpu wall user sys real clock"
    " s ms sec secs seconds percent pct mb gb in of the macro micro weighted balanced top 1 5 10 at rate value log"
    " absolute relative squared root mse max min"
)

# what describes an instance, and what sums up results -------------------------------------------------------------

# Things that tables tell of an instance in numbers, beside the results: never an algorithm unless the user says so.
DESCRIBING = word_set(
    "size length radius node edge vertex vertices arc job machine customer vehicle item variable var constraint clause"
    " feature attribute sample example observation class label capacity density width height depth year timelimit"
    " cutoff optimum opt optimal bestknown bks lowerbound upperbound lb ub resource period stage operation facility"
    " facilities depot city cities location point row column bin tightness correlation noise sparsity diameter degree"
    " treewidth volume area horizon demand budget deadline limit parameter param instance population popsize scale"
    " difficulty hardness complexity entropy imbalance dimension dim dimensionality site warehouse truck server"
    " processor core qubit token peak layer neuron module loc record tuple transaction document bit byte"
)
QUALIFYING = word_set(
    "instance problem dataset data set graph matrix network number of num nb no n count total avg average mean max min"
    " maximum minimum the input train training test known best value lower upper time memory noise lot batch search"
)
COUNTING = word_set("num nb number count nr")
WHOLE_THINGS = word_set(  # longer names that are one word
    "instancesize problemsize datasetsize nnodes numnodes nvars nfeatures nsamples nclasses bestknownvalue bestknown"
    " lowerbound upperbound timelimit memorylimit ninstances"
)
# Names too short to be sure of: descriptors where they hold whole numbers alone.
COUNT = word_set("n m k d p id no nr number group class cluster level category type family suite")
ROW_NUMBER = word_set("id no nr number unnamed0 column1 rowname level0 row rownumber rowid")
SUMMARY = word_set(
    "mean average avg median std stdev stddev sd variance min max minimum maximum rank ranks meanrank averagerank"
    " avgrank total sum overall best worst winner wins losses draws ties pvalue improvement sem iqr"
    " standarddeviation standarderror"
)
STATISTIC = word_set("mean avg average median std stdev stddev sd var variance se sem min max best worst rank ci iqr")


def describes(name: object) -> bool:
    """Whether a name is that of something an instance has: its size, the number of its jobs, its best known value.

    >>> describes("n_jobs"), describes("#clauses"), describes("Instance size"), describes("SVM")
    (True, True, True, False)
    """
    plain, words = fold(name), words_of(name)
    if not words or plain in WHOLE_THINGS | DIMENSION or _is_thing(plain):
        return bool(words)
    counted = (words[0] in COUNTING and len(words) > 1) or words[:2] == ["no", "of"]
    if counted or str(name).lstrip().startswith(("#", "|")):
        return True
    return _is_thing(words[-1]) and all(word in QUALIFYING for word in words[:-1])


def counts(name: object) -> bool:
    """Whether a name is that of a number of things, if the column holds whole numbers: n, id, n_anything.

    >>> counts("n"), counts("nLots"), counts("naive")
    (True, True, False)
    """
    words = words_of(name)
    return fold(name) in COUNT | ROW_NUMBER or (len(words) > 1 and words[0] == "n")


def summarises(name: object) -> bool:
    """Whether a name is that of a mean, a rank or their like over other columns or rows.

    >>> summarises("Avg. rank"), summarises("Total"), summarises("Best-first search")
    (True, True, False)
    """
    words = words_of(name)
    return bool(words) and (fold(name) in SUMMARY or all(word in SUMMARY for word in words))


def is_measure(name: object) -> bool:
    """Whether a name is that of what was measured, and not of what was run.

    >>> is_measure("Test accuracy (%)"), is_measure("f1"), is_measure("cost-sensitive SVM")
    (True, True, False)
    """
    words = words_of(name)
    if fold(name) in UNSURE:
        return False
    return fold(name) in MEASURING or (
        any(word in MEASURING for word in words) and all(word in MEASURING | BESIDE_A_MEASURE for word in words)
    )


def _is_thing(word: str) -> bool:
    return word in DESCRIBING or (word.endswith("s") and word[:-1] in DESCRIBING)
