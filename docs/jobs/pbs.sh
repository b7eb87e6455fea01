#!/bin/bash
#PBS -N neighbourhoods
#PBS -J 1-20
#PBS -l select=1:ncpus=4
#PBS -l walltime=24:00:00
parts=20 # as many as the array has
cd "$PBS_O_WORKDIR" || exit 1
exec ampler run study.toml --part "$PBS_ARRAY_INDEX/$parts" --workers "$NCPUS"
