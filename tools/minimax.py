#!/usr/bin/env python3
"""Prints the polynomials of troupe/backend/host/vectors/float_rows.inc, and of f32 in troupe/op/random_math.hpp: those
whose largest relative error over a range is the least, by Remez's exchange, with 40 digits, and then rounded to f32.
Needs mpmath (pip install mpmath)."""
import struct

import mpmath as mp

mp.mp.dps = 40
POINTS = 4000


def solve(function, weight, points):
    """Coefficients whose weighted error alternates at the points, and that error."""
    count = len(points)
    rows = mp.matrix(count, count)
    values = mp.matrix(count, 1)
    for i, x in enumerate(points):
        for power in range(count - 1):
            rows[i, power] = x**power
        rows[i, count - 1] = (-1)**i / weight(x)
        values[i] = function(x)
    solution = mp.lu_solve(rows, values)
    return [solution[i] for i in range(count - 1)]


def extrema(errors):
    """Where the error is largest between two of its zeros."""
    found = []
    for i, error in enumerate(errors):
        if found and (error > 0) == (errors[found[-1]] > 0):
            if abs(error) > abs(errors[found[-1]]):
                found[-1] = i
        else:
            found.append(i)
    return found


def minimax(function, weight, low, high, degree):
    low, high = mp.mpf(low), mp.mpf(high)
    count = degree + 2
    grid = [low + (high - low) * i / POINTS for i in range(POINTS + 1)]
    points = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / (count - 1)) for i in range(count)]
    for _ in range(20):
        coefficients = solve(function, weight, points)
        errors = [weight(x) * (function(x) - mp.polyval(coefficients[::-1], x)) for x in grid]
        found = extrema(errors)
        while len(found) > count:
            found.pop(0 if abs(errors[found[0]]) < abs(errors[found[-1]]) else -1)
        if len(found) < count or [grid[i] for i in found] == points:
            break
        points = [grid[i] for i in found]
    return coefficients, max(abs(error) for error in errors)


def show(name, function, weight, low, high, degree):
    coefficients, error = minimax(function, weight, low, high, degree)
    rounded = [struct.unpack("f", struct.pack("f", float(c)))[0] for c in coefficients]
    print(f"{name}: error 2^{float(mp.log(error, 2)):.1f}")
    print("  " + ", ".join(f"{c:.9g}F" for c in rounded))


def gelu_ratio(w):
    """What gelu needs of q = w + 0.5 = 1 / (1 + 0.3 a), by q: the share of a normal distribution beyond a, by its
    density at a."""
    q = w + mp.mpf("0.5")
    a = (1 / q - 1) / mp.mpf("0.3")
    return mp.erfc(a / mp.sqrt(2)) / 2 * mp.exp(a * a / 2) / q


TINY = mp.mpf("1e-6")
LOG_2 = mp.log(2) / 2 * mp.mpf("1.01")
show("exp: (e^r - 1 - r) / r^2", lambda r: (mp.exp(r) - 1 - r) / r**2 if abs(r) > 1e-12 else mp.mpf("0.5"),
     lambda r: r * r / mp.exp(r) + mp.mpf("1e-30"), -LOG_2, LOG_2, 4)
show("tanh: (tanh(a) / a - 1) / s, s = a^2", lambda s: (mp.tanh(mp.sqrt(s)) / mp.sqrt(s) - 1) / s,
     lambda s: s * mp.sqrt(s) / mp.tanh(mp.sqrt(s)), TINY, mp.mpf("0.55")**2, 4)
show("erf: erf(a) / a - 1, s = a^2", lambda s: mp.erf(mp.sqrt(s)) / mp.sqrt(s) - 1, lambda s: mp.mpf(1), TINY,
     mp.mpf("0.95")**2, 6)
show("erf: log(1 - erf(a))", lambda a: mp.log(mp.erfc(a)), lambda a: mp.erfc(a) / mp.erf(a), "0.9", "4", 6)
show("gelu: (share(x) - 1/2) / x, s = x^2", lambda s: mp.erf(mp.sqrt(s / 2)) / 2 / mp.sqrt(s),
     lambda s: 2 * mp.sqrt(s), TINY, 1, 5)
show("gelu: ratio / q - of w = q - 1/2", gelu_ratio, lambda w: 1 / gelu_ratio(w),
     1 / (1 + mp.mpf("0.3") * mp.mpf("14.6")) - mp.mpf("0.5"), "0.5", 9)

EIGHTH = (mp.pi / 4)**2
HALF_OF_ROOT_2 = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1))**2
show("random: (atanh(a) / a - 1) / s, s = a^2", lambda s: (mp.atanh(mp.sqrt(s)) / mp.sqrt(s) - 1) / s, lambda s: s,
     TINY, HALF_OF_ROOT_2, 2)
show("random: (sin(a) / a - 1) / s, s = a^2", lambda s: (mp.sin(mp.sqrt(s)) / mp.sqrt(s) - 1) / s,
     lambda s: s / mp.sinc(mp.sqrt(s)), TINY, EIGHTH, 2)
show("random: (cos(a) - 1) / s, s = a^2", lambda s: (mp.cos(mp.sqrt(s)) - 1) / s,
     lambda s: s / mp.cos(mp.sqrt(s)), TINY, EIGHTH, 3)
