"""Phrases, their scores and joined sentences are those of gensim's Phrases, on whatever text."""

import gzip
import json
import math
import pickle
from concurrent.futures import ProcessPoolExecutor
from itertools import islice

import pytest
from gensim.models.phrases import ENGLISH_CONNECTOR_WORDS
from gensim.models.phrases import Phrases as GensimPhrases
from helpers import DATA
from hypothesis import example, given
from hypothesis import strategies as st

from gensim_hilbert import Phrases
from gensim_hilbert._phrases import TooManyPairs
from gensim_hilbert.corpus import blocks
from gensim_hilbert.phrases import learning
from gensim_hilbert.phrases.joining import Round
from gensim_hilbert.phrases.table import as_phrases

CONNECTORS = frozenset(["of", "the", "o_f"])
WORDS = ["", "a", "b", "c", "of", "the", "a_b", "_", "b_", "a_", "o_f", "é", "a word of more than sixteen bytes"]
NEW_YORK = [["new", "york", "city"], ["in", "new", "york", "city"], ["new", "york"], ["a", "new", "day"]] * 3

sentences_of_words = st.lists(st.lists(st.sampled_from(WORDS), max_size=8), max_size=12)
rules = st.one_of(
    st.tuples(st.just("default"), st.sampled_from([1e-9, 0.3, 1.0, 3.0])),
    st.tuples(st.just("npmi"), st.sampled_from([-1.0, -0.2, 0.0, 0.5, 1.0])),
)
# The same string in three ways: as a word, as two words, and by way of a connector word.
EQUAL_STRINGS = [["a_b"], ["a", "b", "c"], ["a_b", "c"], ["a", "b_c"], ["a", "o_f", "b"], ["a", "of", "b"]] * 2


def candidates(sentences, connectors):
    """All that gensim scores: two words that are no connector words, and the connector words between them."""
    for sentence in sentences:
        before, between = None, []
        for word in sentence:
            if word in connectors:
                between.append(word)
                continue
            if before is not None:
                yield before, *between, word
            before, between = word, []


def table_of_gensim(phrases, sentences):
    """The words of each phrase with the score by which gensim joins them."""
    scored = {
        parts: phrases.score_candidate(parts[0], parts[-1], list(parts[1:-1]))[1]
        for parts in candidates(sentences, phrases.connector_words)
    }
    return {parts: score for parts, score in scored.items() if score is not None}


@given(
    sentences=sentences_of_words,
    rule=rules,
    min_count=st.integers(1, 3),
    delimiter=st.sampled_from(["_", "__", " ", "ab", "·"]),
    connectors=st.sampled_from([frozenset(), CONNECTORS]),
    workers=st.integers(1, 2),
    rounds=st.integers(1, 3),
    block=st.sampled_from([1, 1 << 20]),
)
@example(EQUAL_STRINGS, ("default", 0.3), 1, "_", frozenset(), 1, 1, 1)
@example(EQUAL_STRINGS, ("npmi", 0.0), 2, "_", CONNECTORS, 2, 2, 1)
def test_all_rounds_are_those_of_gensim(sentences, rule, min_count, delimiter, connectors, workers, rounds, block):
    scoring, threshold = rule
    options = dict(
        min_count=min_count, scoring=scoring, threshold=threshold, delimiter=delimiter, connector_words=connectors
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", block)
        phrases = Phrases.from_corpus(sentences, rounds=rounds, workers=workers, progress=False, **options)
    text = sentences
    for k in range(rounds):
        theirs = GensimPhrases(text, **options)
        expected = table_of_gensim(theirs, text)
        found = dict(phrases.rounds[k].scores) if k < len(phrases.rounds) else {}
        assert found == expected
        if not expected:
            break
        text = [theirs[sentence] for sentence in text]
    assert [phrases[sentence] for sentence in sentences] == text
    assert list(phrases[iter(sentences)]) == text


@given(sentences=sentences_of_words, connectors=st.sampled_from([frozenset(), CONNECTORS]))
@example(EQUAL_STRINGS, CONNECTORS)
def test_counting_in_several_passes_changes_nothing(sentences, connectors):
    options = dict(min_count=1, threshold=0.1, connector_words=connectors, workers=2, progress=False)
    expected = Phrases.from_corpus(sentences, **options)
    count_adjacent, passes = learning.count_adjacent, []

    def count_few(blocks, task, report=None):
        passes.append(task.wanted)
        if task.classes < 4:
            raise TooManyPairs
        return count_adjacent(blocks, task, report)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learning, "count_adjacent", count_few)
        assert Phrases.from_corpus(sentences, **options).rounds == expected.rounds
    assert set(passes) == {0, 1, 2, 3}


def test_a_small_budget_means_more_passes_and_the_same_phrases(tmp_path, caplog, monkeypatch):
    path = tmp_path / "text.txt"
    path.write_text("".join(f"w{k * k % 911} w{k % 500} w{k % 7} x{k % 50} y{k % 50}\n" for k in range(20_000)))
    caplog.set_level("INFO", logger="gensim_hilbert")
    least = Phrases.from_corpus(path, memory_gb=0.0005, workers=2)
    assert "in 2 passes" in caplog.text
    assert least == Phrases.from_corpus(path)
    assert "x7_y7" in least
    path.write_text("".join(f"one w{k}\n" for k in range(5000)))
    monkeypatch.setattr(learning, "MOST_CLASSES", 4)
    with pytest.raises(MemoryError, match=r"memory_gb=1e-07 is too small .* raise it"):
        Phrases.from_corpus(path, memory_gb=1e-7)


@pytest.mark.parametrize("connectors", [frozenset(), ENGLISH_CONNECTOR_WORDS], ids=["plain", "connectors"])
@pytest.mark.parametrize(("scoring", "threshold"), [("default", 10.0), ("npmi", 0.6)])
@pytest.mark.skipif(not (DATA / "corpora").exists(), reason="needs wikitext2 and text8: GENSIM_HILBERT_DATA")
def test_phrases_of_real_text_are_those_of_gensim(scoring, threshold, connectors, tmp_path):
    with gzip.open(DATA / "corpora" / "wikitext2_valid.txt.gz", "rt", encoding="utf-8") as file:
        sentences = [line.split() for line in islice(file, 800)]
    with gzip.open(DATA / "corpora" / "text8_prefix.gz", "rt", encoding="utf-8") as file:
        words = file.read(200_000).split()
    sentences += [words[k : k + 1000] for k in range(0, len(words), 1000)]
    path = tmp_path / "text.txt"
    path.write_text("".join(" ".join(sentence) + "\n" for sentence in sentences), encoding="utf-8")
    options = dict(scoring=scoring, threshold=threshold, connector_words=connectors)
    ours, theirs = Phrases.from_corpus(path, **options), GensimPhrases(sentences, **options)
    frozen = theirs.freeze()
    assert ours.phrases == frozen.phrasegrams
    assert len(ours) > 100
    assert list(ours[sentences]) == list(frozen[sentences])


def test_pmi_is_that_of_counts():
    phrases = Phrases.from_corpus(NEW_YORK, min_count=3, threshold=-10.0, scoring="pmi")
    assert phrases.phrases["new_york"] == pytest.approx(math.log(9 / 36 / (12 / 36 * 9 / 36)))


def test_rounds_find_longer_phrases():
    phrases = Phrases.from_corpus(NEW_YORK, min_count=1, threshold=0.7, rounds=3)
    assert "new_york" in phrases
    assert phrases.transform(["new", "york", "city"]) == ["new_york_city"]
    assert phrases[[]] == []
    assert list(phrases[[["new", "york"], []]]) == [["new_york"], []]
    again = phrases[NEW_YORK]
    assert list(again) == list(again)


def test_no_phrase_goes_beyond_a_line_and_kinds_of_files_do_not_matter(tmp_path):
    text = "".join(" ".join(sentence) + "\n" for sentence in NEW_YORK)
    (tmp_path / "a.txt").write_text(text)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(text.encode()))
    options = dict(min_count=1, threshold=0.1)
    expected = Phrases.from_corpus(NEW_YORK, **options)
    assert ("city", "in") not in expected.rounds[0].scores
    for name in ("a.txt", "a.txt.gz"):
        assert Phrases.from_corpus(tmp_path / name, **options) == expected


def test_processes_are_sent_a_file_name_and_not_the_phrases(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("".join(" ".join(sentence) + "\n" for sentence in NEW_YORK))
    options = dict(min_count=1, threshold=0.1, rounds=2)
    expected = Phrases.from_corpus(path, **options)
    with ProcessPoolExecutor(1) as pool:
        assert Phrases.from_corpus(path, executor=pool, workers=1, **options) == expected
    many = Phrases([Round({(f"w{k}", f"w{k + 1}"): 1.0 for k in range(9000)}, "_")])
    assert len(pickle.dumps(many.joiner)) < 500
    assert pickle.loads(pickle.dumps(many.joiner)).phrases == many
    assert pickle.loads(pickle.dumps(many)) == many


# ---------------------------------------------------------------------------------------------------- gensim's


@given(sentences=sentences_of_words, connectors=st.sampled_from([frozenset(), CONNECTORS]), frozen=st.booleans())
def test_tables_of_gensim_join_the_same(sentences, connectors, frozen):
    table = GensimPhrases(sentences, min_count=1, threshold=0.3, connector_words=connectors)
    table = table.freeze() if frozen else table
    ours = as_phrases(table)
    assert [ours[sentence] for sentence in sentences] == [table[sentence] for sentence in sentences]


def test_several_tables_of_gensim_are_rounds():
    first = GensimPhrases(NEW_YORK, min_count=1, threshold=1.0)
    second = GensimPhrases(first[NEW_YORK], min_count=1, threshold=1.0)
    assert list(as_phrases([first, second])[NEW_YORK]) == list(second[first[NEW_YORK]])
    frozen = first.freeze()
    frozen.threshold = 1e9
    assert len(as_phrases(frozen)) == 0
    with pytest.raises(TypeError, match=r"phrases must be 'auto', .* got 7"):
        as_phrases(7)


# ---------------------------------------------------------------------------------------------------- files


def test_files_are_read_back_and_hold_json(tmp_path):
    phrases = Phrases.from_corpus(NEW_YORK, min_count=1, threshold=0.1, rounds=2, connector_words={"\ud800", "in"})
    phrases.save(tmp_path / "p.jsonl")
    header, *lines = (tmp_path / "p.jsonl").read_text().splitlines()
    assert json.loads(header)["settings"] == {"min_count": 1, "threshold": 0.1, "scoring": "default"}
    assert [tuple(json.loads(line)[0]) for line in lines] == [p for one in phrases.rounds for p in one.scores]
    again = Phrases.load(tmp_path / "p.jsonl")
    assert (again, again.settings, again.fingerprint) == (phrases, phrases.settings, phrases.fingerprint)


HEADER = {"format": "gensim_hilbert phrases", "version": 1, "settings": {}}
ROUND = {"delimiter": "_", "connector_words": ["of"], "phrases": 1}


@pytest.mark.parametrize(
    ("header", "lines"),
    [
        ([], []),
        ({**HEADER, "version": 2, "rounds": []}, []),
        ({**HEADER, "settings": 1, "rounds": []}, []),
        ({**HEADER, "rounds": [{**ROUND, "phrases": 10**18}]}, [[["a", "b"], 1.0]]),
        ({**HEADER, "rounds": [{**ROUND, "phrases": -1}]}, []),
        ({**HEADER, "rounds": [{**ROUND, "delimiter": ""}]}, [[["a", "b"], 1.0]]),
        ({**HEADER, "rounds": [{**ROUND, "connector_words": [1]}]}, [[["a", "b"], 1.0]]),
        *(
            ({**HEADER, "rounds": [ROUND]}, [line])
            for line in (
                [["a"], 1.0],
                [["a", 1], 1.0],
                [["a", "b", "c"], 1.0],
                [["a", "of"], 1.0],
                [["a", "b"], "1"],
                [["a", "b"], float("nan")],
                [["a", ["b"]], 1.0],
                ["ab", 1.0, 2],
                7,
            )
        ),
        ({**HEADER, "rounds": [ROUND]}, [[["a", "b"], 1.0], [["a", "c"], 1.0]]),
    ],
)
def test_damaged_files_are_named(header, lines, tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text("\n".join(map(json.dumps, [header, *lines])))
    with pytest.raises(ValueError, match=r"bad.jsonl is not a file of phrases, or damaged"):
        Phrases.load(path)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"min_count": 0}, "min_count must be a whole number of 1 or more, got 0"),
        ({"threshold": 0.0}, "above 0 for the default scoring, got 0.0"),
        ({"threshold": float("nan")}, "finite"),
        ({"scoring": "npmi"}, "from -1 to 1 for scoring='npmi', got 10.0"),
        ({"scoring": "magic"}, "one of default, npmi, pmi, got 'magic'"),
        ({"delimiter": ""}, "delimiter must be a string of one character or more, got ''"),
        ({"rounds": 0}, "rounds must be a whole number of 1 or more, got 0"),
        ({"memory_gb": 0}, "memory_gb"),
        ({"errors": "maybe"}, "errors must be one of"),
    ],
)
def test_wrong_arguments_are_refused(wrong, why):
    with pytest.raises(ValueError, match=why):
        Phrases.from_corpus(NEW_YORK, **wrong)


def test_strings_are_not_taken_for_words():
    with pytest.raises(TypeError, match="split it"):
        Phrases.from_corpus(NEW_YORK, connector_words="of the")
    with pytest.raises(TypeError, match="split it"):
        Phrases([])["new york"]


def test_malformed_text_is_repaired_or_refused(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"new y\xffork\n" * 9 + b"new york\n" * 2)
    with pytest.raises(UnicodeError, match="byte 5"):
        Phrases.from_corpus(path)
    assert "new_york" in Phrases.from_corpus(path, errors="ignore", threshold=0.1)
    assert "new_y\ufffdork" in Phrases.from_corpus(path, errors="replace", threshold=0.1)
