"""Ranks as threads of one process, which find each other through its memory, and as processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
import threading

from tendril import dist


def run_ranks(count, work, **how):
    """Calls ``work(ranks)`` for each rank, in a thread of its own. Returns what they return, or raised."""
    texts, found = [None] * count, [None] * count
    together = threading.Barrier(count)

    def exchange_of(rank):
        def exchange(text):
            texts[rank] = text
            together.wait()
            return list(texts)

        return exchange

    def run(rank):
        try:
            with dist.connect(rank=rank, size=count, exchange=exchange_of(rank), **how) as ranks:
                found[rank] = work(ranks)
        except Exception as error:  # noqa: BLE001: it is the result
            found[rank] = error

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def results(found):
    """What ranks returned, if none raised."""
    for one in found:
        if isinstance(one, Exception):
            raise one
    return found


def start_ranks(tmp_path, code, size, *arguments):
    """Processes that torchrun might have started, each of which runs the code."""
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(code))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    running = []
    for rank in range(size):
        told = {"RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        running.append(
            subprocess.Popen(
                [sys.executable, str(program), *arguments],
                env={**os.environ, **told, "OMP_NUM_THREADS": "1"},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    return running
