"""The page of the demo: one file of HTML with its style and figures inside, for light and dark screens and paper."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

STYLE = """
:root { color-scheme: light dark; --ground: #fbfaf7; --card: #ffffff; --ink: #1c2430; --quiet: #5d6875; --edge: #e4e2dc;
  --grid: #eceae4; --a: #0b7a6f; --b: #d9612c; --soft: #d9612c55; --strong: #0b7a6f66; }
@media (prefers-color-scheme: dark) { :root { --ground: #12161c; --card: #1a2029; --ink: #e8ebef; --quiet: #9aa5b2;
  --edge: #2a323d; --grid: #252d37; --a: #3fc4b3; --b: #f58a5a; --soft: #f58a5a4d; --strong: #3fc4b366; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); line-height: 1.55;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 48px 24px 64px; }
h1 { font-size: 34px; line-height: 1.2; letter-spacing: -0.02em; margin: 0 0 8px; }
h2 { font-size: 19px; margin: 0 0 6px; letter-spacing: -0.01em; }
p { margin: 0; } .lead { color: var(--quiet); font-size: 18px; max-width: 760px; }
.machine { color: var(--quiet); font-size: 14px; margin-top: 10px; }
.numbers { display: flex; flex-wrap: wrap; gap: 12px 44px; margin: 28px 0 8px; }
.numbers div span { display: block; color: var(--quiet); font-size: 14px; }
.numbers div b { font-size: 26px; letter-spacing: -0.01em; font-variant-numeric: tabular-nums; }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 460px), 1fr));
  gap: 20px; margin-top: 20px; }
.card { background: var(--card); border: 1px solid var(--edge); border-radius: 12px; padding: 22px 24px; }
.card p { color: var(--quiet); font-size: 15px; }
.card svg { display: block; width: 100%; max-width: 560px; height: auto; margin: 14px auto 0; }
.wide { margin-top: 20px; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; margin-top: 10px; }
th { text-align: right; font-weight: 500; color: var(--quiet); font-size: 14px; padding: 6px 0 6px 20px; }
td { text-align: right; padding: 8px 0 8px 20px; border-top: 1px solid var(--edge); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; padding-left: 0; } td:nth-child(4) { font-weight: 600; }
.swatch { display: inline-block; width: 10px; height: 10px; border-radius: 5px; margin: 0 4px 0 2px; }
footer { color: var(--quiet); font-size: 14px; margin-top: 28px; }
code { font-family: ui-monospace, "SF Mono", Menlo, "DejaVu Sans Mono", monospace; font-size: 0.92em; }
svg text { fill: var(--quiet); font-size: 13px; font-family: inherit; }
svg .title { fill: var(--ink); font-size: 14px; }
svg .value { fill: var(--ink); font-size: 14px; font-weight: 600; } svg .note { fill: var(--ink); }
svg path { fill: none; } .axis { stroke: var(--quiet); } svg .grid { stroke: var(--grid); }
.dots { stroke-linecap: round; } .dots.a { stroke: var(--a); } .dots.faint { stroke-opacity: 0.45; }
.line { stroke-width: 1.5; } .line.b { stroke: var(--b); }
.bar.a, .node.a { fill: var(--a); } .bar.b, .node.b { fill: var(--b); }
.soft { stroke: var(--soft); stroke-width: 0.8; } .strong { stroke: var(--strong); stroke-width: 1.6; }
.node { stroke: var(--card); stroke-width: 1; } .root { fill: var(--ink); }
@media print { body { background: none; } .card { break-inside: avoid; } }
"""


def _card(title: str, text: str, figure: str) -> str:
    return f'<section class="card"><h2>{title}</h2><p>{text}</p>{figure}</section>'


def _number(value: str, label: str) -> str:
    return f"<div><b>{value}</b><span>{label}</span></div>"


def _swatch(series: str) -> str:
    return f'<span class="swatch" style="background:var(--{series})"></span>'


def _table(rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{title}</th>" for title in ("job", "samples", "steps or edges", "rate", "peak memory"))
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


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
