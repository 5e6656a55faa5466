"""Raw EEG windows of every kind, and their z-normalization in exact arithmetic."""

import math
import random
from fractions import Fraction

import numpy
from mpmath import mp

LENGTH = 256
mp.prec = 2400  # bits: 1e308 squared beside 5e-324 squared, with room


def z_normalize(window: list[float]) -> list[float]:
    """(v - mean) / (std + 1e-8) with the population standard deviation, rounded once, to float32.

    Mean and variance are exact (fractions); root and quotient have 2,400 bits. 1e-8 is the double
    that TypeScript and Python write so.
    """
    values = [Fraction(value) for value in window]
    mean = sum(values) / len(window)
    variance = sum((value - mean) ** 2 for value in values) / len(window)
    divisor = mp.sqrt(exact(variance)) + exact(Fraction(1e-8))
    return [to_float32(exact(value - mean) / divisor) for value in values]


def exact(value: Fraction) -> mp.mpf:
    return mp.mpf(value.numerator) / mp.mpf(value.denominator)


def to_float32(value: mp.mpf) -> float:
    """The float32 nearest to `value`, ties to even."""
    if value == 0:
        return 0.0
    sign = -1.0 if value < 0 else 1.0
    exponent = max(int(mp.floor(mp.log(abs(value), 2))), -126)
    step = mp.mpf(2) ** (exponent - 23)
    # nint rounds ties to even. A carry into the next power of two is exact in float32 as well.
    return sign * float(mp.nint(abs(value) / step) * step)


def windows() -> list[tuple[str, list[float]]]:
    """(name, values), 256 each."""
    generator = random.Random(95)
    noise = [generator.gauss(0.0, 1.0) for _ in range(LENGTH)]
    seconds = [index / 95 for index in range(LENGTH)]

    def wave(hertz: float, amplitude: float) -> list[float]:
        return [amplitude * math.sin(2 * math.pi * hertz * time) for time in seconds]

    alpha = [wave_ + 4 * noise_ for wave_, noise_ in zip(wave(10, 12), noise)]
    theta = [wave_ + 4 * noise_ for wave_, noise_ in zip(wave(5, 15), reversed(noise))]
    one_off = [0.0] * LENGTH
    one_off[17] = 1.0
    spread = [10.0 ** (-300 + 600 * index / (LENGTH - 1)) for index in range(LENGTH)]
    largest = 1.7976931348623157e308
    return [
        ("noise", noise),
        ("alpha 10 Hz, microvolt", alpha),
        ("theta 5 Hz, microvolt", theta),
        ("alpha in volt", [value * 1e-6 for value in alpha]),
        ("alpha with a negative offset", [value - 4200.5 for value in alpha]),
        ("alpha with a huge offset", [value + 1e9 for value in alpha]),
        ("offset beyond precision", [value + 1e17 for value in alpha]),
        ("ramp", [float(index) for index in range(LENGTH)]),
        ("square", [1.0 if index % 16 < 8 else -1.0 for index in range(LENGTH)]),
        ("one spike", one_off),
        ("all zero", [0.0] * LENGTH),
        ("negative zero", [-0.0] * LENGTH),
        ("constant", [42.0] * LENGTH),
        ("constant 0.1", [0.1] * LENGTH),
        ("constant negative", [-1234.56789] * LENGTH),
        ("constant 1e308", [1e308] * LENGTH),
        ("constant largest", [largest] * LENGTH),
        ("constant 5e-324", [5e-324] * LENGTH),
        ("huge: +-1e308", [1e308 if index % 2 else -1e308 for index in range(LENGTH)]),
        ("huge: largest and its opposite", [largest if index % 3 else -largest for index in range(LENGTH)]),
        ("huge: noise times 1e307", [value * 1e307 for value in noise]),
        ("huge: one 1e308 among noise", [1e308, *noise[1:]]),
        ("squares overflow: noise times 1e160", [value * 1e160 for value in noise]),
        ("around 1e-8: noise times 1e-8", [value * 1e-8 for value in noise]),
        ("small: noise times 1e-12", [value * 1e-12 for value in noise]),
        ("squares underflow: noise times 1e-200", [value * 1e-200 for value in noise]),
        ("tiny: 0 and 5e-324", [5e-324 if index % 2 else 0.0 for index in range(LENGTH)]),
        ("600 orders of magnitude", spread),
        ("integers beyond 2^53", [float(2**60 + 4096 * index) for index in range(LENGTH)]),
        ("one unit in the last place", [1.0 + (2.0**-52 if index % 2 else 0.0) for index in range(LENGTH)]),
    ]


def as_float32(values: list[float]) -> list[float]:
    array = numpy.array(values, dtype=numpy.float32)
    assert all(float(single) == value for single, value in zip(array, values))
    return values
