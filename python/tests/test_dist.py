"""Graphs and features that several processes share: walks, batches and rows are those of one process, and what is wrong is
named on every rank."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from counting import counted
from ranks import results, run_ranks, start_ranks

import tendril
from tendril import dist
from tendril.dist import _ranks

ONE_THREAD = {"num_threads": 1}


@pytest.fixture(scope="module")
def graph():
    return tendril.generate.rmat(9, 8, seed=3, weights=(1, 5), num_labels=2, symmetrize=True, drop_self_loops=True)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_walks_are_those_of_the_whole_graph(graph, count):
    ways = (
        ({}, lambda **how: tendril.random_walk(graph, length=9, **how)),
        ({"weighted": True, "stop_prob": 0.1}, lambda **how: tendril.random_walk(graph, length=9, **how)),
        ({"p": 0.5, "q": 2.0}, lambda **how: tendril.node2vec_walk(graph, length=9, **how)),
        ({"metapath": [0, 1], "dead_end": "repeat"}, lambda **how: tendril.metapath_walk(graph, None, length=9, **how)),
    )
    for options, whole in ways:
        walks, lengths = whole(seed=4, **options)

        def work(ranks, options=options):
            parted = dist.Graph.cut(ranks, graph)
            walker = dist.Walker(parted, 9, seed=4, **options, **ONE_THREAD)
            mine = parted.vertices
            counts = {what: walker.count(np.asarray(mine), what, first_walk=mine.start) for what in ("visits", "ends")}
            return *walker.walk(np.asarray(mine), first_walk=mine.start), counts

        made = results(run_ranks(count, work))
        assert np.array_equal(np.concatenate([one[0] for one in made]), walks), options
        assert np.array_equal(np.concatenate([one[1] for one in made]), lengths), options
        for what, expected in counted(walks, lengths, graph.num_vertices).items():
            assert np.array_equal(np.concatenate([one[2][what] for one in made]), expected), (what, options)


@pytest.mark.parametrize("count", [1, 3])
def test_hot_rows_are_on_every_rank(graph, count):
    rows = np.arange(512 * 3, dtype=np.float32).reshape(512, 3)
    edges_to = np.bincount(graph.to_scipy().indices, minlength=512)
    hot = np.lexsort((np.arange(512), -edges_to))[:51]  # a tenth

    def work(ranks):
        parted = dist.Graph.cut(ranks, graph)
        assert np.array_equal(parted.hot_vertices(51), hot)
        table = dist.FeatureTable(parted, rows, hot=0.1, **ONE_THREAD)
        ids = np.random.default_rng(ranks.rank).integers(0, 512, 2000)
        assert np.array_equal(table.gather(ids), rows[ids])
        away = ~np.isin(ids, np.asarray(parted.vertices))
        report = table.report()
        assert report.rows_away == away.sum() and report.rows_kept == (away & np.isin(ids, hot)).sum()
        assert (report.rows_kept > 0) == (count > 1)
        table.keep(np.arange(512))
        assert np.array_equal(table.gather(ids), rows[ids])
        assert table.report().rows_kept == report.rows_kept + away.sum()
        return True

    assert all(results(run_ranks(count, work)))


def test_reasons_say_where_walkers_step(graph):
    with dist.connect() as ranks:
        walker = dist.Walker(dist.Graph.cut(ranks, graph), 9, weighted=True)
        assert walker.reasons and all(isinstance(one, str) for one in walker.reasons)


STRUCT = """struct warm {
  float cold;
  float weight(walk_state const& s, walk_edge const& e) const
  {
    return e.weight() * (e.label() + 1) + (e.target() == s.previous || e.target() == s.start ? cold : 1);
  }
};"""


@pytest.mark.parametrize("count", [1, 3])
def test_a_struct_walks_on_parts(graph, count):
    walk = tendril.CustomWalk(STRUCT, cold=0.25)
    options = {"stop_prob": 0.05, "restart_prob": 0.1, "seed": 4}
    walks, lengths = tendril.dynamic_walk(graph, None, 12, walk, dtype=np.int32, **options)

    def work(ranks):
        parted = dist.Graph.cut(ranks, graph)
        walker = dist.DynamicWalker(parted, 12, walk, dtype=np.int32, **options, **ONE_THREAD)
        mine = parted.vertices
        return walker.walk(np.asarray(mine), first_walk=mine.start)

    made = results(run_ranks(count, work))
    assert made[0][0].dtype == np.int32
    assert np.array_equal(np.concatenate([one for one, _ in made]), walks)
    assert np.array_equal(np.concatenate([one for _, one in made]), lengths)


def test_a_struct_that_reads_other_vertices_is_refused(graph):
    walk = tendril.CustomWalk(STRUCT.replace("e.label() + 1", "s.graph.degree(e.target())"))

    def work(ranks):
        with pytest.raises(tendril.ArgumentError) as error:
            dist.DynamicWalker(dist.Graph.cut(ranks, graph), 12, walk)
        return str(error.value).partition("\n")[0]

    for line in results(run_ranks(2, work)):
        assert line.startswith(
            "on parts of a graph, where a walk reads the edges of the walker's own vertex alone: "
            "walk: struct 'warm' doesn't compile"
        )


FIELDS = ("row", "col", "node", "edge", "weights", "batch", "indptr")


def expect_same(one, other):
    for name in FIELDS:
        first, second = getattr(one, name), getattr(other, name)
        assert (first is None) == (second is None) and (first is None or np.array_equal(first, second)), name
    assert one.num_sampled_nodes == other.num_sampled_nodes and one.num_sampled_edges == other.num_sampled_edges


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weighted": True, "replace": True},
        {"weighted": True, "disjoint": True},
        {"subgraph_type": "induced"},
        {"frontier": "all", "dtype": np.int32},
        {"choice": "labor", "layer_dependency": True},
        {"subgraph_type": "bidirectional"},
    ],
)
def test_batches_are_those_of_the_whole_graph(graph, count, options):
    seeds = np.arange(300)
    whole = tendril.MinibatchSampler(graph, [4, 3], seed=5, **options).sample_batches(seeds, 16, first_batch=2)

    def work(ranks):
        sampler = dist.MinibatchSampler(dist.Graph.cut(ranks, graph), [4, 3], seed=5, **options, **ONE_THREAD)
        assert sampler.graph.ranks is ranks
        own = [b for b in range(len(whole)) if b % count == ranks.rank]
        some = [sampler.sample(seeds[16 * b : 16 * (b + 1)], batch=2 + b) for b in own[:2]]
        ids = np.concatenate([seeds[16 * b : 16 * (b + 1)] for b in own])
        many = sampler.sample_batches(ids, 16, first_batch=2 + ranks.rank, batch_step=count)
        return own, some, many, sampler.report()

    for own, some, many, report in results(run_ranks(count, work)):
        for b, one in zip(own, many, strict=True):
            expect_same(one, whole[b])
        for b, one in zip(own, some, strict=False):
            expect_same(one, whole[b])
        assert report.num_batches == len(many) + len(some) and 0 < report.asked
        assert (report.asked_away > 0) == (count > 1) == (report.sent_bytes > 0)
        assert one.blocks() if options.get("frontier") == "all" else True


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("options", [{}, {"weighted": True, "replace": True, "dtype": np.int32}])
@pytest.mark.parametrize("fanouts", [[4, 3], [3, -1, 2]])
def test_trees_are_those_of_the_whole_graph(graph, count, options, fanouts):
    seeds = np.arange(90)
    whole = tendril.khop_sample(graph, seeds, fanouts, seed=5, first_root=7, return_edges=True, **options)

    def work(ranks):
        sampler = dist.KHopSampler(dist.Graph.cut(ranks, graph), fanouts, seed=5, **options, **ONE_THREAD)
        mine = [sampler.sample(seeds, first_root=7, return_edges=True) for _ in range(ranks.rank)]
        assert sampler.sample(seeds[:3]).edges is None
        return mine

    for made in results(run_ranks(count, work)):
        for one in made:
            assert one.fanouts == whole.fanouts
            for field in ("vertices", "edges", "offsets"):
                for first, second in zip(getattr(one, field), getattr(whole, field), strict=True):
                    assert (first is None) == (second is None) and (first is None or np.array_equal(first, second))
                    assert first is None or (first.shape == second.shape and first.dtype == second.dtype)


@pytest.mark.parametrize("method", ["range", "degree"])
def test_rows_come_from_any_rank(graph, tmp_path, method):
    rows = np.arange(graph.num_vertices * 3, dtype=np.float32).reshape(-1, 3)
    np.save(tmp_path / "x.npy", rows)
    given = {
        "an array": rows,
        "a table": tendril.FeatureTable(rows),
        "a file": tmp_path / "x.npy",
        "a file by its name": str(tmp_path / "x.npy"),
    }

    def work(ranks):
        parted = dist.Graph.cut(ranks, graph, method=method)
        tables = [dist.FeatureTable(parted, value) for value in given.values()]
        tables.append(dist.FeatureTable.of_part(parted, rows[parted.vertices.start : parted.vertices.stop]))
        ids = np.random.default_rng(ranks.rank).integers(0, graph.num_vertices, 100 * ranks.rank)
        for table in tables:
            assert table.shape == rows.shape and table.dtype == "float32" and len(table) == len(rows)
            assert np.array_equal(table.gather(ids), rows[ids])
            out = np.empty((len(ids), 3), np.float32)
            assert table.gather(ids, out=out) is out and np.array_equal(out, rows[ids])
        assert "3 ranks" in repr(tables[0])
        return tables[0].report()

    for rank, report in enumerate(results(run_ranks(3, work))):
        assert report.rows == 200 * rank and (report.rows_away > 0) == (rank > 0)


def test_bfloat16_rows(graph):
    torch = pytest.importorskip("torch")
    rows = torch.randn(graph.num_vertices, 4).to(torch.bfloat16)

    def work(ranks):
        table = dist.FeatureTable(dist.Graph.cut(ranks, graph), rows)
        return torch.equal(torch.from_dlpack(table.gather([5, 0, 5])), rows[[5, 0, 5]])

    assert results(run_ranks(2, work)) == [True, True]


def test_compressed_parts_change_nothing(graph, tmp_path):
    tendril.partition(graph, tmp_path / "parts", 3, form="auto")
    walk = tendril.CustomWalk(STRUCT, cold=0.25)
    walks, _ = tendril.node2vec_walk(graph, length=9, p=0.5, q=2.0, seed=4)
    custom, _ = tendril.dynamic_walk(graph, None, 9, walk, seed=4)
    batch = tendril.MinibatchSampler(graph, [4, 3], seed=5, weighted=True).sample(np.arange(20), batch=2)
    trees = tendril.khop_sample(graph, np.arange(20), [3, -1], seed=5, return_edges=True)

    def work(ranks):
        for parted in (dist.Graph(ranks, tmp_path / "parts"), dist.Graph.cut(ranks, graph.compress("packed"))):
            assert parted.form in ("auto", "packed")
            mine = parted.vertices
            own = slice(mine.start, mine.stop)
            walker = dist.Walker(parted, 9, p=0.5, q=2.0, seed=4, **ONE_THREAD)
            assert np.array_equal(walker.walk(np.asarray(mine), first_walk=mine.start)[0], walks[own])
            walker = dist.DynamicWalker(parted, 9, walk, seed=4, **ONE_THREAD)
            assert np.array_equal(walker.walk(np.asarray(mine), first_walk=mine.start)[0], custom[own])
            sampler = dist.MinibatchSampler(parted, [4, 3], seed=5, weighted=True, **ONE_THREAD)
            expect_same(sampler.sample(np.arange(20), batch=2), batch)
            made = dist.KHopSampler(parted, [3, -1], seed=5, **ONE_THREAD).sample(np.arange(20), return_edges=True)
            for name in ("vertices", "edges"):
                pairs = zip(getattr(made, name), getattr(trees, name), strict=True)
                assert all(np.array_equal(a, b) for a, b in pairs), name

    results(run_ranks(3, work))


def test_parts_of_a_folder(graph, tmp_path):
    tendril.partition(graph, tmp_path / "parts", 2)
    whole = tendril.MinibatchSampler(graph, [3]).sample([1, 2, 3], batch=4)

    def work(ranks):
        parted = dist.Graph(ranks, tmp_path / "parts")
        assert (parted.num_vertices, parted.num_edges) == (graph.num_vertices, graph.num_edges)
        assert parted.bounds[0] == 0 and parted.bounds[-1] == graph.num_vertices
        assert sum(parted.part_edges) == graph.num_edges and parted.has_weights
        assert parted.original_ids is None and parted.edge_label_names == [] and parted.node_type_names == []
        assert "of 2 parts" in repr(parted) and parted.form == "csr"
        expect_same(dist.MinibatchSampler(parted, [3]).sample([1, 2, 3], batch=4), whole)

    results(run_ranks(2, work))
    wrong = run_ranks(3, lambda ranks: dist.Graph(ranks, tmp_path / "parts"))
    assert all(isinstance(one, tendril.TendrilError) for one in wrong)
    assert any(str(one) == "the graph has 2 parts, expected one a rank: 3" for one in wrong)


def test_a_rank_that_has_nothing_to_do_answers(graph):
    def work(ranks):
        sampler = dist.MinibatchSampler(dist.Graph.cut(ranks, graph), [4, 4])
        if ranks.rank == 1:
            return len(sampler.sample_batches(np.arange(500), 10))
        return 0

    assert results(run_ranks(3, work)) == [0, 50, 0]


def test_what_is_wrong_on_one_rank_is_told_to_all(graph):
    def other_seed(ranks):
        return dist.MinibatchSampler(dist.Graph.cut(ranks, graph), [4], seed=ranks.rank // 2)

    for one in run_ranks(3, other_seed):
        assert isinstance(one, tendril.RankError) and "rank 2 of 3 makes batches of fan-outs 4," in str(one)

    def dies(ranks):
        sampler = dist.MinibatchSampler(dist.Graph.cut(ranks, graph), [4])
        if ranks.rank == 1:
            raise KeyError("lost")
        while True:
            sampler.sample([0, 500])

    found = run_ranks(3, dies)
    assert isinstance(found[1], KeyError)
    for one in (found[0], found[2]):
        assert isinstance(one, tendril.RankError) and str(one) == "rank 1 of 3: KeyError: 'lost'"

    def another_call(ranks):
        if ranks.rank == 0:
            ranks.barrier()
        else:
            dist.Walker(dist.Graph.cut(ranks, graph), 3)

    assert any("all ranks must make the same calls" in str(one) for one in run_ranks(2, another_call))


def test_wrong_arguments_leave_the_ranks_as_they_are(graph):
    def work(ranks):
        parted = dist.Graph.cut(ranks, graph)
        sampler = dist.MinibatchSampler(parted, [4])
        table = dist.FeatureTable(parted, np.zeros((graph.num_vertices, 2), np.float32))
        for call, line in (
            (lambda: sampler.sample([0, 9999]), "seed 1: vertex 9999 is out of range, the graph has 512 vertices"),
            (lambda: sampler.sample([]), "seeds has no elements, expected one or more"),
            (lambda: sampler.sample_batches([0], 0), "batch_size: 0, expected 1 to 4294967294"),
            (lambda: table.gather([0, 512]), "ids[1] is 512, expected 0 to 511"),
            (lambda: table.gather([0], out=np.zeros((2, 2), np.float32)), "out has shape (2, 2), expected (1, 2)"),
            (lambda: table.gather([0], out=np.zeros((1, 2))), "out has dtype float64, expected float32"),
            (lambda: table.keep([0, 512]), "ids[1] is 512, expected 0 to 511"),
            (lambda: dist.FeatureTable(parted, np.zeros((512, 2)), hot=2), "hot: 2, expected a share, 0 to 1"),
            (lambda: parted.hot_vertices(513), "count: 513, expected 0 to 512"),
            (lambda: dist.MinibatchSampler(graph, [4]), "graph is a Graph, expected a tendril.dist.Graph"),
            (lambda: dist.MinibatchSampler(parted, [-2]), "num_neighbors: -2 at hop 1, expected 0 to 2147483647"),
            (lambda: dist.Walker(parted, -1), "length"),
            (lambda: dist.Walker(parted, 9).count([0], "steps"), "what is 'steps', expected 'visits' or 'ends'"),
            (lambda: dist.DynamicWalker(parted, 9, 5), "walk is 5, expected a CustomWalk"),
            (lambda: dist.Graph.cut(ranks, parted), "graph is a Graph, expected a tendril.Graph"),
            (lambda: dist.Graph.cut(ranks, graph, method="best"), "method"),
            (lambda: dist.FeatureTable(parted, np.zeros((3, 2))), "features: 3 rows, expected one a vertex: 512"),
            (lambda: dist.Graph(ranks, "no such folder"), "no such folder"),
            (lambda: dist.Graph(3, "parts"), "ranks is a int, expected Ranks (tendril.dist.connect)"),
        ):
            with pytest.raises(tendril.TendrilError) as error:
                call()
            assert line in str(error.value) and "\n" not in str(error.value)
        return len(sampler.sample([0, 500]).node) > 0

    assert results(run_ranks(2, work)) == [True, True]


def test_wrong_arguments_of_one_rank_end_the_call_alone(graph):
    def work(ranks):
        parted = dist.Graph.cut(ranks, graph)
        walker = dist.Walker(parted, 9, **ONE_THREAD)
        expected = tendril.random_walk(graph, [5, 500], 9)
        for bad in range(3):
            for starts, first, line in (
                ([0, 9999], 0, "start 1: vertex 9999 is out of range, the graph has 512 vertices"),
                ([0, -1], 0, "starts[1] is -1, expected a vertex id in [0, 4294967294]"),
                ([0.5], 0, "starts"),
                ([0], -1, "1 walks from id -1 on, expected neither to be negative"),
                ([0], "first", "first_walk"),
            ):
                wrong = ranks.rank == bad
                kind = tendril.ArgumentError if wrong else tendril.RankError
                before = time.monotonic()
                for call in (walker.walk, walker.count):
                    with pytest.raises(kind) as error:
                        call(starts if wrong else [1], first_walk=first if wrong else 0)
                    assert str(error.value).startswith(line if wrong else f"rank {bad} of 3: {line}")
                assert time.monotonic() - before < 60  # the deadline is 300
            with pytest.raises(kind):
                walker.count([1], "steps" if wrong else "ends")
            for made, whole in zip(walker.walk([5, 500]), expected, strict=True):
                assert np.array_equal(made, whole)
        with pytest.raises(tendril.RankError, match="rank 1 of 3 makes walks of 9 steps"):
            dist.Walker(parted, 9 if ranks.rank == 1 else 8, **ONE_THREAD)
        ranks.barrier()
        return len(dist.MinibatchSampler(parted, [2]).sample([1]).node) > 0

    assert all(results(run_ranks(3, work)))


def test_wrong_ways_to_connect(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    for options, line in (
        ({"rank": 0}, "rank is 0 and size is None, expected both or none"),
        ({"rank": 2, "size": 2}, "rank is 2 of 2, expected 0 to 1"),
        ({"rank": 0, "size": 0}, "rank is 0 of 0, expected 0 to -1"),
        ({"deadline": 0}, "deadline is 0, expected seconds, more than 0"),
        ({"patience": "long"}, "patience is 'long', expected seconds, more than 0"),
        ({"rank": 0, "size": 2}, "does not know how to find the others"),
        ({"rank": 0, "size": 2, "exchange": lambda text: [text]}, "exchange returns 1 texts, expected one of each rank: 2"),
    ):
        with pytest.raises(tendril.ArgumentError) as error:
            dist.connect(**options)
        assert line in str(error.value)
    with pytest.raises(tendril.IoError):
        dist.connect(rank=0, size=2, host="no-such-host.invalid", exchange=lambda text: [text, text])
    with pytest.raises(tendril.RankError) as missing:
        dist.connect(rank=0, size=2, host="127.0.0.1", exchange=lambda text: [text, "127.0.0.1:1 x"], patience=0.2)
    assert str(missing.value) == "rank 1 of 2: no connection to it at 127.0.0.1:1 within 0.2 s"


@pytest.mark.parametrize(
    ("master", "ways", "host"),
    [
        (None, {"127.0.0.1": "127.0.0.1"}, "127.0.0.1"),
        ("localhost", {"localhost": "127.0.0.1", "192.0.2.1": "10.0.0.5"}, "127.0.0.1"),
        ("10.0.0.9", {"10.0.0.9": "10.0.0.5"}, "10.0.0.5"),
        ("node1", {"node1": "127.0.1.1", "192.0.2.1": "10.0.0.5"}, "10.0.0.5"),
        ("node1", {"node1": "127.0.1.1"}, "127.0.1.1"),
        ("nowhere", {}, "127.0.0.1"),
    ],
)
def test_ranks_listen_where_the_others_reach_them(monkeypatch, master, ways, host):
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    if master:
        monkeypatch.setenv("MASTER_ADDR", master)
    monkeypatch.setattr(_ranks, "_address_towards", ways.get)
    assert _ranks._own_host() == host


def test_a_process_alone_is_a_rank(graph):
    with dist.connect() as ranks:
        assert repr(ranks) == "Ranks(rank=0, size=1)" and ranks.all_gather(b"x") == [b"x"] and ranks.sent_bytes == 0
        ranks.barrier()
        assert len(dist.MinibatchSampler(dist.Graph.cut(ranks, graph), [2]).sample([1]).node) > 0
    with pytest.raises(tendril.ArgumentError, match="the ranks are closed, expected open ones"):
        ranks.barrier()


PROGRAM = """
    import os, signal, sys
    import numpy as np, tendril
    from tendril import dist
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background jobs ignore
    ranks = dist.connect(deadline=20)
    graph = dist.Graph.cut(ranks, tendril.generate.rmat(8, 8, seed=1))
    sampler = dist.MinibatchSampler(graph, [3, 3])
    ends = sys.argv[1]
    if ranks.rank == 1 and ends == "killed":
        os._exit(3)
    if ranks.rank == 1 and ends == "raises":
        raise RuntimeError("out of luck")
    if ranks.rank == 0 and ends == "interrupted":
        print("closes", flush=True)
        ranks.close()
    while ends != "well":
        sampler.sample([0, 255])
    print("made", len(sampler.sample([0, 255]).node) > 2)
"""


@pytest.mark.parametrize("ends", ["well", "killed", "raises"])
def test_processes_find_each_other_and_end_together(tmp_path, ends):
    pytest.importorskip("torch")
    running = start_ranks(tmp_path, PROGRAM, 3, ends)
    said = [one.communicate(timeout=120) for one in running]
    if ends == "well":
        assert [one.returncode for one in running] == [0, 0, 0], said
        assert all(out == "made True\n" for out, _ in said)
        return
    line = {"killed": "rank 1 of 3 has ended without a word", "raises": "rank 1 of 3: RuntimeError: out of luck"}[ends]
    assert [one.returncode for one in running] == [1, 3 if ends == "killed" else 1, 1]
    assert line in said[0][1] and line in said[2][1], said


def test_ctrl_c_ends_a_wait_for_the_others(tmp_path):
    pytest.importorskip("torch")
    running = start_ranks(tmp_path, PROGRAM, 2, "interrupted")
    try:
        assert running[0].stdout.readline() == "closes\n"
        running[0].send_signal(signal.SIGINT)
        said = [one.communicate(timeout=120) for one in running]
    finally:
        for one in running:
            one.kill()
            one.wait()
    assert "KeyboardInterrupt" in said[0][1] and running[0].returncode not in (0, None)
    assert "rank 0 of 2: KeyboardInterrupt" in said[1][1] and running[1].returncode == 1


def test_ctrl_c_ends_a_search_for_the_others():
    code = """
import signal, tendril
signal.signal(signal.SIGINT, signal.default_int_handler)
print("looks", flush=True)
tendril.dist.connect(rank=0, size=2, host="127.0.0.1", exchange=lambda text: [text, "127.0.0.1:1 x"])
"""
    looking = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert looking.stdout.readline() == "looks\n"
        time.sleep(1)  # so that it is in the search, in all likelihood
        looking.send_signal(signal.SIGINT)
        _, said = looking.communicate(timeout=60)
    finally:
        looking.kill()
        looking.wait()
    assert "KeyboardInterrupt" in said and looking.returncode not in (0, None)
