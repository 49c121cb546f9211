"""Inputs of many kinds, each with a score of the vectors that are learnt from it; `defaults.py` runs over them.

An input writes its sentences to a file, one per line. Its score looks at what the vectors are used for: similarity of
words or texts as people judge it, classes of words by their nearest neighbours, classes of texts by their mean vectors.
Nothing is scored by a likelihood, which would favour the model that maximises it.
"""

from __future__ import annotations

import builtins
import gettext
import gzip
import io
import json
import keyword
import os
import random
import re
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from gensim.models import KeyedVectors
from gensim.test.utils import datapath
from gensim.utils import simple_preprocess
from inputs import DATA, TEXT8, WIKIPEDIA, write_first_lines

CATALOGUES = Path("/usr/share/locale")
BROWN = DATA / "extrinsic" / "brown.txt.gz"
NEIGHBOURS = 5
Scores = dict[str, float]
Sentences = Iterable[list[str]]


@dataclass(frozen=True)
class Input:
    """How an input is written to a folder, and how vectors are scored; `write` returns False if it has no source."""

    about: str
    write: Callable[[Path], bool]
    score: Callable[[KeyedVectors, Path], Scores]


def write_sentences(folder: Path, sentences: Sentences) -> bool:
    """Write the corpus; tell whether there was anything."""
    with open(folder / "corpus.txt", "w", encoding="utf-8") as file:
        file.writelines(" ".join(words) + "\n" for words in sentences if words)
        return file.tell() > 0


def write_labels(folder: Path, labels: dict[str, str]) -> None:
    """Write the class of each word."""
    (folder / "labels.json").write_text(json.dumps(labels), encoding="utf-8")


# ---------------------------------------------------------------------------------------------------- scores


def neighbours_vote(vectors: KeyedVectors, folder: Path) -> Scores:
    """Share of words whose class is that of most of their nearest neighbours among the words with a class."""
    labels = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
    return {"neighbours": share_by_vote(vectors, labels)}


def share_by_vote(vectors: KeyedVectors, labels: dict[str, str]) -> float:
    """Return the share of words whose class gets most votes of their nearest neighbours, near ones counting more."""
    words = [word for word in labels if word in vectors]
    unit = vectors.vectors_for_all(words).get_normed_vectors()
    names = sorted({labels[word] for word in words})
    classes = np.array([names.index(labels[word]) for word in words])
    right = 0
    for start in range(0, len(words), 1024):
        cosines = unit[start : start + 1024] @ unit.T
        rows = np.arange(len(cosines))
        cosines[rows, start + rows] = -2.0
        nearest = np.argpartition(-cosines, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
        votes = np.zeros((len(cosines), len(names)))
        np.add.at(votes, (rows[:, None], classes[nearest]), 2 + np.take_along_axis(cosines, nearest, axis=1))
        right += int((votes.argmax(axis=1) == classes[start : start + 1024]).sum())
    return right / len(words)


def word_similarity(vectors: KeyedVectors, folder: Path) -> Scores:
    """Mean of the similarity sets of which 50 pairs or more are known, Google's analogies, parts of speech by vote."""
    from gensim_hilbert.evaluation import Data, analogies, find_data, similarity

    data = find_data(DATA)
    found = [score.rho for score in similarity(vectors, data) if score.covered >= 50]
    (google,) = analogies(vectors, Data(analogy={"Google": data.analogy["Google"]}))
    scores = {"similarity": float(np.mean(found)), "analogies": google.accuracy}
    if BROWN.exists():
        scores["parts of speech"] = share_by_vote(vectors, tags_of_words(read_brown()))
    return scores


def mean_vectors(vectors: KeyedVectors, texts: Iterable[list[str]]) -> np.ndarray:
    """Return the mean of the unit vectors of the words of each text; zero for texts without a known word."""
    unit = vectors.get_normed_vectors()
    found = []
    for words in texts:
        rows = [vectors.key_to_index[word] for word in words if word in vectors.key_to_index]
        found.append(unit[rows].mean(axis=0) if rows else np.zeros(vectors.vector_size))
    return np.array(found)


def judged_texts(vectors: KeyedVectors, folder: Path) -> Scores:
    """Correlation of the cosines of Lee's 50 texts with how similar people find them."""
    with open(datapath("lee.cor"), encoding="latin-1") as file:
        texts = [simple_preprocess(line) for line in file]
    judged = np.loadtxt(datapath("similarities0-1.txt"))
    means = mean_vectors(vectors, texts)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    upper = np.triu_indices(len(texts), 1)
    return {"texts": float(np.corrcoef((means @ means.T)[upper], judged[upper])[0, 1])}


def classified_texts(vectors: KeyedVectors, folder: Path) -> Scores:
    """Accuracy of a logistic regression on mean vectors of texts that it was not trained on."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    sides = {}
    for side in ("train", "test"):
        with open(folder / f"{side}.tsv", encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file]
        sides[side] = [row[0] for row in rows], mean_vectors(vectors, (row[1].split() for row in rows))
    scaler = StandardScaler().fit(sides["train"][1])
    model = LogisticRegression(max_iter=300).fit(scaler.transform(sides["train"][1]), sides["train"][0])
    return {"classes of texts": float(model.score(scaler.transform(sides["test"][1]), sides["test"][0]))}


def read_brown() -> list[list[tuple[str, str]]]:
    """Read the sentences of the Brown corpus as words in small letters with their tags."""
    sentences: list[list[tuple[str, str]]] = [[]]
    with gzip.open(BROWN, "rt", encoding="utf-8") as file:
        for line in file:
            word, *rest = line.rstrip("\n").split("\t")
            if not word:
                sentences.append([])
            else:
                sentences[-1].append((word.lower(), rest[-1]))
    return sentences


def tags_of_words(sentences: list[list[tuple[str, str]]]) -> dict[str, str]:
    """Return the most frequent tag of each word that occurs 20 times or more."""
    tags: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        for word, tag in sentence:
            tags[word][tag] += 1
    return {word: found.most_common(1)[0][0] for word, found in tags.items() if found.total() >= 20}


# ---------------------------------------------------------------------------------------------------- inputs

TOY = {
    "animal": "dog cat horse cow sheep goat",
    "food": "bread cheese soup rice apple cake",
    "person": "anna peter maria john lisa paul",
    "city": "paris london berlin rome madrid vienna",
    "vehicle": "car train bus bicycle ship plane",
    "colour": "red green blue white black yellow",
}
TEMPLATES = (
    "the {colour} {animal} eats {food}", "{person} buys {food} in {city}", "{person} travels to {city} by {vehicle}",
    "a {vehicle} leaves {city} today", "{person} feeds the {animal} with {food}",
    "the {vehicle} of {person} is {colour}", "{person} loves the {colour} {animal}", "{food} from {city} is good",
)  # fmt: skip


def write_toy(folder: Path) -> bool:
    """Write 400 sentences of a tutorial."""
    draw = random.Random(1)
    words = {label: names.split() for label, names in TOY.items()}
    lines = [
        draw.choice(TEMPLATES).format(**{label: draw.choice(names) for label, names in words.items()}).split()
        for _ in range(400)
    ]
    write_labels(folder, {word: label for label, names in words.items() for word in names})
    return write_sentences(folder, lines)


def write_lee(folder: Path) -> bool:
    """Write the 300 news texts that come with gensim."""
    with open(datapath("lee_background.cor"), encoding="utf-8") as lines:
        return write_sentences(folder, map(simple_preprocess, lines))


def write_beginning(name: str, tokens: int, folder: Path) -> bool:
    """Write the beginning of a corpus."""
    path = DATA / "corpora" / name
    return path.exists() and write_first_lines(path, str(folder / "corpus.txt"), tokens) > 0


def write_walks(folder: Path) -> bool:
    """Write random walks on a graph of 1,000 nodes in 25 groups, in which half of the edges leave their group."""
    draw = np.random.default_rng(1)
    group = np.sort(draw.choice(25, size=1000, p=np.arange(1, 26) / 325))
    near: list[set[int]] = [set() for _ in group]
    for node in range(len(group)):
        own = draw.choice(np.flatnonzero(group == group[node]), size=3)
        for other in (*own, *draw.integers(len(group), size=3)):
            if other != node:
                near[node].add(int(other))
                near[int(other)].add(node)
    edges = [sorted(nodes) for nodes in near]
    lines = []
    for _ in range(10):
        for node in draw.permutation(len(group)):
            walk = [int(node)]
            while len(walk) < 40:
                walk.append(edges[walk[-1]][draw.integers(len(edges[walk[-1]]))])
            lines.append([f"n{step}" for step in walk])
    write_labels(folder, {f"n{node}": str(label) for node, label in enumerate(group)})
    return write_sentences(folder, lines)


def messages(language: str) -> Iterator[tuple[str, str]]:
    """Yield the program and the text of all messages in a language that are installed on this machine."""
    for path in sorted(CATALOGUES.glob(f"{language}/LC_MESSAGES/*.mo")):
        if path.name.startswith("iso"):
            continue  # lists of names of languages and countries
        try:
            with open(path, "rb") as file:
                catalogue: dict[Any, str] = gettext.GNUTranslations(file)._catalog
        except UnicodeDecodeError:
            continue  # in an encoding that its heading does not name
        for original, text in catalogue.items():
            if original and text != original:
                yield re.split(r"[-.\d]", path.name)[0], text


def write_german(folder: Path) -> bool:
    """Write German messages in small letters; the class of a word is whether it is a noun, by its capital letter."""
    seen: dict[str, Counter[bool]] = defaultdict(Counter)
    lines = []
    for _, text in messages("de"):
        words = re.findall(r"[^\W\d_]{2,}", text)
        lines.append([word.lower() for word in words])
        for word in words[1:]:  # the first has a capital letter in any case
            if not word.isupper():
                seen[word.lower()][word[0].isupper()] += 1
    share = {word: found[True] / found.total() for word, found in seen.items() if found.total() >= 10}
    write_labels(folder, {word: "noun" if x > 0.5 else "other" for word, x in share.items() if abs(x - 0.5) > 0.3})
    return write_sentences(folder, lines)


def write_chinese(folder: Path) -> bool:
    """Write Chinese messages, one token per character; the class of a message is its program."""
    texts = [(program, re.findall(r"[\u4e00-\u9fff]|[^\W\d_]+", text.lower())) for program, text in messages("zh_CN")]
    texts = [(program, words) for program, words in texts if len(words) >= 5]
    large = {program for program, _ in Counter(program for program, _ in texts).most_common(12)}
    write_classified(folder, [(program, words) for program, words in texts if program in large])
    return write_sentences(folder, (words for _, words in texts))


def write_classified(folder: Path, texts: list[tuple[str, list[str]]], test: list[Any] | None = None) -> None:
    """Write texts with their classes, a third of them to test unless texts to test are given."""
    if test is None:
        random.Random(1).shuffle(texts)
        test, texts = texts[: len(texts) // 3], texts[len(texts) // 3 :]
    for side, rows in (("train", texts), ("test", test)):
        lines = (f"{label}\t{' '.join(words)}\n" for label, words in rows)
        (folder / f"{side}.tsv").write_text("".join(lines), encoding="utf-8")


def classified(name: str) -> list[tuple[str, list[str]]]:
    """Read texts and their classes from one of the sets of classification."""
    path = DATA / "extrinsic" / f"{name}.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return [(row[0], re.findall(r"[^\W\d_]+", row[-1].replace("<br />", " ").lower())) for row in rows]


def write_labelled(train: str, test: str, folder: Path) -> bool:
    """Write the texts of a task of classification; vectors are learnt from those to train with."""
    if not (DATA / "extrinsic" / f"{train}.tsv.gz").exists():
        return False
    texts = classified(train)
    write_classified(folder, texts, classified(test))
    return write_sentences(folder, (words for _, words in texts))


def python_files(folder: Path) -> list[Path]:
    """Return the files of Python's library, or of packages; not its tests, which would be most of it."""
    left_out = {"test", "tests", "site-packages", "idlelib", "lib2to3", "turtledemo"}
    return [path for path in sorted(folder.rglob("*.py")) if not left_out & set(path.relative_to(folder).parts)]


def write_code(folder: Path) -> bool:
    """Write Python's own library, one logical line per sentence; the class of a token is its kind."""
    lines: list[list[str]] = []
    for path in python_files(Path(os.__file__).parent):
        words: list[str] = []
        try:
            for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
                if token.type in (tokenize.NAME, tokenize.OP):
                    words.append(token.string)
                elif token.type in (tokenize.STRING, tokenize.NUMBER):
                    words.append(f"<{tokenize.tok_name[token.type].lower()}>")
                elif token.type == tokenize.NEWLINE:
                    lines.append(words)
                    words = []
        except (UnicodeDecodeError, tokenize.TokenError, SyntaxError):
            continue  # a file that is meant to be broken
    found = Counter(word for words in lines for word in words)
    write_labels(folder, {word: kind for word in found if found[word] >= 5 and (kind := kind_of(word))})
    return write_sentences(folder, lines)


def kind_of(token: str) -> str | None:
    """Return what kind of token this is, if that can be told."""
    known = getattr(builtins, token, None)
    if keyword.iskeyword(token):
        return "keyword"
    if isinstance(known, type) and issubclass(known, BaseException):
        return "exception"
    if known is not None and not token.startswith("_"):
        return "function"
    if re.fullmatch(r"__\w+__", token):
        return "special name"
    if re.fullmatch(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+", token):
        return "constant"
    if re.fullmatch(r"([A-Z][a-z0-9]+){2,}", token):
        return "class"
    if token in sys.stdlib_module_names and not token.startswith("_"):
        return "module"
    return None if re.match(r"\w|<", token) else "operator"


def write_imports(folder: Path) -> bool:
    """Write what each file of the installed packages imports, in any order; the class of a name is its package."""
    import torch

    draw = random.Random(1)
    baskets = []
    for path in python_files(Path(torch.__file__).parents[1]):
        source = path.read_text(encoding="utf-8", errors="replace")
        names = re.findall(r"^\s*from ([a-z][\w.]*) import ", source, re.M)
        names += re.findall(r"^\s*import ([a-z][\w.]*)", source, re.M)
        basket = sorted(set(names))
        draw.shuffle(basket)
        baskets.append(basket)
    found = Counter(name for basket in baskets for name in basket if "." in name)
    packages = Counter(name.partition(".")[0] for name, count in found.items() if count >= 5)
    labels = {name: name.partition(".")[0] for name, count in found.items() if count >= 5}
    write_labels(folder, {name: label for name, label in labels.items() if packages[label] >= 10})
    return write_sentences(folder, baskets)


def write_brown(folder: Path) -> bool:
    """Write the Brown corpus in small letters; the class of a word is its most frequent tag."""
    if not BROWN.exists():
        return False
    sentences = read_brown()
    write_labels(folder, tags_of_words(sentences))
    return write_sentences(folder, ([word for word, _ in sentence] for sentence in sentences))


INPUTS = {
    "toy": Input("400 sentences of a tutorial", write_toy, neighbours_vote),
    "lee": Input("300 news texts", write_lee, judged_texts),
    "imports": Input("imports of installed packages, as baskets", write_imports, neighbours_vote),
    "walks": Input("walks on a graph of 1,000 nodes", write_walks, neighbours_vote),
    "german": Input("German messages of programs", write_german, neighbours_vote),
    "chinese": Input("Chinese messages of programs, by character", write_chinese, classified_texts),
    "code": Input("Python's library as tokens", write_code, neighbours_vote),
    "brown": Input("Brown corpus", write_brown, neighbours_vote),
    "agnews": Input("AG News", partial(write_labelled, "agnews_train_subset", "agnews_test"), classified_texts),
    "text8_1m": Input("text8, 1 million tokens", partial(write_beginning, TEXT8, 1_000_000), word_similarity),
    "wiki_1m": Input("Wikipedia, 1 million tokens", partial(write_beginning, WIKIPEDIA, 1_000_000), word_similarity),
    "text8_4m": Input("text8, 4 million tokens", partial(write_beginning, TEXT8, 4_000_000), word_similarity),
    "wiki_5m": Input("Wikipedia, 5 million tokens", partial(write_beginning, WIKIPEDIA, 5_000_000), word_similarity),
    "imdb": Input("IMDB", partial(write_labelled, "imdb_train", "imdb_test"), classified_texts),
    "text8_12m": Input("text8, 12 million tokens", partial(write_beginning, TEXT8, 12_000_000), word_similarity),
    "wiki_25m": Input("Wikipedia, 25 million tokens", partial(write_beginning, WIKIPEDIA, 25_000_000), word_similarity),
}
