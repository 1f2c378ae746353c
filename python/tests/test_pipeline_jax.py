"""tendril.Pipeline for JAX: it takes the arrays, and compiles one step for padded batches. In processes of their own: where JAX
has been used, every later fork warns, and those of other tests fail."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")

ARRAYS = """
import jax, numpy as np, tendril
x = np.arange(600, dtype=np.float32).reshape(200, 3)
sampler = tendril.MinibatchSampler(tendril.generate.ring(200), [4, 3])
for batch in tendril.Pipeline(sampler, np.arange(200), batch_size=9, features={"x": x}):
    for given in (jax.numpy.asarray(batch.features["x"]), jax.numpy.from_dlpack(batch.features["x"])):
        assert isinstance(given, jax.Array) and np.array_equal(given, x[batch.minibatch.node])
print("as given")
"""

COMPILATIONS = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import pipeline_jax

model, traced = pipeline_jax.model, []

def counting(*given):
    traced.append(given)
    return model(*given)

pipeline_jax.model = counting
pipeline_jax.main()
print(len(traced), "compilations")
"""


def printed(code, *arguments):
    command = [sys.executable, "-W", "ignore", "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


def test_jax_takes_the_arrays():
    assert printed(ARRAYS) == ["as given"]


def test_jax_compiles_one_step():
    examples = str(Path(__file__).parents[2] / "examples")
    # JAX calls the model only to compile it: for 15 training steps, and for 2 batches of test vertices.
    assert printed(COMPILATIONS, examples, "--epochs", "3")[-1] == "2 compilations"
