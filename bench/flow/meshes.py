# SPDX-License-Identifier: BSD-2-Clause
"""Meshes of the bench: made by pcsim, handed to OpenFOAM as Gmsh files (2.2, ASCII)."""
import os
import subprocess

THICKNESS = 0.1  # of the one layer of cells that OpenFOAM wants in 2D

# Sizes in m far away and at the cylinder, growth per unit distance: within a dimension all three shrink together, so
# that the meshes are of one family.
MESHES = {
    "2d-20k": ("2d", "cells: triangles, size: 0.0168, near: {cylinder: {size: 1.63e-3, growth: 0.05}}"),
    "2d-140k": ("2d", "cells: triangles, size: 0.0064, near: {cylinder: {size: 6.2e-4, growth: 0.0191}}"),
    "2d-1m": ("2d", "cells: triangles, size: 0.0024, near: {cylinder: {size: 2.33e-4, growth: 0.0071}}"),
    "3d-190k": ("3d", "cells: tetrahedra, size: 0.0315, near: {cylinder: {size: 5.25e-3, growth: 0.126}}"),
    "3d-800k": ("3d", "cells: tetrahedra, size: 0.0195, near: {cylinder: {size: 3.25e-3, growth: 0.078}}"),
}
SHAPES = {"2d": "channel-cylinder", "3d": "channel-cylinder-3d"}
EXTRUDED = {1: 3, 2: 6, 3: 5}  # line to quadrangle, triangle to prism, quadrangle to hexahedron


def make(name, pcsim, here, work):
    """Folder with mesh.msh and run.yaml; made once and kept."""
    kind, sizes = MESHES[name]
    folder = os.path.join(work, name)
    mesh, mark = os.path.join(folder, "mesh.msh"), os.path.join(folder, "made-from")
    if os.path.exists(mark) and open(mark).read() == sizes:
        return folder
    os.makedirs(folder, exist_ok=True)
    base = os.path.join(here, kind + ".yaml")
    with open(os.path.join(folder, "shape.yaml"), "w") as f:
        f.write(f"pcsim: 1\nextends: {base}\nmesh: {{shape: {SHAPES[kind]}, {sizes}}}\n")
    with open(os.path.join(folder, "run.yaml"), "w") as f:
        f.write(f"pcsim: 1\nextends: {base}\nmesh: {{file: mesh.msh}}\n")
    with open(os.path.join(folder, "mesh.log"), "w") as log:
        subprocess.run([pcsim, "mesh", "shape.yaml", "-o", "picture", "--msh", mesh], cwd=folder, check=True,
                       stdout=log)
    with open(mark, "w") as f:
        f.write(sizes)
    return folder


def extrude(source, target):
    """A plane mesh as one layer of cells; names move up one dimension. The two new sides stay without a name."""
    with open(source) as f, open(target, "w") as out:
        for line in f:
            out.write(line)
            section = line.strip()
            if section == "$PhysicalNames":
                count = int(f.readline())
                out.write(f"{count}\n")
                for _ in range(count):
                    dim, rest = f.readline().split(None, 1)
                    out.write(f"{int(dim) + 1} {rest}")
            elif section == "$Nodes":
                count = int(f.readline())
                nodes = [f.readline().split() for _ in range(count)]
                numbers = {node[0]: i + 1 for i, node in enumerate(nodes)}
                out.write(f"{2 * count}\n")
                for layer in 0, 1:
                    for i, (_, x, y, _) in enumerate(nodes):
                        out.write(f"{i + 1 + layer * count} {x} {y} {layer * THICKNESS}\n")
            elif section == "$Elements":
                elements = int(f.readline())
                out.write(f"{elements}\n")
                for _ in range(elements):
                    words = f.readline().split()
                    kind, tags = int(words[1]), int(words[2])
                    below = [numbers[n] for n in words[3 + tags:]]
                    above = [n + count for n in below]
                    # a side's nodes go around it; a cell's are those of the lower side, then of the upper one
                    ends = below + above[::-1] if kind == 1 else below + above
                    out.write(" ".join([words[0], str(EXTRUDED[kind])] + words[2:3 + tags]
                                       + [str(n) for n in ends]) + "\n")
