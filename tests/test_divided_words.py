"""Words that are divided among tables are those that one Python dict would count."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gensim_hilbert._tokens import WordTable, part_of
from gensim_hilbert.divided_words import MOST_PARTS, DividedWords
from gensim_hilbert.vocabulary import Vocabulary
from gensim_hilbert.word_scan import in_first_order

RANDOM = np.random.default_rng(1)
SENTENCES = [
    [f"{'long' * (rank % 7)}{rank}" for rank in RANDOM.zipf(1.3, 40).clip(max=5_000).tolist()] for _ in range(400)
]


def table_of(sentences, start):
    """A table of the words of some sentences, the first of which is at `start` of the corpus."""
    table = WordTable()
    table.count("\n".join(map(" ".join, sentences)).encode(), 0, start, False, "strict")
    return table


@pytest.mark.parametrize("workers", [1, 2, 7, 100])
def test_words_added_by_many_threads_are_those_of_a_dict(workers):
    divided = DividedWords(workers)
    tables = [table_of(SENTENCES[k : k + 10], k << 20) for k in range(0, len(SENTENCES), 10)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(divided.add, reversed(tables)))
    expected = Counter(word for sentence in SENTENCES for word in sentence)
    assert len(divided.tables) == min(workers, MOST_PARTS)
    assert (len(divided), divided.tokens, divided.sentences) == (len(expected), expected.total(), len(SENTENCES))
    assert list(in_first_order(divided).items()) == list(expected.items())  # Counter, too, keeps the first order.
    assert dict(zip(divided.words(), divided.counts().tolist(), strict=True)) == expected
    assert [divided.count_of(word.encode()) for word in [*expected, "absent"]] == [*expected.values(), 0]


def test_a_selection_of_words_comes_in_its_own_order():
    divided = DividedWords(5)
    divided.add(table_of(SENTENCES, 0))
    words = divided.words()
    numbers = RANDOM.permutation(len(words))[:300].tolist()
    assert divided.words(numbers) == [words[k] for k in numbers]
    assert divided.words([]) == []


def test_parts_are_those_of_split():
    table = table_of(SENTENCES, 0)
    text, ends, _, _, word_starts, byte_starts = table.split(6)
    for part in range(6):
        data = text[byte_starts[part] : byte_starts[part + 1]].tobytes()
        own_ends = ends[word_starts[part] : word_starts[part + 1]].tolist()
        for start, stop in zip([0, *own_ends], own_ends, strict=False):
            assert part_of(data[start:stop], 6) == part


def test_nothing_at_all_has_no_words():
    divided = DividedWords(3)
    divided.add(WordTable())
    assert (len(divided), divided.words(), divided.counts().tolist(), divided.count_of(b"a")) == (0, [], [], 0)


@pytest.mark.parametrize("workers", [2, 64])
def test_a_scan_by_many_workers_gives_the_words_of_one(tmp_path, workers):
    for k in range(8):
        (tmp_path / f"{k}.txt").write_text("\n".join(map(" ".join, SENTENCES[50 * k : 50 * k + 50])))
    one, many = (Vocabulary.from_corpus(tmp_path, min_count=2, workers=w, progress=False) for w in (1, workers))
    assert (many.words, many.counts.tolist(), many.tokens, many.sentences) == (
        one.words, one.counts.tolist(), one.tokens, one.sentences,
    )  # fmt: skip
