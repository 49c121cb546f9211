"""The paper's two networks over frozen embeddings, and how they are trained."""

from __future__ import annotations

import copy
import logging

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from gensim_hilbert.evaluation.extrinsic import Items, Job, Settings, micro_f

logger = logging.getLogger(__name__)

HIDDEN, MIDDLE, DROPOUT, RATE = 128, 512, 0.5, 1e-3
STEPS = 64  # run in one go by an LSTM: what they need fits into a core's cache
PATIENCE = 3  # epochs without a better score on validation data, after which the rate is divided by ten
LOWEST_RATE = 1e-5  # below it an epoch moves parameters too little to change labels, so that training can end
NO_LABEL = -1


class BiLSTM(nn.Module):
    """One layer of an LSTM in both directions, over steps x texts x features.

    Each direction runs over padded texts, the second one over texts that are reversed within their own lengths, so that
    padding stays behind the end and changes no state before it. oneDNN has a fused kernel for that. Packed sequences,
    which skip padding, have none, and their backward pass takes time quadratic in the number of steps; as a batch holds
    texts of about the same length, there is hardly any padding to skip.
    """

    def __init__(self, features: int):
        super().__init__()
        self.onward = nn.LSTM(features, HIDDEN)
        self.back = nn.LSTM(features, HIDDEN)

    def forward(self, steps: torch.Tensor, reversal: torch.Tensor) -> torch.Tensor:
        """Return the hidden states of both directions, side by side."""
        states = reversed_texts(in_pieces(self.back, reversed_texts(steps, reversal)), reversal)
        return torch.cat([in_pieces(self.onward, steps), states], dim=-1)


def in_pieces(lstm: nn.LSTM, steps: torch.Tensor) -> torch.Tensor:
    """Return the hidden states of one direction; each piece starts in the state that the one before has ended in."""
    found, state = [], None
    for piece in torch.split(steps, STEPS):
        states, state = lstm(piece, state)
        found.append(states)
    return torch.cat(found)


def reversal_of(lengths: torch.Tensor, steps: int) -> torch.Tensor:
    """Return the places of steps x texts after each text has been reversed within its length."""
    step = torch.arange(steps)[:, None]
    mirrored = torch.where(step < lengths, lengths - 1 - step, step)
    return (mirrored * len(lengths) + torch.arange(len(lengths))).flatten()


def reversed_texts(steps: torch.Tensor, reversal: torch.Tensor) -> torch.Tensor:
    """Reverse each text of steps x texts x features; to reverse twice changes nothing."""
    return steps.flatten(0, 1).index_select(0, reversal).view_as(steps)


class Encoder(nn.Module):
    """A BiLSTM over frozen embeddings."""

    def __init__(self, embeddings: torch.Tensor, layers: int):
        super().__init__()
        self.embeddings: torch.Tensor
        self.register_buffer("embeddings", embeddings, persistent=False)
        sizes = [embeddings.shape[1], *[2 * HIDDEN] * (layers - 1)]
        self.layers = nn.ModuleList(BiLSTM(size) for size in sizes)

    def encode(self, rows: torch.Tensor, lengths: torch.Tensor, padding: float) -> torch.Tensor:
        """Return the hidden states of both directions, texts x steps x features; `padding` behind the end."""
        states, reversal = self.embeddings[rows.T], reversal_of(lengths, rows.shape[1])
        for number, layer in enumerate(self.layers):
            if number:
                states = nn.functional.dropout(states, DROPOUT, self.training)
            states = layer(states, reversal)
        behind = torch.arange(rows.shape[1])[:, None] >= lengths
        return states.masked_fill(behind[:, :, None], padding).transpose(0, 1)


class Classifier(Encoder):
    """BiLSTM-max: the maximum of hidden states over time, then a layer of 512."""

    def __init__(self, embeddings: torch.Tensor, classes: int):
        super().__init__(embeddings, layers=1)
        self.head = nn.Sequential(
            nn.Dropout(DROPOUT),
            nn.Linear(2 * HIDDEN, MIDDLE),
            nn.ReLU(),
            nn.Dropout(DROPOUT),
            nn.Linear(MIDDLE, classes),
        )

    def forward(self, rows: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return one score per text and class."""
        found: torch.Tensor = self.head(self.encode(rows, lengths, -torch.inf).amax(dim=1))
        return found


class Tagger(Encoder):
    """Two layers of BiLSTM that give each word a tag."""

    def __init__(self, embeddings: torch.Tensor, classes: int):
        super().__init__(embeddings, layers=2)
        self.head = nn.Linear(2 * HIDDEN, classes)

    def forward(self, rows: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return one score per sentence, word and tag."""
        found: torch.Tensor = self.head(self.encode(rows, lengths, 0.0)).flatten(0, 1)
        return found


def batches(items: Items, size: int) -> list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Yield rows, lengths and labels of examples about as long as one another, longest first in each."""
    order = sorted(range(len(items.rows)), key=lambda k: -len(items.rows[k]))
    found = []
    for start in range(0, len(order), size):
        some = order[start : start + size]
        rows = pad_sequence([torch.from_numpy(items.rows[k]) for k in some], batch_first=True)
        labels = pad_sequence(
            [torch.from_numpy(items.labels[k]) for k in some], batch_first=True, padding_value=NO_LABEL
        )
        found.append((rows, torch.tensor([len(items.rows[k]) for k in some]), labels.flatten()))
    return found


def rounding(settings: Settings) -> torch.autocast:
    """Return the context in which products have the precision of the settings."""
    return torch.autocast("cpu", torch.bfloat16, enabled=settings.bfloat16)


def guesses(network: nn.Module, items: Items) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of examples, and those that the network predicts."""
    gold, guessed = [], []
    network.eval()
    with torch.no_grad():
        for rows, lengths, labels in batches(items, 256):
            there = labels != NO_LABEL
            gold.append(labels[there].numpy())
            guessed.append(network(rows, lengths)[there].argmax(dim=1).numpy())
    return np.concatenate(gold), np.concatenate(guessed)


def fit(job: Job, seed: int) -> float:
    """Train a network on the first of three parts, stop by the second, and score it on the third."""
    train, valid, test = job.parts
    settings = job.settings
    kind = Tagger if job.tags else Classifier
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        matrix = torch.from_numpy(job.matrix)
        network = kind(matrix.bfloat16() if settings.bfloat16 else matrix, job.classes)
        optimizer = torch.optim.Adam(network.parameters(), RATE, fused=True)
        best, since, kept, rate = -1.0, 0, network.state_dict(), RATE
        prepared = batches(train, settings.batch)
        for epoch in range(settings.epochs):
            network.train()
            for place in torch.randperm(len(prepared)).tolist():
                rows, lengths, labels = prepared[place]
                optimizer.zero_grad(set_to_none=True)
                with rounding(settings):
                    scores = network(rows, lengths)
                loss = nn.functional.cross_entropy(scores.float(), labels, ignore_index=NO_LABEL)
                torch.autograd.backward(loss)
                optimizer.step()
            with rounding(settings):
                score = micro_f(*guesses(network, valid), job.outside)
            logger.info("epoch %d: %.4f on validation data", epoch + 1, score)
            since += 1
            if score > best:
                best, since, kept = score, 0, copy.deepcopy(network.state_dict())
            if since and since % PATIENCE == 0:
                rate /= 10
                for group in optimizer.param_groups:
                    group["lr"] = rate
            if since == settings.stop or rate < LOWEST_RATE:
                break
        network.load_state_dict(kept)
        with rounding(settings):
            return micro_f(*guesses(network, test), job.outside)
