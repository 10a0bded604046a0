# SPDX-License-Identifier: BSD-2-Clause
"""Training steps of PyTorch. METHOD: derivatives (autograd: torch.autograd.grad; grad, jvp, jvp-grad, hessian: of
torch.func), how it is run (eager; compile: torch.compile; trace: make_fx first, so that the compiler sees every
derivative written out), points at a time (0: all), a mode of torch.compile or ""."""
import sys

import numpy
import torch
from torch.func import grad, grad_and_value, hessian, jvp, vmap

import worker

sys.dont_write_bytecode = True


def network(params, x):
    """[n, d] -> [n]"""
    h = x
    for i in range(0, len(params) - 2, 2):
        h = torch.tanh(torch.nn.functional.linear(h, params[i], params[i + 1]))
    return torch.nn.functional.linear(h, params[-2], params[-1])[..., 0]


def axis(x, i):
    v = torch.zeros_like(x)
    v[..., i] = 1
    return v


def along(f, x, i):
    """f and its derivative by coordinate i, forward."""
    return jvp(f, (x,), (axis(x, i),))


def nth(f, i, n):
    """The n-th derivative by coordinate i as a function, forward every time."""
    return f if n == 0 else nth(lambda y: along(f, y, i)[1], i, n - 1)


def gradient(f):
    """Of a batched function, point by point: reverse."""
    return grad(lambda y: f(y).sum())


def reverse(f, i, n):
    return f if n == 0 else reverse(lambda y: gradient(f)(y)[..., i], i, n - 1)


def laplacian(method, f):
    if method == "jvp":
        return lambda x: nth(f, 0, 2)(x) + nth(f, 1, 2)(x)
    if method == "jvp-grad":
        return lambda x: sum(along(gradient(f), x, i)[1][..., i] for i in range(2))
    if method == "hessian":
        return lambda x: vmap(lambda y: hessian(lambda z: f(z))(y).diagonal().sum())(x)

    def by_grad(x):
        first = gradient(f)
        return sum(grad(lambda y, i=i: first(y)[..., i].sum())(x)[..., i] for i in range(2))
    return by_grad


def burgers(method, u, x):
    """u_t, u_x and u_xx; the coordinates are x, t."""
    if method == "jvp":
        (_, first), (_, second) = jvp(lambda y: along(u, y, 0), (x,), (axis(x, 0),))
        return along(u, x, 1)[1], first, second
    first = gradient(u)
    if method == "jvp-grad":
        g, second = along(first, x, 0)
        return g[..., 1], g[..., 0], second[..., 0]
    if method == "hessian":
        g = vmap(grad(lambda z: u(z)))(x)
        return g[:, 1], g[:, 0], vmap(lambda y: hessian(lambda z: u(z))(y)[0, 0])(x)

    def with_first(y):
        g = first(y)
        return g[..., 0].sum(), g
    second, g = grad(with_first, has_aux=True)(x)
    return g[..., 1], g[..., 0], second[..., 0]


def residual(problem, method, params, x, f):
    def u(y):
        return network(params, y)
    if problem == "poisson":
        return laplacian(method, u)(x) + torch.sin(u(x)) - f
    if problem == "burgers":
        u_t, u_x, u_xx = burgers(method, u, x)
        return u_t + u(x) * u_x - worker.NU * u_xx - f
    if problem == "biharmonic":
        if method == "jvp":
            fourth = nth(u, 0, 4)(x) + 2 * nth(nth(u, 0, 2), 1, 2)(x) + nth(u, 1, 4)(x)
        else:
            fourth = laplacian(method, laplacian(method, u))(x)
        return fourth + torch.sin(u(x)) - f
    sixth = nth(u, 0, 6) if method == "jvp" else reverse(u, 0, 6)
    return sixth(x) + torch.sin(u(x)) - f


def classic(problem, params, x, f):
    """The same by torch.autograd.grad(create_graph=True), as most programs are written."""
    def by(y, i):
        return torch.autograd.grad(y.sum(), x, create_graph=True)[0] if i is None else by(y, None)[:, i]

    def lap(y):
        first = by(y, None)
        return by(first[:, 0], 0) + by(first[:, 1], 1)
    x = x.detach().requires_grad_()
    u = network(params, x)
    if problem == "poisson":
        return lap(u) + torch.sin(u) - f
    if problem == "burgers":
        first = by(u, None)
        return first[:, 1] + u * first[:, 0] - worker.NU * by(first[:, 0], 0) - f
    if problem == "biharmonic":
        return lap(lap(u)) + torch.sin(u) - f
    sixth = u
    for _ in range(6):
        sixth = by(sixth, 0)
    return sixth + torch.sin(u) - f


def objective(task, derivatives, how, chunk, mode):
    """(params, x, f) -> gradient, sum of squares of the residual over the points given."""
    if derivatives == "autograd":
        def run(params, x, f):
            loss = (classic(task.problem, params, x, f) ** 2).sum()
            return torch.autograd.grad(loss, params), loss.detach()
    else:
        run = grad_and_value(lambda p, x, f: (residual(task.problem, derivatives, p, x, f) ** 2).sum())
    if how == "trace":
        from torch.fx.experimental.proxy_tensor import make_fx
        params, x, f = tensors(task)
        run = make_fx(run)(params, x[:chunk], f[:chunk])
    return run if how == "eager" else torch.compile(run, mode=mode or None)


def tensors(task):
    kind = torch.float64 if task.precision == "double" else torch.float32
    every = [torch.tensor(a, dtype=kind) for a in task.numbers]
    return [p.requires_grad_() for p in every[:-2]], every[-2], every[-1]


def main():
    task = worker.read(numpy)
    derivatives, how, chunk, mode = task.method
    chunk = int(chunk) or task.points
    torch.set_num_threads(task.threads)
    params, x, f = tensors(task)
    run = objective(task, derivatives, how, chunk, mode)
    optimiser = torch.optim.Adam(params, lr=worker.RATE, betas=(worker.BETA1, worker.BETA2), eps=worker.EPSILON,
                                 fused=True)
    pieces = list(zip(x.split(chunk), f.split(chunk)))

    def both():
        grads, loss = None, 0
        for points, right in pieces:
            g, part = run(params, points, right)
            loss = loss + part
            grads = list(g) if grads is None else torch._foreach_add(grads, list(g))
        torch._foreach_mul_(grads, 1 / task.points)
        return loss / task.points, grads

    def step():
        _, grads = both()
        for p, g in zip(params, grads):
            p.grad = g
        optimiser.step()

    def check():
        loss, grads = both()
        return loss.item(), [g.norm().item() for g in grads]
    worker.serve(task, step, check)


main()
