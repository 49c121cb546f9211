"""What README and docs show is what happens: every block of code in them is run, and every link leads somewhere."""

import gzip
import hashlib
import importlib.util
import json
import re
import shlex
import signal
import subprocess
import sys
import tomllib
import zlib
from fractions import Fraction

import pytest
from documents import ROOT, assert_alike, blocks_of, run_python, session_of
from reference import pairs_of, sentences_of, word_counts
from shell import finish, run_here, signal_when, start
from text import zipf_text

from gensim_hilbert.export import FORMATS
from gensim_hilbert.objectives import Hilbert
from gensim_hilbert.options import ignored_options

README = ROOT / "README.md"
DOCUMENTS = [README, *sorted((ROOT / "docs").glob("*.md"))]
FROZEN = ROOT / "tests" / "formats" / "v1"
BLOCKS = {path: blocks_of(path) for path in DOCUMENTS}


def documents_with(*languages):
    found = [path for path in DOCUMENTS if any(block.language in languages for block in BLOCKS[path])]
    return pytest.mark.parametrize("document", found, ids=lambda path: path.stem)


def test_every_block_is_run_or_known_not_to_be():
    languages = {block.language for blocks in BLOCKS.values() for block in blocks}
    assert languages <= {"python", "sh", "console", "toml", "bibtex"}


@documents_with("python")
def test_python(document, tmp_path):
    blocks = [block for block in BLOCKS[document] if block.language == "python"]
    for block, printed in zip(blocks, run_python([block.text for block in blocks], tmp_path), strict=True):
        if printed is not None:
            assert_alike(block.output or "", printed)


# ---------------------------------------------------------------------------------------------------- shell


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
def desk(tmp_path, monkeypatch, s3_server):
    """A folder, and a bucket, that hold small texts under the names that documents use."""
    import boto3

    for name in ("monday", "tuesday"):
        (tmp_path / f"{name}.txt").write_bytes(b"the of\n" * 9 + zipf_text(2000, 60, seed=len(name)))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for name, value in (
        ("AWS_ENDPOINT_URL", s3_server),
        ("AWS_ACCESS_KEY_ID", "x"),
        ("AWS_SECRET_ACCESS_KEY", "x"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
    ):
        monkeypatch.setenv(name, value)
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
        done = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


CHECKED = {"make": make_target_exists, "pip": extras_exist}


@documents_with("sh", "console")
def test_shell(document, desk):
    if "interrupted.model" in document.read_text(encoding="utf-8"):
        interrupted_training(desk / "monday.txt", desk / "interrupted.model")
    for block in BLOCKS[document]:
        if block.language == "console":
            for command, shown in session_of(block.text):
                assert_alike(shown, run_command(command))
        elif block.language == "sh":
            for line in block.text.splitlines():
                words = shlex.split(line, comments=True)
                CHECKED[words[0]](words) if words[0] in CHECKED else run_command(line)


# ---------------------------------------------------------------------------------------------------- facts


@pytest.mark.parametrize("document", [*DOCUMENTS, ROOT / "CONTRIBUTING.md"], ids=lambda path: path.stem)
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


def test_the_readme_lists_what_has_no_effect():
    rows = re.findall(r'^\| `"(\w+)"` \| (.*) \|$', README.read_text(encoding="utf-8"), re.MULTILINE)
    assert [solver for solver, _ in rows] == ["factorization", "gibbs"]
    for solver, names in rows:
        assert set(re.findall(r"`(\w+)`", names)) == set(ignored_options(solver, Hilbert(), subwords=False))


def test_every_export_is_described():
    exports = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8").partition("## Exports")[2]
    assert set(re.findall(r"^\| `([\w-]+)` \|", exports, re.MULTILINE)) == set(FORMATS)


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


@pytest.mark.parametrize(
    ("name", "left", "right", "weights"),
    [("symmetric", 5, 5, "harmonic"), ("two_classes", 3, 3, "dynamic"), ("asymmetric", 2, 1, ([300, 1], [70000]))],
)
def test_the_reader_in_the_documentation_reads_old_stores(name, left, right, weights):
    """By nothing but what formats.md says, checksums and fingerprint included."""
    names = {}
    reader = next(block.text for block in BLOCKS[ROOT / "docs" / "formats.md"] if "def read_counts" in block.text)
    exec(reader, names)
    words, table = names["read_counts"](FROZEN / name)
    sentences = sentences_of((FROZEN / "text.txt").read_bytes())
    assert dict(words) == word_counts(sentences)
    expected = pairs_of(sentences, [word for word, _ in words], left, right, weights)
    manifest = json.loads((FROZEN / name / "manifest.json").read_text())
    scale = manifest["window"]["scale"]
    assert {key: Fraction(round(weight * scale), scale) for key, weight in table.items()} == expected
    contexts, terms = names["read_npy"](FROZEN / name / "marginals.npy")
    for k in range(len(words)):
        assert contexts[k] == sum(weight for (i, _), weight in expected.items() if i == k) * scale
        assert terms[k] == sum(weight for (_, j), weight in expected.items() if j == k) * scale
    assert manifest["total"] == sum(contexts)
    files = [(FROZEN / name / file).read_bytes() for file in ("vocabulary.jsonl", "index.npy", "marginals.npy")]
    identity = json.dumps([manifest["window"], manifest["mirrored"]]).encode() + b"".join(files)
    assert manifest["fingerprint"] == hashlib.sha256(identity).hexdigest()
    for file, facts in manifest["files"].items():
        data = (FROZEN / name / file).read_bytes()
        assert (len(data), zlib.crc32(data)) == (facts["bytes"], facts.get("crc32", zlib.crc32(data)))
    crc32 = manifest.pop("crc32")
    assert zlib.crc32(json.dumps(manifest).encode()) == crc32
