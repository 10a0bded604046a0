#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The cube with four balls by finite elements of another make, beside a run of poisson-balls-solver.yaml:

    pcsim run cases/pinn/poisson-balls-solver.yaml -o RUN
    /usr/bin/python3 cases/pinn/balls.py RUN/fields.hdf [SIZE [DEGREE]]

Tetrahedra with curved faces at the balls, cut at z = 0.5, elements of the fourth degree; prints the relative L2
difference at 8000 of the run's cell centres, weighed by volumes. Needs Debian's python3-dolfinx, python3-gmsh and
python3-h5py."""
import sys

import dolfinx
import gmsh
import h5py
import numpy as np
import ufl
from dolfinx import fem, geometry
from dolfinx.io import gmshio
from mpi4py import MPI
from petsc4py import PETSc

BALLS = (((0.4, 0.3, 0.6), 0.2), ((0.6, 0.7, 0.6), 0.2), ((0.2, 0.8, 0.7), 0.1), ((0.6, 0.2, 0.3), 0.1))


def make_mesh(size):
    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    occ = gmsh.model.occ
    halves = [(3, occ.addBox(0, 0, z, 1, 1, 0.5)) for z in (0, 0.5)]
    balls = [(3, occ.addSphere(*centre, radius)) for centre, radius in BALLS]
    parts, _ = occ.cut(halves, balls)
    occ.fragment(parts, [])
    occ.synchronize()
    for k, (_, tag) in enumerate(gmsh.model.getEntities(3)):
        gmsh.model.addPhysicalGroup(3, [tag], k + 1)
    for name, value in (("MeshSizeMax", size), ("ElementOrder", 2), ("HighOrderOptimize", 2)):
        gmsh.option.setNumber("Mesh." + name, value)
    gmsh.model.mesh.generate(3)
    mesh = gmshio.model_to_mesh(gmsh.model, MPI.COMM_WORLD, 0, gdim=3)[0]
    gmsh.finalize()
    return mesh


def solve(mesh, degree):
    space = fem.FunctionSpace(mesh, ("CG", degree))
    k2 = fem.Function(fem.FunctionSpace(mesh, ("DG", 0)))
    num = mesh.topology.index_map(3).size_local
    middle = dolfinx.mesh.compute_midpoints(mesh, 3, np.arange(num, dtype=np.int32))
    k2.x.array[:num] = np.where(middle[:, 2] < 0.5, 64.0, 100.0)
    x = ufl.SpatialCoordinate(mesh)
    s = ufl.dot(x, x)
    waves = [ufl.sin(n * np.pi * x[i]) for i, n in enumerate((1, 10, 5))]
    f = 20 * ufl.exp(sum(waves)) * (s - 1) / (s + 1) + 100 * waves[0] * waves[1] * waves[2]
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    dx = ufl.dx(metadata={"quadrature_degree": 2 * degree + 4})
    matrix = fem.petsc.assemble_matrix(fem.form((ufl.dot(ufl.grad(u), ufl.grad(v)) + k2 * u * v) * dx))
    matrix.assemble()
    right = fem.petsc.assemble_vector(fem.form(f * v * dx))
    krylov = PETSc.KSP().create()
    krylov.setOperators(matrix)
    krylov.setType("cg")
    krylov.getPC().setType("sor")
    krylov.setTolerances(rtol=1e-10)
    solution = fem.Function(space)
    krylov.solve(right, solution.vector)
    volume, mean, square = (
        fem.assemble_scalar(fem.form(e * dx)) for e in (fem.Constant(mesh, 1.0), solution, solution * solution)
    )
    print(f"elements: {num} cells, mean {mean / volume:.8f}, norm {square**0.5:.8f}")
    return solution


def values_at(mesh, solution, points):
    """In the cell, of those whose boxes hold a point, in whose straight tetrahedron it lies deepest."""
    boxes = geometry.compute_collisions(geometry.BoundingBoxTree(mesh, 3), points)
    cells = []
    for i, point in enumerate(points):
        best = (-np.inf, -1)
        for cell in boxes.links(i):
            corner = mesh.geometry.x[mesh.geometry.dofmap.links(cell)[:4]]
            part = np.linalg.solve((corner[1:] - corner[0]).T, point - corner[0])
            best = max(best, (min(part.min(), 1 - part.sum()), cell))
        cells.append(best[1])
    cells = np.array(cells)
    found = cells >= 0
    return found, solution.eval(points[found], cells[found])[:, 0]


def main():
    size = float(sys.argv[2]) if len(sys.argv) > 2 else 0.06
    degree = int(sys.argv[3]) if len(sys.argv) > 3 else 4
    with h5py.File(sys.argv[1]) as file:
        corner = file["VTKHDF/Points"][:][file["VTKHDF/Connectivity"][:].reshape(-1, 4)]
        u = file["VTKHDF/CellData/u"][:]
    volume = abs(np.linalg.det(corner[:, 1:] - corner[:, :1])) / 6
    chosen = np.random.default_rng(1).choice(len(u), min(8000, len(u)), replace=False)
    mesh = make_mesh(size)
    found, expected = values_at(mesh, solve(mesh, degree), corner[chosen].mean(axis=1))
    off, weight = u[chosen][found] - expected, volume[chosen][found]
    norm = np.sqrt(np.sum(weight * off**2) / np.sum(weight * expected**2))
    print(f"difference of {len(u)} cells at {found.sum()} centres: {norm:.3e}, largest {abs(off).max():.3e}")


main()
