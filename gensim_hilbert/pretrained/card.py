"""The model card: a README.md in English, with the metadata that the Hugging Face Hub reads."""

from __future__ import annotations

import json
import re
import string
from typing import TYPE_CHECKING, Any, NamedTuple

from gensim_hilbert.options import settings_of

if TYPE_CHECKING:
    from gensim_hilbert.model import HilbertMLE

IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]*")
LONGEST = 80  # characters of a word or a name that are shown
FREQUENT_WORDS = 20  # that are shown
ABOUT_VECTORS = """Every word has a vector and a covector. Words whose
vectors are alike occur in the same contexts. The covector of one word and the vector of another tell how much more
often the two occur together than by chance: `model.pmi(context, term)` is their fitted pointwise mutual information,
and `model.most_cooccurring(word)` finds words that go with a word."""
ABOUT_SUMS = """The vector of a word is the sum of what was learnt
for it as a term and as a context. Words whose vectors are alike occur in the same contexts, or with each other."""


class CardFacts(NamedTuple):
    """What a card says that the model does not know."""

    license: str | None = None
    language: str | list[str] | None = None
    repository: str | None = None  # on the Hub


def card_of(model: HilbertMLE, facts: CardFacts, folder: str) -> str:
    """Return the model card of a model that is written to a folder."""
    solver = {"factorization": "pair counts", "gibbs": "the text itself, as it streamed by"}[model.solver]
    sizes = [
        ("words", f"{len(model.wv):,}"),
        ("dimensions", f"{model.vector_size:,}"),
        ("tokens of text", f"{model.corpus_total_words or 0:,}"),
        ("sentences or lines", f"{model.corpus_count or 0:,}"),
        ("trained on", ", ".join(names_of_texts(model)) or "nothing yet"),
        ("learnt from", solver),
    ]
    if model.subwords:
        sizes.append(("unknown words", "have vectors, too, which are made of character n-grams"))
    settings = [
        (f"`{name}`", escaped(value) if isinstance(value, str) else str(value))
        for name, value in settings_of(model).items()
        if value is not None
    ]
    about = ABOUT_SUMS if model.vectors_option == "v+w" else ABOUT_VECTORS
    place = facts.repository or folder
    words = ", ".join(map(escaped, model.wv.index_to_key[:FREQUENT_WORDS])) or "none yet"
    return f"""{front_matter(facts, model)}
# {escaped(place)}

These are word embeddings that were trained by gensim\\_hilbert. {about}

{table("", "", sizes)}

The first words are: {words}.

## How to load it

```sh
pip install 'gensim-hilbert{"[hub]" if facts.repository else ""}'
```

```python
from gensim_hilbert import HilbertMLE

model = HilbertMLE.from_pretrained({place!r})
model.wv  # the vectors, as gensim's KeyedVectors
model.covectors  # the covectors
```

`model.wv.most_similar(word)` finds words like a word. Loading runs no code from these files.

## Settings

{table("setting", "value", settings)}
"""


def front_matter(facts: CardFacts, model: HilbertMLE) -> str:
    """Return the metadata, as YAML."""
    tags = ["word-embeddings", "word2vec", "gensim", "hilbert-mle", *(["fasttext"] if model.subwords else [])]
    lines = ["---", "library_name: gensim-hilbert", "tags:", *(f"- {tag}" for tag in tags)]
    if facts.license is not None:
        lines.append(f"license: {identifier('license', facts.license)}")
    if facts.language:
        languages = [facts.language] if isinstance(facts.language, str) else facts.language
        lines += ["language:", *(f"- {identifier('language', language)}" for language in languages)]
    return "\n".join([*lines, "---", ""])


def identifier(name: str, value: Any) -> str:
    """Return an identifier in quotes: without them, YAML takes the language "no" for false."""
    if not isinstance(value, str) or not IDENTIFIER.fullmatch(value):
        raise ValueError(f"{name} must be an identifier such as 'cc-by-4.0' or 'en', got {value!r}")
    return json.dumps(value)


def names_of_texts(model: HilbertMLE) -> list[str]:
    """Return the names of the files that a model was trained on, or in words what else it was trained on."""
    shown: list[str] = []
    for record in model.trained_on:
        names = [str(name) for name in record.get("names", ())]
        more = record.get("files", 0) - len(names)
        if not names:
            shown.append("pair counts that were made before")
        elif all(name.startswith("<") for name in names):
            shown.append("sentences in memory")
        else:
            shown += [*map(escaped, names), *([f"{more:,} more files"] if more > 0 else [])]
    return list(dict.fromkeys(shown))


def table(left: str, right: str, rows: list[tuple[str, str]]) -> str:
    """Return a table in Markdown."""
    return "\n".join(f"| {one} | {other} |" for one, other in [(left, right), ("---", "---"), *rows])


def escaped(value: Any) -> str:
    """Return a text that Markdown shows as it is, whatever is in it; what cannot be printed is shown as in Python."""
    text = str(value)
    if len(text) > LONGEST:
        text = text[:LONGEST] + "..."
    printable = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
    return "".join(f"\\{char}" if char in string.punctuation else char for char in printable)
