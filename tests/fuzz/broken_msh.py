#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Broken Gmsh files through pcsim-mesh: always a message, never a crash or a hang.

usage: broken_msh.py PCSIM_MESH [COUNT [SEED]]       (default 2000 files, seed 1)

Whole files are made first (text and binary, versions 2.2 and 4.1, plane and solid, first and second order)
and must be read; then COUNT damaged copies must each end within 20 s with exit code 0, 2 or 4, and with at
least one line on standard error unless the code is 0. A failing file is kept; the script ends with 1.
"""
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

LIMIT = 20.0
NODES = {1: 2, 2: 3, 3: 4, 4: 4, 5: 8, 6: 6, 7: 5, 8: 3, 9: 6}
DIMENSION = {1: 1, 2: 2, 3: 2, 4: 3, 5: 3, 6: 3, 7: 3, 8: 1, 9: 2}


def read_22(path):
    """Names, nodes and elements (type, group, nodes) of a 2.2 text file."""
    lines = open(path).read().split("\n")
    at = lines.index("$PhysicalNames") + 2
    names = [tuple(s.split(" ", 2)) for s in lines[at:lines.index("$EndPhysicalNames")]]
    at = lines.index("$Nodes") + 2
    nodes = [tuple(map(float, s.split()[1:])) for s in lines[at:lines.index("$EndNodes")]]
    at = lines.index("$Elements") + 2
    rows = [list(map(int, s.split())) for s in lines[at:lines.index("$EndElements")]]
    return names, nodes, [(r[1], r[3], r[5:]) for r in rows]


def second_order(mesh):
    """Nodes in the middle of each edge of triangles and segments."""
    names, nodes, elements = mesh
    nodes, middle, out = list(nodes), {}, []
    for kind, group, n in elements:
        k = len(n)
        edges = [(n[i], n[(i + 1) % k]) for i in range(k if k > 2 else 1)]
        extra = []
        for a, b in edges:
            key = (min(a, b), max(a, b))
            if key not in middle:
                nodes.append(tuple((p + q) / 2 for p, q in zip(nodes[a - 1], nodes[b - 1])))
                middle[key] = len(nodes)
            extra.append(middle[key])
        out.append(({1: 8, 2: 9}[kind], group, n + extra))
    return names, nodes, out


def header(version, binary):
    return b"$MeshFormat\n%s %d 8\n" % (version, binary) + (struct.pack("<i", 1) + b"\n" if binary else b"") + \
        b"$EndMeshFormat\n"


def physical_names(names):
    rows = "".join("%s %s %s\n" % row for row in names)
    return ("$PhysicalNames\n%d\n%s$EndPhysicalNames\n" % (len(names), rows)).encode()


def write_22(mesh, binary):
    names, nodes, elements = mesh
    out = [header(b"2.2", binary), physical_names(names), b"$Nodes\n%d\n" % len(nodes)]
    for i, x in enumerate(nodes):
        out.append(struct.pack("<i3d", i + 1, *x) if binary else ("%d %.17g %.17g %.17g\n" % (i + 1, *x)).encode())
    out.append((b"\n" if binary else b"") + b"$EndNodes\n$Elements\n%d\n" % len(elements))
    for i, (kind, group, n) in enumerate(elements):
        if binary:
            out.append(struct.pack("<%di" % (6 + len(n)), kind, 1, 2, i + 1, group, group, *n))
        else:
            out.append((" ".join(map(str, [i + 1, kind, 2, group, group] + list(n))) + "\n").encode())
    out.append((b"\n" if binary else b"") + b"$EndElements\n")
    return b"".join(out)


def write_41(mesh, binary):
    """One entity for each group, all nodes on the first entity of the highest dimension."""
    names, nodes, elements = mesh
    top = max(DIMENSION[k] for k, _, _ in elements)
    entities = sorted({(DIMENSION[k], g) for k, g, _ in elements})
    count = [sum(d == k for d, _ in entities) for k in range(4)]
    box = [min(x[k] for x in nodes) for k in range(3)] + [max(x[k] for x in nodes) for k in range(3)]

    def pack(fmt, *v):
        if binary:
            return struct.pack("<" + fmt, *v)
        return (" ".join("%.17g" % w if isinstance(w, float) else str(w) for w in v) + "\n").encode()

    out = [header(b"4.1", binary), physical_names(names), b"$Entities\n", pack("4Q", *count)]
    for d, g in entities:
        out.append(pack("i6dQiQ", g, *map(float, box), 1, g, 0))
    end = b"\n" if binary else b""
    out += [end + b"$EndEntities\n$Nodes\n", pack("4Q", 1, len(nodes), 1, len(nodes))]
    out.append(pack("3iQ", top, [g for d, g in entities if d == top][0], 0, len(nodes)))
    out += [pack("Q", i + 1) for i in range(len(nodes))]
    out += [pack("3d", *map(float, x)) for x in nodes]
    blocks = {}
    for i, (kind, group, n) in enumerate(elements):
        blocks.setdefault((DIMENSION[kind], group, kind), []).append((i + 1, n))
    out += [end + b"$EndNodes\n$Elements\n", pack("4Q", len(blocks), len(elements), 1, len(elements))]
    for (d, group, kind), rows in sorted(blocks.items()):
        out.append(pack("3iQ", d, group, kind, len(rows)))
        out += [pack("%dQ" % (1 + len(n)), i, *n) for i, n in rows]
    out.append(end + b"$EndElements\n")
    return b"".join(out)


def run(mesher, spec, raw, msh=None):
    start = time.time()
    try:
        done = subprocess.run([mesher, spec, raw] + ([msh] if msh else []), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=3 * LIMIT)
        return done.returncode, done.stderr.decode(errors="replace"), time.time() - start
    except subprocess.TimeoutExpired:
        return "hang", "", time.time() - start


def make_seeds(mesher, folder):
    shapes = {"plane": "shape=box\nlow=0,0\nhigh=1,1\ncells=mixed\nn=6,4\n",
              "triangles": "shape=box\nlow=0,0\nhigh=1,1\ncells=triangles\nn=4,4\n",
              "solid": "shape=box\nlow=0,0,0\nhigh=1,1,1\ncells=mixed\nn=4,2,2\n"}
    seeds, sizes = {}, {}
    for name, text in shapes.items():
        spec, raw, msh = (os.path.join(folder, name + e) for e in (".spec", ".raw", ".whole.msh"))
        open(spec, "w").write(text)
        code, message, _ = run(mesher, spec, raw, msh)
        if code != 0:
            sys.exit("%s: %s %s" % (name, code, message))
        mesh = read_22(msh)
        kinds = {name: mesh}
        if name == "triangles":
            kinds["curved"] = second_order(mesh)
        for kind, m in kinds.items():
            for version, write in (("22", write_22), ("41", write_41)):
                for binary in (0, 1):
                    seeds["%s-%s%s" % (kind, version, "b" if binary else "")] = write(m, binary)
        sizes[name] = os.path.getsize(raw)
    return seeds


def cut(data, rng):
    return data[:rng.randrange(len(data))]


def flip(data, rng):
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def swap_number(data, rng):
    found = list(re.finditer(rb"-?\d+(\.\d+)?", data))
    spot = rng.choice(found)
    new = rng.choice([b"0", b"-1", b"1", b"7", b"99999999", b"4294967296", b"-2147483648", b"9223372036854775807", b"1e308",
                      b"nan", b"inf", b"abc", b"", b"\0", b"1" * 400])
    return data[:spot.start()] + new + data[spot.end():]


def swap_word(data, rng):
    out = bytearray(data)
    at = rng.randrange(len(out) // 4) * 4
    out[at:at + 4] = struct.pack("<I", rng.choice([0, 1, 2, 0xffffffff, 0x7fffffff, 0x80000000, 1000000000, rng.getrandbits(32)]))
    return bytes(out)


def drop_section(data, rng):
    names = re.findall(rb"\$(?!End)\w+", data)
    name = rng.choice(names)
    start, end = data.find(name), data.find(b"$End" + name[1:])
    return data[:start] + data[end + len(name) + 4:] if rng.random() < 0.6 else data[:end] + data[end + len(name) + 4:]


def drop_lines(data, rng):
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    del lines[at:at + rng.choice([1, 1, 3, 20])]
    return b"\n".join(lines)


def double_part(data, rng):
    a = rng.randrange(len(data))
    b = min(len(data), a + rng.randrange(1, 400))
    return data[:b] + data[a:]


def rubbish(data, rng):
    a = rng.randrange(len(data))
    return data[:a] + rng.randbytes(rng.randrange(1, 200)) + data[a + rng.randrange(0, 200):]


DAMAGE = [cut, flip, flip, swap_number, swap_number, swap_word, drop_section, drop_lines, double_part, rubbish]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    mesher, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    folder = tempfile.mkdtemp(prefix="broken-msh-")
    spec, raw, msh = (os.path.join(folder, e) for e in ("s.spec", "s.raw", "s.msh"))
    open(spec, "w").write("file=%s\n" % msh)
    seeds, failures, codes, slowest = make_seeds(mesher, folder), 0, {}, 0.0
    for name, data in seeds.items():
        open(msh, "wb").write(data)
        code, message, _ = run(mesher, spec, raw)
        if code != 0:
            failures += 1
            print("whole file %s: %s %s" % (name, code, message))
    names = sorted(seeds)
    for i in range(count):
        name, damage = rng.choice(names), rng.choice(DAMAGE)
        data = damage(seeds[name], rng)
        if rng.random() < 0.2:
            data = rng.choice(DAMAGE)(data, rng) if len(data) > 8 else data
        open(msh, "wb").write(data)
        code, message, seconds = run(mesher, spec, raw)
        codes[code] = codes.get(code, 0) + 1
        slowest = max(slowest, seconds)
        if code in (0, 2, 4) and seconds <= LIMIT and (code == 0 or message.strip()):
            continue
        failures += 1
        kept = os.path.join(folder, "failed-%d-%s.msh" % (i, name))
        shutil.copy(msh, kept)
        print("file %d (%s, %s): exit %s after %.1f s, message %r; kept as %s" % (i, name, damage.__name__, code, seconds,
                                                                             message[:200], kept))
    print("%d broken files: exit codes %s, slowest %.1f s, %d failures" % (count, codes, slowest, failures))
    if not failures:
        shutil.rmtree(folder)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
