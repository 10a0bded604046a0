# SPDX-License-Identifier: BSD-2-Clause
"""A program on one core, its processor and wall time at each line it prints; when a series has settled."""
import os
import statistics
import subprocess
import time

SETTLED = 1e-6  # relative to the converged value


class Failed(Exception):
    pass


def core():
    """The core for whatever is measured: the last one allowed, away from where this script tends to run."""
    return max(os.sched_getaffinity(0))


def lines(command, folder=None, environment=None, log=None):
    """Yields (line, processor seconds, wall seconds, stop) for each line of standard output. The processor time
    is the kernel's clock of that process (user and system, children excluded); stop() ends the program."""
    one = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with open(log or os.devnull, "w") as copy:
        process = subprocess.Popen(command, cwd=folder, env={**os.environ, **one, **(environment or {})},
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   preexec_fn=lambda: os.sched_setaffinity(0, {core()}))
        clock = (~process.pid << 3) | 2  # see clock_getcpuclockid(3)
        stopped = ended = False

        def stop():
            nonlocal stopped
            stopped = True

        cpu = 0.0
        try:
            for raw in process.stdout:
                wall = time.monotonic()
                try:
                    cpu = time.clock_gettime(clock)
                except OSError:  # it has ended already: the time of its last lines stays
                    pass
                line = raw.decode(errors="replace").rstrip()
                copy.write(line + "\n")
                yield line, cpu, wall, stop
                if stopped:
                    break
            else:
                ended = True
        finally:
            if not ended:  # asked for, or whoever reads has failed
                process.kill()
            process.stdout.close()
            process.wait()
    if not stopped and process.returncode != 0:
        raise Failed(f"{command[0]} ended with {process.returncode}{'; see ' + log if log else ''}")


def settled_at(values):
    """Index from which on all values stay within SETTLED of the last one."""
    last = values[-1]
    for i in range(len(values) - 1, -1, -1):
        if not abs(values[i] - last) <= SETTLED * abs(last):
            return i + 1
    return 0


def has_converged(values):
    """The last quarter varies by less than a tenth of SETTLED. Errors that shrink by a constant factor an
    iteration fall by far more than ten over such a stretch, so the last value serves as the converged one."""
    n = max(len(values) // 4, 30)
    if len(values) < 2 * n:
        return False
    tail = values[-n:]
    return max(tail) - min(tail) < 0.1 * SETTLED * abs(tail[-1])


def median(values):
    return statistics.median(values)
