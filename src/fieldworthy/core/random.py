"""Random numbers as a function of (seed, stream name, trial, tick): no generator, no order of calls.

Philox4x32-10 turns a counter of four 32-bit words and a key of two into four random words. The same words come out
for Python integers, NumPy uint32 arrays and Dr.Jit UInt32 lanes, so a trial flown alone, as a row of a batch, on the
host or inside a kernel sees the same noise. A stream name is one purpose ("lidar.noise", "start"): use two names
where two draws must be independent.

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11 (2011).
Verified by: tests/verification/test_random.py (the known answers published with Random123)
"""

from __future__ import annotations

import hashlib
import math
import sys
from typing import TYPE_CHECKING, Any, TypeAlias

from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.core.lanes import engine_name, log, sin_cos, sqrt

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Word: TypeAlias = Any
"""An unsigned 32-bit number: Python int, NumPy uint32 or array of it, Dr.Jit UInt32."""
Counter: TypeAlias = tuple[Word, Word, Word, Word]
Key: TypeAlias = tuple[Word, Word]

_MULTIPLIER_0, _MULTIPLIER_1 = 0xD2511F53, 0xCD9E8D57
_WEYL_0, _WEYL_1 = 0x9E3779B9, 0xBB67AE85
_MASK = 0xFFFFFFFF
_ROUNDS = 10


def _is_numpy(value: Any) -> bool:
    return type(value).__module__ == "numpy"


def _multiply(word: Word, factor: int) -> tuple[Word, Word]:
    """High and low half of the 64-bit product."""
    if isinstance(word, int):
        product = word * factor
        return product >> 32, product & _MASK
    if _is_numpy(word):
        numpy = sys.modules["numpy"]
        wide = word.astype(numpy.uint64) * numpy.uint64(factor)
        return (wide >> numpy.uint64(32)).astype(numpy.uint32), wide.astype(numpy.uint32)
    return sys.modules["drjit"].mul_hi(word, type(word)(factor)), word * factor


def _add(word: Word, constant: int) -> Word:
    """Sum modulo 2^32."""
    if isinstance(word, int):
        return (word + constant) & _MASK
    if _is_numpy(word):
        numpy = sys.modules["numpy"]
        return (word.astype(numpy.uint64) + numpy.uint64(constant)).astype(numpy.uint32)
    return word + constant


def philox4x32(counter: Counter, key: Key) -> Counter:
    """Four random words of a counter and a key, 10 rounds. Words may mix integers with arrays of one engine."""
    x0, x1, x2, x3 = counter
    k0, k1 = key
    for _ in range(_ROUNDS):
        high_0, low_0 = _multiply(x0, _MULTIPLIER_0)
        high_1, low_1 = _multiply(x2, _MULTIPLIER_1)
        x0, x1, x2, x3 = high_1 ^ x1 ^ k0, low_1, high_0 ^ x3 ^ k1, low_0
        k0, k1 = _add(k0, _WEYL_0), _add(k1, _WEYL_1)
    return x0, x1, x2, x3


def stream_key(seed: int, stream: str) -> tuple[int, int]:
    """The key of a named stream: a 64-bit BLAKE2b hash of the name, keyed by the seed. The same on every machine."""
    if not (isinstance(seed, int) and 0 <= seed < 2**64):
        raise ScenarioError(Problem("seed", f"{seed!r} is not a seed", "a whole number from 0 to 2^64 - 1"))
    digest = hashlib.blake2b(stream.encode(), digest_size=8, key=seed.to_bytes(8, "little")).digest()
    return int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:], "little")


def stream_words(key: Key, trial: Word, tick: Word, block: Word = 0) -> Counter:
    """Four words of a stream at a trial and tick; `block` counts on where four are not enough.

    Host and kernels both use this layout of the counter, which is why they agree.
    """
    return philox4x32((block, tick, trial, 0), key)


def unit_uniform(word: Word, scalar_type: Any = None) -> Any:
    """A number in the open interval (0, 1) from the upper 23 bits: exact, and the same, in 32 and 64 bits.

    Equation: ((word >> 9) + 1/2) / 2^23, so 2^-24 <= u <= 1 - 2^-24 and log(u) is finite.
    Dr.Jit words become 32-bit floats unless `scalar_type` says otherwise (such as drjit.llvm.ad.Float64).
    """
    bits = word >> 9
    if scalar_type is not None:
        bits = scalar_type(bits)
    elif not _is_numpy(word) and engine_name(word) == "drjit":
        bits = sys.modules["drjit"].float32_array_t(type(word))(bits)
    return (bits + 0.5) * 2.0**-23


def normal_pair(word_a: Word, word_b: Word, scalar_type: Any = None) -> tuple[Any, Any]:
    """Two independent standard normal numbers.

    Equation: r = sqrt(-2 ln u1), (r cos 2 pi u2, r sin 2 pi u2)      Source: Box and Muller 1958
    Limits: |n| <= 5.77, the largest that 24-bit uniforms give.
    """
    u1, u2 = unit_uniform(word_a, scalar_type), unit_uniform(word_b, scalar_type)
    if _is_numpy(u1):
        numpy = sys.modules["numpy"]
        radius, angle = numpy.sqrt(-2.0 * numpy.log(u1)), 2.0 * math.pi * u2
        return radius * numpy.cos(angle), radius * numpy.sin(angle)
    radius, angle = sqrt(-2.0 * log(u1)), 2.0 * math.pi * u2
    s, c = sin_cos(angle)
    return radius * c, radius * s


def normals(
    key: Key, trial: Word, tick: Word, count: int, scalar_type: Any = None, first_block: Word = 0
) -> tuple[Any, ...]:
    """`count` independent standard normal scalars of a stream at a trial and tick, for words of any engine."""
    found: list[Any] = []
    for block in range(-(-count // 4)):
        a, b, c, d = stream_words(key, trial, tick, first_block + block)
        found += [*normal_pair(a, b, scalar_type), *normal_pair(c, d, scalar_type)]
    return tuple(found[:count])


class Stream:
    """A named source of random numbers on the host: each answer is a function of its arguments alone.

    `uniform` and `normal` of the same (trial, tick) are made from the same words: use two streams for two purposes.
    """

    def __init__(self, seed: int, name: str) -> None:
        self.name = name
        self.key = stream_key(seed, name)

    def uniform(self, trial: int, tick: int, n: int, low: float = 0.0, high: float = 1.0) -> NDArray[np.float64]:
        """n numbers between low and high, both excluded; float64, shape (n,)."""
        import numpy as np

        words = self._words(trial, tick, -(-n // 4))
        unit: NDArray[np.float64] = unit_uniform(np.stack(words, axis=1).reshape(-1)[:n])
        return low + (high - low) * unit

    def normal(self, trial: int, tick: int, n: int, mean: float = 0.0, sigma: float = 1.0) -> NDArray[np.float64]:
        """n normal numbers; float64, shape (n,)."""
        import numpy as np

        a, b, c, d = self._words(trial, tick, -(-n // 4))
        numbers = np.stack([*normal_pair(a, b), *normal_pair(c, d)], axis=1)
        unit: NDArray[np.float64] = numbers.reshape(-1)[:n]
        return mean + sigma * unit

    def _words(self, trial: int, tick: int, blocks: int) -> Counter:
        import numpy as np

        return stream_words(self.key, trial, tick, np.arange(blocks, dtype=np.uint32))
