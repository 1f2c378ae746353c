"""The page of the demo: one file of HTML with its style and figures inside, for light and dark screens and paper."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

STYLE = (Path(__file__).resolve().parent.parent / "cli" / "page.css").read_text(encoding="utf-8")  # as tendril info


def _card(title: str, text: str, figure: str) -> str:
    return f'<section class="card"><h2>{title}</h2><p>{text}</p>{figure}</section>'


def _number(value: str, label: str) -> str:
    return f"<div><b>{value}</b><span>{label}</span></div>"


def _swatch(series: str) -> str:
    return f'<span class="swatch" style="background:var(--{series})"></span>'


def _table(rows: Sequence[Sequence[str]]) -> str:
    titles = ("job", "samples", "steps or edges", "rate", "peak memory")
    head = "".join(f"<th>{title}</th>" for title in titles)
    # A narrow page shows a row as lines, each with the title of its cell.
    cells = ["".join(f'<td data-title="{t}">{escape(cell)}</td>' for t, cell in zip(titles, row)) for row in rows]
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f'<table class="jobs"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def page(info: dict, rows: Sequence[Sequence[str]], figures: dict[str, str], facts: dict) -> str:
    """The whole document. `info` is what `tendril info --json` says; `rows` are the table's."""
    name = escape(info["name"])
    plural = "s" if facts["threads"] > 1 else ""
    degrees = _card(
        "How many neighbours vertices have",
        "Each dot is a degree and the number of vertices that have it. Most have few neighbours, some have hundreds: a "
        "sampler has to be quick on both.",
        figures["degrees"],
    )
    tree = _card(
        "A sampled neighbourhood",
        f"Vertex {facts['seed']:,} in the middle, {_swatch('a')}{facts['hop1']} of its neighbours, and up to ten "
        f"neighbours of each: {_swatch('b')}{facts['hop2']} in all. Larger dots have more neighbours. A vertex may "
        "appear more than once: trees keep every slot.",
        figures["tree"],
    )
    rates = _card(
        "How fast",
        f"{_swatch('a')}Steps of walks and {_swatch('b')}sampled edges a second on {facts['threads']} thread{plural}, "
        f"the best of {facts['repeats']} runs, without reading the graph and writing the result. The neighbourhoods "
        "take milliseconds, so waking the threads is a good part of their time.",
        figures["rates"],
    )
    cards = [degrees, tree, rates]
    if "visits" in figures:
        cards.insert(
            1,
            _card(
                "Where long walks spend their time",
                "On an undirected graph walks visit a vertex in proportion to its degree. Each dot is one of "
                f"{facts['vertices']:,} vertices of the largest component, over {facts['visits'] / 1e6:.0f} million "
                f"visits; {_swatch('b')}the line is the theory. Pooled into groups that expect 1,000 visits, half of "
                f"the groups are within {facts['deviation']:.1%} of it.",
                figures["visits"],
            ),
        )
    origin = "the e-mail network of a company" if facts["bundled"] else f"{info['num_vertices']:,} vertices"
    numbers = "".join(
        [
            _number(f"{info['num_vertices']:,}", "vertices"),
            _number(f"{info['num_edges']:,}", "edges, both directions counted" if info["symmetric"] else "edges"),
            _number(f"{info['degree']['mean']:.1f}", "edges a vertex"),
            _number(f"{info['degree']['max']:,}", "largest degree"),
        ]
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tendril: samples of {name}</title><style>{STYLE}</style></head><body><main>
<h1>Samples of {name}</h1>
<p class="lead">Random walks and neighbourhoods that Tendril drew from a real graph, {origin}. The same seed
draws the same samples on any machine, with any number of threads.</p>
<p class="machine">{escape(facts['machine'])} · Tendril {escape(facts['version'])} · {facts['date']}</p>
<div class="numbers">{numbers}</div>
<section class="card wide"><h2>Jobs</h2>{_table(rows)}</section>
<div class="grid">{''.join(cards)}</div>
<footer>Made by <code>scripts/demo</code>. The same from a shell:
<code>tendril walk data/email-enron.npz -o walks.npy</code> and
<code>tendril sample data/email-enron.npz -o trees.npz --num-seeds 1024</code>.</footer>
</main></body></html>
"""
