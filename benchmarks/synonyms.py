"""Synonyms of WordNet against other words: a larger test of likeness than SimLex-999, for verbs, nouns and adjectives.

    python benchmarks/synonyms.py --wordnet DIR --counts DIR --vectors NAME=FILE ... [--seed 1]

The folder of `--wordnet` holds WordNet's files (`index.verb`, `data.verb` ...), `--counts` are the pair counts of the
text (`gensim-hilbert count`, or benchmarks/paper_models.py), and the vectors are of any format; a NAME may have several
files, one per run.

A question is a word and a synonym: words whose first senses are the same, and which are not spelt alike. A question is
answered if the synonym has a higher cosine with the word than any of three others of the same part of speech, which
share no sense, kind or parent with the word in WordNet. In "chance" these are words about as frequent as the synonym;
in "company" those that have the highest PMI with the word among pairs seen five times or more: words that go with it,
but are no synonyms. Intervals are 95% by a bootstrap over words that are asked about.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
from inputs import require
from scipy import sparse

from gensim_hilbert import PairCounts
from gensim_hilbert.evaluation.significance import draws, interval
from gensim_hilbert.export import load_vectors

PARTS = {"verb": "verbs", "noun": "nouns", "adj": "adjectives"}
KINDS = ("chance", "company")
OTHERS = 3  # beside the synonym
LEAST_COUNT = 5  # of pairs whose PMI counts
SPAN = 4.0  # Rare words have the highest PMI: without a limit, frequency alone would tell them from synonyms.
ALIKE = 4  # letters at the beginning of words that are spelt alike


class Senses(NamedTuple):
    """For each word of a part of speech its senses, the usual one first, and of each sense the kinds it belongs to."""

    of_word: dict[str, list[str]]
    parents: dict[str, set[str]]

    def around(self, word: str) -> set[str]:
        """The senses of a word and their parents: words that share none of these are no relatives."""
        senses = self.of_word[word]
        return set(senses).union(*(self.parents[sense] for sense in senses))


class Question(NamedTuple):
    """Rows of a word, of its synonym and of the others."""

    word: int
    synonym: int
    others: tuple[int, ...]


def read_wordnet(folder: Path, part: str) -> Senses:
    """Read single words and their senses; a line of its files that starts with a blank is part of the licence."""
    words: dict[str, list[str]] = {}
    for line in (folder / f"index.{part}").read_text(encoding="utf-8").splitlines():
        if not line.startswith(" "):
            fields = line.split()
            if fields[0].isalpha():
                words[fields[0]] = fields[-int(fields[2]) :]
    parents: dict[str, set[str]] = {}
    for line in (folder / f"data.{part}").read_text(encoding="utf-8").splitlines():
        if not line.startswith(" "):
            fields = line.partition(" | ")[0].split()
            place = 4 + 2 * int(fields[3], 16)
            pointers = fields[place + 1 : place + 1 + 4 * int(fields[place])]
            # Adjectives have no kinds; those around one that is their centre are similar to it.
            kinds = zip(pointers[::4], pointers[1::4], strict=True)
            parents[fields[0]] = {sense for symbol, sense in kinds if symbol in ("@", "@i", "&")}
    return Senses(words, parents)


def spelt_alike(one: str, other: str) -> bool:
    """Tell whether spelling gives the answer away."""
    return one[:ALIKE] == other[:ALIKE] or one in other or other in one


def all_questions(wordnet: Path, counts: PairCounts) -> dict[str, dict[str, list[Question]]]:
    """Make the questions of each kind, by part of speech."""
    return {name: questions(read_wordnet(wordnet, part), counts) for part, name in PARTS.items()}


def questions(senses: Senses, counts: PairCounts) -> dict[str, list[Question]]:
    """Make both kinds of questions, in the order of the vocabulary."""
    row_of = counts.vocabulary.index
    known = sorted((word for word in senses.of_word if word in row_of), key=row_of.__getitem__)
    rows = np.array([row_of[word] for word in known], dtype=np.int64)
    around = [senses.around(word) for word in known]
    with_usual_sense = defaultdict(list)
    for place, word in enumerate(known):
        with_usual_sense[senses.of_word[word][0]].append(place)
    company, frequencies = company_of(counts, rows), counts.vocabulary.counts[rows]
    found: dict[str, list[Question]] = {kind: [] for kind in KINDS}
    for alike in with_usual_sense.values():
        for one in alike:
            for other in alike:
                if one == other or spelt_alike(known[one], known[other]):
                    continue
                by_frequency = np.argsort(np.abs(np.arange(len(known)) - other), kind="stable")
                ratios = frequencies[company[one]] / frequencies[other]
                in_company = company[one][(ratios <= SPAN) & (ratios >= 1 / SPAN)]
                for kind, order in zip(KINDS, (by_frequency, in_company), strict=True):
                    strangers = (k for k in order if k not in alike and not around[one] & around[k])
                    others = tuple(int(rows[k]) for k, _ in zip(strangers, range(OTHERS), strict=False))
                    if len(others) == OTHERS:
                        found[kind].append(Question(int(rows[one]), int(rows[other]), others))
    return found


def company_of(counts: PairCounts, rows: np.ndarray) -> list[np.ndarray]:
    """Return for each of some words which of them go with it, the highest PMI first."""
    table: sparse.csr_array = counts.to_scipy().tocsr()[rows][:, rows]
    contexts, terms = (np.asarray(side, dtype=np.float64)[rows] for side in counts.marginals[:2])
    found = []
    for place in range(len(rows)):
        some = slice(*table.indptr[place : place + 2])
        words, seen = table.indices[some], table.data[some]
        words, seen = words[seen >= LEAST_COUNT], seen[seen >= LEAST_COUNT]
        found.append(words[np.argsort(-(seen / (contexts[place] * terms[words])), kind="stable")])
    return found


def answered(asked: list[Question], unit: np.ndarray) -> np.ndarray:
    """Tell which questions are answered."""
    words = unit[[one.word for one in asked]]
    right = np.einsum("kd,kd->k", words, unit[[one.synonym for one in asked]])
    others = np.einsum("kd,kod->ko", words, unit[[list(one.others) for one in asked]])
    found: np.ndarray = right > others.max(axis=1)
    return found


def resampled(asked: list[Question], right: np.ndarray, seed: int) -> np.ndarray:
    """Return the share of right answers in each resample of the words that are asked about."""
    _, group = np.unique([one.word for one in asked], return_inverse=True)
    of_word, of_right = np.bincount(group), np.bincount(group, right)
    return np.concatenate([(drawn @ of_right) / (drawn @ of_word) for drawn in draws(len(of_word), seed)])


def unit_vectors(path: str, words: list[str]) -> np.ndarray:
    """Read vectors, at length 1, in the order of the counts."""
    vectors = load_vectors(path)
    missing = [word for word in words if word not in vectors.key_to_index]
    if missing:
        sys.exit(f"{path} has no vector of {missing[0]!r}, which is among the counts: name vectors of the same words.")
    return np.asarray(vectors.get_normed_vectors()[[vectors.key_to_index[word] for word in words]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wordnet", type=Path, required=True, help="folder of WordNet's files")
    parser.add_argument("--counts", type=Path, required=True, help="pair counts of the text")
    parser.add_argument("--vectors", nargs="+", required=True, metavar="NAME=FILE")
    parser.add_argument("--seed", type=int, default=1, help="of the bootstrap")
    options = parser.parse_args()
    require(options.wordnet / "index.verb", options.counts)
    counts = PairCounts.open(options.counts)
    asked = all_questions(options.wordnet, counts)
    columns = [(name, kind) for name in PARTS.values() for kind in KINDS if asked[name][kind]]
    if not columns:
        sys.exit(f"{options.counts} has no synonyms among its words: use the counts of a larger, English text.")
    head = [f"{name}, {kind} ({len(asked[name][kind]):,})" for name, kind in columns]
    print(f"| | runs | {' | '.join(head)} |\n|{'---|' * (2 + len(head))}")
    systems = defaultdict(list)
    for text in options.vectors:
        name, _, path = text.rpartition("=")
        systems[name or path].append(unit_vectors(path, counts.vocabulary.words))
    first: dict[tuple[str, str], np.ndarray] = {}
    for system, runs in systems.items():
        cells = []
        for name, kind in columns:
            questions_here = asked[name][kind]
            right = np.mean([answered(questions_here, unit) for unit in runs], axis=0)
            shares = resampled(questions_here, right, options.seed)
            cell = f"{right.mean():.3f}"
            if (name, kind) in first:
                low, high = interval(first[name, kind] - shares)
                cell += f" ({low:+.3f} to {high:+.3f})"
            else:
                first[name, kind] = shares
            cells.append(cell.replace("0.", "."))
        print(f"| {system} | {len(runs)} | {' | '.join(cells)} |", flush=True)
    print("\nIn brackets: 95% interval of the lead of the first line.")


if __name__ == "__main__":
    main()
