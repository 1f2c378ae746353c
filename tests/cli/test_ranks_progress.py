"""One job draws one progress bar: rank 0's, however progress is asked for."""

import os
import pty
import re

import pytest
from mpi_ranks import NEEDS_MPI, run_script
from tendril_command import TENDRIL
from terminals import drained

GRAPH = "skewed.safetensors"
STAGE = {"walk": "walking", "sample": "sampling"}
OUTPUT = {"walk": "w.npy", "sample": "s.npz"}
pytestmark = NEEDS_MPI


def stages_of(text):
    """What was drawn: the first word of each line."""
    return set(re.findall(r"\r\x1b\[K(\w+)", text))


def command(verb, source, num_ranks, tendril, graphs):
    if source == "parts":
        tendril("partition", graphs[GRAPH], "-o", "parts", "--parts", num_ranks, "--quiet")
    return f"{TENDRIL} {verb} {graphs[GRAPH] if source == 'whole' else 'parts'} -o {OUTPUT[verb]}"


def complaints_of(tendril, line, num_ranks=2):
    """What each rank writes to standard error, which is a file of its own."""
    ran = run_script(tendril, f'exec {line} 2> "said.$OMPI_COMM_WORLD_RANK"', num_ranks=num_ranks)
    assert ran.returncode == 0, ran.stderr
    return [tendril.path(f"said.{rank}").read_bytes().decode() for rank in range(num_ranks)]


@pytest.mark.parametrize("num_ranks", [2, 3])
@pytest.mark.parametrize("source", ["whole", "parts"])
@pytest.mark.parametrize("verb", ["walk", "sample"])
def test_rank_0_alone_draws(verb, source, num_ranks, tendril, graphs):
    line = command(verb, source, num_ranks, tendril, graphs)
    first, *others = complaints_of(tendril, f"{line} --progress", num_ranks)
    assert STAGE[verb] in stages_of(first)
    assert others == [""] * (num_ranks - 1)


@pytest.mark.parametrize("source", ["whole", "parts"])
@pytest.mark.parametrize("verb", ["walk", "sample"])
def test_a_rank_that_is_not_the_first_draws_nothing_even_where_it_alone_is_asked(verb, source, tendril, graphs):
    line = command(verb, source, 2, tendril, graphs)
    ask_one = 'O=; [ "$OMPI_COMM_WORLD_RANK" = 1 ] && O=--progress; '
    ran = run_script(tendril, f'{ask_one}exec {line} $O 2> "said.$OMPI_COMM_WORLD_RANK"', num_ranks=2)
    assert ran.returncode == 0
    first, second = (tendril.path(f"said.{rank}").read_bytes() for rank in (0, 1))
    assert b"\x1b" not in first
    assert second == b""


@pytest.mark.parametrize("source", ["whole", "parts"])
@pytest.mark.parametrize("verb", ["walk", "sample"])
def test_of_two_terminals_one_gets_the_line_and_it_is_taken_off(verb, source, tendril, graphs):
    """Each rank has a terminal of its own, so that what rank 1 draws could not hide behind the line of rank 0."""
    line = command(verb, source, 2, tendril, graphs)
    pairs = [pty.openpty() for _ in range(2)]
    names = [os.ttyname(terminal) for _, terminal in pairs]
    ran = run_script(
        tendril, f'T={names[0]}; [ "$OMPI_COMM_WORLD_RANK" = 1 ] && T={names[1]}; exec {line} --progress 2> "$T"', num_ranks=2
    )
    for _, terminal in pairs:
        os.close(terminal)
    first, second = (drained(reader) for reader, _ in pairs)
    assert ran.returncode == 0, first + second
    assert STAGE[verb] in stages_of(first)
    assert first.endswith("\r\x1b[K")
    assert second == ""
    assert ran.stdout.count(f"\noutput  {OUTPUT[verb]} (") == 1
