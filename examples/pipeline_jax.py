"""GraphSAGE on mini-batches with JAX: python examples/pipeline_jax.py

JAX compiles a step for every shape that it meets. `pad` gives all batches the same shapes, so JAX compiles the step once.
"""

from __future__ import annotations

import argparse

import jax
import jax.numpy as jnp
import numpy as np
from cora import CORA, load

import tendril


def inputs(batch):
    return batch.features["x"], batch.minibatch.row, batch.minibatch.col


def model(parameters, x, row, col):
    for i, (own, others, bias) in enumerate(parameters):
        total = jnp.zeros_like(x).at[row].add(x[col])
        count = jnp.maximum(jnp.zeros(len(x)).at[row].add(1), 1)
        x = x @ own + total / count[:, None] @ others + bias
        x = jax.nn.relu(x) if i < len(parameters) - 1 else x
    return x


def loss(parameters, x, row, col, y, real):
    """real: whether a seed is no padding, as 0 or 1."""
    found = jax.nn.log_softmax(model(parameters, x, row, col)[: len(y)])  # seeds come first
    return -(jnp.take_along_axis(found, y[:, None], 1)[:, 0] * real).sum() / real.sum()


@jax.jit
def step(parameters, moments, number, *batch):
    """One step of Adam (Kingma and Ba, ICLR 2015) with decay of weights."""
    slopes = jax.tree.map(lambda g, p: g + 5e-4 * p, jax.grad(loss)(parameters, *batch), parameters)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], slopes)
    second = jax.tree.map(lambda m, g: 0.999 * m + 0.001 * g * g, moments[1], slopes)

    def moved(p, m, v):
        return p - 0.005 * m / (1 - 0.9**number) / (jnp.sqrt(v / (1 - 0.999**number)) + 1e-8)

    return jax.tree.map(moved, parameters, first, second), (first, second)


@jax.jit
def classes(parameters, x, row, col):
    return model(parameters, x, row, col).argmax(axis=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=CORA)
    parser.add_argument("--epochs", type=int, default=30)
    args = parser.parse_args()
    graph, x, y, seeds = load(args.data)
    sampler = tendril.MinibatchSampler(graph, [10, 10])
    tables = {"features": {"x": x}, "labels": {"y": y}}
    training = tendril.Pipeline(sampler, seeds["train"], batch_size=32, shuffle=True, **tables)
    training.pad = training.padding(range(args.epochs))  # the largest batch of all epochs
    testing = tendril.Pipeline(sampler, seeds["test"], batch_size=512, pad="epoch", **tables)
    rng, widths = np.random.default_rng(0), (x.shape[1], 64, int(y.max()) + 1)
    parameters = [
        (*(rng.normal(0, (2 / (a + b)) ** 0.5, (a, b)).astype(np.float32) for _ in range(2)), np.zeros(b, np.float32))
        for a, b in zip(widths, widths[1:], strict=False)
    ]
    moments = (jax.tree.map(np.zeros_like, parameters),) * 2
    for _ in range(args.epochs):
        for batch in training:
            labels = batch.labels["y"], batch.seed_mask
            parameters, moments = step(parameters, moments, batch.number + 1, *inputs(batch), *labels)
    right = []
    for batch in testing:
        y = batch.labels["y"]
        right.append((np.asarray(classes(parameters, *inputs(batch)))[: len(y)] == y)[batch.seed_mask])
    print(f"test accuracy {np.concatenate(right).mean():.4f}")


if __name__ == "__main__":
    main()
