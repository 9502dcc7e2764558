#!/bin/bash
# Parton in containers under Slurm: one rank, and so one host of Parton, on each of four machines.
#   sbatch deploy/slurm.sh pagerank graph.parton --output ranks.parquet/
# Needs Slurm with PMIx (`srun --mpi=list`), and Apptainer with the image: apptainer build parton.sif
# docker-daemon:parton:latest. With Pyxis: srun --mpi=pmix --container-image=parton.sqsh parton run …
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
set -euo pipefail

image=${PARTON_IMAGE:-parton.sif}
srun --mpi=pmix apptainer exec --bind "$PWD:$PWD" --pwd "$PWD" "$image" parton run "$@"
