from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from gensim.test.utils import datapath
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr

from gensim_hilbert.evaluation import Data, analogies, compare_analogies, compare_similarity, find_data, similarity
from gensim_hilbert.evaluation.analogy import read_questions
from gensim_hilbert.evaluation.significance import draws, holm, mcnemar, midranks, resampled_mean, resampled_spearman
from gensim_hilbert.evaluation.summary import similarity_table
from gensim_hilbert.evaluation.tables import Score, as_latex, as_markdown, as_text, number, tabulate

QUESTIONS = Path(datapath("questions-words.txt"))


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    monkeypatch.delenv("GENSIM_HILBERT_DATA", raising=False)


def keyed(words: list[str], matrix: np.ndarray) -> KeyedVectors:
    vectors = KeyedVectors(matrix.shape[1])
    vectors.add_vectors(words, matrix.astype(np.float32))
    return vectors


def planted(noise: float, case: Callable[[str], str] = str.lower, seed: int = 1) -> KeyedVectors:
    """Words of questions-words, most of them, of which b is a plus what is peculiar to the section, plus noise."""
    random = np.random.default_rng(seed)
    questions = read_questions(QUESTIONS)
    shifts = random.normal(size=(len(questions.sections), 40))
    found: dict[str, np.ndarray] = {}
    for section, (a, b, _) in zip(questions.section, questions.given, strict=True):
        start = found.setdefault(a.lower(), random.normal(size=40))
        found.setdefault(b.lower(), start + shifts[section] + noise * random.normal(size=40))
    words = [word for place, word in enumerate(found) if place % 15]
    fill = [f"filler{k}" for k in range(2500)]  # more words than are looked at in a block
    matrix = np.concatenate([[found[word] for word in words], random.normal(size=(len(fill), 40))])
    order = random.permutation(len(matrix))
    return keyed([case([*words, *fill][k]) for k in order], matrix[order])


@pytest.fixture(scope="module")
def vectors() -> KeyedVectors:
    return planted(0.5)


def google() -> Data:
    return Data(analogy={"Google": QUESTIONS})


def some_pairs(
    covered: float = 0.8, seed: int = 1, noise: float = 1.0, case: Callable[[str], str] = str
) -> KeyedVectors:
    """Vectors whose cosines go, more or less, with what people say of pairs in WordSim-353."""
    random = np.random.default_rng(seed)
    text = Path(datapath("wordsim353.tsv")).read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    words = sorted({word for row in rows for word in row[:2]})
    matrix = random.normal(size=(len(words), 50))
    for first, second, value in rows:
        matrix[words.index(second)] += float(value) / 5 * matrix[words.index(first)]
    matrix += noise * random.normal(size=matrix.shape)
    kept = random.random(len(words)) < covered
    return keyed([case(word) for word, keep in zip(words, kept, strict=True) if keep], matrix[kept])


# ------------------------------------------------------------------ similarity


@pytest.mark.parametrize("case", [str, str.upper, str.lower])
def test_spearman_is_gensims_and_scipys(case):
    vectors = some_pairs(case=case)
    scores = {score.name: score for score in similarity(vectors, find_data())}
    for name, file in (("WS353", "wordsim353.tsv"), ("S999", "simlex999.txt")):
        _, (rho, _), unknown = vectors.evaluate_word_pairs(datapath(file))
        assert scores[name].rho == pytest.approx(rho, abs=1e-6)
        assert 100 * (1 - scores[name].covered / scores[name].pairs) == pytest.approx(unknown)
    found = scores["WS353"]
    there = ~np.isnan(found.cosines)
    assert found.rho == pytest.approx(spearmanr(found.gold[there], found.cosines[there]).statistic, abs=1e-12)
    assert found.low < found.rho < found.high
    assert found.rho > 0.3


def test_a_vector_of_zeros_is_like_nothing():
    vectors = some_pairs()
    vectors.vectors[vectors.key_to_index["tiger"]] = 0
    assert not any(math.isnan(score.rho) for score in similarity(vectors, find_data()))


def test_a_set_without_covered_pairs_has_no_score(tmp_path, caplog):
    (tmp_path / "other.tsv").write_text("chat\tchien\t3\nun\tdeux\t5\n", encoding="utf-8")
    data = find_data()
    scores = similarity(some_pairs(), Data(similarity={**data.similarity, "other": tmp_path / "other.tsv"}))
    assert [math.isnan(score.rho) for score in scores] == [False, False, True]
    assert (scores[2].covered, scores[2].pairs) == (0, 2)
    assert "other has no score: 0 of its 2 pairs are covered" in caplog.text
    with pytest.raises(ValueError, match="none of the 2 pairs has both words among"):
        similarity(some_pairs(), Data(similarity={"other": tmp_path / "other.tsv"}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cat\tdog\t3\ncat dog 3\n", "line 2: expected word, word, score between tabs, got 'cat dog 3'"),
        ("cat\tdog\tmuch\n", "line 1: expected"),
        ("cat\tdog\t3\t4\n", "line 1: expected"),
        ("cat\tdog\tnan\n", "line 1: expected"),
        ("# nothing\n\n", "holds no pairs"),
    ],
)
def test_wrong_columns(text, message, tmp_path):
    path = tmp_path / "set.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        similarity(some_pairs(), Data(similarity={"set": path}))


def test_what_cannot_be_evaluated():
    with pytest.raises(TypeError, match="vectors must be KeyedVectors"):
        similarity(np.zeros((3, 4)), find_data())
    with pytest.raises(ValueError, match="there are no words"):
        similarity(KeyedVectors(10), find_data())
    vectors = some_pairs()
    vectors.vectors = vectors.vectors[:-1]
    with pytest.raises(ValueError, match=r"there are \d+ words, but \d+ vectors"):
        similarity(vectors, find_data())
    vectors = some_pairs()
    vectors.vectors[5, 3] = np.nan
    with pytest.raises(ValueError, match="and 0 others are not finite"):
        analogies(vectors, find_data())
    with pytest.raises(TypeError, match="words must be str"):
        similarity(keyed([1, 2], np.ones((2, 3))), find_data())


# ------------------------------------------------------------------ analogies


@pytest.mark.parametrize(("case", "restrict_vocab"), [(str.lower, None), (str.capitalize, 1500)])
def test_sums_of_cosines_answer_as_gensim_does(case, restrict_vocab):
    vectors = planted(0.8, case)
    (score,) = analogies(vectors, google(), "add", restrict_vocab)
    accuracy, sections = vectors.evaluate_word_analogies(str(QUESTIONS), restrict_vocab=restrict_vocab or 300_000)
    assert 0.1 < score.accuracy < 0.9
    assert score.accuracy == accuracy
    wrong = {tuple(word.lower() for word in question) for question in sections[-1]["incorrect"]}
    questions = read_questions(QUESTIONS)
    rows = [(*given, *answers) for given, answers in zip(questions.given, questions.answers, strict=True)]
    ours = {tuple(map(str.lower, row)) for row, right in zip(rows, score.right, strict=True) if right == 0}
    assert ours == wrong
    assert score.covered == len(sections[-1]["correct"]) + len(sections[-1]["incorrect"])
    for section, found in zip(sections[:-1], score.sections, strict=True):
        assert found.name == section["section"]
        assert found.covered == len(section["correct"]) + len(section["incorrect"])
        if found.covered:
            assert found.accuracy == pytest.approx(len(section["correct"]) / found.covered)
    assert score.low < score.accuracy < score.high


def test_forms_of_a_given_word_are_no_answers_and_forms_of_the_right_one_are(tmp_path):
    random = np.random.default_rng(1)
    a, b, c = np.eye(6)[:3]
    words = ["a", "b", "c", "C", "D", "d"] + [f"filler{k}" for k in range(50)]
    rows = [a, b, c, c + b - a, c + b - a + 0.05, c, *random.normal(size=(50, 6))]
    rows[10] = c + 2 * (b - a)  # would be the answer if C stood for c
    vectors = keyed(words, np.array(rows))
    for text, accuracy in ((": s\na b c d\n", 1.0), (": s\nA B C filler1\n", 0.0)):
        data = Data(analogy={"one": write(tmp_path, text)})
        assert analogies(vectors, data, "add")[0].accuracy == accuracy
        assert vectors.evaluate_word_analogies(str(data.analogy["one"]))[0] == accuracy


def test_products_of_cosines_answer_as_gensim_does(vectors):
    questions = read_questions(QUESTIONS)
    (score,) = analogies(vectors, google(), "mul")
    for place in range(0, len(questions.given), 97):
        (a, b, c), (d,) = (tuple(map(str.lower, words)) for words in (questions.given[place], questions.answers[place]))
        known = all(word in vectors for word in (a, b, c, d))
        assert (score.right[place] >= 0) == known
        if known:
            guess = vectors.most_similar_cosmul(positive=[b, c], negative=[a], topn=1)[0][0]
            assert score.right[place] == (guess == d), (a, b, c, d)


def write(folder: Path, text: str) -> Path:
    path = folder / "questions.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_any_of_several_answers_is_right(tmp_path):
    words = ["a", "b", "c", "d", "e", "f"]
    vectors = keyed(words, np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 1, 1], [1, 1, 0], [1, 0, 1]]))
    text = ": one\na b c e/d\na b c unknown/d\na b c e/f\n: two\na b c unknown\na unknown c d\n"
    (score,) = analogies(vectors, Data(analogy={"some": write(tmp_path, text)}), "add")
    assert score.right.tolist() == [1, 1, 0, -1, -1]
    assert (score.accuracy, score.questions, score.covered) == (2 / 3, 5, 3)
    assert [(section.name, section.questions, section.covered) for section in score.sections] == [
        ("one", 3, 3),
        ("two", 2, 0),
    ]
    assert math.isnan(score.sections[1].accuracy)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (": s\na b c\n", "line 2: expected four words, got 'a b c'"),
        ("a b c d\n", "line 1: there is no ': section' line"),
        (": s\n", "holds no questions"),
        (": s\nun deux trois quatre\n", "none of the 1 questions has all words"),
    ],
)
def test_wrong_questions(text, message, vectors, tmp_path):
    with pytest.raises(ValueError, match=message):
        analogies(vectors, Data(analogy={"wrong": write(tmp_path, text)}))


def test_wrong_arguments(vectors):
    with pytest.raises(ValueError, match="method must be one of mul, add, got 'both'"):
        analogies(vectors, google(), "both")
    with pytest.raises(ValueError, match="restrict_vocab must be a positive number of words, got 0"):
        analogies(vectors, google(), restrict_vocab=0)


# ------------------------------------------------------------------ significance


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 4)), min_size=1, max_size=12))
def test_ranks_of_repeated_values(rows):
    values, counts = (np.array(column) for column in zip(*rows, strict=True))
    ranks = midranks(values.astype(float), counts[None].astype(float))[0]
    expected = rankdata(np.repeat(values, counts))
    assert np.allclose(np.repeat(ranks, counts), expected)


def test_resamples_are_scipys_spearman_of_the_pairs_drawn():
    random = np.random.default_rng(1)
    gold, values = random.integers(8, size=30).astype(float), random.normal(size=30)
    found = resampled_spearman(gold, [values], seed=3)[0]
    counts = np.concatenate(list(draws(30, 3))).astype(int)
    assert (counts.sum(axis=1) == 30).all()
    for place in range(0, 1000, 50):
        drawn = np.repeat(np.arange(30), counts[place])
        assert found[place] == pytest.approx(spearmanr(gold[drawn], values[drawn]).statistic, abs=1e-12)


def test_resamples_of_questions_are_those_of_their_pairs():
    random = np.random.default_rng(1)
    pairs = np.array([(i, j) for i in range(9) for j in range(9) if i != j])
    values = random.integers(2, size=len(pairs)).astype(float)
    found = resampled_mean(values, pairs, seed=2)
    counts = np.concatenate(list(draws(9, 2)))
    for place in (0, 1, 500, 999):
        weights = [counts[place, i] * counts[place, j] for i, j in pairs]
        assert found[place] == pytest.approx(np.average(values, weights=weights))


def test_known_p_values():
    first = np.array([True] * 9 + [False] + [True] * 30)
    second = np.array([False] * 9 + [True] + [True] * 30)
    assert mcnemar(first, second) == pytest.approx(2 * (1 + 10) / 2**10)
    assert mcnemar(first, first) == 1
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


def test_a_real_difference_is_told_from_none():
    data = Data(similarity={"WS353": find_data().similarity["WS353"]})
    good, same, bad = (similarity(some_pairs(noise=n, seed=2), data)[0] for n in (0.5, 0.5, 6))
    assert compare_similarity(good, same) == (0, 0, 0, 1, good.covered)
    differs = compare_similarity(good, bad)
    assert differs.p < 0.001
    assert 0 < differs.low < differs.value < differs.high
    assert differs.value == pytest.approx(good.rho - bad.rho)
    back = compare_similarity(bad, good)
    assert back.value == -differs.value
    assert back.p == pytest.approx(differs.p)


def test_means_of_embeddings_that_cover_no_pairs_in_common(tmp_path):
    words = [f"w{k}" for k in range(20)]
    random = np.random.default_rng(1)
    halves = [keyed(words[start : start + 10], random.normal(size=(10, 5))) for start in (0, 10)]
    rows = [f"w{k}\tw{k + 1}\t{k}\n" for k in range(19)]
    sets = {}
    for name in ("one", "two"):
        sets[name] = tmp_path / name
        sets[name].write_text("".join(rows), encoding="utf-8")
    scores = {str(k): similarity(half, Data(similarity=sets)) for k, half in enumerate(halves)}
    table = similarity_table(scores)
    assert list(table.columns) == ["one", "two", "mean"]
    assert not any(found.real for found in table.comparisons)
    assert table.coverage("one") == "9/19"


def test_the_rate_of_false_alarms():
    from gensim_hilbert.evaluation.similarity import SimilarityScore

    random = np.random.default_rng(5)
    alarms = 0
    for _ in range(200):
        gold = random.normal(size=80)
        sides = [gold + 1.5 * random.normal(size=80) for _ in range(2)]
        scores = [SimilarityScore("s", 0, 0, 0, 80, 80, gold, side) for side in sides]
        alarms += compare_similarity(*scores).p < 0.05
    assert 2 <= alarms <= 22  # 10 are expected; a fair test is outside once in thousands of times


def test_analogies_compared(vectors):
    (good,), (bad,) = analogies(vectors, google(), "add"), analogies(planted(1.0), google(), "add")
    assert compare_analogies(good, good)[::3] == (0, 1)
    differs = compare_analogies(good, bad)
    assert differs.p < 0.001
    assert differs.value == pytest.approx(good.accuracy - bad.accuracy)
    assert 0 < differs.low < differs.value < differs.high
    with pytest.raises(ValueError, match="one and the same set"):
        compare_analogies(good, analogies(vectors, Data(analogy={"other": QUESTIONS}))[0])


def test_questions_that_share_words_tell_less_than_as_many_that_do_not(vectors):
    (score,) = analogies(vectors, google(), "add")
    as_if_independent = 1.96 * math.sqrt(score.accuracy * (1 - score.accuracy) / score.covered)
    assert (score.high - score.low) / 2 > 2 * as_if_independent


# ------------------------------------------------------------------ data


def test_a_folder_of_data(tmp_path, monkeypatch):
    for name in ("simlex999.tsv", "mine.tsv", "men.tsv", "baker_verb143.tsv.gz"):
        path = tmp_path / "eval/similarity" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("cat\tdog\t1\n")
    (tmp_path / "extrinsic").mkdir()
    for name in ("imdb_train.tsv.gz", "brown.txt", "agnews_train_1.tsv", "agnews_train_2.tsv", "agnews_test.tsv"):
        (tmp_path / "extrinsic" / name).write_text("")
    monkeypatch.setenv("GENSIM_HILBERT_DATA", str(tmp_path))
    data = find_data()
    assert list(data.similarity) == ["B143", "S999", "mine"]
    assert data.analogy == {}
    assert {name: len(files) for name, files in data.classification.items()} == {"AGNews": 3}
    assert list(data.tagging) == ["Brown"]
    missing = {source.name: source for source in data.missing()}
    assert {"MENd", "BATS", "IMDB", "SemCor"} <= set(missing)
    assert not {"S999", "MEN", "Brown"} & set(missing)
    assert all(source.where and source.what for source in missing.values())


def test_without_a_folder_gensims_own(monkeypatch):
    monkeypatch.delenv("GENSIM_HILBERT_DATA", raising=False)
    data = find_data()
    assert (list(data.similarity), list(data.analogy)) == (["S999", "WS353"], ["Google"])


def test_an_empty_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="there are no data sets in"):
        find_data(tmp_path)


# ------------------------------------------------------------------ tables


def test_marks_of_a_table():
    from gensim_hilbert.evaluation.significance import Difference

    values = {"a_1": {"s": 0.5, "t": 0.25}, "b": {"s": 0.25, "t": 0.2501}, "c": {"s": 0.45, "t": math.nan}}
    p = {0.25: 0.001, 0.45: 0.2}

    def compare(first, second):
        return Difference(first - second, 0, 0, p.get(first, 1.0), 10)

    found = tabulate("T", values, lambda value: Score(value, 0.01, 10, 9), compare)
    assert [(c.embedding, c.best, c.column, c.real) for c in found.comparisons] == [
        ("b", "a_1", "s", True),
        ("c", "a_1", "s", False),
        ("a_1", "b", "t", True),
    ]
    assert as_text(found).splitlines()[:3] == [
        "T  a_1          b            c           covered",
        "s  .500* ±.010  .250↓ ±.010  .450 ±.010  9/10",
        "t  .250* ±.010  .250* ±.010  -           9/10",
    ]
    assert "| a_1 | **.500** ± .010 | **.250** ± .010 |" in as_markdown(found)
    assert "| b | .250↓ ± .010 |" in as_markdown(found)
    assert r"a\_1 & \textbf{.500} $\pm$ .010" in as_latex(found)
    assert r".250$^\downarrow$ $\pm$ .010" in as_latex(found)


def test_numbers_as_the_paper_prints_them():
    assert [number(x) for x in (0.4621, -0.05, 1.0, 0.9996)] == [".462", "-.050", "1.000", "1.000"]


def test_pictures_need_matplotlib(monkeypatch, tmp_path):
    from gensim_hilbert.evaluation.plots import plot_tables

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'gensim-hilbert\[plot\]'"):
        plot_tables([], tmp_path / "scores.svg")


def test_files_are_told_apart_by_their_whole_names(tmp_path):
    folder = tmp_path / "eval" / "similarity"
    folder.mkdir(parents=True)
    for name in ("men_dev.tsv", "men_dev.tsv.bak", "my-2.0.tsv", "my-2.1.tsv.gz"):
        (folder / name).write_text("a\tb\t1\n")
    found = find_data(tmp_path).similarity
    assert {name: path.name for name, path in found.items()} == {
        "MENd": "men_dev.tsv",
        "my-2.0": "my-2.0.tsv",
        "my-2.1": "my-2.1.tsv.gz",
    }
    (folder / "my-2.0.tsv.gz").touch()
    with pytest.raises(ValueError, match="two files of one data set"):
        find_data(tmp_path)


def test_an_empty_variable_names_no_folder(monkeypatch):
    monkeypatch.setenv("GENSIM_HILBERT_DATA", "")
    assert "WS353" in find_data().similarity
