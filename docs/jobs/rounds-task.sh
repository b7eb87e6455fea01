#!/usr/bin/env bash
#SBATCH --time=01:00:00
# One run of a round: its line of rounds/runs.tsv; the value is the last line printed.
set -uo pipefail

IFS=$'\t' read -r instance algorithm index seed call < <(sed -n "${SLURM_ARRAY_TASK_ID}p" rounds/runs.tsv)
run=$(printf '"instance": "%s", "algorithm": "%s", "index": %d, "seed": %d' "$instance" "$algorithm" "$index" "$seed")
if value=$(bash -c "$call" | tail -n 1) && [ -n "$value" ]; then
  printf '{%s, "value": %s}\n' "$run" "$value"
else
  printf '{%s, "status": "failed"}\n' "$run"
fi > "rounds/$SLURM_ARRAY_TASK_ID.jsonl"
