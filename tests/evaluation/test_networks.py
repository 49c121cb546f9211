"""The networks learn what they should, and padding changes nothing."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pytest
from tagged_texts import SETTINGS, classified_texts, tagged_sentences

from gensim_hilbert.evaluation.examples import Example, split
from gensim_hilbert.evaluation.extrinsic import prepare, score_jobs
from gensim_hilbert.evaluation.tagging import baseline


@pytest.mark.parametrize("bfloat16", [False, True])
def test_a_tagger_learns_what_the_most_frequent_tag_cannot_tell(ten_vectors, tmp_path, bfloat16):
    data, settings = split(tagged_sentences(400, 1)), replace(SETTINGS, bfloat16=bfloat16)
    majority = baseline(data, settings, None, None)
    assert 0.3 < majority < 0.6
    (score,) = score_jobs([prepare("s", ten_vectors, data, settings, tags=True)], 1, 1, tmp_path, 1)
    assert score.mean > 0.95
    assert (score.metric, len(score.runs), score.known) == ("accuracy", 1, 1)
    assert score.examples == (252, 28, 120)


def test_a_classifier_finds_a_word_anywhere(ten_vectors, tmp_path):
    (score,) = score_jobs(
        [prepare("t", ten_vectors, split(classified_texts(700, 1)), SETTINGS, tags=False)], 1, 1, tmp_path, 1
    )
    assert score.mean > 0.95
    assert np.isnan(score.sd)


def test_padding_changes_nothing(ten_vectors):
    import torch

    from gensim_hilbert.evaluation.networks import Classifier, Tagger

    torch.manual_seed(1)
    matrix = torch.from_numpy(ten_vectors.vectors)
    rows, lengths = torch.tensor([[1, 2, 3, 4, 5], [6, 7, 0, 0, 0]]), torch.tensor([5, 2])
    for kind in (Classifier, Tagger):
        network = kind(matrix, 3).eval()
        both = network(rows, lengths).reshape(2, -1, 3)
        alone = network(rows[1:, :2], lengths[1:]).reshape(1, -1, 3)
        assert torch.allclose(both[1, : alone.shape[1]], alone[0], atol=1e-6)


@pytest.mark.parametrize("layers", [1, 2])
def test_states_and_gradients_are_those_of_torchs_own_bilstm(layers, monkeypatch):
    """The oracle is `nn.LSTM` over packed sequences, with the same weights; texts are longer than a piece of steps."""
    import torch
    from torch import nn
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

    from gensim_hilbert.evaluation import networks

    monkeypatch.setattr(networks, "STEPS", 4)
    torch.manual_seed(1)
    encoder = networks.Encoder(torch.randn(30, 12), layers).eval()
    oracle = nn.LSTM(12, networks.HIDDEN, layers, batch_first=True, bidirectional=True)
    own = [p for layer in encoder.layers for way in (layer.onward, layer.back) for p in way.parameters()]
    for parameter, copied in zip(oracle.parameters(), own, strict=True):
        parameter.data.copy_(copied.data)
    rows, lengths = torch.randint(30, (5, 11)), torch.tensor([11, 9, 9, 4, 1])
    packed = pack_padded_sequence(encoder.embeddings[rows], lengths, batch_first=True)
    wanted, _ = pad_packed_sequence(oracle(packed)[0], batch_first=True)
    found = encoder.encode(rows, lengths, 0.0)
    assert torch.allclose(found, wanted, atol=1e-6)
    slope = torch.randn_like(wanted)
    torch.autograd.backward([found, wanted], [slope, slope])
    for parameter, copied in zip(oracle.parameters(), own, strict=True):
        assert torch.allclose(parameter.grad, copied.grad, atol=1e-5)


@pytest.mark.parametrize("stop", [4, 100])
def test_training_ends_when_nothing_is_learned_any_more(ten_vectors, tmp_path, caplog, stop):
    random = np.random.default_rng(1)
    noise = [
        Example(e.words, list(random.permutation(["a", "b"] * 6)[: len(e.words)])) for e in tagged_sentences(60, 1)
    ]
    job = prepare("noise", ten_vectors, split(noise), replace(SETTINGS, epochs=100, stop=stop), tags=True)
    with caplog.at_level(logging.INFO, "gensim_hilbert.evaluation.networks"):
        score_jobs([job], 1, 1, tmp_path, 1)
    scores = [record.args[1] for record in caplog.records]
    assert 5 <= len(scores) < 100
    if stop == 4:
        assert scores[-5] == max(scores)
        return
    best, since, cuts = -1.0, 0, []
    for epoch, score in enumerate(scores):
        best, since = (score, 0) if score > best else (best, since + 1)
        cuts += [epoch] if since and since % 3 == 0 else []
    assert len(cuts) == 3, "once the rate has been divided by a thousand, it is too low to learn anything"
    assert cuts[-1] == len(scores) - 1


def test_the_same_seed_gives_the_same_score_and_torch_is_left_alone(ten_vectors, tmp_path):
    import torch

    job = prepare("s", ten_vectors, split(tagged_sentences(100, 1)), replace(SETTINGS, epochs=1), tags=True)
    before = torch.get_rng_state()
    scores = [score_jobs([job], 2, 1, tmp_path / name, 1)[0].runs for name in ("a", "b")]
    assert scores[0] == scores[1]
    assert scores[0][0] != scores[0][1]
    assert torch.equal(before, torch.get_rng_state())
