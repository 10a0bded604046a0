#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Spectral solutions of the periodic cases, as tables beside them: spectral.py NAME > FILE.csv, NAME one of
allen-cahn, korteweg-de-vries, kuramoto-sivashinsky.

u_t = L u + N(u) by Fourier modes and ETDRK4 (Kassam, Trefethen, SIAM J. Sci. Comput. 26 (2005)), products without
aliasing (two thirds of the modes). Printed at 64 places and 10 times; the largest change by halving step and spacing goes
to standard error. Needs numpy."""
import sys

import numpy as np

PLACES, TIMES = 64, 10
SPANS = {  # begin and length of the period, length of time
    "allen-cahn": (-1, 2, 1), "korteweg-de-vries": (-1, 2, 1), "kuramoto-sivashinsky": (0, 2 * np.pi, 0.2)}


def solve(name, modes, steps):
    """Values [TIMES][PLACES] at TIMES equal steps of the time, over the period."""
    begin, period, end = SPANS[name]
    x = begin + period * np.arange(modes) / modes
    k = 2 * np.pi / period * np.fft.fftfreq(modes, 1 / modes)
    keep = np.abs(k) < 2 * np.pi / period * modes / 3
    odd = 1j * np.where(np.arange(modes) == modes // 2, 0, k)
    if name == "allen-cahn":
        u, linear = x**2 * np.cos(np.pi * x), -1e-4 * k**2 + 5
        nonlinear = lambda v: -5 * np.fft.fft(np.real(np.fft.ifft(v * keep))**3) * keep
    elif name == "kuramoto-sivashinsky":
        u, linear = np.cos(x) * (1 + np.sin(x)), 100 / 16**2 * k**2 - 100 / 16**4 * k**4
        nonlinear = lambda v: -50 / 16 * odd * np.fft.fft(np.real(np.fft.ifft(v * keep))**2) * keep
    else:
        u, linear = np.cos(np.pi * x), -0.0025 * odd**3
        nonlinear = lambda v: -0.5 * odd * np.fft.fft(np.real(np.fft.ifft(v * keep))**2) * keep
    h = end / steps
    roots = np.exp(1j * np.pi * (np.arange(1, 65) - 0.5) / 32)
    lr = h * linear[:, None] + roots[None, :]
    e, e2 = np.exp(h * linear), np.exp(h * linear / 2)
    q = h * np.mean((np.exp(lr / 2) - 1) / lr, axis=1)
    f1 = h * np.mean((-4 - lr + np.exp(lr) * (4 - 3 * lr + lr**2)) / lr**3, axis=1)
    f2 = h * np.mean((2 + lr + np.exp(lr) * (-2 + lr)) / lr**3, axis=1)
    f3 = h * np.mean((-4 - 3 * lr - lr**2 + np.exp(lr) * (4 - lr)) / lr**3, axis=1)
    v, out = np.fft.fft(u), []
    for step in range(1, steps + 1):
        n = nonlinear(v)
        a = e2 * v + q * n
        na = nonlinear(a)
        b = e2 * v + q * na
        nb = nonlinear(b)
        c = e2 * a + q * (2 * nb - n)
        nc = nonlinear(c)
        v = e * v + n * f1 + 2 * (na + nb) * f2 + nc * f3
        if step % (steps // TIMES) == 0:
            out.append(np.real(np.fft.ifft(v))[:: modes // PLACES])
    return np.array(out)


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in SPANS:
        sys.exit(__doc__)
    modes, steps = (32768, 4000) if sys.argv[1] == "allen-cahn" else (1024, 8000)
    begin, period, end = SPANS[sys.argv[1]]
    coarse, fine = (solve(sys.argv[1], modes // r, steps // r) for r in (2, 1))
    print(f"largest change {np.max(np.abs(fine - coarse)):.1e}", file=sys.stderr)
    print("x,t,u")
    for i, row in enumerate(fine):
        for j, value in enumerate(row):
            print(f"{begin + period * j / PLACES:.12g},{end * (i + 1) / TIMES:.9g},{value:.12g}")


if __name__ == "__main__":
    main()
