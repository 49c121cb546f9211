"""Requests that arrive together are computed together, and give what each gives alone."""

import asyncio
import json
import threading

import pytest

from gensim_hilbert.explore import desk
from gensim_hilbert.explore.desk import Desk
from gensim_hilbert.explore.refusals import BusyError
from gensim_hilbert.explore.words import UnknownWordError


def questions(words):
    for k, word in enumerate(words):
        other = words[k - 7]
        yield "word", {"word": word, "n": str(1 + k % 100)}
        yield "pair", {"context": word, "term": other}
        yield "sum", {"expression": f"{word} - {other} + {words[k - 3]}"}
        yield "substitute", {"sentence": f"{word} of {other}", "position": str(k % 3)}
        yield "paint", {"by": "pmi", "word": word}
        yield "complete", {"prefix": word[:2]}
        yield "word", {"word": "plain", "model": "1"}


@pytest.mark.parametrize("prepared", [False, True])
def test_answers_are_the_same_together_and_alone(explorer, prepared):
    asked = list(questions(explorer.models[0].texts[20:40]))
    alone = [json.loads(explorer.encoded(*question)) for question in asked]
    if prepared:
        explorer.prepare()

    async def together():
        served = Desk(explorer)
        return await asyncio.gather(*(served.ask(*question) for question in asked))

    for question, expected, found in zip(asked, alone, map(json.loads, asyncio.run(together())), strict=True):
        assert_alike(found, expected, question)


def assert_alike(found, expected, question):
    """Numbers may differ by rounding: sums have another order if there are more of them."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), question
        for key, part in expected.items():
            assert_alike(found[key], part, question)
    elif isinstance(expected, list):
        assert len(found) == len(expected), question
        for pair in zip(found, expected, strict=True):
            assert_alike(*pair, question)
    else:
        assert found == (pytest.approx(expected, abs=2e-3) if isinstance(expected, float) else expected), question


def test_requests_that_arrive_while_others_are_computed_are_one_batch(explorer, monkeypatch):
    sizes, free = [], threading.Event()
    compute = explorer.encoded_together

    def slowly(asked):
        sizes.append(len(asked))
        free.wait(10)
        return compute(asked)

    monkeypatch.setattr(explorer, "encoded_together", slowly)
    words = explorer.models[0].texts

    async def ask():
        served = Desk(explorer)
        first = asyncio.create_task(served.ask("word", {"word": words[0]}))
        while not sizes:
            await asyncio.sleep(0.01)
        others = [asyncio.create_task(served.ask("word", {"word": word})) for word in words[1:100]]
        await asyncio.sleep(0.01)
        free.set()
        return await asyncio.gather(first, *others)

    found = asyncio.run(ask())
    assert [json.loads(body)["word"] for body in found] == words[:100]
    assert sizes == [1, desk.MOST_TOGETHER, 99 - desk.MOST_TOGETHER]


def test_a_mistake_is_told_to_the_one_who_made_it(explorer):
    async def ask():
        served, asked = Desk(explorer), [("word", {"word": "xyzzy"}), ("word", {"word": "police"}), ("word", {})]
        return await asyncio.gather(*(served.ask(*question) for question in asked), return_exceptions=True)

    unknown, known, missing = asyncio.run(ask())
    assert isinstance(unknown, UnknownWordError)
    assert json.loads(known)["word"] == "police"
    assert isinstance(missing, ValueError)


def test_more_requests_than_can_wait_are_refused(explorer, monkeypatch):
    monkeypatch.setattr(desk, "MOST_WAITING", 5)

    async def ask():
        served = Desk(explorer)
        asked = [served.ask("word", {"word": word}) for word in explorer.models[0].texts[:50]]
        return await asyncio.gather(*asked, return_exceptions=True)

    found = asyncio.run(ask())
    assert sum(isinstance(part, bytes) for part in found) == 5
    assert all(isinstance(part, BusyError) for part in found if not isinstance(part, bytes))


def test_short_answers_are_remembered_but_not_for_ever(explorer, monkeypatch):
    monkeypatch.setattr(desk, "ANSWERS_REMEMBERED", 3)
    computed = []
    compute = explorer.encoded_together
    monkeypatch.setattr(explorer, "encoded_together", lambda asked: computed.append(len(asked)) or compute(asked))
    words = explorer.models[0].texts

    async def ask():
        served = Desk(explorer)
        for word in [*words[:3], words[0], words[3], words[0], words[1]]:
            await served.ask("word", {"word": word})
        for _ in range(2):
            await served.ask("paint", {"by": "frequency"})

    asyncio.run(ask())
    paints = 2 if len(explorer.encoded("paint", {"by": "frequency"})) > desk.LONGEST_REMEMBERED else 1
    assert len(computed) == 5 + paints + 1


def test_one_who_has_gone_away_does_not_keep_others_waiting(explorer, monkeypatch):
    started, free = threading.Event(), threading.Event()
    compute = explorer.encoded_together

    def slowly(asked):
        started.set()
        free.wait(10)
        return compute(asked)

    monkeypatch.setattr(explorer, "encoded_together", slowly)

    async def ask():
        served = Desk(explorer)
        words = explorer.models[0].texts[:4]
        gone, *others = (asyncio.create_task(served.ask("word", {"word": word})) for word in words)
        while not started.is_set():
            await asyncio.sleep(0.01)
        gone.cancel()
        others.append(asyncio.create_task(served.ask("word", {"word": "xyzzy"})))
        others[-1].cancel()
        free.set()
        found = await asyncio.wait_for(asyncio.gather(gone, *others, return_exceptions=True), 10)
        later = await asyncio.wait_for(served.ask("word", {"word": words[0]}), 10)
        return words, found, later

    words, (gone, *found, failed), later = asyncio.run(ask())
    assert isinstance(gone, asyncio.CancelledError)
    assert isinstance(failed, asyncio.CancelledError)
    assert [json.loads(body)["word"] for body in (later, *found)] == words


def test_long_answers_are_computed_once_for_all_who_wait_and_a_failure_is_not_kept(explorer, monkeypatch):
    asked, free = [], threading.Event()
    compute = explorer.encoded

    def failing(name, query):
        asked.append(name)
        free.wait(10)
        if len(asked) == 1:
            raise MemoryError("just now")
        return compute(name, query)

    monkeypatch.setattr(explorer, "encoded", failing)
    monkeypatch.setattr(desk, "MOST_LONG_WAITING", 1)

    async def ask():
        served = Desk(explorer)
        waiting = [asyncio.create_task(served.ask("compare", {})) for _ in range(3)]
        await asyncio.sleep(0.01)
        with pytest.raises(BusyError):
            await served.ask("compare", {"n": "7"})
        free.set()
        failed = await asyncio.gather(*waiting, return_exceptions=True)
        return failed, await served.ask("compare", {}), await served.ask("compare", {"n": "7"})

    failed, first, second = asyncio.run(ask())
    assert [str(error) for error in failed] == ["just now"] * 3
    assert asked == ["compare"] * 3
    assert json.loads(first)["shared"] == json.loads(second)["shared"]
