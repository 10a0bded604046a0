# SPDX-License-Identifier: BSD-2-Clause
"""What the programs that are measured have in common: their data, and the talk with `run`.

Called with FILE PROBLEM WIDTH POINTS PRECISION THREADS METHOD... A worker prepares, prints a line of JSON with the loss
and the norms of its gradient at the first weights, takes a few steps, and then answers every line "N" of its input with
the times of N training steps. The data are raw doubles: weights, biases and so on layer by layer, points, f."""
import json
import math
import sys
import time
from dataclasses import dataclass

LAYERS = 4
DIMENSIONS = {"poisson": 2, "burgers": 2, "biharmonic": 2, "sixth": 1}
NU = 0.05
RATE, BETA1, BETA2, EPSILON = 1e-4, 0.9, 0.999, 1e-8  # of Adam; so small that the steps stay alike


def shapes(problem, width):
    """Of the parameters, in the order of the file: weight [out, in], bias [out]."""
    sizes = [DIMENSIONS[problem]] + [width] * LAYERS + [1]
    return [s for i, o in zip(sizes, sizes[1:]) for s in ((o, i), (o,))]


@dataclass
class Task:
    problem: str
    width: int
    points: int
    precision: str
    threads: int
    method: list
    numbers: list  # arrays, shaped, in double: parameters, then points [points, dimension] and f [points]


def read(numpy):
    file, problem, width, points, precision, threads = sys.argv[1:7]
    width, points = int(width), int(points)
    flat, numbers = numpy.fromfile(file), []
    for shape in shapes(problem, width) + [(points, DIMENSIONS[problem]), (points,)]:
        n = math.prod(shape)
        numbers.append(flat[:n].reshape(shape))
        flat = flat[n:]
    if len(flat):
        sys.exit(f"{file}: {len(flat)} numbers too many")
    return Task(problem, width, points, precision, int(threads), sys.argv[7:], numbers)


def serve(task, step, check):
    """step() trains once and returns when all is done; check() gives the loss and the gradient's norms by parameter."""
    loss, norms = check()
    for _ in range(3):
        step()
    print(json.dumps({"loss": loss, "norms": norms}), flush=True)
    clock = time.process_time if task.threads == 1 else time.perf_counter
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            before = clock()
            step()
            times.append(clock() - before)
        print(json.dumps(times), flush=True)
