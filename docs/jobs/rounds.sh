#!/usr/bin/env bash
# A study in rounds of job arrays: ampler lists the runs, SLURM makes them, ampler records them and decides.
set -euo pipefail

study=${1:-study.toml}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p rounds
while ampler next "$study" > rounds/runs.tsv && [ -s rounds/runs.tsv ]; do
  rm -f rounds/*.jsonl
  sbatch --wait --array="1-$(wc -l < rounds/runs.tsv)" "$here/rounds-task.sh"
  cat rounds/*.jsonl | ampler record "$study" -
done
