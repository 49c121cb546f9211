"""What README and docs show is what happens: every block of code in them is run, and every link leads somewhere."""

import gzip
import importlib.util
import re
import shlex
import signal
import sys
import tomllib

import click
import pytest
from documents import BLOCKS, DOCUMENTS, README, ROOT, assert_alike, run_python, session_of
from helpers import short_training
from shell import finish, run, run_here, signal_when, start
from table_files import rows_of, write_jsonl, write_jsonl_gz
from texts import zipf_text

from gensim_hilbert.cli import cli
from gensim_hilbert.cli.explore import explore
from gensim_hilbert.export.formats import FORMATS, MODEL_FOLDER
from gensim_hilbert.objectives import Hilbert
from gensim_hilbert.options import ignored_options

OTHER_PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "benchmarks" / "RESULTS.md"]


def documents_with(*languages):
    found = [path for path in DOCUMENTS if any(block.language in languages for block in BLOCKS[path])]
    return pytest.mark.parametrize("document", found, ids=lambda path: path.stem)


def test_every_block_is_run_or_known_not_to_be():
    languages = {block.language for blocks in BLOCKS.values() for block in blocks}
    assert languages <= {"python", "sh", "console", "toml", "bibtex"}


@pytest.fixture(scope="module")
def printed():
    """By document: what its Python blocks printed, and what went wrong."""
    codes = [[block.text for block in blocks if block.language == "python"] for blocks in BLOCKS.values()]
    return dict(zip(BLOCKS, run_python(codes), strict=True))


@documents_with("python")
def test_python_blocks_print_what_is_shown(document, printed):
    outputs, error = printed[document]
    assert error is None, error
    blocks = [block for block in BLOCKS[document] if block.language == "python"]
    for block, output in zip(blocks, outputs, strict=True):
        if output is not None:
            assert_alike(block.output or "", output)


def make_target_exists(command):
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(command[1:]) <= set(targets), command


def extras_exist(command):
    assert command[:2] == ["pip", "install"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for extra in re.findall(r"\w+", "".join(re.findall(r"\[(.*)\]", command[2]))):
        assert extra in project["optional-dependencies"], command


def interrupted_training(text, model):
    process = start("train", text, "-o", model, "--vector-size", 8, "--epochs", 20)
    begun = model.with_name(model.name + ".checkpoint") / "training-1" / "checkpoint.json"
    assert signal_when(process, begun.exists, signal.SIGINT), process.communicate()
    assert finish(process, 60)[0] == 130


@pytest.fixture
def desk(tmp_path, monkeypatch, s3_environment):
    """A folder, and a bucket, that hold small texts under the names that documents use."""
    import boto3

    for name in ("monday", "tuesday"):
        (tmp_path / f"{name}.txt").write_bytes(b"the of\n" * 9 + zipf_text(2000, 60, seed=len(name)))
    write_jsonl(tmp_path / "reviews.jsonl", rows_of(zipf_text(2000, 60)))
    write_jsonl_gz(tmp_path / "news.jsonl.gz", rows_of(zipf_text(2000, 60)))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    client = boto3.client("s3")
    client.create_bucket(Bucket="bucket")
    for part in range(2):
        text = gzip.compress(zipf_text(3000, 100, seed=part))
        client.put_object(Bucket="bucket", Key=f"wiki-{part}.txt.gz", Body=text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_command(command):
    """What a line of a shell prints; it must succeed."""
    words = shlex.split(command, comments=True)
    if words[0] == "gensim-hilbert":
        done = run_here(*words[1:])
    else:
        assert words[0] == "python", f"who tests {command!r}?"
        done = run(*words[1:], command=[sys.executable])
    assert done.returncode == 0, done.stderr
    return done.stdout


def options_exist(command):
    """A command that runs until Ctrl-C is not run; its options must exist."""
    context = explore.make_context("explore", command[2:], parent=click.Context(cli, **cli.context_settings))
    assert context.params["models"]


CHECKED = {"make": make_target_exists, "pip": extras_exist}


def run_shell(document, desk, compare):
    """Run all commands of a document; `compare(shown, printed)` checks what they print."""
    if "interrupted.model" in document.read_text(encoding="utf-8"):
        interrupted_training(desk / "monday.txt", desk / "interrupted.model")
    for block in BLOCKS[document]:
        if block.language == "console":
            for command, shown in session_of(block.text):
                compare(shown, run_command(command))
        elif block.language == "sh":
            for line in block.text.splitlines():
                words = shlex.split(line, comments=True)
                if words[:2] == ["gensim-hilbert", "explore"] and "--export" not in words:
                    options_exist(words)
                else:
                    CHECKED[words[0]](words) if words[0] in CHECKED else run_command(line)


def assert_as_many_lines(shown, printed):
    assert len(shown.splitlines()) == len(printed.splitlines()), printed


@documents_with("sh", "console")
def test_commands_succeed(document, desk):
    """Every command succeeds, and prints as many lines as are shown."""
    with short_training():
        run_shell(document, desk, assert_as_many_lines)


@pytest.mark.slow
@documents_with("console")
def test_commands_print_what_is_shown(document, desk):
    """Trained for as long as users train, what is printed is what is shown."""
    run_shell(document, desk, assert_alike)


@pytest.mark.parametrize("document", [*DOCUMENTS, *OTHER_PAGES], ids=lambda path: path.stem)
def test_links_lead_somewhere(document):
    text = document.read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!http)([^)]+)\)", text):
        name, _, anchor = target.partition("#")
        path = document.parent / name if name else document
        assert path.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)", path.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor in anchors, target


def test_every_example_is_listed_in_the_readme():
    listed = set(re.findall(r"\(examples/(\w+\.py)\)", README.read_text(encoding="utf-8")))
    assert listed == {path.name for path in (ROOT / "examples").glob("*.py")}


def test_the_migration_page_lists_what_has_no_effect():
    text = (ROOT / "docs" / "migration.md").read_text(encoding="utf-8")
    rows = re.findall(r'^\| `"(\w+)"` \| (.*) \|$', text, re.MULTILINE)
    assert [solver for solver, _ in rows] == ["factorization", "gibbs"]
    for solver, names in rows:
        assert set(re.findall(r"`(\w+)`", names)) == set(ignored_options(solver, Hilbert(), subwords=False))


def test_every_export_is_described():
    exports = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8").partition("## Exports")[2]
    assert set(re.findall(r"^\| `([\w-]+)` \|", exports, re.MULTILINE)) == {*FORMATS, MODEL_FOLDER}


def test_cli_page_is_current():
    spec = importlib.util.spec_from_file_location("write_cli", ROOT / "docs" / "write_cli.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == module.text(), "run `make docs`"


def test_citation_names_this_version_and_the_paper():
    yaml = pytest.importorskip("yaml")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (citation["cff-version"], citation["type"]) == ("1.2.0", "software")
    assert (str(citation["version"]), citation["license"]) == (project["version"], project["license"])
    (paper,) = citation["references"]
    bibtex = next(block.text for block in BLOCKS[README] if block.language == "bibtex")
    assert paper["title"] in bibtex
    assert paper["identifiers"][0]["value"].removeprefix("arXiv:") in bibtex
    authors = re.search(r"author = \{(.*)\}", bibtex)[1].split(" and ")
    assert [f"{one['family-names']}, {one['given-names']}" for one in paper["authors"]] == authors
