"""Processes with a GPU each, one of which is killed at any moment: the others end, and name it."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time

import pytest

import tendril

PROGRAM = """
import os, sys
import numpy as np, tendril
with tendril.dist.connect(deadline=60) as ranks:
    whole = tendril.generate.rmat(14, 8, seed=1)
    graph = tendril.dist.Graph.cut(ranks, whole)
    device = f"cuda:{ranks.rank % tendril.num_gpus()}"
    vertices = np.arange(300_000) % whole.num_vertices
    if sys.argv[1] == "walks":
        walker = tendril.dist.Walker(graph, 80, device=device)
        call = lambda: walker.walk(vertices)
    else:
        table = tendril.dist.FeatureTable(graph, np.ones((whole.num_vertices, 128), np.float32), device=device)
        call = lambda: table.gather(vertices)
    call()
    print("ready", flush=True)
    while True:
        call()
"""


@pytest.mark.gpu
@pytest.mark.skipif(tendril.num_gpus() == 0, reason="no GPU")
@pytest.mark.parametrize("made", ["walks", "rows"])
def test_a_rank_that_is_killed_while_records_travel_ends_the_other(made):
    pytest.importorskip("torch")
    draws = random.Random(made)
    for victim in (0, 1):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            told = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1])}
        running = [
            subprocess.Popen(
                [sys.executable, "-c", PROGRAM, made],
                env={**os.environ, **told, "RANK": str(rank)},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank in (0, 1)
        ]
        try:
            assert [one.stdout.readline() for one in running] == ["ready\n"] * 2
            time.sleep(draws.uniform(0.05, 0.3))
            running[victim].send_signal(signal.SIGKILL)
            _, said = running[1 - victim].communicate(timeout=60)
        finally:
            for one in running:
                one.kill()
                one.communicate()
        assert running[1 - victim].returncode == 1
        assert said.rstrip().endswith(f"RankError: rank {victim} of 2 has ended without a word"), said
