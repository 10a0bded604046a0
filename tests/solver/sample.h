/* SPDX-License-Identifier: BSD-2-Clause */
/** @file sample.h  Flows for the solver's tests: boxes of every cell type, sheared and distorted, with six
 *  boundaries of their own, and problems written as case text. */
#ifndef PCSIM_TEST_SOLVER_SAMPLE_H
#define PCSIM_TEST_SOLVER_SAMPLE_H

#include "mesh/lattice.h"
#include "solver/flow.h"

/** Place in the unit box to place in space: x = origin + frame s, columns of frame are the box's edges. */
typedef struct {
  double frame[3][3], origin[3];
} placement;
static const placement unit_box = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};
/* Turned and stretched; in 2D the third axis stays. */
static const placement askew_2d = {{{1.2, -0.5, 0}, {0.9, 0.8, 0}, {0, 0, 1}}, {0.3, -0.2, 0}};
static const placement askew_3d = {{{1.1, -0.4, 0.2}, {0.5, 0.9, -0.3}, {0.1, 0.4, 1.0}}, {0.3, -0.2, 0.1}};

typedef struct {
  lattice_kind kind;
  int nx, ny, nz;
  double jitter; /* of inner nodes, and of boundary nodes inside their side; in block lengths */
  const placement *place;
} sample;

static const char *const sample_sides[6] = {"x-min", "x-max", "y-min", "y-max", "z-min", "z-max"};
static const char *const kind_names[NUM_LATTICES] = {"quadrilaterals", "triangles", "mixed 2D", "hexahedra",
                                                     "tetrahedra",     "prisms",    "pyramids", "mixed 3D"};

static inline int sample_dim(const sample *s) { return s->kind < LATTICE_HEXA ? 2 : 3; }
/** Can cells of this kind have cubic reconstruction? */
static inline bool sample_is_cubic(const sample *s) { return sample_dim(s) == 2 || s->kind == LATTICE_TETRA; }

/* One boundary a side of the box. */
static inline void sample_patches(pcsim_raw_mesh *raw, const int n[3]) {
  for (int p = 0; p < raw->num_patches; p++) pcsim_free(&raw->patches[p]);
  pcsim_free(&raw->patches);
  raw->num_patches = 2 * raw->dim;
  assert_ok(pcsim_alloc((size_t)raw->num_patches, sizeof *raw->patches, &raw->patches));
  for (int p = 0; p < raw->num_patches; p++) raw->patches[p] = lattice_name(sample_sides[p]);
  for (int64_t f = 0; f < raw->num_facets; f++)
    for (int p = 0; p < raw->num_patches; p++) {
      bool all = true;
      for (int64_t k = raw->facet_start[f]; k < raw->facet_start[f + 1]; k++)
        all &= raw->nodes[3 * (int64_t)raw->facet_nodes[k] + p / 2] == (p % 2 ? n[p / 2] : 0);
      if (all) raw->facet_patch[f] = p;
    }
}

/* Boundary nodes slide inside their side, then everything goes to its place. */
static inline void sample_move(pcsim_raw_mesh *raw, const sample *s, const int n[3]) {
  uint64_t random = 7;
  for (int64_t i = 0; i < raw->num_nodes; i++) {
    double *x = raw->nodes + 3 * i, unit[3];
    int sides = 0;
    for (int d = 0; d < raw->dim; d++) sides += x[d] == 0 || x[d] == n[d];
    for (int d = 0; d < 3; d++) {
      const double move = (lattice_random(&random) / 1073741824.0 - 1) * s->jitter;
      const bool free = d < raw->dim && sides == 1 && x[d] != 0 && x[d] != n[d];
      unit[d] = d < raw->dim ? (x[d] + (free ? move : 0)) / n[d] : 0;
    }
    for (int a = 0; a < 3; a++) {
      x[a] = a < raw->dim ? s->place->origin[a] : 0;
      for (int d = 0; d < raw->dim && a < raw->dim; d++) x[a] += s->place->frame[a][d] * unit[d];
    }
  }
}

static inline pcsim_raw_mesh *sample_raw(const sample *s) {
  const lattice shape = {s->kind, s->nx, s->ny, s->nz, s->jitter, true};
  const int n[3] = {s->nx, s->ny, s->nz};
  pcsim_raw_mesh *raw = lattice_make(&shape);
  sample_patches(raw, n);
  sample_move(raw, s, n);
  return raw;
}

/** A motion of all nodes of a unit box: periodic in y, z-min, z-max and the sides along x stay plane. */
static inline void sample_displacement(const double *x, double *u) {
  const double turn = 2 * acos(-1);
  u[0] = 0.31 * sin(1.7 * x[0] + 0.4) * (1 + 0.5 * cos(turn * x[1]) + 0.2 * x[2]);
  u[1] = 0.12 * sin(turn * x[1]) * (1 + 0.3 * x[0]);
  u[2] = 0.1 * sin(turn * x[2]) * (1 + 0.4 * x[0] * x[1]);
}
/** Move the nodes by this much of it. */
static inline void sample_displace(pcsim_raw_mesh *raw, double amount) {
  for (int64_t i = 0; i < raw->num_nodes; i++) {
    double u[3];
    sample_displacement(raw->nodes + 3 * i, u);
    for (int d = 0; d < raw->dim; d++) raw->nodes[3 * i + d] += amount * u[d];
  }
}
/** How a mesh of `raw` (rank 0) moves with that amount, from amount 0; takes `raw` over. Collective. */
static inline pcsim_mesh_tangent sample_motion(const pcsim_mesh *mesh, pcsim_raw_mesh *raw) {
  double *displacement = NULL;
  pcsim_mesh_tangent motion;
  if (raw) {
    assert_ok(pcsim_alloc((size_t)raw->num_nodes, 3 * sizeof *displacement, &displacement));
    for (int64_t i = 0; i < raw->num_nodes; i++) {
      sample_displacement(raw->nodes + 3 * i, displacement + 3 * i);
      if (raw->dim == 2) displacement[3 * i + 2] = 0;
    }
  }
  assert_ok(pcsim_mesh_tangent_create(mesh, displacement, &motion));
  pcsim_free(&displacement);
  pcsim_raw_mesh_destroy(&raw);
  return motion;
}

/** Collective over `comm`. */
static inline pcsim_mesh *sample_mesh_moved(MPI_Comm comm, const sample *s, double amount) {
  int rank = 0;
  pcsim_mesh *mesh = NULL;
  MPI_Comm_rank(comm, &rank);
  pcsim_raw_mesh *raw = rank == 0 ? sample_raw(s) : NULL;
  if (raw) sample_displace(raw, amount);
  assert_ok(pcsim_mesh_create(comm, raw, &mesh));
  pcsim_raw_mesh_destroy(&raw);
  return mesh;
}
static inline pcsim_mesh *sample_mesh(MPI_Comm comm, const sample *s) {
  return sample_mesh_moved(comm, s, 0);
}

/* -------------------------------------------------------------- problems */

typedef struct {
  pcsim_mesh *mesh;
  pcsim_tree *tree;
  pcsim_flow_problem *problem;
  pcsim_flow_options options;
} sample_case;

/** Case text (physics, boundaries, initial, solve) on a mesh, which it takes over. */
static inline sample_case case_of(pcsim_mesh *mesh, const char *text) {
  sample_case c = {.mesh = mesh};
  assert_ok(pcsim_tree_parse(text, strlen(text), "case.yaml", &c.tree));
  pcsim_flow_options_read(c.tree, &c.options);
  assert_ok(pcsim_flow_problem_read(c.tree, mesh, &c.problem));
  assert_ok(pcsim_tree_status(c.tree));
  assert_non_null(c.problem);
  return c;
}

static inline void case_free(sample_case *c) {
  pcsim_flow_problem_destroy(&c->problem);
  pcsim_tree_destroy(&c->tree);
  pcsim_mesh_destroy(&c->mesh);
}

/** printf at the end of a text of `size` bytes. */
static inline void append(char *text, size_t size, const char *format, ...) PCSIM_PRINTF(3, 4);
static inline void append(char *text, size_t size, const char *format, ...) {
  const size_t used = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(text + used, size - used, format, arguments);
  va_end(arguments);
  assert_true(n >= 0 && (size_t)n < size - used);
}

/** Numbers in [-1, 1], the same for a cell of the raw mesh on any number of ranks. */
static inline double noise(int64_t cell, int component) {
  uint64_t state = (uint64_t)cell * 8 + (uint64_t)component + 12345;
  for (int i = 0; i < 4; i++) (void)lattice_random(&state);
  return lattice_random(&state) / 1073741824.0 - 1;
}

static inline int solver_start(void **state) {
  (void)state;
  assert_ok(pcsim_solver_start(MPI_COMM_WORLD));
  return 0;
}
static inline int solver_end(void **state) {
  (void)state;
  assert_ok(pcsim_solver_end());
  return 0;
}
#endif
