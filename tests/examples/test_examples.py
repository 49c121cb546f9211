"""Every example runs, on small data, and shows what it promises."""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shutil
import subprocess
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from clusters import dask_processes
from documents import ROOT
from gensim.models import KeyedVectors
from gensim.test.utils import datapath
from helpers import full_training
from shell import environment

from gensim_hilbert import HilbertMLE, PairCounts

EXAMPLES = ROOT / "examples"


def test_every_example_is_tested():
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert not [path for path in EXAMPLES.iterdir() if path.is_file() and path.stem not in tests]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A third of the news that come with gensim: most examples need no more to show what they do."""
    path = tmp_path_factory.mktemp("texts") / "news.txt"
    with open(datapath("lee_background.cor"), encoding="utf-8") as file:
        path.write_text("".join(file.readlines()[::3]), encoding="utf-8")
    return path


def example(name, *arguments, cwd):
    """What an example prints, run in this process but otherwise as `python examples/NAME ARGUMENTS`."""
    with (
        pytest.MonkeyPatch.context() as patch,
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()) as out,
    ):
        warnings.simplefilter("error")
        patch.chdir(cwd)
        patch.setattr(sys, "argv", [name, *map(str, arguments)])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return out.getvalue()


def test_replace_word2vec(small, tmp_path):
    shown = example("replace_word2vec.py", small, cwd=tmp_path)
    gensims, ours = shown.split("gensim_hilbert.model.HilbertMLE\n")
    assert gensims.startswith("gensim.models.word2vec.Word2Vec\n")
    assert len(re.findall(r"like \w+: (\w+ 0\.\d\d, ){4}", ours)) == len(re.findall("like", gensims)) > 0
    assert re.search(r"goes with police: (\w+ \d\.\d, ){4}", ours)
    assert not list(tmp_path.iterdir())


def test_stream_wikipedia(tmp_path):
    shown = example("stream_wikipedia.py", datapath("enwiki-table-markup.xml.bz2"), cwd=tmp_path)
    assert re.match(r"\d+ articles, [\d,]+ words, of which \d+ are kept", shown)


def test_wikipedia_to_text(tmp_path):
    shown = example("wikipedia_to_text.py", "wiki.txt.gz", datapath("enwiki-table-markup.xml.bz2"), cwd=tmp_path)
    counts = PairCounts.from_corpus(tmp_path / "wiki.txt.gz")
    assert f"{counts.vocabulary.sentences} articles, {counts.vocabulary.tokens:,} words" in shown


def test_dask_cluster(s3, small, tmp_path):
    pytest.importorskip("distributed", reason="Dask is not installed: pip install 'gensim-hilbert[dask]'")
    client, bucket = s3
    client.upload_file(str(small), bucket, "news.txt")
    arguments = [f"s3://{bucket}/news.txt", f"s3://{bucket}/news.counts", "model"]
    with dask_processes() as cluster:
        done = subprocess.run(
            [sys.executable, EXAMPLES / "dask_cluster.py", cluster.address, *arguments],
            env=environment(), cwd=tmp_path, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
    assert re.fullmatch(rf"\d+ words, [\d,]+ tokens in s3://{bucket}/news.counts\nmodel: HilbertMLE<.*>\n", done.stdout)
    assert HilbertMLE.from_pretrained(tmp_path / "model").wv.vector_size == 100


def test_slurm_mpi(small, tmp_path):
    pytest.importorskip("mpi4py", reason="mpi4py is not installed: pip install 'gensim-hilbert[mpi]'")
    folder = str(Path(sys.executable).parent)
    variables = {**environment(), "PATH": f"{folder}:{os.environ['PATH']}", "PYTHON": sys.executable, "RANKS": "2"}
    if shutil.which("mpiexec", path=variables["PATH"]) is None:
        pytest.skip("there is no mpiexec: pip install mpich")
    command = ["sh", EXAMPLES / "slurm_mpi.sh", small, tmp_path / "counts"]
    subprocess.run(command, env=variables, check=True, timeout=120, stdout=subprocess.DEVNULL)
    assert PairCounts.open(tmp_path / "counts").fingerprint == PairCounts.from_corpus(small).fingerprint


def test_train_from_s3(s3, small, tmp_path):
    client, bucket = s3
    lines = small.read_bytes().splitlines(keepends=True)
    for part in range(2):
        client.put_object(Bucket=bucket, Key=f"news-{part}.txt", Body=b"".join(lines[part::2]))
    shown = example("train_from_s3.py", f"s3://{bucket}/news-*.txt", f"s3://{bucket}/vectors.bin", cwd=tmp_path)
    tokens, words, vectors = re.findall(r"([\d,]+) (?:tokens|words|vectors)", shown)
    assert int(tokens.replace(",", "")) == len(small.read_text(encoding="utf-8").split())
    client.download_file(bucket, "vectors.bin", str(tmp_path / "vectors.bin"))
    assert (
        len(KeyedVectors.load_word2vec_format(str(tmp_path / "vectors.bin"), binary=True)) == int(words) == int(vectors)
    )


def test_continue_training(small, tmp_path):
    lines = small.read_text(encoding="utf-8").splitlines(keepends=True)
    for part in ("old", "new"):
        (tmp_path / part).write_text("".join(lines[part == "new" :: 2]), encoding="utf-8")
    shown = example("continue_training.py", "old", "new", cwd=tmp_path)
    known, fresh = re.search(r"(\d+) words, and (\d+) new ones", shown).groups()
    assert int(known) > int(fresh) > 0
    assert shown.count("  like ") == 4
    assert float(re.search(r"at once: (\d\.\d+)", shown)[1]) > 0.8


def test_train_on_glove_counts(tmp_path):
    shown = example("train_on_glove_counts.py", cwd=tmp_path)
    assert "president: like george, bush" in shown


def test_lexical_substitution(tmp_path):
    with full_training():
        shown = example("lexical_substitution.py", cwd=tmp_path)
    people, fires = shown.split("fires KILLED")
    substitutes = {}
    for name in ("without context", "add", "balAdd", "mult", "balMult"):
        substitutes[name] = [
            re.search(rf"^  {name} +(.*)", part, re.MULTILINE)[1].split(", ") for part in (people, fires)
        ]
    alone = substitutes.pop("without context")
    assert alone[0][:3] == alone[1][:3], "without context the sentence does not matter"
    for name, (first, second) in substitutes.items():
        assert "destroyed" in second or not name.startswith("bal"), (
            name
        )  # Others weigh the sentence more than the word.
        assert "destroyed" not in first, name
        assert not set(first) & set(second) - {"wounded", "injured"}, name


def test_query_expansion(tmp_path):
    shown = example("query_expansion.py", cwd=tmp_path)
    assert re.match(r"emergency homes, expanded by .*\bfire\b", shown)
    *_, first, second, third = shown.splitlines()
    for line in (first, second, third):
        assert "fire" in line.lower()
        assert "homes" not in line


def test_count_pairs(tmp_path):
    assert "osama" in example("count_pairs.py", cwd=tmp_path)
    assert (tmp_path / "demo.counts" / "manifest.json").exists()


def test_export_to_spacy(small, tmp_path):
    pytest.importorskip("spacy", reason="spaCy is not installed: pip install spacy")
    shown = example("export_to_spacy.py", "out", small, cwd=tmp_path)
    assert re.search(r"\d+ vectors in out/pipeline\n.*: 0\.\d\d\n$", shown)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("sh"), reason="there is no shell")
def test_demo(tmp_path):
    command = ["sh", EXAMPLES / "demo.sh", "folder"]
    env = {**environment(), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    assert re.search(r"like army +cosine +goes with army +PMI\n", done.stdout)
    for name in ("vectors", "covectors"):
        assert len(KeyedVectors.load_word2vec_format(str(tmp_path / "folder" / f"{name}.vec"))) > 1000


def test_words_over_time(small, tmp_path):
    first, second, *_ = example("words_over_time.py", cwd=tmp_path).splitlines()
    word, cosine, *rest = first.split()
    assert word == "cell"
    assert float(cosine) < 0.6 < 0.9 < float(second.split()[1])
    before, after = " ".join(rest).split("->")
    assert {"jail", "court", "inmate", "sentence"} & {*re.findall(r"\w+", before)}
    assert {"call", "app", "number", "contact"} & {*re.findall(r"\w+", after)}
    assert len(example("words_over_time.py", small, small, cwd=tmp_path).splitlines()) == 5


def test_node2vec_walks(tmp_path):
    """node2vec and pecanpy are tried where they are installed; pecanpy needs numpy 1."""
    pytest.importorskip("networkx", reason="networkx is not installed: pip install networkx")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pecanpy imports nptyping, which uses names that numpy is about to remove
        for name in filter(find_spec, ("node2vec", "pecanpy")):
            import_module(name)
    shown = example("node2vec_walks.py", cwd=tmp_path).splitlines()
    assert [line.split()[0] for line in shown] == ["node2vec", "pecanpy", "from_graph"]
    for line in shown:
        assert re.search(r"like 33: (\d+ 0\.\d\d, ){4}|is not installed: pip install", line)
        assert "like" not in line or re.search(r" (32|22|14|18|15) ", line), "these are friends of the president"
    assert "like" in shown[2]
    (tmp_path / "edges.tsv").write_text("a\tb\nb\tc\nc\ta\nc\td\nd\te\ne\tf\n", encoding="utf-8")
    assert "from_graph   like c: " in example("node2vec_walks.py", "edges.tsv", cwd=tmp_path)


def test_sessions_to_items(tmp_path):
    lines = example("sessions_to_items.py", cwd=tmp_path).splitlines()
    assert len(lines) == 3
    for line in lines:
        thing, like, with_it = re.fullmatch(r"(\w+)-\w+: instead of it (.*); with it (.*)", line).groups()
        assert [item.split("-")[0] for item in like.split(", ")] == [thing] * 3
        assert thing not in with_it
    (tmp_path / "sessions.txt").write_text("tent stove\n\nstove tent mat\nmat tent\n" * 5, encoding="utf-8")
    assert "tent: instead of it" in example("sessions_to_items.py", "sessions.txt", cwd=tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("sh"), reason="there is no shell")
def test_torchrun(tmp_path):
    source = np.random.default_rng(0)
    lines = [" ".join(f"w{k}" for k in line) for line in source.zipf(1.3, size=(2000, 20)) % 5000]
    (tmp_path / "text.txt").write_text("\n".join(lines))
    command = ["sh", EXAMPLES / "torchrun.sh", "text.txt", "model", "3"]
    env = {**environment(), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("by factorization") == 1, "one rank speaks for all"
    expected = HilbertMLE.from_counts(PairCounts.open(tmp_path / "model.counts"), vector_size=50)
    np.testing.assert_array_equal(HilbertMLE.from_pretrained(tmp_path / "model").wv.vectors, expected.wv.vectors)


def test_own_objective(tmp_path):
    assert "laden" in example("own_objective.py", cwd=tmp_path).splitlines()[2]


def test_semantic_search(small, tmp_path):
    shown = example("semantic_search.py", "a cricket test match in South Africa", small, cwd=tmp_path)
    like, going_with = shown.split("texts with words that go with")
    for answers in (like, going_with):
        lines = answers.splitlines()[1:]
        scores = [float(line.split()[0]) for line in lines]
        assert len(lines) == 3
        assert scores == sorted(scores, reverse=True)
        assert "cricket" in answers.lower() or "South African" in answers
