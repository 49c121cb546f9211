"""The documentation site has every page and every public name, leads nowhere else, and works without a network."""

import dataclasses
import importlib
import importlib.util
import inspect
import posixpath
import re
import shutil
import subprocess
import sys
import time

import pytest
from browser import Browser
from documents import DOCUMENTS, ROOT
from shell import environment

LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
# The modules whose `__all__` is what users may import. gensim_hilbert.cli is documented in docs/cli.md.
PUBLIC = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in (ROOT / "gensim_hilbert").rglob("*.py")
    if "\n__all__ = " in path.read_text(encoding="utf-8")
)


def load(name):
    """A module of docs/site, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "site" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


contents = load("contents")
DOCUMENTED = contents.API_NAMES


def leaves(nav):
    if isinstance(nav, str):
        return [nav]
    return [leaf for item in (nav.values() if isinstance(nav, dict) else nav) for leaf in leaves(item)]


def test_nav_lists_every_page():
    yaml = pytest.importorskip("yaml")
    listed = leaves(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    folders = {f"{posixpath.dirname(path)}/*" for path in contents.generated()}
    assert sorted(path for path in listed if not path.endswith("/*")) == sorted(contents.pages())
    assert folders <= set(listed)
    assert {path.relative_to(ROOT).as_posix() for path in DOCUMENTS} <= set(listed)


def test_links_lead_to_what_the_site_has():
    texts = contents.generated() | {path: (ROOT / path).read_text(encoding="utf-8") for path in contents.pages()}
    there = {*texts, *contents.assets()}
    for path, text in texts.items():
        for target in LINK.findall(contents.with_links_to_pages(text)):
            assert posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) in there, (path, target)


def test_links_to_programs_lead_to_the_pages_that_show_them():
    text = "[a](../a.py) [b](b.ipynb#end) [c](https://example.org/c.py) [d](d.md)"
    shown = "[a](../a.py.md) [b](b.ipynb.md#end) [c](https://example.org/c.py) [d](d.md)"
    assert contents.with_links_to_pages(text) == shown


def public_names():
    return [f"{module}.{name}" for module in PUBLIC for name in importlib.import_module(module).__all__]


def found(name):
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def own_members(kind):
    """What a class has from this package, and not from gensim or scikit-learn, under a public name."""
    return {
        name: value
        for base in reversed(kind.__mro__)
        if base.__module__.startswith("gensim_hilbert")
        for name, value in vars(base).items()
        if not name.startswith("_") and (callable(value) or isinstance(value, (classmethod, staticmethod, property)))
    }


def test_reference_has_every_public_name():
    assert set(public_names()) <= set(DOCUMENTED)
    assert len(DOCUMENTED) == len(set(DOCUMENTED))


def test_reference_has_what_documents_and_examples_import():
    texts = [path.read_text(encoding="utf-8") for path in [*DOCUMENTS, *(ROOT / "examples").glob("*.py")]]
    statements = re.findall(r"^\s*from (gensim_hilbert[\w.]*) import (.+)$", "\n".join(texts), re.MULTILINE)
    used = {f"{module}.{name.strip()}" for module, names in statements for name in names.split(",")}
    assert len(used) >= 8
    assert used <= set(DOCUMENTED)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_public_names_have_docstrings(name):
    value = found(name)
    if not inspect.isclass(value) and not inspect.isfunction(value):
        return  # A table: the slow test below finds it in the reference.
    assert value.__doc__, name
    # That of a dataclass without one is its signature.
    assert not (dataclasses.is_dataclass(value) and value.__doc__.startswith(f"{value.__name__}(")), name
    if inspect.isclass(value):
        for member, what in own_members(value).items():
            assert inspect.getdoc(getattr(what, "__func__", what)), f"{name}.{member}"


def test_notebooks_become_pages():
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "Text."]},
        {
            "cell_type": "code",
            "source": ["print(1)"],
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["```\n", "1\n"]},
                {"output_type": "stream", "name": "stderr", "text": ["a progress bar"]},
                {"output_type": "display_data", "data": {"image/png": "QUJD\n", "text/plain": "<Figure>"}},
                {"output_type": "execute_result", "data": {"text/html": ["<b>\n", "\n", "</b>"], "text/plain": "b"}},
                {"output_type": "execute_result", "data": {"text/plain": ["2"]}},
            ],
        },
        {"cell_type": "code", "source": [], "outputs": []},
    ]
    assert contents.notebook_markdown({"cells": cells}).split("\n\n") == [
        "# Title\nText.",
        "```python\nprint(1)\n```",
        "````\n```\n1\n````",
        '<img alt="What the cell above draws" src="data:image/png;base64,QUJD">',
        "<div><b>\n</b></div>",
        "```\n2\n```\n",
    ]


def test_parameters_are_documented_one_by_one():
    pytest.importorskip("griffe")
    several = "Sum.\n\nParameters\n----------\na, b : int\n    Numbers,\n    whole.\nc, d\n    Others.\n"
    single = "a : int\n    Numbers,\n    whole.\nb : int\n    Numbers,\n    whole.\nc\n    Others.\nd\n    Others.\n"
    assert load("docstrings").one_by_one(several) == f"Sum.\n\nParameters\n----------\n{single}"
    assert load("docstrings").one_by_one(single) == single


# ------------------------------------------------------------------ the site as it is built


def build(root, folder):
    """Build the site as `make docs` does, into another folder."""
    command = [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(folder)]
    settings = environment() | {"NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, env=settings)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    for package in ("latex2mathml", "material", "mkdocstrings"):
        pytest.importorskip(package)
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT, folder)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


@pytest.mark.slow
def test_reference_shows_every_name_and_member(site):
    page = "".join(path.read_text(encoding="utf-8") for path in (site / "api").glob("*.html"))
    anchors = set(re.findall(r'\bid="([\w.]+)"', page))
    assert set(DOCUMENTED) <= anchors
    classes = {value: name for name in DOCUMENTED if inspect.isclass(value := found(name))}
    for kind in classes:
        # What a base that is in the reference has is described there.
        shown_at = [classes[base] for base in kind.__mro__ if base in classes]
        for member in own_members(kind):
            assert any(f"{name}.{member}" in anchors for name in shown_at), (kind, member)


@pytest.mark.slow
def test_pages_are_whole(site):
    """Formulas are MathML, lists are lists, and links to the sources of pages have become links to pages."""
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "arithmatex" not in text
        assert not re.search(r'href="(?!https?:)[^"]*\.md[#"]', text), path
    assert (site / "docs" / "concepts.html").read_text(encoding="utf-8").count("<math") > 50


@pytest.mark.slow
def test_site_loads_nothing_from_elsewhere(site):
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        loads = re.findall(r'<(?:script|img|iframe|source)\b[^>]*\bsrc="([^"]+)"', text)
        loads += re.findall(r'<link\b(?![^>]*rel="(?:canonical|next|prev)")[^>]*\bhref="([^"]+)"', text)
        assert not [load for load in loads if re.match(r"(https?:)?//", load)], path
    for path in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//|@import", path.read_text(encoding="utf-8")), path


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_search_works_where_pages_are_files(site, scheme):
    with Browser() as browser:
        browser.open(site / "docs" / "concepts.html", width=1300, height=900, scheme=scheme)
        browser.ask("document.querySelector('.md-search__input').focus()")
        browser.call("Input.insertText", text="covector")
        for _ in range(100):
            if "matching" in (says := browser.ask("document.querySelector('.md-search-result__meta').textContent")):
                break
            time.sleep(0.1)
        assert int(says.split()[0]) > 5, says
        assert browser.ask("document.body.dataset.mdColorScheme") == {"light": "default", "dark": "slate"}[scheme]
        assert not [told for told in browser.complaints if not told.startswith("asks for data:")]


@pytest.mark.slow
def test_pages_fit_on_a_phone(site):
    """What is wider, such as tables, code and formulas, scrolls by itself, and not the whole page."""
    with Browser() as browser:
        for path in sorted(site.rglob("*.html")):
            browser.open(path, width=360, height=740, scheme="light", phone=True)
            assert browser.ask("document.documentElement.scrollWidth") == 360, path


@pytest.mark.slow
def test_broken_links_stop_the_build(site, tmp_path):
    """Links to pages and to headings; without them the copy would build, as the fixture has shown."""
    copied = shutil.ignore_patterns("build", ".*", "tests", "cython_ext", "__pycache__", "*.so")
    shutil.copytree(ROOT, tmp_path / "copy", ignore=copied)
    with (tmp_path / "copy" / "docs" / "phrases.md").open("a", encoding="utf-8") as file:
        file.write("\n[Nowhere](nowhere.md) and [no heading](tables.md#nowhere).\n")
    done = build(tmp_path / "copy", tmp_path / "site")
    assert done.returncode != 0
    assert "nowhere.md" in done.stderr
    assert "tables.md#nowhere" in done.stderr
