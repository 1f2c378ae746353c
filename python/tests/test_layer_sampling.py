"""Layer sampling: neighbours of the step before, until a sample is full; numbers alone decide."""

from __future__ import annotations

import numpy as np
import pytest

import tendril


@pytest.mark.parametrize("unique", [False, True])
@pytest.mark.parametrize("num_roots", [1, 4])
def test_steps_add_neighbours_until_samples_are_full(graph, unique, num_roots):
    roots = np.random.default_rng(2).integers(0, 60, (40, num_roots))
    samples = tendril.layer_sample(graph, roots, 12, 30, unique=unique, seed=4)
    assert [step.vertices.shape for step in samples.steps] == [(40, 12)] * 3
    for i in range(40):
        before, total = roots[i], 0
        for step in samples.steps:
            own = [graph.indices[graph.indptr[v] : graph.indptr[v + 1]] for v in before]
            reach = set(np.concatenate(own).tolist()) if own else set()
            added = [v for v in step.vertices[i].tolist() if v >= 0]
            assert len(added) == step.sizes[i]
            assert set(added) <= reach
            assert not unique or len(set(added)) == len(added)
            assert unique or len(added) == (min(12, 30 - total) if reach else 0)
            before, total = np.array(added, int), total + len(added)
        assert total <= 30


def test_numbers_alone_decide(graph):
    roots = np.random.default_rng(3).integers(0, 50, (30, 2))

    def run(rows=slice(None), **options):
        made = tendril.layer_sample(graph, roots[rows], 8, 20, **{"seed": 5, **options})
        return np.concatenate([step.vertices for step in made.steps], axis=1)

    whole = run()
    for num_threads in (1, 2, 3):
        np.testing.assert_array_equal(run(num_threads=num_threads), whole)
    parts = [run(slice(a, b), first_sample=a) for a, b in ((0, 1), (1, 17), (17, 30))]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert (run(seed=6) != whole).any()
    assert run(dtype=np.int32).dtype == np.int32
    np.testing.assert_array_equal(run(dtype=np.int32), whole)
    one = tendril.layer_sample(graph, roots[:, 0], 8, 20).steps[0].vertices
    np.testing.assert_array_equal(one, tendril.layer_sample(graph, roots[:, :1], 8, 20).steps[0].vertices)


@pytest.mark.parametrize(
    "options",
    [
        {"roots": [0, 60]},
        {"roots": 3},
        {"roots": [0.5]},
        {"layer_size": 0},
        {"max_size": 0},
        {"max_steps": -1},
        {"executor": "fast"},
        {"executor": 3},
        {"first_sample": -1},
        {"unique": "no"},
        {"stream": 7},
        {"dtype": "u1"},
    ],
)
def test_messages_are_one_line_that_shows_the_value(graph, options):
    with pytest.raises(tendril.ArgumentError, match=r"^[^\n]+$") as info:
        tendril.layer_sample(graph, **{"roots": [0, 1], **options})
    (name, value) = next(iter(options.items()))
    shown = {"roots": ("60", "()", "float64"), "stream": ("stream",)}.get(name, (str(value),))
    assert any(part in str(info.value) for part in shown)
