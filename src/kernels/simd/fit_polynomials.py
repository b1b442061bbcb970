#!/usr/bin/env python3
"""Prints the polynomial coefficients of math.inc (needs NumPy and SciPy).

Each is the least-squares fit at Chebyshev nodes, weighted for relative error and reweighted until the largest error is
as small as it gets (Lawson's iteration), rounded to fp32.
"""

import numpy as np
from scipy.special import erf, erfcx


def fit(name, f, low, high, degree, weight):
    """The polynomial p of `degree` that minimises max |p - f| * weight on [low, high], lowest power first."""
    nodes = (low + high) / 2 + (high - low) / 2 * np.cos(np.pi * (np.arange(2000) + 0.5) / 2000)
    values, scale = f(nodes), weight(nodes)
    powers = np.vander(nodes, degree + 1, increasing=True)
    lawson = np.ones_like(nodes)
    for _ in range(200):
        root = np.sqrt(lawson) * scale
        coefficients = np.linalg.lstsq(powers * root[:, None], values * root, rcond=None)[0]
        error = np.abs(powers @ coefficients - values) * scale
        lawson *= error / error.max() + 1e-3
        lawson /= lawson.sum()
    print(f"{name}: error {error.max():.2e}")
    print("  " + ", ".join(f"{np.float32(c):.9g}f" for c in coefficients))


def main():
    """exp is (e^r - 1 - r) / r^2; tanh and erf are odd, so their polynomials are in x^2."""

    def exp_tail(r):
        return np.where(np.abs(r) < 1e-3, 0.5 + r / 6 + r * r / 24, (np.expm1(r) - r) / np.where(r == 0, 1, r * r))

    half_ln2 = np.log(2) / 2 * 1.0001
    fit("exp", exp_tail, -half_ln2, half_ln2, 4, lambda r: r * r)

    def tanh_tail(s):
        x = np.sqrt(s)
        return np.where(s < 1e-3, -1 / 3 + 2 * s / 15 - 17 * s * s / 315, (np.tanh(x) / x - 1) / s)

    fit("tanh", tanh_tail, 1e-12, 0.625**2, 4, lambda s: s)

    fit("erf", lambda s: erf(np.sqrt(s)) / np.sqrt(s), 1e-12, 1.0, 6, lambda s: np.ones_like(s))

    # erfc(z) = exp(-z^2) t q(t), t = 1 / (1 + z / 2), z up to where exp(-z^2) vanishes in fp32.
    def erfcx_over_t(t):
        return erfcx(2 / t - 2) / t

    fit("erfc", erfcx_over_t, 1 / (1 + 10.2 / 2), 1.0, 8, lambda t: 1 / erfcx_over_t(t))


if __name__ == "__main__":
    main()
