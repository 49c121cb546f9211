"""Words that are spelt much like a word that the model does not have."""

from __future__ import annotations

from gensim_hilbert.explore.shapes import SpellingAnswer
from gensim_hilbert.explore.words import ExploredModel

MOST_NEAR = 8
LONGEST_WORD = 40  # characters; for longer words nothing is looked for
COMMON_WORDS = 1000  # whose characters are tried in every place
CANDIDATES = 2000  # words that begin alike, the most frequent ones, which are compared one by one


def spelling(model: ExploredModel, word: str) -> SpellingAnswer:
    """Return whether a word is known, and if it is not, known words that differ from it by one or two letters.

    Words that begin with the same letter may differ by two, all others by one. Nearer ones come first, and of equally
    near ones those that are more frequent.
    """
    if word in model.rows or word.lower() in model.rows:
        return {"word": word, "known": True, "near": []}
    asked = word.casefold()
    if not 2 <= len(asked) <= LONGEST_WORD:
        return {"word": word, "known": False, "near": []}
    found = {text: (1, model.rows[text]) for text in one_edit_away(asked, alphabet(model)) if text in model.rows}
    for text in model.complete(asked[0], CANDIDATES):
        if text not in found and abs(len(text) - len(asked)) <= 2:
            distance = edits(asked, text.casefold())
            if distance <= min(2, len(asked) - 2):
                found[text] = (distance, model.rows[text])
    return {"word": word, "known": False, "near": sorted(found, key=found.__getitem__)[:MOST_NEAR]}


def alphabet(model: ExploredModel) -> set[str]:
    """Return the characters that frequent words have."""
    return {character for text in model.texts[:COMMON_WORDS] for character in text}


def one_edit_away(word: str, letters: set[str]) -> set[str]:
    """Return all that differs from a word by one letter that is missing, added, another, or changed with the next."""
    parts = [(word[:k], word[k:]) for k in range(len(word) + 1)]
    found = {before + after[1:] for before, after in parts if after}
    found |= {before + after[1] + after[0] + after[2:] for before, after in parts if len(after) > 1}
    found |= {before + letter + after for before, after in parts for letter in letters}
    found |= {before + letter + after[1:] for before, after in parts if after for letter in letters}
    return found - {word}


def edits(one: str, other: str) -> int:
    """Return by how many letters two words differ: missing, added, another, or two that changed places."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, found in enumerate(other, 1):
            least = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != found))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == found:
                least = min(least, before[j - 2] + 1)
            row.append(least)
        before, last = last, row
    return last[-1]
