#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""FEniCSx's side of the bench (DOLFINx 0.5, Debian's python3-dolfinx). Reads lines of JSON {problem, degree, n, solver,
repeats} and answers each with one: processor time of the parts (the fastest of `repeats`), error, unknowns."""
import json
import logging
import sys
import time

import numpy as np
import ufl
from dolfinx import fem, mesh
from mpi4py import MPI
from petsc4py import PETSc

logging.disable(logging.INFO)
SOLVERS = {
    "lu": {"ksp_type": "preonly", "pc_type": "lu"},
    "mumps": {"ksp_type": "preonly", "pc_type": "lu", "pc_factor_mat_solver_type": "mumps"},
    "hypre": {"ksp_type": "gmres", "pc_type": "hypre"},
    "gamg": {"ksp_type": "gmres", "pc_type": "gamg"},
    "ilu": {"ksp_type": "bcgs", "pc_type": "ilu"},
}
TOLERANCE = 1e-8  # of the residual, as in the cases
WAVE, NU = 10, 0.01  # as in the cases


class Problem:
    """Mesh, forms (compiled here, outside of what is measured), and the exact solution."""

    def __init__(self, name, degree, n):
        square = mesh.create_unit_square(MPI.COMM_WORLD, n, n)
        square.topology.create_connectivity(1, 2)
        began = time.process_time()
        self.space = fem.FunctionSpace(square, ("CG", degree))
        self.space_seconds = time.process_time() - began
        x = ufl.SpatialCoordinate(square)
        wave = ufl.sin(WAVE * x[0]) * ufl.cos(WAVE * x[1])
        dx = ufl.dx(metadata={"quadrature_degree": 2 * degree})
        u, v, self.u = ufl.TrialFunction(self.space), ufl.TestFunction(self.space), fem.Function(self.space)
        self.nonlinear = name == "heat"
        if self.nonlinear:
            exact = 1 + wave
            f = -ufl.div((1 + exact**2) * ufl.grad(exact))
            residual = (1 + self.u**2) * ufl.dot(ufl.grad(self.u), ufl.grad(v)) * dx - f * v * dx
            a, right = ufl.derivative(residual, self.u, u), residual
        else:
            b, exact = ufl.as_vector((0.5 - x[1], x[0] - 0.5)), wave
            a = (ufl.dot(b, ufl.grad(u)) * v + NU * ufl.dot(ufl.grad(u), ufl.grad(v))) * dx
            right = ufl.div(b * exact - NU * ufl.grad(exact)) * v * dx
        self.a, self.right = fem.form(a), fem.form(right)
        fine = ufl.dx(metadata={"quadrature_degree": 2 * degree + 4})
        self.square_error, self.square = fem.form((self.u - exact)**2 * fine), fem.form(exact**2 * fine)

    def exact(self, x):
        return (1 if self.nonlinear else 0) + np.sin(WAVE * x[0]) * np.cos(WAVE * x[1])

    def error(self):
        return float(np.sqrt(fem.assemble_scalar(self.square_error) / fem.assemble_scalar(self.square)))


def krylov(comm, matrix, options):
    table = PETSc.Options()
    for key in list(table.getAll()):
        table.delValue(key)
    for key, value in options.items():
        table[key] = value
    solver = PETSc.KSP().create(comm)
    solver.setFromOptions()
    solver.setOperators(matrix)
    return solver


def solve(p, options):
    """Seconds from the function space on: boundary values, sparsity, assembly, linear solves, Newton's method."""
    began = time.process_time()
    values = fem.Function(p.space)
    values.interpolate(p.exact)
    facets = mesh.exterior_facet_indices(p.space.mesh.topology)
    bc = fem.dirichletbc(values, fem.locate_dofs_topological(p.space, 1, facets))
    matrix, b = fem.petsc.create_matrix(p.a), fem.petsc.create_vector(p.right)
    solver = krylov(p.space.mesh.comm, matrix, options)
    if not p.nonlinear:
        fem.petsc.assemble_matrix(matrix, p.a, bcs=[bc])
        matrix.assemble()
        fem.petsc.assemble_vector(b, p.right)
        fem.petsc.apply_lifting(b, [p.a], [[bc]])
        fem.petsc.set_bc(b, [bc])
        solver.setTolerances(rtol=TOLERANCE)
        solver.solve(b, p.u.vector)
        return time.process_time() - began
    p.u.x.array[:] = 1
    fem.petsc.set_bc(p.u.vector, [bc])
    step, first = fem.Function(p.space), None
    for _ in range(30):
        with b.localForm() as local:
            local.set(0)
        fem.petsc.assemble_vector(b, p.right)
        fem.petsc.apply_lifting(b, [p.a], [[bc]], x0=[p.u.vector], scale=-1.0)
        fem.petsc.set_bc(b, [bc], p.u.vector, -1.0)
        norm = b.norm()
        first = first or norm
        if norm <= TOLERANCE * first:
            break
        matrix.zeroEntries()
        fem.petsc.assemble_matrix(matrix, p.a, bcs=[bc])
        matrix.assemble()
        solver.setTolerances(rtol=1e-2 if norm > 1e-6 * first else max(0.3 * TOLERANCE * first / norm, TOLERANCE))
        solver.solve(b, step.vector)
        p.u.vector.axpy(-1.0, step.vector)
    return time.process_time() - began


def answer(request, problems):
    key = request["problem"], request["degree"], request["n"]
    if key not in problems:
        problems.clear()
        Problem(*key)  # whatever is compiled or loaded at first use
        problems[key] = Problem(*key)
    p = problems[key]
    seconds = min(solve(p, SOLVERS[request["solver"]]) for _ in range(request["repeats"]))
    return {"seconds": p.space_seconds + seconds, "error": p.error(), "unknowns": p.space.dofmap.index_map.size_global}


def main():
    problems = {}
    print(json.dumps({"solvers": list(SOLVERS)}), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line), problems)), flush=True)


main()
