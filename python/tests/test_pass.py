"""Mini-batches of PASS, whose neighbours are picked by scores."""

from __future__ import annotations

import numpy as np
import pytest
from digests import digest

import tendril


def by_target(candidates, hop):
    """Scores of which a third are 0."""
    return np.asarray(candidates.node)[np.asarray(candidates.col)] % 3 * np.float32(0.5)


def test_a_batch_holds_edges_that_were_picked(graph):
    kept = []

    def score(candidates, hop):
        kept.append((candidates, by_target(candidates, hop)))
        return kept[-1][1]

    batch = tendril.pass_sample(graph, [4, 9, 4, 55], [3, 2], score, seed=5, batch=1)
    assert batch.node[:3].tolist() == [4, 9, 55]
    assert len(set(batch.node)) == len(batch.node) == sum(batch.num_sampled_nodes)
    assert batch.num_expanded == [3, sum(batch.num_sampled_nodes[:2])]
    assert batch.indptr[-1] == len(batch.row) == sum(batch.num_sampled_edges)
    sources = np.repeat(np.arange(graph.num_vertices), graph.degrees())
    assert (sources[batch.edge] == batch.node[batch.row]).all()
    assert (graph.indices[batch.edge] == batch.node[batch.col]).all()
    assert (batch.node[batch.col] % 3 > 0).all()
    for block, (found, scores), k in zip(reversed(batch.blocks()), kept, (3, 2), strict=True):
        part = slice(block.first_edge, block.first_edge + len(block.row))
        sums = np.bincount(found.row, scores, len(block.dst_nodes))
        assert np.bincount(block.row, minlength=len(sums)).tolist() == np.where(sums > 0, k, 0).tolist()
        assert np.diff(block.indptr).tolist() == np.where(sums > 0, k, 0).tolist()
        taken = batch.candidate[part]
        assert (found.edge[taken] == block.edge).all()
        np.testing.assert_allclose(batch.probability[part], scores[taken] / sums[block.row], rtol=1e-6)
    again = tendril.pass_sample(graph, [4, 9, 55], [3, 2], by_target, seed=5, batch=1, num_threads=1)
    fields = ("node", "row", "col", "edge", "indptr", "probability", "candidate")
    for one in (batch, again):
        assert digest(*(getattr(one, field) for field in fields)) == "84123607ccd39327"


def test_batches_without_picks(graph):
    none = tendril.pass_sample(graph, [4, 9], [3, 2], lambda c, hop: np.zeros(len(c.row)))
    assert (none.node.tolist(), len(none.row), none.indptr.tolist()) == ([4, 9], 0, [0] * 5)
    empty = tendril.pass_sample(graph, [], [3], lambda c, hop: np.zeros(len(c.row)))
    assert (len(empty.node), empty.indptr.tolist(), empty.num_expanded) == (0, [0], [0])


def test_scores_that_are_wrong(graph):
    """Numbers that can be no scores are those of test_segments.py: one says that their line arrives."""
    for scores, line in (
        (lambda n: np.ones(n + 1), r"scores of hop 0 have shape \(\d+,\), expected \(\d+,\): one a candidate"),
        (lambda n: np.full(n, np.nan), "score 0: nan, expected a finite number of 0 or more"),
    ):
        with pytest.raises(tendril.ArgumentError, match=f"^{line}$"):
            tendril.pass_sample(graph, [4], [2], lambda c, hop: scores(len(c.row)))  # noqa: B023


def test_other_arguments_that_are_wrong(graph):
    with pytest.raises(ZeroDivisionError):
        tendril.pass_sample(graph, [4], [2], lambda c, hop: hop / 0)
    for seeds, fanouts, line in ([4], [], "^fanouts is"), ([4], [3, 0], "^fanouts is"), ([60], [2], "out of range"):
        with pytest.raises(tendril.ArgumentError, match=line):
            tendril.pass_sample(graph, seeds, fanouts, by_target)


def test_a_score_learns_which_neighbours_tell_the_label():
    """Neighbours of class 0 carry the vertex's label, those of class 1 carry noise."""
    torch = pytest.importorskip("torch")
    generator = torch.Generator().manual_seed(1)
    n, d, k = 64, 8, 5
    graph = tendril.Graph.from_coo(np.repeat(np.arange(n), 2 * d), n + np.arange(n * 2 * d), num_vertices=n + n * 2 * d)
    label = torch.randn(n, generator=generator)
    x = torch.randn(graph.num_vertices, generator=generator)
    kind = torch.arange(graph.num_vertices) % 2
    x[n:] = torch.where(kind[n:] == 0, label.repeat_interleave(2 * d), x[n:])
    theta = torch.zeros(2, requires_grad=True)
    optimizer = torch.optim.SGD([theta], lr=0.5)
    kept = []

    def score(candidates, hop):
        node, row, col = map(torch.from_dlpack, (candidates.node, candidates.row, candidates.col))
        s = theta.exp()[kind[node[col]]]
        total = torch.zeros(n).index_add(0, row, s)
        kept.append((s / total[row]).log())
        return s

    for step in range(40):
        batch = tendril.pass_sample(graph, np.arange(n), [k], score, seed=1, batch=step)
        log_q = kept[-1][batch.candidate]
        torch.testing.assert_close(log_q.exp().detach(), batch.probability)
        sent = x[batch.node[batch.col]]
        mean = torch.zeros(n).index_add(0, batch.row, sent / k).requires_grad_()
        (gradient,) = torch.autograd.grad(((mean - label) ** 2).mean(), mean)
        weight = gradient[batch.row] * sent / k
        optimizer.zero_grad()
        (weight * log_q).sum().backward()
        optimizer.step()
    assert theta[0] - theta[1] > 1


@pytest.mark.gpu
def test_batches_on_a_gpu_equal_the_cpus(torch_on_gpu):
    graph = tendril.generate.rmat(12, 8, symmetrize=True)

    def score(candidates, hop):
        return (torch_on_gpu.from_dlpack(candidates.node)[torch_on_gpu.from_dlpack(candidates.col)] % 7).float()

    for seeds in (np.arange(0, 4096, 5), []):
        here = tendril.pass_sample(graph, seeds, [5, 4, 3], score, seed=2)
        there = tendril.pass_sample(graph, seeds, [5, 4, 3], score, seed=2, device="cuda")
        plain = tendril.pass_sample(
            graph, seeds, [5, 4, 3], lambda c, hop: score(c, hop).cpu().numpy(), seed=2, device="cuda"
        )
        for name, value in vars(here).items():
            if isinstance(value, torch_on_gpu.Tensor):
                assert getattr(there, name).is_cuda
                assert digest(value) == digest(getattr(there, name).cpu()) == digest(getattr(plain, name)), name
            else:
                assert value == getattr(there, name) == getattr(plain, name), name
