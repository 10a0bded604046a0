# SPDX-License-Identifier: BSD-2-Clause
"""How the peers can be set: what is tried. A setting is (way to derive, way to run, points at a time, flags of the
environment); torch's ways to run are eager, compile and trace (with_torch.py), JAX always runs compiled."""
import os

PIECES = [0, 64, 128, 256, 1024, 2048]
FIRST = 512
# The C library keeps what is freed, in place of giving it back to the system.
KEEP = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 34), "MALLOC_TOP_PAD_": str(1 << 28)}
FLAGS = {
    "torch": ["max-autotune"],
    "jax": ["--xla_cpu_prefer_vector_width=512", "--xla_cpu_enable_fast_math=true",
            "--xla_cpu_use_thunk_runtime=false"],
}
DERIVATIVES = {
    ("torch", "poisson"): ["autograd", "grad", "jvp", "jvp-grad", "hessian"],
    ("torch", "burgers"): ["autograd", "grad", "jvp", "jvp-grad", "hessian"],
    ("torch", "biharmonic"): ["autograd", "jvp", "jvp-grad"],
    ("torch", "sixth"): ["autograd", "jvp"],
    ("jax", "poisson"): ["grad", "jvp", "hessian", "jet", "jet-vmap", "folx"],
    ("jax", "burgers"): ["grad", "jvp", "hessian", "jet"],
    ("jax", "biharmonic"): ["grad", "jvp", "hessian", "jet", "jet-vmap", "folx", "jvp-folx"],
    ("jax", "sixth"): ["jvp", "jet"],
}


# What was seen to be fastest, for --quick.
QUICK = {
    ("torch", "poisson"): [("autograd", "eager", FIRST, ""), ("autograd", "trace", FIRST, ""), ("autograd", "trace", 0, "")],
    ("torch", "burgers"): [("autograd", "eager", FIRST, ""), ("autograd", "trace", FIRST, "")],
    ("torch", "biharmonic"): [("autograd", "eager", FIRST, ""), ("autograd", "trace", FIRST, "")],
    ("torch", "sixth"): [("autograd", "eager", FIRST, "")],
    ("jax", "poisson"): [("jvp", "jit", FIRST, ""), ("jet", "jit", FIRST, ""), ("folx", "jit", 64, ""), ("folx", "jit", 128, "")],
    ("jax", "burgers"): [("jvp", "jit", FIRST, ""), ("jet", "jit", FIRST, "")],
    ("jax", "biharmonic"): [("jvp", "jit", 128, ""), ("jet", "jit", FIRST, ""), ("folx", "jit", FIRST, "")],
    ("jax", "sixth"): [("jet", "jit", FIRST, "")],
}


def family(peer, setting):
    derivatives, run = setting[:2]
    if peer == "torch":
        return "torch eager" if run == "eager" else "torch compiled"
    if "folx" in derivatives:
        return "jax forward Laplacian"
    return "jax jet" if "jet" in derivatives else "jax nested"


def ways(peer, problem):
    """Every way to derive and to run, in pieces of one size."""
    runs = ("jit",) if peer == "jax" else ("eager", "compile", "trace")
    return [(d, run, FIRST, "") for d in DERIVATIVES[peer, problem] for run in runs
            if not (d == "autograd" and run == "compile")]  # torch.compile refuses autograd.grad: trace does that


def reverse(peer):
    """Reverse mode six times."""
    ways = [("grad", "jit")] if peer == "jax" else [("autograd", "eager"), ("autograd", "trace")]
    return [(*way, n, "") for way in ways for n in (FIRST, 64)]


def pieces(setting):
    return [(*setting[:2], n, setting[3]) for n in PIECES]


def flags(peer, setting):
    return [(*setting[:3], flag) for flag in FLAGS[peer] if setting[1] != "eager"]


def is_whole(setting):
    """All points at once, no flags: what a program has unless somebody tunes it."""
    return setting[2] == 0 and not setting[3]


def text(setting):
    if isinstance(setting, str):
        return setting
    derivatives, run, n, flag = setting
    return ", ".join([derivatives, run, f"{n} points at a time" if n else "all points", *([flag] if flag else [])])


def command(peer, setting, folder, common):
    """(environment, command without the Python)."""
    derivatives, run, n, flag = setting
    script = os.path.join(folder, f"with_{peer}.py")
    if peer == "jax":
        return {**KEEP, **({"XLA_FLAGS": flag} if flag else {})}, [script, *common, derivatives, n]
    return KEEP, [script, *common, derivatives, run, n, flag]
