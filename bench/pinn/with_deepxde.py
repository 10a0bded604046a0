# SPDX-License-Identifier: BSD-2-Clause
"""One training by DeepXDE (PyTorch): `with_deepxde.py PROBLEM SETTING SECONDS THREADS SEED` prints a line of JSON with
the lowest relative L2 error against the exact solution that was seen, so the peer's best state is known better than its
user could. Only training counts as time: neither imports nor the evaluation of errors."""
import json
import os
import sys
import time

os.environ["DDE_BACKEND"] = "pytorch"
import deepxde as dde  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402

PI = np.pi
BURGERS_VISCOSITY = 0.01 / PI
QUADRATURE = np.polynomial.hermite.hermgauss(200)


def sine(x):
    return torch.sin(PI * x)


def cole_hopf(x):
    """Solution of Burgers' equation with u(x, 0) = -sin(pi x), by Gauss and Hermite's quadrature of the transform."""
    z, w = QUADRATURE
    y = x[:, 0:1] - 2 * np.sqrt(BURGERS_VISCOSITY * np.maximum(x[:, 1:2], 1e-300)) * z
    exponent = -np.cos(PI * y) / (2 * PI * BURGERS_VISCOSITY)
    weight = w * np.exp(exponent - exponent.max(axis=1, keepdims=True))
    u = -(weight * np.sin(PI * y)).sum(axis=1) / weight.sum(axis=1)
    return np.where(x[:, 1] > 0, u, -np.sin(PI * x[:, 0]))[:, None]


def time_box(low, high, end):
    return dde.geometry.GeometryXTime(dde.geometry.Interval(low, high), dde.geometry.TimeDomain(0, end))


def second(y, x, i):
    return dde.grad.hessian(y, x, i=i, j=i)


def first(y, x, i):
    return dde.grad.jacobian(y, x, i=0, j=i)


def poisson_source(x):
    return 2 * PI**2 * sine(x[:, 0:1]) * sine(x[:, 1:2])


def helmholtz_source(x):
    return (1 - 17 * PI**2) * sine(x[:, 0:1]) * torch.sin(4 * PI * x[:, 1:2])


# Geometry, residual, exact solution as numbers, u(x, 0) as tensors where there is time, output that satisfies all values
# (start, ends) for network y, and the layers, activation and first iterations of Adam of the nearest example in the
# documentation: Burgers, Heat, Helmholtz_Dirichlet_2d, wave_1d, Poisson by those of Helmholtz.
PROBLEMS = {
    "burgers": {
        "box": lambda: time_box(-1, 1, 1),
        "residual": lambda x, y: first(y, x, 1) + y * first(y, x, 0) - BURGERS_VISCOSITY * second(y, x, 0),
        "exact": cole_hopf,
        "built in": lambda x, y: -sine(x[:, 0:1]) + x[:, 1:2] * (1 - x[:, 0:1]**2) * y,
        "start": True, "network": ([20] * 3, "tanh"), "points": (2540, 80, 160)},
    "heat": {
        "box": lambda: time_box(0, 1, 1),
        "residual": lambda x, y: first(y, x, 1) - 0.25 * second(y, x, 0),
        "exact": lambda x: np.exp(-PI**2 * x[:, 1:2] / 4) * np.sin(PI * x[:, 0:1]),
        "built in": lambda x, y: sine(x[:, 0:1]) + x[:, 1:2] * x[:, 0:1] * (1 - x[:, 0:1]) * y,
        "start": True, "network": ([20] * 3, "tanh"), "points": (2540, 80, 160)},
    "wave": {
        "box": lambda: time_box(0, 1, 1),
        "residual": lambda x, y: second(y, x, 1) - 4 * second(y, x, 0),
        "exact": lambda x: np.sin(PI * x[:, 0:1]) * np.cos(2 * PI * x[:, 1:2])
        + 0.5 * np.sin(4 * PI * x[:, 0:1]) * np.cos(8 * PI * x[:, 1:2]),
        "built in": lambda x, y: sine(x[:, 0:1]) + 0.5 * torch.sin(4 * PI * x[:, 0:1])
        + x[:, 1:2]**2 * x[:, 0:1] * (1 - x[:, 0:1]) * y,
        "start": True, "rate": True, "network": ([100] * 3, "tanh"), "points": (2540, 160, 160)},
    "helmholtz": {
        "box": lambda: dde.geometry.Rectangle([-1, -1], [1, 1]),
        "residual": lambda x, y: second(y, x, 0) + second(y, x, 1) + y - helmholtz_source(x),
        "exact": lambda x: np.sin(PI * x[:, 0:1]) * np.sin(4 * PI * x[:, 1:2]),
        "built in": lambda x, y: (1 - x[:, 0:1]**2) * (1 - x[:, 1:2]**2) * y,
        "network": ([150] * 3, "sin"), "points": (1600, 160, 0)},
    "poisson-sine": {
        "box": lambda: dde.geometry.Rectangle([0, 0], [1, 1]),
        "residual": lambda x, y: second(y, x, 0) + second(y, x, 1) + poisson_source(x),
        "exact": lambda x: np.sin(PI * x[:, 0:1]) * np.sin(PI * x[:, 1:2]),
        "built in": lambda x, y: x[:, 0:1] * (1 - x[:, 0:1]) * x[:, 1:2] * (1 - x[:, 1:2]) * y,
        "network": ([150] * 3, "sin"), "points": (1600, 160, 0)},
}

# Precision, values built in or penalised, network of the example or a small one, parts of the time by optimiser.
SETTINGS = {
    "documented": ("float32", False, "example", (("adam", 0.5), ("L-BFGS", 0.5))),
    "documented, float64": ("float64", False, "example", (("adam", 0.5), ("L-BFGS", 0.5))),
    "built in, float64": ("float64", True, "example", (("adam", 0.1), ("L-BFGS", 0.9))),
    "built in, float64, small": ("float64", True, ([20] * 3, "tanh"), (("adam", 0.1), ("L-BFGS", 0.9))),
    "built in, float64, small, sine": ("float64", True, ([20] * 3, "sin"), (("adam", 0.1), ("L-BFGS", 0.9))),
    "built in, float64, NNCG": ("float64", True, ([20] * 3, "tanh"), (("adam", 0.1), ("L-BFGS", 0.5), ("NNCG", 0.4))),
}


class Watch(dde.callbacks.Callback):
    """Stops at the end of a part of the budget; the lowest error seen, looked at twenty times."""

    def __init__(self, places, exact, seconds):
        super().__init__()
        self.places, self.values, self.seconds = places, exact, seconds
        self.best, self.used, self.last, self.end, self.look = float("inf"), 0.0, None, 0.0, seconds / 20

    def begin(self, until):
        self.end, self.last = until, time.perf_counter()

    def on_epoch_end(self):
        self.used += time.perf_counter() - self.last
        if self.used >= self.look:
            self.evaluate()
        if self.used >= self.end:
            self.model.stop_training = True
        self.last = time.perf_counter()

    def evaluate(self):
        self.look = self.used + self.seconds / 20
        error = np.linalg.norm(self.model.predict(self.places) - self.values) / np.linalg.norm(self.values)
        self.best = min(self.best, float(error))


def conditions(problem, box):
    """Penalised: values at ends and, where there is time, at the start; a rate of zero at the start of waves."""
    exact = problem["exact"]
    several = [dde.icbc.DirichletBC(box, exact, lambda _, on_boundary: on_boundary)]
    if problem.get("start"):
        several.append(dde.icbc.IC(box, exact, lambda _, on_initial: on_initial))
    if problem.get("rate"):
        several.append(dde.icbc.OperatorBC(box, lambda x, y, _: first(y, x, 1), lambda x, _: np.isclose(x[1], 0)))
    return several


def build(problem, built_in, network, seed):
    box, (inside, boundary, start) = problem["box"](), problem["points"]
    make = dde.data.TimePDE if problem.get("start") else dde.data.PDE
    counts = {"num_domain": inside, "num_boundary": boundary, "train_distribution": "Sobol"}
    if problem.get("start"):
        counts["num_initial"] = start
    data = make(box, problem["residual"], [] if built_in else conditions(problem, box), **counts)
    hidden, activation = problem["network"] if network == "example" else network
    dde.config.set_random_seed(seed)
    net = dde.nn.FNN([2] + hidden + [1], activation, "Glorot normal")
    if built_in:
        net.apply_output_transform(problem["built in"])
    return box, dde.Model(data, net)


def train(problem, setting, seconds, seed):
    precision, built_in, network, parts = SETTINGS[setting]
    dde.config.set_default_float(precision)
    box, model = build(problem, built_in, network, seed)
    low, high = (box.geometry.bbox, (0, 1)) if problem.get("start") else (box.bbox[0], box.bbox[1])
    grid = np.linspace(0, 1, 201)
    xx, yy = np.meshgrid(grid, grid)
    if problem.get("start"):
        a, b = np.ravel(low)
        places = np.stack([a + (b - a) * xx.ravel(), yy.ravel()], axis=1)
    else:
        places = np.stack([low[i] + (high[i] - low[i]) * v.ravel() for i, v in enumerate((xx, yy))], axis=1)
    watch = Watch(places, problem["exact"](places), seconds)
    dde.optimizers.set_LBFGS_options(maxcor=100, ftol=0, gtol=0, maxiter=10**9)
    dde.optimizers.config.LBFGS_options.update(iter_per_step=100, fun_per_step=125)
    end = 0.0
    for optimizer, share in parts:
        end += share * seconds
        model.compile(optimizer, **({"lr": 1e-3} if optimizer == "adam" else {}), verbose=0)
        for _ in range(20):  # L-BFGS that ends before its time begins again
            if watch.used >= end:
                break
            model.stop_training = False
            watch.begin(end)
            try:
                model.train(iterations=None if optimizer == "L-BFGS" else 10**9, display_every=10**9,
                            callbacks=[watch], verbose=0)
            except torch.linalg.LinAlgError:  # NNCG's preconditioner, where the Hessian has lost its rank
                break
    watch.evaluate()
    return {"error": watch.best, "seconds": watch.used, "iterations": model.train_state.iteration}


def main():
    if sys.argv[1:] == ["settings"]:
        print("\n" + json.dumps(list(SETTINGS)), flush=True)
        return
    name, setting, seconds, threads, seed = sys.argv[1:]
    torch.set_num_threads(int(threads))
    print("\n" + json.dumps(train(PROBLEMS[name], setting, float(seconds), int(seed))), flush=True)


if __name__ == "__main__":
    main()
