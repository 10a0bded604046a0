# SPDX-License-Identifier: BSD-2-Clause
"""Training steps of JAX, jit. METHOD: derivatives (grad, jvp, hessian, jet, folx), points at a time (0: all)."""
import sys

import jax
import numpy
from jax import numpy as jnp
from jax.experimental.jet import jet

import worker

sys.dont_write_bytecode = True


def network(params, x):
    """[..., d] -> [...]"""
    h = x
    for i in range(0, len(params) - 2, 2):
        h = jnp.tanh(h @ params[i].T + params[i + 1])
    return (h @ params[-2].T + params[-1])[..., 0]


def axis(x, i):
    return jnp.zeros_like(x).at[..., i].set(1)


def along(f, x, i):
    return jax.jvp(f, (x,), (axis(x, i),))


def nth(f, i, n):
    """The n-th derivative by coordinate i as a function, forward every time."""
    return f if n == 0 else nth(lambda y: along(f, y, i)[1], i, n - 1)


def reverse(f, i, n):
    return f if n == 0 else reverse(lambda y: jax.grad(lambda z: f(z).sum())(y)[..., i], i, n - 1)


def taylor(f, x, v, order):
    """Derivatives 1 .. order along v."""
    return jet(f, (x,), ((v,) + (jnp.zeros_like(x),) * (order - 1),))[1]


def laplacian(method, f):
    if method == "jvp":
        return lambda x: nth(f, 0, 2)(x) + nth(f, 1, 2)(x)
    if method == "hessian":
        return jax.vmap(lambda y: jnp.trace(jax.hessian(f)(y)))
    if method == "jet":
        return lambda x: sum(taylor(f, x, axis(x, i), 2)[1] for i in range(2))
    if method == "jet-vmap":
        return jax.vmap(lambda y: jax.vmap(lambda v: taylor(f, y, v, 2)[1])(jnp.eye(2, dtype=y.dtype)).sum())
    if method == "folx":
        import folx
        return jax.vmap(lambda y: folx.forward_laplacian(f)(y).laplacian)

    def by_grad(x):
        first = jax.grad(lambda y: f(y).sum())
        return sum(jax.grad(lambda y, i=i: first(y)[..., i].sum())(x)[..., i] for i in range(2))
    return by_grad


def burgers(method, u, x):
    """u_t, u_x and u_xx; the coordinates are x, t."""
    if method in ("jet", "jet-vmap"):
        first, second = taylor(u, x, axis(x, 0), 2)
        return along(u, x, 1)[1], first, second
    if method == "jvp":
        (_, first), (_, second) = jax.jvp(lambda y: along(u, y, 0), (x,), (axis(x, 0),))
        return along(u, x, 1)[1], first, second
    first = jax.grad(lambda y: u(y).sum())
    if method == "hessian":
        g, second = along(first, x, 0)
        return g[..., 1], g[..., 0], second[..., 0]
    g, back = jax.vjp(first, x)
    return g[..., 1], g[..., 0], back(axis(x, 0))[0][..., 0]


def biharmonic(method, u, x):
    if method == "jvp":
        return nth(u, 0, 4)(x) + 2 * nth(nth(u, 0, 2), 1, 2)(x) + nth(u, 1, 4)(x)
    if method in ("jet", "jet-vmap"):  # u_xxyy from the diagonals
        def fourth(v):
            return taylor(u, x, jnp.broadcast_to(jnp.array(v, x.dtype), x.shape), 4)[3]
        if method == "jet-vmap":
            at = jax.vmap(fourth)(jnp.array([[1, 0], [0, 1], [1, 1], [1, -1]], x.dtype))
            return (at * jnp.array([2 / 3, 2 / 3, 1 / 6, 1 / 6], x.dtype)[:, None]).sum(0)
        return 2 / 3 * (fourth((1, 0)) + fourth((0, 1))) + (fourth((1, 1)) + fourth((1, -1))) / 6
    if method == "folx":
        import folx
        once = folx.forward_laplacian(u)
        return jax.vmap(lambda y: folx.forward_laplacian(lambda z: once(z).laplacian)(y).laplacian)(x)
    if method == "jvp-folx":
        import folx
        lap = jax.vmap(lambda z: folx.forward_laplacian(u)(z).laplacian)
        return laplacian("jvp", lap)(x)
    if method == "hessian":
        return laplacian(method, lambda y: jnp.trace(jax.hessian(u)(y)))(x)
    return laplacian(method, laplacian(method, u))(x)


def residual(problem, method, params, x, f):
    def u(y):
        return network(params, y)
    if problem == "poisson":
        if method == "folx":
            import folx
            at = jax.vmap(folx.forward_laplacian(u))(x)
            return at.laplacian + jnp.sin(at.x) - f
        return laplacian(method, u)(x) + jnp.sin(u(x)) - f
    if problem == "burgers":
        u_t, u_x, u_xx = burgers(method, u, x)
        return u_t + u(x) * u_x - worker.NU * u_xx - f
    if problem == "biharmonic":
        return biharmonic(method, u, x) + jnp.sin(u(x)) - f
    if method == "jet":
        return taylor(u, x, axis(x, 0), 6)[5] + jnp.sin(u(x)) - f
    return (nth if method == "jvp" else reverse)(u, 0, 6)(x) + jnp.sin(u(x)) - f


def adam(params, grads, first, second, count):
    first = [worker.BETA1 * m + (1 - worker.BETA1) * g for m, g in zip(first, grads)]
    second = [worker.BETA2 * v + (1 - worker.BETA2) * g * g for v, g in zip(second, grads)]
    a, b = 1 - worker.BETA1 ** count, 1 - worker.BETA2 ** count
    params = [p - worker.RATE * (m / a) / (jnp.sqrt(v / b) + worker.EPSILON)
              for p, m, v in zip(params, first, second)]
    return params, first, second


def main():
    task = worker.read(numpy)
    derivatives, chunk = task.method
    chunk = int(chunk) or task.points
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", task.precision == "double")
    kind = jnp.float64 if task.precision == "double" else jnp.float32
    every = [jnp.array(a, kind) for a in task.numbers]
    params, x, f = every[:-2], every[-2], every[-1]
    x, f = x.reshape(-1, chunk, x.shape[1]), f.reshape(-1, chunk)

    def part(p, points, right):
        return (residual(task.problem, derivatives, p, points, right) ** 2).sum() / task.points

    def both(p, x, f):
        one = jax.value_and_grad(part)
        if x.shape[0] == 1:
            return one(p, x[0], f[0])

        def more(carry, data):
            return jax.tree.map(jnp.add, carry, one(p, *data)), None
        zero = (jnp.zeros((), kind), [jnp.zeros_like(q) for q in p])
        return jax.lax.scan(more, zero, (x, f))[0]

    def train(p, first, second, count, x, f):
        loss, grads = both(p, x, f)
        return *adam(p, grads, first, second, count), count + 1, loss, grads
    train = jax.jit(train, donate_argnums=(0, 1, 2))
    state = [params, [jnp.zeros_like(p) for p in params], [jnp.zeros_like(p) for p in params], jnp.ones((), kind)]
    shown = None

    def step():
        nonlocal state, shown
        *state, loss, grads = jax.block_until_ready(train(*state, x, f))
        shown = loss, grads

    def check():
        step()
        loss, grads = shown
        return float(loss), [float(jnp.linalg.norm(g)) for g in grads]
    worker.serve(task, step, check)


main()
