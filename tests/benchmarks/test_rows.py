"""The file from which a study goes on: nothing that is in it is lost."""

import threading

import pytest


@pytest.fixture
def rows(module):
    return module("rows")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "made" / "rows.jsonl"


def test_a_row_takes_the_place_of_that_with_the_same_key(rows, path):
    assert rows.read_rows(path) == []
    rows.keep_row(path, {"seed": 1, "mean": 0.5}, seed=1)
    rows.keep_row(path, {"seed": 2, "mean": 0.6}, seed=2)
    rows.keep_row(path, {"seed": 1, "mean": 0.7}, seed=1)
    assert rows.read_rows(path) == [{"seed": 2, "mean": 0.6}, {"seed": 1, "mean": 0.7}]
    assert [path.name] == [file.name for file in path.parent.iterdir()]


def test_a_last_line_without_its_end_is_read(rows, path):
    rows.keep_row(path, {"seed": 1}, seed=1)
    with open(path, "a", encoding="utf-8") as file:
        file.write('{"seed": 2}')
    rows.keep_row(path, {"seed": 3}, seed=3)
    assert rows.read_rows(path) == [{"seed": 1}, {"seed": 2}, {"seed": 3}]


@pytest.mark.parametrize("line", ['{"seed": 2, "sco', "", "2"])
def test_a_damaged_line_is_named_and_stays(rows, path, line):
    rows.keep_row(path, {"seed": 1}, seed=1)
    text = path.read_text(encoding="utf-8") + line + "\n"
    path.write_text(text, encoding="utf-8")
    for call in (lambda: rows.read_rows(path), lambda: rows.keep_row(path, {"seed": 3}, seed=3)):
        with pytest.raises(SystemExit, match=r"Line 2 of .*rows\.jsonl is damaged"):
            call()
    assert path.read_text(encoding="utf-8") == text


def test_commands_that_add_rows_at_the_same_time_lose_none(rows, path):
    def add(number):
        for seed in range(10):
            rows.keep_row(path, {"number": number, "seed": seed}, number=number, seed=seed)

    threads = [threading.Thread(target=add, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(rows.read_rows(path)) == 40


def test_runs_are_made_that_are_missing_or_asked_for_again(rows):
    keys = [{"system": system, "seed": seed} for system in ("ours", "peer") for seed in (1, 2)]
    there = [{**key, "mean": 0.5} for key in keys[1:]]
    assert rows.to_make(keys, there) == keys[:1]
    assert rows.to_make(keys, there, again=["peer"]) == [keys[0], *keys[2:]]
