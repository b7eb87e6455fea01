#!/bin/bash
#$ -N neighbourhoods
#$ -t 1-20
#$ -pe smp 4
#$ -l h_rt=24:00:00
#$ -cwd
#$ -S /bin/bash
parts=20 # as many as the array has
exec ampler run study.toml --part "$SGE_TASK_ID/$parts" --workers "$NSLOTS"
