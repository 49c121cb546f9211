"""Which data sets there are, where they lie, and where to get those that are not here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import smart_open


class Source(NamedTuple):
    """A data set of the paper, or another form of one."""

    task: str
    name: str
    files: tuple[str, ...]
    what: str
    where: str
    chosen: bool = True  # without being asked for by name


COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
COLLECTION = "github.com/mfaruqui/eval-word-vectors"
AUTHORS = "github.com/enewe101/hilbert-experiments"
BENCHMARKS = "github.com/vecto-ai/word-benchmarks"
SIMILARITY, ANALOGY, STS, CLASSIFICATION, TAGGING = KINDS = (
    "similarity",
    "analogy",
    "sts",
    "classification",
    "tagging",
)
SOURCES = (
    Source(SIMILARITY, "B143", ("baker_verb143",), "Verb-143, Baker et al. 2014", f"{BENCHMARKS}, {AUTHORS}"),
    Source(SIMILARITY, "MENd", ("men_dev",), "MEN, development part, Bruni et al. 2012", AUTHORS),
    Source(SIMILARITY, "MENt", ("men_test",), "MEN, test part, Bruni et al. 2012", AUTHORS),
    Source(SIMILARITY, "RMT", ("radinsky_mturk287",), "MTurk-287, Radinsky et al. 2011", COLLECTION),
    Source(SIMILARITY, "RARE", ("rarewords",), "Stanford Rare Words, Luong et al. 2013", COLLECTION),
    Source(SIMILARITY, "SE17", ("semeval2017_task2",), "SemEval-2017 task 2, English", BENCHMARKS),
    Source(SIMILARITY, "S999", ("simlex999",), "SimLex-999, Hill et al. 2015", "comes with gensim"),
    Source(SIMILARITY, "WS-R", ("wordsim353_relatedness",), "WordSim-353, related, Agirre et al. 2009", COLLECTION),
    Source(SIMILARITY, "WS-S", ("wordsim353_similarity",), "WordSim-353, similar, Agirre et al. 2009", COLLECTION),
    Source(SIMILARITY, "Y130", ("yang_powers_verb130",), "YP-130, Yang and Powers 2006", COLLECTION),
    Source(SIMILARITY, "WS353", ("wordsim353",), "WordSim-353, Finkelstein et al. 2001", "comes with gensim", False),
    Source(SIMILARITY, "MEN", ("men",), "MEN, whole", COLLECTION, False),
    Source(SIMILARITY, "SE17-paper", ("semeval2017_task2_authors",), "as the paper's authors read it", AUTHORS, False),
    Source(SIMILARITY, "SE17-trial", ("semeval2017_task2_trial",), "SemEval-2017 task 2, trial", AUTHORS, False),
    Source(SIMILARITY, "Y130-paper", ("yang_powers_verb130_authors",), "YP-130, rounded scores", AUTHORS, False),
    Source(ANALOGY, "Google", ("google",), "questions-words, Mikolov et al. 2013", "comes with gensim"),
    Source(ANALOGY, "BATS", ("bats",), "BATS 3.0, Gladkova et al. 2016", f"vecto.space/projects/BATS, {AUTHORS}"),
    Source(
        CLASSIFICATION,
        "IMDB",
        ("imdb_train", "imdb_test"),
        "film reviews, Maas et al. 2011",
        "ai.stanford.edu/~amaas/data/sentiment",
    ),
    Source(
        CLASSIFICATION,
        "AGNews",
        ("agnews_train*", "agnews_test"),
        "news in 4 classes, Zhang et al. 2015",
        "huggingface.co/datasets/fancyzhx/ag_news",
    ),
    Source(TAGGING, "SemCor", ("semcor_sst",), "SemCor 3.0 with supersenses", "nltk.download('semcor')"),
    Source(TAGGING, "WSJ", ("wsj_sample",), "Penn Treebank, WSJ, a sample of 5%", "nltk.download('treebank')"),
    Source(TAGGING, "Brown", ("brown",), "Brown corpus with universal tags", "nltk.download('brown')"),
)
FOLDERS = {SIMILARITY: "eval/similarity", ANALOGY: "eval/analogy", STS: "eval/sts"}
FOLDERS |= {CLASSIFICATION: "extrinsic", TAGGING: "extrinsic"}
ENDINGS = {SIMILARITY: ".tsv", ANALOGY: ".txt", STS: ".tsv", CLASSIFICATION: ".tsv", TAGGING: ".txt"}
FORM = """A folder of data sets has this form; what is not there is left out, and files may be compressed:
  eval/similarity/NAME.tsv    word, word, score between tabs, one pair per line
  eval/analogy/NAME.txt       ": section" lines, then a b c d between blanks; d may be several answers: x/y/z
  eval/sts/NAME.tsv           sentence, sentence, score between tabs, one pair per line (github.com/brmson/dataset-sts);
                              sets that are called sts2012_..., sts2013_... are averaged by year
  extrinsic/NAME.tsv          label first, text last, between tabs, one text per line
  extrinsic/NAME.txt          word, then its tags, between tabs, one token per line; an empty line ends a sentence"""
UNASKED = {"bats_pairs"}  # the pairs that the questions of bats.txt are made of


@dataclass(frozen=True)
class Data:
    """Files of data sets by name, one mapping per task.

    Examples
    --------
    >>> Data(similarity={"mine": Path("pairs.tsv")})
    """

    similarity: Mapping[str, Path] = field(default_factory=dict)
    analogy: Mapping[str, Path] = field(default_factory=dict)
    classification: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    tagging: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    sts: Mapping[str, Path] = field(default_factory=dict)

    def missing(self) -> list[Source]:
        """Return the paper's sets that are not here."""
        return [source for source in SOURCES if source.chosen and source.name not in getattr(self, source.task)]


def find_data(path: str | os.PathLike[str] | None = None) -> Data:
    """Find data sets.

    Parameters
    ----------
    path : str or PathLike, optional
        A folder with eval/similarity/NAME.tsv, eval/analogy/NAME.txt, eval/sts/NAME.tsv and extrinsic/NAME.tsv or
        .txt; by default what the environment variable GENSIM_HILBERT_DATA names. The paper's sets, known by their
        files' names, come first and under the paper's short names; other files come under their own.

    Returns
    -------
    Data
        Where neither is given, the sets that come with gensim: WordSim-353, SimLex-999 and Google's analogies.
        `Data.missing` tells what else the paper uses, and where that was published.
    """
    folder = path or os.environ.get("GENSIM_HILBERT_DATA")
    if not folder:
        return bundled()
    root = Path(folder)
    found = Data(
        {name: parts[0] for name, parts in sets_of(root, SIMILARITY)},
        {name: parts[0] for name, parts in sets_of(root, ANALOGY)},
        dict(sets_of(root, CLASSIFICATION)),
        dict(sets_of(root, TAGGING)),
        {name: parts[0] for name, parts in sets_of(root, STS)},
    )
    if not any(getattr(found, kind) for kind in KINDS):
        raise FileNotFoundError(
            f"there are no data sets in {folder}{'' if root.exists() else ', which does not exist'}: "
            "`gensim-hilbert evaluate --sources` tells where to get them, and how the folder must look"
        )
    return found


def bundled() -> Data:
    """Return the data sets that come with gensim."""
    from gensim.test.utils import datapath

    return Data(
        similarity={"S999": Path(datapath("simlex999.txt")), "WS353": Path(datapath("wordsim353.tsv"))},
        analogy={"Google": Path(datapath("questions-words.txt"))},
    )


def sets_of(folder: Path, task: str) -> Iterator[tuple[str, tuple[Path, ...]]]:
    """Return the names and files of a task's sets: the paper's, then those that nothing is known of."""
    files = [path for path in sorted((folder / FOLDERS[task]).glob("*")) if unpacked(path).endswith(ENDINGS[task])]
    here = {stem(path): path for path in files}
    if len(here) < len(files):
        names = ", ".join(path.name for path in files if here[stem(path)] != path)
        raise ValueError(f"{folder / FOLDERS[task]} holds two files of one data set: remove {names}, or the other")
    known = [source for source in SOURCES if source.task == task]
    for source in known:
        parts = [matching(here, pattern) for pattern in source.files]
        if source.chosen and all(parts):
            yield source.name, tuple(path for part in parts for path in part)
    if task in (SIMILARITY, ANALOGY, STS):
        spoken_of = {name for source in known for name in source.files} | UNASKED
        yield from ((name, (path,)) for name, path in here.items() if name not in spoken_of)


def matching(here: Mapping[str, Path], pattern: str) -> list[Path]:
    """Return the file of that name, or those whose names begin with it."""
    if pattern.endswith("*"):
        return [path for name, path in here.items() if name.startswith(pattern[:-1])]
    return [here[pattern]] if pattern in here else []


def stem(path: Path) -> str:
    """Return a file's name without its endings: that of its form, and that of its compression."""
    return unpacked(path).rpartition(".")[0]


def unpacked(path: Path) -> str:
    """Return a file's name without the ending of its compression."""
    return path.name.removesuffix(path.suffix) if path.suffix in COMPRESSED else path.name


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of a UTF-8 file, compressed or not, without their ends."""
    with smart_open.open(path, "rt", encoding="utf-8", newline="\n") as file:
        try:
            for number, line in enumerate(file, start=1):
                yield number, line.rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not UTF-8: {error}") from None
