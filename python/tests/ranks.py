"""Ranks as threads of one process, which find each other through its memory."""

from __future__ import annotations

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
