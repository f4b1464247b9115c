"""Random numbers: `troupe.random.Generator(seed)`. What it draws depends on seed, stream and position alone: not on the
device, nor on whether a worker died meanwhile. docs/random.md says what each number is.

>>> generator = troupe.random.Generator(42)
>>> x = generator.normal((2, 3))
>>> generator.position
6
>>> bool((troupe.random.Generator(42).normal((2, 3)) == x).all())
True
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from . import _core, _dtypes
from ._creation import asarray, device_or_default, empty

if TYPE_CHECKING:
    from ._array import Array


class Generator:
    """Draws numbers, each kind by a method: the parameters, then the shape, `dtype` and `device`; or `out`."""

    def __init__(self, seed, *, stream=0, position=0, engine="philox4x32_10", dimensions=1):
        self._core = _core.RandomGenerator(seed, stream, position, engine, dimensions)

    @property
    def seed(self) -> int:
        return self._core.seed

    @property
    def stream(self) -> int:
        return self._core.stream

    @property
    def position(self) -> int:
        """Of the next number."""
        return self._core.position

    @property
    def engine(self) -> str:
        """The algorithm: "philox4x32_10", "xorwow", "mrg32k3a", "mt19937", "sobol32", "sobol64", or one of the last two
        with "scrambled_" before it."""
        return self._core.engine

    @property
    def dimensions(self) -> int:
        """Of the points of a Sobol sequence."""
        return self._core.dimensions

    def at(self, position) -> Generator:
        """The same generator at another position."""
        return Generator(
            self.seed, stream=self.stream, position=position, engine=self.engine, dimensions=self.dimensions
        )

    def __repr__(self) -> str:
        more = "" if self.engine == "philox4x32_10" else f", engine={self.engine!r}"
        more += "" if self.dimensions == 1 else f", dimensions={self.dimensions}"
        return f"Generator({self.seed}, stream={self.stream}, position={self.position}{more})"

    def _draw(self, name, shape, dtype, device, out, p=0.0, q=0.0):
        if out is None:
            out = empty(shape, dtype=dtype, device=device)
        self._core.draw(name, out, float(p), float(q))
        return out

    def bits(self, shape=(), *, dtype="uint64", device=None, out=None) -> Array:
        """All bits, of uint32 or uint64."""
        return self._draw("bits", shape, dtype, device, out)

    def uniform(self, shape=(), low=0.0, high=1.0, *, dtype="float64", device=None, out=None) -> Array:
        """At least `low` and less than `high`."""
        return self._draw("uniform", shape, dtype, device, out, low, high)

    def normal(self, shape=(), mean=0.0, stddev=1.0, *, dtype="float64", device=None, out=None) -> Array:
        """Normal numbers."""
        return self._draw("normal", shape, dtype, device, out, mean, stddev)

    def log_normal(self, shape=(), mean=0.0, stddev=1.0, *, dtype="float64", device=None, out=None) -> Array:
        """e to the power of normal numbers."""
        return self._draw("log_normal", shape, dtype, device, out, mean, stddev)

    def exponential(self, shape=(), rate=1.0, *, dtype="float64", device=None, out=None) -> Array:
        """Times between events that happen `rate` times a unit."""
        return self._draw("exponential", shape, dtype, device, out, rate)

    def cauchy(self, shape=(), location=0.0, scale=1.0, *, dtype="float64", device=None, out=None) -> Array:
        """Cauchy's distribution."""
        return self._draw("cauchy", shape, dtype, device, out, location, scale)

    def gamma(self, k, shape=(), scale=1.0, *, dtype="float64", device=None, out=None) -> Array:
        """The gamma distribution with the parameter k; its mean is k times `scale`."""
        return self._draw("gamma", shape, dtype, device, out, k, scale)

    def beta(self, a, b, shape=(), *, dtype="float64", device=None, out=None) -> Array:
        """The beta distribution, in [0, 1]."""
        return self._draw("beta", shape, dtype, device, out, a, b)

    def bernoulli(self, probability, shape=(), *, dtype="bool", device=None, out=None) -> Array:
        """True with this probability."""
        return self._draw("bernoulli", shape, dtype, device, out, probability)

    def poisson(self, rate, shape=(), *, dtype="int64", device=None, out=None) -> Array:
        """How many events happen in a unit."""
        return self._draw("poisson", shape, dtype, device, out, rate)

    def permutation(self, n, *, dtype="int64", device=None, out=None) -> Array:
        """The integers 0 to n - 1 in random order."""
        return self._draw("permutation", n, dtype, device, out)

    def integers(self, low, high, shape=(), *, dtype="int64", device=None, out=None) -> Array:
        """Integers of at least `low` and less than `high`."""
        if out is None:
            out = empty(shape, dtype=dtype, device=device)
        self._core.integers(out, low, high)
        return out

    def discrete(self, weights, shape=(), *, dtype="int64", device=None, out=None) -> Array:
        """Numbers of outcomes; outcome i comes as often as its weight is part of the sum."""
        if out is None:
            out = empty(shape, dtype=dtype, device=device)
        table = asarray(_core.alias_table([float(weight) for weight in weights]), dtype="uint64", device=out.device)
        self._core.discrete(table.reshape(-1, 2), out)
        return out


__all__ = ["Generator"]
