# SPDX-License-Identifier: BSD-2-Clause
"""The environment of the peers; a program that trains, held at one or two cores and asked for steps by turns."""
import json
import os
import select
import subprocess
import sys
import time

PACKAGES = ["torch", "jax", "folx", "numpy"]
HELP = "PyPI could not be used (see {log}): connect this machine to it, or name a Python that has {packages} by --python"


class Failed(Exception):
    pass


def environment(folder, packages=PACKAGES):
    """A Python with the packages, in a folder that may be thrown away; made when missing."""
    python, done = os.path.join(folder, "bin/python"), os.path.join(folder, "complete")
    if os.path.exists(done):
        return python
    names = ", ".join(packages)
    print(f"installing {names} from PyPI into {folder} (some gigabytes)", file=sys.stderr, flush=True)
    log = folder + ".log"
    for command in ([sys.executable, "-m", "venv", "--clear", folder],
                    [python, "-m", "pip", "install", "--disable-pip-version-check", *packages]):
        with open(log, "w") as out:
            if subprocess.run(command, stdout=out, stderr=subprocess.STDOUT).returncode != 0:
                raise Failed(HELP.format(log=log, packages=names) if "pip" in command else
                             f"no environment could be made (see {log}): install the Debian package python3-venv")
    open(done, "w").close()
    return python


class Worker:
    def __init__(self, command, threads, extra, log, patience):
        """Starts and waits for the first line of JSON, `ready`."""
        cores = sorted(os.sched_getaffinity(0))[-threads:]
        if len(cores) < threads:
            raise Failed(f"needs {threads} cores")
        self.log = open(log, "a")
        count = str(threads)
        self.process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True,
            env={**os.environ, "OMP_NUM_THREADS": count, "MKL_NUM_THREADS": count, **extra},
            preexec_fn=lambda: os.sched_setaffinity(0, cores))
        try:
            self.ready = self.answer(patience)
        except BaseException:
            self.close()
            raise

    def answer(self, patience):
        if not select.select([self.process.stdout], [], [], patience)[0]:
            raise Failed(f"gives nothing for {patience:g} s")
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"ended; see {self.log.name}")
        return json.loads(line)

    def steps(self, n):
        """Times of n steps."""
        self.process.stdin.write(f"{n}\n")
        self.process.stdin.flush()
        return self.answer(600)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.log.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
