"""CPU time of an epoch of the paper's networks on one core, against the same networks over packed sequences.

    python benchmarks/networks.py [--sets WSJ SemCor Brown AGNews IMDB] [--batches 12] [--vector-size 300]

Both train on the same batches of each set, drawn at random, one batch after the other, with vectors of random numbers;
the time of an epoch is that of a token times the tokens of the training part. `nn.LSTM` over packed sequences is what
one would write first; its backward pass takes time quadratic in the length of texts.
"""

from __future__ import annotations

import argparse
import importlib
import random
import sys
import time

import numpy as np
import torch
from gensim.models import KeyedVectors
from inputs import DATA, require
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from gensim_hilbert.evaluation import find_data
from gensim_hilbert.evaluation.extrinsic import Job, prepare
from gensim_hilbert.evaluation.networks import DROPOUT, HIDDEN, NO_LABEL, RATE, Classifier, Encoder, Tagger, batches

# The package has functions of these names.
SETS = {task: importlib.import_module(f"gensim_hilbert.evaluation.{task}") for task in ("tagging", "classification")}
NAMES = ("WSJ", "SemCor", "Brown", "AGNews", "IMDB")


class Packed(nn.Module):
    """The encoder of a network, replaced by torch's own BiLSTM."""

    def __init__(self, encoder: Encoder):
        super().__init__()
        self.embeddings = encoder.embeddings
        layers = len(encoder.layers)
        self.lstm = nn.LSTM(self.embeddings.shape[1], HIDDEN, layers, batch_first=True, bidirectional=True,
                            dropout=DROPOUT if layers > 1 else 0.0)  # fmt: skip

    def encode(self, rows: torch.Tensor, lengths: torch.Tensor, padding: float) -> torch.Tensor:
        packed = pack_padded_sequence(self.embeddings[rows], lengths, batch_first=True)
        return pad_packed_sequence(self.lstm(packed)[0], batch_first=True, padding_value=padding)[0]


def jobs(names: list[str], size: int) -> dict[str, Job]:
    """The sets, with random vectors for every word."""
    data, found = find_data(DATA), {}
    for task, module in SETS.items():
        for name, files in getattr(data, task).items():
            if name not in names:
                continue
            split = module.read(name, files)
            words = sorted({word for example in split.train for word in example.words})
            vectors = KeyedVectors(size)
            vectors.add_vectors(words, np.random.default_rng(1).normal(size=(len(words), size)).astype(np.float32))
            found[name] = prepare(name, vectors, split, module.FULL, tags=task == "tagging")
    return found


def seconds_per_token(job: Job, chosen: list, packed: bool) -> float:
    """CPU time of training on some batches, for the second time: kernels for texts of a new length are made once."""
    torch.manual_seed(1)
    network = (Tagger if job.tags else Classifier)(torch.from_numpy(job.matrix), job.classes)
    if packed:
        other = Packed(network)
        network.layers, network.other, network.encode = nn.ModuleList(), other, other.encode
    optimizer = torch.optim.Adam(network.parameters(), RATE, fused=not packed)
    for number, (rows, lengths, labels) in enumerate([*chosen, *chosen]):
        if number == len(chosen):
            start = time.process_time()
        optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(network(rows, lengths), labels, ignore_index=NO_LABEL).backward()
        optimizer.step()
    return (time.process_time() - start) / sum(int(lengths.sum()) for _, lengths, _ in chosen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="*", choices=NAMES, default=NAMES)
    parser.add_argument("--batches", type=int, default=12)
    parser.add_argument("--vector-size", type=int, default=300)
    options = parser.parse_args()
    require(DATA)
    torch.set_num_threads(1)
    print("| | tokens | packed, CPU s per epoch | ours, CPU s per epoch | times as fast |\n|---|---|---|---|---|")
    found = jobs(options.sets, options.vector_size)
    for name in options.sets:
        if name not in found:
            print(f"{name} is skipped because it is not in {DATA}.", file=sys.stderr, flush=True)
            continue
        job = found[name]
        prepared = batches(job.parts[0], job.settings.batch)
        chosen = random.Random(1).sample(prepared, min(options.batches, len(prepared)))
        tokens = sum(len(rows) for rows in job.parts[0].rows)
        before, after = (tokens * seconds_per_token(job, chosen, packed) for packed in (True, False))
        print(f"| {name} | {tokens:,} | {before:.1f} | {after:.1f} | {before / after:.1f} |", flush=True)


if __name__ == "__main__":
    main()
