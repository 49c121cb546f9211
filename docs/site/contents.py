"""What the documentation site consists of: files of this repository under their own paths, and pages made of others."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "benchmarks/RESULTS.md")
ASSETS = ("CITATION.cff", "constraints.txt", "docs/site/iframe-worker.js", "docs/site/site.css")
LANGUAGES = {".py": "python", ".sh": "sh"}


class ApiPage(NamedTuple):
    """A page of the Python reference: which names it documents from their docstrings, with options of mkdocstrings."""

    title: str
    introduction: str
    module: str
    names: tuple[str, ...]
    options: str = "{}"


API = {
    "model": ApiPage(
        "Models",
        "`HilbertMLE` is a `gensim.models.Word2Vec`, and what it inherits unchanged is described in [gensim's "
        "documentation](https://radimrehurek.com/gensim/models/word2vec.html). [From "
        "Word2Vec](../docs/migration.md#arguments) goes through the parameters of both.",
        "gensim_hilbert",
        ("HilbertMLE", "queries.Queries"),
        "{ members_order: alphabetical }",
    ),
    "counts": ApiPage(
        "Pair counts and vocabularies",
        "Counts can be made, kept and looked at without a model; `HilbertMLE.from_counts` trains on them.",
        "gensim_hilbert",
        ("PairCounts", "Vocabulary"),
    ),
    "text": ApiPage(
        "Words and phrases of raw text",
        "Both can be given to `HilbertMLE` and to `PairCounts.from_corpus`.",
        "gensim_hilbert",
        ("Words", "Phrases"),
    ),
    "export": ApiPage(
        "Files for other tools",
        "[Formats](../docs/formats.md#exports) compares the formats.",
        "gensim_hilbert.export",
        ("export", "load_vectors", "FORMATS", "formats.Format"),
    ),
    "objectives": ApiPage(
        "Objectives",
        "What is fitted to the counts. [Concepts](../docs/concepts.md) has the formulas, and "
        "[Extending](../docs/extending.md) shows how to write one. `Objective` has what is common to all of them.",
        "gensim_hilbert.objectives",
        (
            "Hilbert", "SGNS", "GloVe", "LDS", "Swivel", "PPMI", "named", "Objective", "Pairs", "Cost",
            "least_squares_", "precise_sum", "precise_dot",
        ),
        "{ inherited_members: false }",
    ),
    "evaluation": ApiPage(
        "Evaluation",
        "The functions behind `gensim-hilbert evaluate`.",
        "gensim_hilbert.evaluation",
        (
            "find_data", "Data", "similarity", "SimilarityScore", "compare_similarity", "analogies", "AnalogyScore",
            "SectionScore", "compare_analogies", "sts", "StsScore", "compare_sts", "linear", "LinearScore",
            "classification", "tagging", "most_frequent_tag", "ExtrinsicScore", "compare_extrinsic",
        ),
    ),
    "report": ApiPage(
        "Reports", "The function behind `gensim-hilbert report`.", "gensim_hilbert.report", ("report",)
    ),
    "explore": ApiPage(
        "The explorer",
        "What `gensim-hilbert explore` serves, and what notebooks show. [The explorer](../docs/explorer.md) describes "
        "the page and its answers.",
        "gensim_hilbert.explore",
        ("endpoints.Explorer", "widget"),
    ),
    "sklearn": ApiPage(
        "scikit-learn",
        "[Vectors of texts](../docs/texts.md) shows it in a pipeline.",
        "gensim_hilbert.sklearn",
        ("HilbertVectorizer",),
    ),
}  # fmt: skip
API_NAMES = [f"{page.module}.{name}" for page in API.values() for name in page.names]


def pages() -> list[str]:
    """Return the paths of the Markdown files of this repository that are pages."""
    return [*PAGES, *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").glob("*.md")))]


def assets() -> list[str]:
    """Return the paths of the files that pages refer to, and that are copied as they are."""
    pictures = [path for kind in ("svg", "png") for path in sorted((ROOT / "docs").glob(f"*.{kind}"))]
    return [*ASSETS, *(path.relative_to(ROOT).as_posix() for path in pictures)]


def generated() -> dict[str, str]:
    """Return the Markdown of the pages that are made of other files, by path: the path of an example ends in `.md`."""
    found = {f"api/{name}.md": _reference(page) for name, page in API.items()}
    for path in sorted((ROOT / "examples").glob("*")):
        if path.suffix in LANGUAGES:
            found[f"examples/{path.name}.md"] = _listing(path)
    for path in sorted((ROOT / "examples" / "notebooks").glob("*.ipynb")):
        found[f"examples/notebooks/{path.name}.md"] = notebook_markdown(json.loads(path.read_text(encoding="utf-8")))
    return found


def with_links_to_pages(markdown: str) -> str:
    """Return a page with links to the pages that show examples, where the file links to the examples themselves."""
    return re.sub(r"(\]\((?!https?:)[^)#\s]*\.(?:py|sh|ipynb))(?=[)#])", r"\1.md", markdown)


def notebook_markdown(notebook: dict[str, Any]) -> str:
    """Return a notebook as a page: its cells, what they printed, and the pictures and tables that they showed."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            parts.append(source)
        elif source:
            parts += [_fenced(source, "python"), *map(_output, cell["outputs"])]
    return "\n\n".join(part for part in parts if part) + "\n"


def _output(output: dict[str, Any]) -> str:
    """Return what a cell of a notebook has put out."""
    if output["output_type"] == "stream":
        return _fenced("".join(output["text"])) if output["name"] == "stdout" else ""
    data = output.get("data", {})
    if "image/png" in data:
        encoded = "".join(data["image/png"]).replace("\n", "")
        return f'<img alt="What the cell above draws" src="data:image/png;base64,{encoded}">'
    for kind in ("image/svg+xml", "text/html"):
        if kind in data:
            # A blank line would end the block of HTML.
            return "<div>" + re.sub(r"\n\s*\n", "\n", "".join(data[kind])) + "</div>"
    return _fenced("".join(data["text/plain"])) if "text/plain" in data else ""


def _fenced(text: str, language: str = "") -> str:
    """Return a block of code, in a fence longer than any inside."""
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`{3,}", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _listing(path: Path) -> str:
    """Return a page that shows a program."""
    return f"# {path.name}\n\n{_fenced(path.read_text(encoding='utf-8'), LANGUAGES[path.suffix])}\n"


def _reference(page: ApiPage) -> str:
    """Return a page of the Python reference."""
    directives = [f"::: {page.module}.{name}\n    options: {page.options}" for name in page.names]
    return "\n\n".join([f"# {page.title}", page.introduction, *directives]) + "\n"
