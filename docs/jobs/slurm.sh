#!/bin/bash
#SBATCH --job-name=neighbourhoods
#SBATCH --array=1-20
#SBATCH --cpus-per-task=4
#SBATCH --time=24:00:00
#SBATCH --signal=TERM@60
parts=20 # as many as the array has
cd "$SLURM_SUBMIT_DIR" || exit 1
exec ampler run study.toml --part "$SLURM_ARRAY_TASK_ID/$parts" --workers "$SLURM_CPUS_PER_TASK"
