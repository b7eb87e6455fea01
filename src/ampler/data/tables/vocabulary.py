"""The words people use for their columns, by what such a column holds. Pure: names alone, no cells.

Names are compared as letters and digits only (`fold`), or word by word where a longer name says the same: "CPU time",
"number of jobs".
"""

from __future__ import annotations

import re

# A word begins at a capital after a small letter (TestAccuracy), and at what is no letter or digit (test_accuracy).
BREAK = re.compile(r"(?<=[a-z])(?=[A-Z])|[^0-9A-Za-z]+")


def fold(name: object) -> str:
    """Return a column's name as it is compared: lower case, letters and digits only, without a tool's prefix.

    >>> fold("Data set_Name"), fold("params.model")
    ('datasetname', 'model')
    """
    return re.sub(r"[\W_]", "", PREFIX.sub("", str(name)).lower())


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
# Whole names that mean one thing wherever results are compared. A word that may turn them (accuracy drop, gap closed,
# survival time) makes another name, which is in neither list.
HIGHER = word_set(
    "accuracy acc auc auroc rocauc aucroc auprc prauc aucpr rocaucscore averageprecision f1 f1score fscore fmeasure"
    " recall specificity r2 r2score rsquared adjustedr2 cohenkappa cohenskappa mcc matthewscorrcoef ndcg mrr hitrate"
    " iou miou jaccard dice dicescore bleu bleuscore sacrebleu rouge rouge1 rouge2 rougel exactmatch psnr ssim reward"
    " rewards episodereward episodereturn episodicreturn episodicreward epreturn eprewmean eprew profit revenue"
    " hypervolume hv throughput speedup fps qps itspersecond samplespersecond tokenspersecond iterationspersecond"
    " opspersecond requestspersecond opss wins winrate elo sharperatio success successes successrate successful"
    " passrate passed pass1 pass10 pass100 solved solverate solvedinstances instancessolved correct resolved"
    " resolvedrate testaccuracy testacc valacc trainacc likelihood loglikelihood loglik tpr tnr truepositiverate"
    " truenegativerate truepositives truenegatives"
)
LOWER = word_set(
    "time runtime runningtime seconds milliseconds duration cputime gputime walltime wallclocktime wallclock usertime"
    " systime systemtime elapsed elapsedtime executiontime exectime solvetime solvertime solvingtime computetime"
    " computationtime computationaltime computingtime fittime scoretime predicttime predictiontime inferencetime"
    " searchtime planningtime compiletime compilationtime buildtime waittime waitingtime responsetime completiontime"
    " processingtime timetotarget timetosolution timeperiteration timeperop latency nsop delay downtime slowdown par2"
    " par10 par2score par10score ert error err errors errorrate loss losses logloss crossentropy crossentropyloss bce"
    " nll nllloss perplexity brier brierscore mse rmse mae mape smape mase rmsle msle nrmse medae squarederror"
    " absoluteerror rootmeansquarederror rootmeansquare rootmeansquaredlogerror absolutepercentageerror"
    " squaredlogerror rmserror mserror perclasserror misclassification misclassificationrate missrate zerooneloss"
    " hammingloss hingeloss l1loss l2loss calibrationerror expectedcalibrationerror ece wer cer worderrorrate"
    " charactererrorrate eer lpips fpr fnr falsepositiverate falsenegativerate falsepositives falsenegatives regret"
    " simpleregret cost costs makespan cmax tardiness lateness earliness flowtime tourlength gap gaps optimalitygap"
    " mipgap primalgap dualitygap primalintegral igd memory memoryusage peakmemory memusage maxrss peakrss evaluations"
    " functionevaluations fevals nfev failures failurerate timeouts timeoutrate crashes crashrate penalty penalties"
    " violation violations constraintviolation constraintviolations infeasibility trainloss valloss testloss testerror"
    " totaltime averagetime avgtime totalcost bestcost finalcost"
)
# What is measured, too, and maximised by some and minimised by others: these are asked.
EITHER = word_set(
    "score fitness objective objectivevalue obj objval objvalue fbest bestf bestsofar quality performance fe rt"
    " return returns precision sensitivity kappa elbo map distance energy conflicts pass bestfitness finalfitness"
    " bestobjective"
)
MEASURE = HIGHER | LOWER | EITHER
# Columns in which true and false mean that a run succeeded or not.
SUCCESS = word_set("success succeeded successful passed pass correct iscorrect solved issolved resolved accepted won")
UNSURE = word_set("y fx fe rt hv map return pass")  # short enough to be the name of anything
# Words around the name of a measure that leave its direction as it is: where, over what, and in which unit.
AROUND = word_set(
    "test tests train training val valid validation dev eval evaluation holdout heldout oof cv crossval cpu gpu wall"
    " mean avg average median final last best total overall sum macro micro weighted balanced samples binary"
    " multiclass relative absolute rel abs normalized normalised norm scaled cumulative cum percent pct percentage"
    " perc number num n nb no count of the in metrics metric rollout charts top top1 top3 top5 top10 at p50 p90 p95"
    " p99 p999"
)
UNITS = word_set(
    "s ms us ns sec secs second seconds msec millisecond milliseconds microseconds nanoseconds min mins minutes h hr"
    " hrs hours b kb mb gb kib mib gib bytes usd eur"
)
# Words that make another measure of one, whose direction no name tells.
CHANGING = word_set(
    "value log log10 ln squared root max min real clock user sys neg negative minus inverse reduction improvement"
    " saved gain ratio drop closed efficiency survival fixed free variance difference delta"
)
# What MLflow, Weights & Biases, Optuna and scikit-learn put before a name, and before that of a setting.
PREFIX = re.compile(r"^(?:metrics?|config|tags)[./]|^(?:params?|user_attrs|system_attrs)[._/]", re.IGNORECASE)
SETTING = re.compile(r"^(?:config|tags)[./]|^(?:params?|system_attrs)[._/]", re.IGNORECASE)
TURNED = re.compile(r"^\W*(?:[-−–]\s*\w|\d[\d.%\s]*[-−–/])|.*[\^*×⁻]")  # -loss, 1 - accuracy, time^-1
# Names that are never values: what identifies a row, says when it was made, or is a setting.
NEVER = word_set(
    "number datetimestart datetimecomplete starttime endtime startedat endedat createdat updatedat created updated date"
    " datetime timestamp ts epochtime unixtime started finished submitted version ver codeversion release revision"
    " commit sha hash pid port lr learningrate batchsize nestimators maxdepth momentum weightdecay dropout"
)
IDENTIFYING = word_set("id ids uuid guid hash sha timestamp datetime")  # the last word of longer names
NEVER_LAST = IDENTIFYING | word_set("date seed version")
DERIVED = word_set("rank std sd stddev stdev")  # a word of a name for what is computed from results


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

    >>> is_measure("Test accuracy (%)"), is_measure("accuracy drop"), is_measure("cost-sensitive SVM")
    (True, True, False)
    """
    if fold(name) in UNSURE or is_never_value(name):
        return False
    if measure_in(name) is not None or str(name).lower().startswith("metrics."):
        return True
    words = words_of(name)
    beside = MEASURE | VALUE | AROUND | UNITS | CHANGING
    return any(word in MEASURE for word in words) and all(word in beside or word.isdigit() for word in words)


def measure_in(name: object) -> str | None:
    """Return the one whole measure that a name is, without what may stand around it; None if it is another name.

    >>> measure_in("val_loss"), measure_in("CPU time (s)"), measure_in("ndcg@10"), measure_in("accuracy_drop")
    ('valloss', 'cputime', 'ndcg', None)
    """
    if TURNED.match(str(name)):
        return None
    words = words_of(str(name))
    last = [len(words)]
    while last[-1] > 1 and (words[last[-1] - 1] in AROUND | UNITS or words[last[-1] - 1].isdigit()):
        last.append(last[-1] - 1)
    first = [0]
    while first[-1] < len(words) - 1 and (words[first[-1]] in AROUND or words[: first[-1]][-1:] == ["top"]):
        first.append(first[-1] + 1)
    cores = ("".join(words[start:end]) for start in first for end in last if start < end)
    return next((core for core in cores if core in MEASURE), None)


def is_never_value(name: object) -> bool:
    """Whether a name is that of what no study compares: an id, a version, a moment, a seed, a size, a setting.

    >>> is_never_value("experiment_id"), is_never_value("_timestamp"), is_never_value("params.lr"), is_never_value("lr")
    (True, True, True, True)
    """
    if SETTING.match(str(name)) is not None or is_identifying(name):
        return True
    words, plain = words_of(name), fold(name)
    if (
        plain in NEVER | SEED | ROW_NUMBER | (STEPS - MEASURE)
        or not NEVER_LAST.isdisjoint(words[-1:])
        or is_derived(name)
    ):
        return True
    return describes(name) and measure_in(name) is None


def is_derived(name: object) -> bool:
    """Whether a name is that of a rank or a standard deviation of results."""
    return not DERIVED.isdisjoint(words_of(name))


def is_identifying(name: object) -> bool:
    """Whether a name is that of an id or a moment, whatever kind of table it is in.

    >>> is_identifying("experiment_id"), is_identifying("_timestamp"), is_identifying("TS")
    (True, True, False)
    """
    words = words_of(name)
    return (
        fold(name).startswith("unnamed") or fold(name) == "timestamp" or (len(words) > 1 and words[-1] in IDENTIFYING)
    )


def _is_thing(word: str) -> bool:
    return word in DESCRIBING or (word.endswith("s") and word[:-1] in DESCRIBING)
