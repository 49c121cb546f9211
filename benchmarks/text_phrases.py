"""Phrases against gensim: the same text, the same phrases, the same joined sentences, in one run on one core.

    python benchmarks/text_phrases.py [CORPUS] [--repeat 3] [--lines 400000]

CORPUS is text with one sentence per line; only so many of its lines are used, since gensim takes minutes. "finding" is
gensim's `Phrases(sentences)` and our `Phrases.from_corpus`, which also selects the phrases. "freezing" is gensim's
`freeze()`, which selects them. "joining" reads the text again and joins phrases, as lists of str in gensim and as the
token lists that counting goes on with here. Times are CPU seconds, the least of several runs (gensim runs once).
"""

from __future__ import annotations

import gzip
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from gensim.models.phrases import Phrases as GensimPhrases
from gensim.models.word2vec import LineSentence
from inputs import corpus_parser, require

from gensim_hilbert import Phrases
from gensim_hilbert.corpus.sources import as_corpus
from gensim_hilbert.corpus.texts import texts
from gensim_hilbert.corpus.token_lists import decode_lists
from gensim_hilbert.phrases.applying import with_phrases

WANTED = 20


def clock(function: Callable[[], Any], repeat: int = 1) -> tuple[float, Any]:
    """Return the least CPU time of several runs, and the result."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        result = function()
        times.append(time.process_time() - start)
    return min(times), result


def words_of_gensim(phrases: Any, path: Path) -> int:
    return sum(len(sentence) for sentence in phrases[LineSentence(str(path))])


def words_of_ours(phrases: Phrases, path: Path) -> int:
    corpus = with_phrases(as_corpus(path), phrases)
    return sum(len(text.places) for text in texts(corpus.blocks(streams=True), "strict"))


def joined_alike(ours: Phrases, theirs: Any, path: Path) -> bool:
    corpus = with_phrases(as_corpus(path), ours)
    mine = (sentence for text in texts(corpus.blocks(streams=True), "strict") for sentence in decode_lists(text.data))
    return all(a == b for a, b in zip(mine, theirs[LineSentence(str(path))], strict=True))


def main() -> None:
    """Print both tables."""
    options = corpus_parser(__doc__, repeat=3, lines=400_000).parse_args()
    require(options.corpus)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "text.txt")
        opened = gzip.open if options.corpus.suffix == ".gz" else open
        with opened(options.corpus, "rb") as source, open(path, "wb") as target:
            target.writelines(islice(source, options.lines))
        finding, ours = clock(lambda: Phrases.from_corpus(path, workers=1, progress=False), options.repeat)
        joining, words = clock(lambda: words_of_ours(ours, path), options.repeat)
        their_finding, theirs = clock(lambda: GensimPhrases(LineSentence(str(path))))
        freezing, frozen = clock(theirs.freeze)
        their_joining, their_words = clock(lambda: words_of_gensim(frozen, path))
        unfrozen, _ = clock(lambda: words_of_gensim(theirs, path))
        same = frozen.phrasegrams == ours.phrases and words == their_words and joined_alike(ours, frozen, path)
        print(f"{theirs.corpus_word_count:,} words, {len(ours):,} phrases; all results are the same: {same}\n")
        print("| | finding s | freezing s | joining s | together s |\n|---|---|---|---|---|")
        print(f"| gensim_hilbert | {finding:.2f} |  | {joining:.2f} | {finding + joining:.2f} |")
        whole, whole_unfrozen = their_finding + freezing + their_joining, their_finding + unfrozen
        print(f"| gensim, frozen | {their_finding:.2f} | {freezing:.2f} | {their_joining:.2f} | {whole:.2f} |")
        print(f"| gensim, not frozen | {their_finding:.2f} |  | {unfrozen:.2f} | {whole_unfrozen:.2f} |\n")
        print("| ratio | |\n|---|---|")
        print(f"| together, against gensim, frozen (wanted: {WANTED}) | {whole / (finding + joining):.1f} |")
        print(
            f"| together, against gensim, not frozen (wanted: {WANTED}) | {whole_unfrozen / (finding + joining):.1f} |"
        )


if __name__ == "__main__":
    main()
