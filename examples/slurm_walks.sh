#!/usr/bin/env bash
#SBATCH --job-name=walks
#SBATCH --cpus-per-task=8
# Each task of a Slurm array makes one part of a corpus of walks (docs/launchers.md):
#
#   sbatch --array=0-31 examples/slurm_walks.sh GRAPH OUT [OPTIONS OF tendril walk]
#
# Part 5 of 32 of walks.safetensors is walks.part-00005-of-00032.safetensors. It appears when it is complete, and a task
# that runs again writes the same bytes. Set PARTS=32 to run a few tasks of an array again: Slurm then counts only these.
set -euo pipefail

if (($# < 2)); then
  echo "slurm_walks.sh: $# arguments, expected GRAPH OUT [OPTIONS]" >&2
  exit 2
fi
graph=$1
out=$2
shift 2

id=${SLURM_ARRAY_TASK_ID:?expected a task of an array: sbatch --array=0-31}
parts=${PARTS:-${SLURM_ARRAY_TASK_COUNT:?expected a task of an array: sbatch --array=0-31}}
part=$(printf '%s.part-%05d-of-%05d.%s' "${out%.*}" "$id" "$parts" "${out##*.}")

exec tendril walk "$graph" -o "$part" --part "$id/$parts" --threads "${SLURM_CPUS_PER_TASK:-0}" --quiet "$@"
