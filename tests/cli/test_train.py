"""`gensim-hilbert train`: its options, its results and its errors."""

import inspect
import json
import os
import re
import resource
import sys

import numpy as np
import pytest
from helpers import assert_same_vectors, contents, full_training
from shell import assert_one_sentence, run, run_here
from texts import zipf_text

from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.cli.settings import Setting
from gensim_hilbert.cli.train import train
from gensim_hilbert.export import load_vectors
from gensim_hilbert.objectives import GloVe

pytestmark = pytest.mark.usefixtures("short_training")
train_module = sys.modules["gensim_hilbert.cli.train"]  # of which the package has only the verb

# Keywords that no option stands for: data come as arguments, the checkpoint has its place beside the model, functions
# cannot be typed, and the rest has no effect, but for two whose effect nobody would see.
NOT_OPTIONS = {
    *("sentences", "corpus_file", "checkpoint", "covectors"),
    *("callbacks", "trim_rule", "hashfxn"),
    *("sg", "hs", "cbow_mean", "null_word", "batch_words"),
    *("sorted_vocab", "compute_loss"),
}


def test_every_keyword_has_its_option_and_its_default():
    keywords = {name: keyword.default for name, keyword in inspect.signature(HilbertMLE).parameters.items()}
    options = {option.name: option for option in train.params if isinstance(option, Setting)}
    assert options.keys() == keywords.keys() - NOT_OPTIONS
    for name, option in options.items():
        flag = name.replace("_", "-")
        assert option.opts == [f"--{flag}"]
        assert option.secondary_opts in ([], [f"--no-{flag}"])
        assert option.python_default == keywords[name]
        assert option.default is None, "what is not given must not be passed on"


def test_help_shows_the_defaults():
    shown = " ".join(run_here("train", "--help").stdout.split())
    for name, keyword in inspect.signature(HilbertMLE).parameters.items():
        if (
            name not in NOT_OPTIONS
            and isinstance(keyword.default, int | float | str)
            and not isinstance(keyword.default, bool)
        ):
            flag = name.replace("_", "-")
            assert re.search(rf"--{flag} [^a-z].*?\[default: {re.escape(str(keyword.default))}\]", shown), name
    assert "[default: shrink-windows]" in shown
    assert "[default: no-subwords]" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-train", "text.txt", "-output", "model"], "give the text as an argument"),
        (["train", "text.txt", "-output", "model"], "-output is written --output"),
        (["train", "text.txt", "-o", "model", "-size", "100"], "-size is called --vector-size"),
        (["train", "text.txt", "-o", "model", "--size=100"], "--size is called --vector-size"),
        (["train", "text.txt", "-o", "model", "-iter", "5"], "-iter is called --epochs"),
        (["train", "text.txt", "-o", "model", "-threads", "5"], "-threads is called --workers"),
        (["train", "text.txt", "-o", "model", "-dim", "100"], "-dim is called --vector-size"),
        (["train", "text.txt", "-o", "model", "-minCount", "5"], "-minCount is called --min-count"),
        (["-input", "text.txt", "-output", "model"], "give the text as an argument"),
        (["train", "text.txt", "-o", "model", "-window-size", "5"], "-window-size is called --window"),
        (["train", "text.txt", "-o", "model", "--hs", "1"], "--hs has no counterpart here"),
        (["train", "text.txt", "-o", "model", "-cbow", "0"], "-cbow has no counterpart here"),
        (["train", "text.txt", "-o", "model", "-min_count", "5"], "-min_count is written --min-count"),
        (["train", "text.txt", "-o", "model", "--vectorsize", "5"], "--vector-size"),
        (["train", "text.txt", "-o", "model", "--vector-size", "many"], "'many' is not a valid integer"),
        (["train", "text.txt", "-o", "model", "--vector-size", "0"], "--vector-size"),
        (["train", "text.txt", "-o", "model", "--solver", "gibs"], "'gibs' is not one of"),
        (["train", "text.txt", "-o", "model", "--l2", "much"], "neither a number nor auto"),
        (
            ["train", "text.txt", "-o", "model", "--window", "530000"],
            "of 1 or more, and up to 10,000, got 530000",
        ),
        (
            ["train", "text.txt", "-o", "model", "--memory-gb", "inf"],
            "must be a number above 0, got inf",
        ),
        (["train", "text.txt", "-o", "model", "--min-alpha", "nan"], "must be a number of 0 or more, got nan"),
        (
            ["train", "text.txt", "-o", "model", "--min-count", "-4"],
            "number of 0 or more, got -4",
        ),
        (["train", "text.txt", "-o", "model", "--max-final-vocab", "-3"], "or None, got -3"),
        (["train", "text.txt"], "Missing option '-o'"),
        (["train", "-", "-o", "model"], "save standard input to a file first"),
        (["count", "-", "-o", "store"], "save standard input to a file first"),
        (["train", "-o", "model"], "either a text, CORPUS, or --counts"),
        (["train", "text.txt", "--counts", "store", "-o", "model"], "either a text, CORPUS, or --counts"),
        (["train", "--counts", "store", "-o", "model", "--window", "3"], "the counts were made with their own window"),
        (["train", "text.txt", "--resume", "-o", "model"], "give nothing else but --output"),
        (["tain"], "No such command 'tain'"),
    ],
)
def test_wrong_usage_is_answered(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run_here(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert not os.listdir()


def test_wrong_usage_in_a_shell(tmp_path):
    done = run("train", "text.txt", "-o", tmp_path / "model", "-size", 100)
    assert_one_sentence(done, "Error: -size is called --vector-size", code=2)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("vectr-size = 5", "no option 'vectr-size'; did you mean vector_size"),
        ("size = 5", "no option 'size'; size is called vector-size"),
        ("resume = true", "no option 'resume'"),
        ("vector-size = 5.5", "'5.5' is not a valid integer"),
        ("vector-size = true", "not a valid integer"),
        ("vector-size", "config.toml: Expected '='"),
    ],
)
def test_wrong_configuration_is_answered(line, message, tmp_path):
    config = tmp_path / "config.toml"
    config.write_text(line)
    done = run_here("train", "text.txt", "-o", tmp_path / "model", "--config", config)
    assert_one_sentence(done, message, code=2)
    assert os.listdir(tmp_path) == ["config.toml"]


def test_resume_takes_no_other_options(tmp_path):
    config = tmp_path / "config.toml"
    config.write_text("epochs = 3")
    for option in (["--config", config], ["--epochs", 3], ["--overwrite"]):
        done = run_here("train", "--resume", "-o", tmp_path / "model", *option)
        assert_one_sentence(done, "give nothing else but --output", code=2)


def test_the_command_line_wins_over_the_configuration(plain, tmp_path):
    config = tmp_path / "config.toml"
    config.write_text(
        f"corpus = '{plain}'\nvector-size = 7\nmin_count = 2\nepochs = 3\nshrink-windows = false\nl2 = 10\n"
    )
    done = run_here("train", "--config", config, "-o", tmp_path / "model", "--epochs", 2)
    assert done.returncode == 0, done.stderr
    model = HilbertMLE.from_pretrained(tmp_path / "model")
    assert (model.vector_size, model.min_count, model.epochs) == (7, 2, 2)
    assert (model.shrink_windows, model.l2, model.seed) == (False, 10.0, 1)


def test_a_command_is_a_python_call(plain, tmp_path):
    done = run("train", plain, "-o", tmp_path / "model", "--vector-size", 8, "--min-count", 2, "--seed", 3, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    with full_training():
        expected = HilbertMLE(corpus_file=str(plain), vector_size=8, min_count=2, seed=3)
    model = HilbertMLE.from_pretrained(tmp_path / "model")
    assert_same_vectors(model, expected)
    assert model.counts.fingerprint == expected.counts.fingerprint
    assert model.counts.directory == tmp_path / "model" / "counts"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "text.txt"]
    facts = json.loads(done.stdout)
    assert facts["words"] == len(expected.wv)
    assert facts["vector_size"] == 8
    assert facts["tokens"] == expected.corpus_total_words


def test_training_on_counts(plain, tmp_path):
    counts = PairCounts.from_corpus(str(plain), directory=tmp_path / "store", min_count=2, window=3)
    done = run_here("train", "--counts", tmp_path / "store", "-o", tmp_path / "model", "--vector-size", 8)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1
    assert f"{len(counts)} words, 8 dimensions" in done.stdout
    model = HilbertMLE.from_pretrained(tmp_path / "model")
    assert_same_vectors(model, HilbertMLE.from_counts(counts, vector_size=8))
    assert model.window == 3
    PairCounts.open(tmp_path / "store").verify()


def test_nothing_is_overwritten_unless_asked(plain, tmp_path):
    model = tmp_path / "model"
    command = ["train", plain, "-o", model, "--vector-size", 4, "--epochs", 1]
    assert run_here(*command).returncode == 0
    assert HilbertMLE.from_pretrained(model).vector_size == 4
    other = [*command, "--vector-size", 5]
    assert_one_sentence(run_here(*other), "model exists: choose another name, or pass overwrite=True (--overwrite)")
    assert HilbertMLE.from_pretrained(model).vector_size == 4
    assert run_here(*other, "--overwrite").returncode == 0
    assert HilbertMLE.from_pretrained(model).vector_size == 5


def test_only_models_are_overwritten(plain, tmp_path):
    (tmp_path / "file").write_text("precious")
    PairCounts.from_corpus(plain, directory=tmp_path / "store")
    (tmp_path / "mixed").mkdir()
    (tmp_path / "mixed" / "notes.txt").write_text("precious")
    before = contents(tmp_path)
    for name in ("file", "store", "mixed"):
        done = run_here("train", plain, "-o", tmp_path / name, "--vector-size", 4, "--epochs", 1, "--overwrite")
        assert_one_sentence(done, "exists and is not a model folder: choose another name, or move it away")
        assert contents(tmp_path) == before


def test_a_model_that_appears_while_another_is_trained_stays(plain, tmp_path, monkeypatch):
    model, command = tmp_path / "model", ["train", plain, "-o", tmp_path / "model", "--vector-size", 4, "--epochs", 1]
    fit = train_module.fit

    def late(*arguments):
        model.write_text("precious")
        return fit(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(train_module, "fit", late)
        for option in ([], ["--overwrite"]):
            done = run_here(*command, *option)
            assert done.returncode == 1
            assert "unfinished; to go on: gensim-hilbert train --resume" in done.stderr
            assert "exists" in done.stderr or "is not replaced" in done.stderr
            assert model.read_text() == "precious"
            model.unlink()
    assert run_here("train", "--resume", "-o", model).returncode == 0
    assert HilbertMLE.from_pretrained(model).counts is not None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "text.txt"]


@pytest.mark.parametrize("again", ["the same command", "--resume"])
def test_a_command_that_was_killed_before_it_removed_its_checkpoint_succeeds(again, plain, tmp_path, monkeypatch):
    model, work = tmp_path / "model", tmp_path / "model.checkpoint"
    command = ["train", plain, "-o", model, "--vector-size", 4, "--epochs", 1]
    with monkeypatch.context() as patch:
        patch.setattr(train_module, "remove", lambda path: None)
        assert run_here(*command).returncode == 0
    before = contents(tmp_path)
    other = run_here(*command, "--window", 2)
    assert_one_sentence(other, "is left by an interrupted training with another text or other options")
    assert contents(tmp_path) == before
    done = run_here(*(command if again == "the same command" else ["train", "--resume", "-o", model]))
    assert (done.returncode, done.stderr) == (0, "")
    assert "4 dimensions" in done.stdout
    assert not work.exists()
    assert contents(model) == {name.removeprefix("model/"): data for name, data in before.items() if "model/" in name}


def test_a_model_of_another_command_is_not_taken_for_its_own(plain, tmp_path, monkeypatch):
    model, work = tmp_path / "model", tmp_path / "model.checkpoint"
    command = ["train", plain, "-o", model, "--vector-size", 4, "--epochs", 1]
    with monkeypatch.context() as patch:
        patch.setattr(train_module, "remove", lambda path: None)
        assert run_here(*command).returncode == 0
    HilbertMLE.from_pretrained(model, counts=False).save_pretrained(model)
    assert_one_sentence(run_here(*command), "model exists: choose another name, or pass overwrite=True (--overwrite)")
    assert run_here(*command, "--overwrite").returncode == 0
    assert not work.exists()


@pytest.mark.parametrize(
    "files",
    [
        {"letter": "dear"},
        {"letter": "dear", "lock": ""},
        {"letter": "dear", "command.json": "{}"},
        {"training-data/letter": "dear", "lock": ""},
        {"lock": "dear"},
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("linked", [False, True])
def test_a_folder_of_somebody_else_is_not_taken_for_a_checkpoint(files, linked, plain, tmp_path):
    work = tmp_path / "model.checkpoint"
    if linked:
        work.symlink_to("elsewhere")
        (tmp_path / "elsewhere").mkdir()
    for name, text in files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text)
    before = contents(tmp_path)
    done = run_here("train", plain, "-o", tmp_path / "model", "--overwrite")
    assert_one_sentence(done, "model.checkpoint is where checkpoints would be written, and holds something else")
    assert contents(tmp_path) == before


@pytest.mark.parametrize("there", ["a model", "an empty folder"])
def test_a_link_to_a_folder_stays_one(there, plain, tmp_path):
    real, link = tmp_path / "elsewhere" / "real", tmp_path / "link"
    real.mkdir(parents=True)
    link.symlink_to("elsewhere/real")
    command = ["train", plain, "-o", link, "--vector-size", 4, "--epochs", 1]
    if there == "a model":
        assert run_here(*command).returncode == 0
        command += ["--overwrite", "--seed", 2]
    done = run_here(*command)
    assert (done.returncode, done.stderr) == (0, "")
    assert link.is_symlink()
    assert HilbertMLE.from_pretrained(real).vector_size == 4
    assert sorted(os.listdir(tmp_path)) == ["elsewhere", "link", "text.txt"]
    assert os.listdir(real.parent) == ["real"]


def test_the_present_folder_is_an_output_like_any_other(plain, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_one_sentence(run_here("train", "text.txt", "-o", "."), "cannot be the output, because the input")
    assert_one_sentence(run_here("train", "text.txt", "-o", "/"), "/ is no place for models", code=2)


@pytest.mark.parametrize("output", ["corpus/text.txt", "corpus", "store", "store/model"])
def test_texts_and_counts_are_not_written_to(output, plain, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus").mkdir()
    plain.rename(tmp_path / "corpus" / "text.txt")
    PairCounts.from_corpus("corpus", directory="store")
    before = contents(tmp_path)
    source = ["corpus"] if output.startswith("corpus") else ["--counts", "store"]
    done = run_here("train", *source, "-o", output, "--vector-size", 4, "--epochs", 1, "--overwrite")
    assert_one_sentence(done, "choose another")
    assert contents(tmp_path) == before


def test_one_word_is_no_words(tmp_path):
    text, model = tmp_path / "text.txt", tmp_path / "model"
    text.write_text("word\n")
    done = run_here("train", text, "-o", model, "--min-count", 1, "--vector-size", 4)
    assert done.stdout.startswith(f"{model}: 1 word, 4 dimensions, from 1 token by factorization, "), done.stderr


def test_errors_leave_nothing_behind(plain, tmp_path):
    model, empty = tmp_path / "model", tmp_path / "empty.txt"
    empty.touch()
    assert_one_sentence(run_here("train", empty, "-o", model), f"the corpus is empty: no word in {empty}")
    assert_one_sentence(run_here("train", tmp_path / "missing.txt", "-o", model), "no such file")
    assert_one_sentence(run_here("train", plain, "-o", model, "--min-count", 10**6), "none occurs 1000000 times")
    assert_one_sentence(run_here("train", plain, "-o", model, "--max-final-vocab", 0), "raise max_final_vocab")
    assert_one_sentence(run_here("train", plain, "-o", model, "--alpha", 0), "a number above 0, got 0.0", code=2)
    assert_one_sentence(run_here("train", plain, "-o", model, "--sample", -1), "must be a number of 0 or more", code=2)
    assert_one_sentence(run_here("train", sys.executable, "-o", model), "gensim-hilbert count --errors")
    assert_one_sentence(run_here("train", plain, "-o", model, "--device", "abacus"), "abacus")
    assert_one_sentence(run_here("train", "--resume", "-o", model), "no interrupted training")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.txt", "text.txt"]


def test_a_checkpoint_that_cannot_be_written(plain, tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))

    command = ["train", plain, "-o", tmp_path / "model", "--vector-size", 300, "--epochs", 50]
    done = run(*command, preexec_fn=limit)
    assert (done.returncode, done.stdout) == (1, "")
    told, error = done.stderr.splitlines()
    assert told == f"unfinished; to go on: gensim-hilbert train --resume -o {tmp_path / 'model'}"
    assert error.startswith("error: ")
    assert "safetensors cannot be written, so training stops" in error
    assert sorted(os.listdir(tmp_path)) == ["model.checkpoint", "text.txt"]
    assert PairCounts.open(tmp_path / "model.checkpoint" / "training-1" / "counts").total > 0


@pytest.mark.parametrize("name", ["command.json", "training-1/checkpoint.json"])
@pytest.mark.parametrize(
    "text", ["", "{", "[]", "[" * 100_000, '{"corpus": 5, "counts": 5, "overwrite": 5, "settings": 5}']
)
def test_a_damaged_checkpoint_is_one_sentence(name, text, plain, tmp_path):
    options = ("--vector-size", 4, "--min-count", 1, "--epochs", 2, "--workers", 1, "--solver", "gibbs")
    work = tmp_path / "model.checkpoint"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HilbertMLE, "save_pretrained", lambda *_: 1 / 0)  # when all epochs are done
        assert_unfinished(run_here("train", plain, "-o", tmp_path / "model", *options))
    (work / "training-1" / "checkpoint-previous.json").unlink()
    (work / name).write_text(text)
    for again in (("--resume",), (plain, *options)):
        done = run_here("train", *again, "-o", tmp_path / "model")
        assert done.returncode == 1
        assert done.stderr.count(str(work / name)) >= 1, done.stderr
        assert done.stderr.startswith("error: ") or done.stderr.startswith("unfinished; "), done.stderr
        assert "Traceback" not in done.stderr
    shown = run_here("info", work)
    assert shown.returncode in (0, 1)
    assert "Traceback" not in shown.stderr


def assert_unfinished(done):
    assert done.returncode == 1
    assert "unfinished; to go on: " in done.stderr


def test_another_objective_with_its_settings(plain, tmp_path):
    options = ("--vector-size", 6, "--min-count", 1, "--epochs", 2, "--workers", 1)
    done = run_here("train", plain, "-o", tmp_path / "model", *options, "--objective", "glove(x_max=10)")
    assert done.returncode == 0, done.stderr
    model = HilbertMLE.from_pretrained(tmp_path / "model")
    expected = HilbertMLE(
        corpus_file=str(plain), vector_size=6, min_count=1, epochs=2, workers=1, objective=GloVe(x_max=10)
    )
    assert_same_vectors(model, expected)
    assert np.array_equal(model.context_biases, expected.context_biases)
    facts = json.loads(run_here("info", "--trust-pickle", tmp_path / "model", "--json").stdout)
    assert facts["settings"]["objective"] == "GloVe(x_max=10, alpha=0.75)"
    assert "temperature" not in facts["settings"], "it has no effect"
    (tmp_path / "config.toml").write_text('objective = "glove(xmax=10)"\n')
    refused = run_here("train", plain, "-o", tmp_path / "other", "--config", tmp_path / "config.toml")
    assert_one_sentence(refused, "glove has no xmax; its settings are x_max, alpha")


def test_a_warning_is_one_line(plain, tmp_path):
    done = run("train", plain, "-o", tmp_path / "model", "--vector-size", 4, "--solver", "gibbs", "--temperature", 2)
    assert done.returncode == 0
    assert done.stderr == "warning: HilbertMLE with solver='gibbs' and objective='hilbert' has no use for temperature\n"


@pytest.mark.slow
def test_a_line_of_100_megabytes(tmp_path):
    path = tmp_path / "line.txt"
    path.write_bytes(b" ".join(zipf_text(1_000_000, 1000).split() * 26))
    assert path.stat().st_size > 100_000_000
    done = run("train", path, "-o", tmp_path / "model", "--vector-size", 10, "--max-final-vocab", 500)
    assert done.returncode == 0, done.stderr
    model = HilbertMLE.from_pretrained(tmp_path / "model")
    assert model.corpus_total_words == 26_000_000
    assert 400 < len(model.wv) <= 500


@pytest.mark.parametrize("solver", ["factorization", "gibbs"])
def test_the_command_line_has_subwords(solver, plain, tmp_path):
    path = tmp_path / "sub.model"
    options = ["--vector-size", 6, "--min-count", 2, "--workers", 1, "--min-n", 2, "--max-n", 4, "--bucket", 500]
    done = run_here("train", plain, "-o", path, "--subwords", "--solver", solver, *options)
    assert done.returncode == 0, done.stderr
    model = HilbertMLE.from_pretrained(path)
    expected = HilbertMLE(
        corpus_file=str(plain), subwords=True, solver=solver, vector_size=6, min_count=2, workers=1, min_n=2, max_n=4,
        bucket=500,
    )  # fmt: skip
    assert_same_vectors(model, expected)
    settings = json.loads(run_here("info", "--trust-pickle", path, "--json").stdout)["settings"]
    assert {name: settings[name] for name in ("subwords", "min_n", "max_n", "bucket")} == {
        "subwords": True, "min_n": 2, "max_n": 4, "bucket": 500,
    }  # fmt: skip
    (found,) = json.loads(run_here("neighbors", "--trust-pickle", path, "catlike", "--topn", 3, "--json").stdout)
    assert [near["word"] for near in found["similar"]] == [w for w, _ in model.wv.most_similar("catlike", topn=3)]
    facts = json.loads(run_here("pmi", "--trust-pickle", path, "the", "catlike", "--json").stdout)
    assert facts == {"context": "the", "term": "catlike", "fitted": pytest.approx(model.pmi("the", "catlike"))}
    assert_one_sentence(run_here("pmi", "--trust-pickle", path, "catlike", "the"), "'catlike' is not among the")
    assert run_here("analogy", "--trust-pickle", path, "cat", "catlike", "mat").returncode == 0
    assert run_here("export", "--trust-pickle", path, "-o", tmp_path / "x.bin", "--format", "fasttext").returncode == 0
    assert load_vectors(tmp_path / "x.bin")["catlike"] == pytest.approx(model.wv["catlike"])
