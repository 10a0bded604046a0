/* SPDX-License-Identifier: BSD-2-Clause */
/** @file march.h  Whole solves for tests: a channel with a step of speed, a cavity; what came out of them. */
#ifndef PCSIM_TEST_SOLVER_MARCH_H
#define PCSIM_TEST_SOLVER_MARCH_H

#include "solver/sample.h"

/* Inlet, outlet, a wall and a moving one: flow and pressure are both fixed. */
#define CHANNEL_PHYSICS "physics: {model: navier-stokes, density: 1.2, viscosity: 0.02}\n"
static const char *const channel_2d = CHANNEL_PHYSICS
    "boundaries: {x-min: {velocity: [\"4*y*(1-y)\", 0]}, x-max: {pressure: 1}, y-min: {wall: no-slip},\n"
    "             y-max: {wall: no-slip, velocity: [0.5, 0]}}\n"
    "solve: {tolerance: 1e-12}\n";
static const char *const channel_3d = CHANNEL_PHYSICS
    "boundaries: {x-min: {velocity: [\"4*y*(1-y)\", 0, 0]}, x-max: {pressure: 1}, y-min: {wall: no-slip},\n"
    "             y-max: {wall: no-slip, velocity: [0.5, 0, 0.2]}, z-min: {wall: slip}, z-max: {wall: "
    "no-slip}}\n"
    "solve: {tolerance: 1e-12}\n";
static const char *const cavity_2d =
    "physics: {model: navier-stokes, density: 1, viscosity: 0.01}\n"
    "boundaries: {y-max: {wall: no-slip, velocity: [1, 0]}, \"*\": {wall: no-slip}}\n"
    "solve: {tolerance: 1e-12}\n";

/** Force on each side of the box and flow through it, all ranks: [6][4]. */
typedef struct {
  double force[6][4], largest;
  double momentum[3]; /* flows out of the box */
} sides;

static inline sides sides_of(pcsim_flow_solver *solver, const pcsim_mesh *mesh) {
  sides s;
  pcsim_flow_fields f;
  const pcsim_mesh_view *v = pcsim_mesh_get(mesh);
  memset(&s, 0, sizeof s);
  assert_ok(pcsim_flow_solver_fields(solver, &f));
  for (int p = 0; p < 2 * v->dim; p++) {
    const int patch = pcsim_mesh_find_patch(mesh, sample_sides[p]);
    for (int64_t k = v->patch_start[patch]; k < v->patch_start[patch + 1]; k++) {
      const int64_t b = k - v->num_interior_faces;
      for (int i = 0; i < 3; i++)
        s.force[p][i] += f.face_friction[3 * b + i] + f.face_pressure[b] * v->face_area[3 * k + i];
      s.force[p][3] += f.face_flow[b];
      for (int i = 0; i < 3; i++) s.momentum[i] += f.density * f.face_flow[b] * f.face_velocity[3 * b + i];
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, s.force, 24, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(mesh));
  MPI_Allreduce(MPI_IN_PLACE, s.momentum, 3, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(mesh));
  for (int i = 0; i < 24; i++) s.largest = fmax(s.largest, fabs(s.force[i / 4][i % 4]));
  return s;
}

static inline void assert_same_sides(const sides *a, const sides *b, double relative) {
  assert_true(b->largest > 0.1);
  for (int i = 0; i < 24; i++)
    assert_close(a->force[i / 4][i % 4], b->force[i / 4][i % 4], relative * b->largest);
}

/** A solver and what it stands on. */
typedef struct {
  sample_case c;
  pcsim_flow_solver *solver;
  pcsim_solve_result result;
} march_run;

static inline march_run march_begin(MPI_Comm comm, const sample *s, const char *text) {
  march_run r = {.c = case_of(sample_mesh(comm, s), text)};
  assert_ok(pcsim_flow_solver_create(r.c.mesh, r.c.problem, &r.c.options, &r.solver));
  return r;
}

/** With other options than the case's. */
static inline void march_restart(march_run *r) {
  pcsim_flow_solver_destroy(&r->solver);
  assert_null(r->solver);
  assert_ok(pcsim_flow_solver_create(r->c.mesh, r->c.problem, &r->c.options, &r->solver));
}

static inline void march_go(march_run *r, pcsim_outcome expected) {
  assert_ok(pcsim_flow_solver_run(r->solver, NULL, NULL, &r->result));
  if (r->result.outcome != expected)
    print_error("%s, %lld steps, residual %g\n", r->result.reason, (long long)r->result.steps,
                r->result.residual);
  assert_int_equal(r->result.outcome, expected);
}

static inline void march_end(march_run *r) {
  pcsim_flow_solver_destroy(&r->solver);
  case_free(&r->c);
}
#endif
