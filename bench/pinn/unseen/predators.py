#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Predators and prey by Taylor series of order 20: predators.py > predators.csv, beside predators.yaml. The change by
halving the step goes to standard error."""
import sys

ORDER, ROWS, END = 20, 200, 10.0


def step(u, v, h):
    a, b = [u], [v]  # Taylor coefficients
    for k in range(ORDER):
        both = sum(a[i] * b[k - i] for i in range(k + 1))
        a.append((1.5 * a[k] - both) / (k + 1))
        b.append((both - 3 * b[k]) / (k + 1))
    return tuple(sum(c * h**k for k, c in enumerate(series)) for series in (a, b))


def solve(parts):
    rows, (u, v) = [], (1.0, 1.0)
    for _ in range(ROWS):
        for _ in range(parts):
            u, v = step(u, v, END / ROWS / parts)
        rows.append((u, v))
    return rows


coarse, fine = solve(2), solve(4)
print(f"largest change {max(abs(x - y) for a, b in zip(coarse, fine) for x, y in zip(a, b)):.1e}", file=sys.stderr)
print("t,u,v")
for i, (u, v) in enumerate(fine):
    print(f"{END * (i + 1) / ROWS:.12g},{u:.14g},{v:.14g}")
