"""A peer that is not installed is skipped with one sentence."""

import argparse

import pytest


@pytest.fixture
def peers(module):
    return module("peers")


@pytest.mark.parametrize("name", ["fasttext", "mittens", "word2vec"])
def test_a_missing_peer_is_named_with_the_command_that_installs_it(peers, name, monkeypatch, capsys):
    monkeypatch.setattr(peers, "find_spec", lambda package: None)
    monkeypatch.setattr(peers.shutil, "which", lambda program, path=None: None)
    assert not peers.installed(name)
    assert capsys.readouterr().err == f"{name} is skipped because it is not installed: run `make bench-peers`.\n"


def test_our_own_trainers_need_no_package(peers, capsys):
    assert peers.installed("gibbs")
    assert capsys.readouterr().err == ""


def test_a_folder_without_gloves_programs_is_refused(peers, tmp_path):
    with pytest.raises(argparse.ArgumentTypeError, match="lacks GloVe's compiled programs vocab_count, cooccur"):
        peers.glove_folder(str(tmp_path))


def test_gloves_programs_are_found(peers, tmp_path):
    for name in peers.GLOVE_PROGRAMS:
        (tmp_path / name).touch(mode=0o755)
    assert peers.glove_folder(str(tmp_path)) == tmp_path
