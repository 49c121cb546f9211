#!/bin/sh
# Counts a text on the nodes of a cluster with Slurm and MPI:
#
#     sbatch examples/slurm_mpi.sh 's3://corpus/*.gz' s3://bucket/wiki.counts
#
# The first rank directs the work, all others count. They share either a file system or a bucket. A job that was ended by
# its time limit or by a broken node goes on when it is submitted again.
#SBATCH --job-name=count
#SBATCH --ntasks=65
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=3G
#SBATCH --time=12:00:00
set -eu
CORPUS=$1
STORE=$2
# Outside of Slurm, mpiexec starts as many processes as RANKS says.
RANKS=${SLURM_NTASKS:-${RANKS:-3}}
exec mpiexec -n "$RANKS" "${PYTHON:-python}" -m mpi4py.futures -m gensim_hilbert count "$CORPUS" -o "$STORE" --mpi
