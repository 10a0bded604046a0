#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Data of the inverse cases: inverse-data.py poisson|heat > FILE.csv

2500 values of u with normal noise of deviation 0.1 at points spread at random over the domain (PINNacle's PInv and HInv):
u = sin(pi x) sin(pi y) in the unit square, exp(-t) times that in [-1, 1]^2 x [0, 1]."""
import math
import random
import sys

NUMBER, NOISE = 2500, 0.1


def main():
    heat = sys.argv[1:] == ["heat"]
    if not heat and sys.argv[1:] != ["poisson"]:
        raise SystemExit(__doc__)
    draw = random.Random(1)
    print("x,y,t,measured" if heat else "x,y,measured")
    for _ in range(NUMBER):
        x, y, t = (draw.random() for _ in range(3))
        if heat:
            x, y = 2 * x - 1, 2 * y - 1
        u = (math.exp(-t) if heat else 1) * math.sin(math.pi * x) * math.sin(math.pi * y)
        row = (x, y, t) if heat else (x, y)
        print(",".join(f"{number:.6f}" for number in (*row, u + draw.gauss(0, NOISE))))


main()
