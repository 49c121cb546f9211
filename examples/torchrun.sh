#!/bin/sh
# Train one model with several processes, which share its memory and its work.
#
#     sh examples/torchrun.sh TEXT MODEL [PROCESSES]
#
# On several machines, start the same torchrun command on each, with --nnodes and --rdzv-endpoint instead of --standalone,
# where all of them see the folder of counts. If a process dies, torchrun starts all of them again, at most three times,
# and training goes on from its last checkpoint.
set -eu
text=$1
model=$2
processes=${3:-2}
say() { printf '\n$ %s\n' "$*"; "$@"; }

test -e "$model.counts" || say gensim-hilbert count "$text" -o "$model.counts"
say torchrun --standalone --nproc-per-node "$processes" --max-restarts 3 -m gensim_hilbert \
    train --counts "$model.counts" -o "$model" --overwrite --vector-size 50
say gensim-hilbert info "$model"
