"""Graph.list_statistics: what each code of a graph's lists takes."""

import numpy as np
import pytest

import tendril


@pytest.fixture(scope="module")
def graph():
    random = np.random.default_rng(7)
    return tendril.Graph.from_coo(random.integers(0, 500, 20_000), random.integers(0, 500, 20_000), num_vertices=500)


@pytest.mark.parametrize("form", ["csr", "packed", "runs", "ef", "vbyte", "auto"])
def test_bits_add_up(graph, form):
    small = graph.compress(form)
    told = small.list_statistics()
    codes = told["codes"]
    assert list(codes) == ["csr", "fixed", "runs", "runs_elias_fano", "elias_fano", "vbyte"]
    assert sum(share["edges"] for share in codes.values()) == graph.num_edges
    assert sum(share["lists"] for share in codes.values()) == np.count_nonzero(graph.degrees())
    bits = sum(share["bits"] for share in codes.values())
    bits += told["header_bits"] + told["padding_bits"] + told["directory_bits"]
    assert bits == pytest.approx(small.bits_per_edge * graph.num_edges)
    assert told["csr_bits"] == pytest.approx(graph.bits_per_edge * graph.num_edges)
    assert (codes["csr"]["lists"] > 0) == (form == "csr")
    assert small.list_statistics(num_threads=1) == told


def test_known_answer():
    graph = tendril.Graph.from_coo([0, 0, 0, 0, 7], [4, 5, 6, 7, 1], num_vertices=8)  # lists of two halves
    codes = graph.compress("runs").list_statistics()["codes"]
    assert codes["runs"] == {"lists": 1, "edges": 4, "bits": 4 + 3}  # a mark each, and 4 in 3 bits
    assert codes["fixed"] == {"lists": 1, "edges": 1, "bits": 1}  # 1 in a bit
