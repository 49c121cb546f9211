"""Runs merged in stages, also where an earlier attempt was stopped half way."""

import numpy as np
import pytest

from gensim_hilbert.counting.merge import reduce_runs, write_class
from gensim_hilbert.counting.runs import write_triples

SIZE, RUNS, FAN_IN = 5, 40, 4


@pytest.mark.parametrize("stop_after", range(1, 11))
def test_merging_in_stages_goes_on_where_it_was_stopped(stop_after, tmp_path):
    runs = {}
    for k in range(RUNS):
        run = write_triples(np.array([1]), np.array([k % SIZE]), np.array([1]), SIZE, 1, tmp_path / f"{k}.run")
        runs[run.path.name] = run

    def reduce(stop: int) -> list:
        noted = 0

        def note(parts, result):
            nonlocal noted
            for part in parts:
                del runs[part.path.name]
            runs[result.path.name] = result
            noted += 1
            if noted == stop:
                raise InterruptedError

        return reduce_runs(
            list(runs.values()), SIZE, 1, tmp_path, fan_in=FAN_IN, workers=1, executor=None, journal=note
        )

    with pytest.raises(InterruptedError):
        reduce(stop_after)
    final = reduce(0)
    assert len(final) <= FAN_IN
    (tmp_path / "shards").mkdir()
    _, result = write_class(0, final, SIZE, 1, False, str(tmp_path))
    assert result.contexts.tolist() == [0, RUNS, 0, 0, 0]
    assert result.terms.tolist() == [RUNS // SIZE] * SIZE
