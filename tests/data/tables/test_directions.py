"""What is better, by the name of the values: only where nobody could mean the other."""

from __future__ import annotations

import pytest

from ampler.data.tables.vocabulary import EITHER, HIGHER, LOWER, better_by_name, is_never_value

# Names as tools write them, with what each implies. In doubt: ask.
HIGHER_NAMES = [
    # machine learning: scikit-learn, Keras, Lightning, MLflow, Weights & Biases, Hugging Face
    *("accuracy", "Accuracy (%)", "test_accuracy", "TestAccuracy", "top-1 accuracy", "val_acc", "train/accuracy"),
    *("metrics.accuracy", "eval/accuracy", "balanced_accuracy", "balanced_acc", "mean AUC", "roc_auc", "ROC AUC"),
    *("auprc", "average_precision", "F1", "f1_macro", "macro F1", "weighted_f1", "Recall", "recall@10", "ndcg@10"),
    *("MRR", "mIoU", "meanIoU", "dice", "R2", "r2_score", "MCC", "matthews_corrcoef", "BLEU", "rougeL", "psnr"),
    *("exact_match", "pass@1", "top5_accuracy", "log-likelihood", "true positive rate", "cv_accuracy_mean"),
    # reinforcement learning: Stable-Baselines3, CleanRL, RLlib
    *("reward", "mean_reward", "rollout/ep_rew_mean", "charts/episodic_return", "cumulative reward", "win rate"),
    # search, solvers, systems
    *("hypervolume", "HV", "success rate", "success", "solved", "num_solved", "n_correct", "correct (%)", "profit"),
    *("throughput", "speedup", "fps", "tokens per second", "ops/s", "resolved", "pass rate", "elo"),
]  # fmt: skip
LOWER_NAMES = [
    # solvers and systems: BenchExec, AClib, hyperfine, Google Benchmark, Go, JMH
    *("time", "Time [s]", "time (ms)", "cpu_time", "cputime (s)", "wallTimeMs", "runtime", "running time", "seconds"),
    *("user time", "elapsed", "solve_time", "solver_time_s", "total_time", "time_total_s", "Runtime", "latency"),
    *("p99_latency_ms", "ns/op", "peak_memory_mb", "memory (MB)", "PAR10", "par 10", "PAR2 score", "timeouts"),
    *("time to target", "response time", "failure rate", "num_failures", "execution time", "mip_gap", "inference time"),
    # machine learning
    *("val_loss", "train/loss", "loss", "log-loss", "cross_entropy", "error", "error rate", "test error", "err (%)"),
    *("mean squared error", "RMSE", "mae", "mean_absolute_error", "MAPE", "perplexity", "brier score", "WER", "fpr"),
    *("mean_fit_time", "mean_per_class_error", "hamming_loss", "ECE", "number of errors", "misclassification rate"),
    # metaheuristics
    *("total cost", "best_cost", "gap", "optimality_gap", "gap (%)", "regret", "simple_regret", "makespan", "Cmax"),
    *("total weighted tardiness", "flow time", "tour length", "IGD", "IGD+", "constraint violation", "ERT"),
]  # fmt: skip
ASKED = [
    # words that turn the meaning of others
    *("gap_closed", "accuracy_drop", "cost_efficiency", "survival_time", "errors_fixed", "error_free"),
    *("reward_variance", "accuracy_std", "loss reduction", "time saved", "speedup time", "error margin"),
    *("1 - accuracy", "1-F1", "-loss", "−reward", "(-accuracy)", "100 - accuracy", "time^-1", "1/time", "inverse time"),
    *("neg_mean_squared_error", "negative loss", "neg_log_loss", "cost saving", "error reduction", "cost_saved"),
    *("time to failure", "mean time between failures", "uptime", "time_remaining", "flight time", "weight_loss"),
    *("loss ratio", "error tolerance", "error_bound", "accuracy_gap", "regret bound", "recall_loss", "hearing loss"),
    *("no_errors", "no failures", "pct_in_time", "ΔTime", "¬correct", "!solved", "accuracy ↓", "loss↑", "目标 loss"),
    *("reward penalty", "profit loss", "success cost", "latency improvement", "memory_saved", "violations fixed"),
    *("crash free rate", "time since last error", "cost recovered", "failures_prevented", "timeouts avoided"),
    *("accuracy rank", "delta_accuracy", "reward_std", "min_accuracy_threshold", "max_time", "cost benefit"),
    # words of both sides
    *("value", "result", "Observation", "fitness", "objective", "score", "mean_test_score", "quality", "performance"),
    *("f(x)", "y", "finalFV", "length", "distance", "energy", "precision", "kappa", "ELBO", "return", "coverage", "rt"),
    # a fuzzer looks for them
    *("crashes", "unique crashes", "total_crashes"),
    *("bestsofar", "objval", "quality score", "size", "", "-", "0.5", "improvement", "gain", "quality_loss_ratio"),
    # no results at all
    *("timestamp", "start_time", "end_time", "time_limit", "learning_rate", "step", "epoch", "error_code", "date"),
    *("returncode", "memory_limit", "cost_center", "time_step", "time zone", "datetime_start", "loss_function"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("names", "better"),
    [(HIGHER_NAMES, "higher"), (LOWER_NAMES, "lower"), (ASKED, None)],
    ids=["higher", "lower", "ask"],
)
def test_a_whole_name_says_what_is_better_and_any_other_is_asked_about(names, better):
    assert [(name, better_by_name(name)) for name in names] == [(name, better) for name in names]


def test_the_list_is_long_enough_and_names_nothing_twice():
    names = [*HIGHER_NAMES, *LOWER_NAMES, *ASKED]
    assert len(names) == len(set(names)) >= 200


@pytest.mark.parametrize(
    "word", ["drop", "closed", "saved", "efficiency", "variance", "free", "fixed", "avoided", "per"]
)
@pytest.mark.parametrize("join", ["_", " ", "-", "."])
def test_no_measure_with_another_word_behind_or_before_it_says_a_direction(word, join):
    kept = {f"{name}{join}{word}" for name in HIGHER | LOWER} | {f"{word}{join}{name}" for name in HIGHER | LOWER}
    assert [name for name in kept if better_by_name(name) is not None] == []


def test_no_word_says_both_and_no_measure_is_a_column_that_is_never_a_value():
    assert not HIGHER & LOWER
    assert not EITHER & (HIGHER | LOWER)
    assert [name for name in HIGHER | LOWER | EITHER if is_never_value(name)] == []
