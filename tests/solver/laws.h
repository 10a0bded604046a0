/* SPDX-License-Identifier: BSD-2-Clause */
/** @file laws.h  Typed laws with known solutions: solved on a mesh of samples, their errors and orders. */
#ifndef PCSIM_TEST_SOLVER_LAWS_H
#define PCSIM_TEST_SOLVER_LAWS_H

#include "solver/sample.h"

enum { LAW_UNKNOWNS = 4 };
typedef void (*exact_values)(const double *x, double *value);

/** Box with the material "left" where a cell's centre lies left of `place`, "right" elsewhere. */
static inline pcsim_raw_mesh *law_raw_two_materials(const sample *s, double place) {
  pcsim_raw_mesh *raw = sample_raw(s);
  pcsim_free(&raw->regions[0]);
  assert_ok(pcsim_realloc(2, sizeof *raw->regions, &raw->regions));
  raw->num_regions = 2;
  raw->regions[0] = lattice_name("left"), raw->regions[1] = lattice_name("right");
  for (int64_t c = 0; c < raw->num_cells; c++) {
    double sum = 0;
    for (int64_t k = raw->cell_start[c]; k < raw->cell_start[c + 1]; k++)
      sum += raw->nodes[3 * (int64_t)raw->cell_nodes[k]];
    raw->cell_region[c] = sum / (double)(raw->cell_start[c + 1] - raw->cell_start[c]) > place;
  }
  return raw;
}

/** With `periodic` the sides y-min and y-max are one (jitter must be 0). NULL but on rank 0. */
static inline pcsim_raw_mesh *law_raw(MPI_Comm comm, const sample *s, double place, bool periodic) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank != 0) return NULL;
  pcsim_raw_mesh *raw = law_raw_two_materials(s, place);
  if (!periodic) return raw;
  raw->num_periodic = 1;
  assert_ok(pcsim_alloc(1, 2 * sizeof *raw->periodic, &raw->periodic));
  raw->periodic[0] = 2, raw->periodic[1] = 3; /* sample_sides */
  return raw;
}
/** Its mesh, moved by so much of sample_displacement. Collective. */
static inline pcsim_mesh *law_mesh(MPI_Comm comm, const sample *s, double place, bool periodic,
                                   double amount) {
  pcsim_mesh *mesh = NULL;
  pcsim_raw_mesh *raw = law_raw(comm, s, place, periodic);
  if (raw) sample_displace(raw, amount);
  assert_ok(pcsim_mesh_create(comm, raw, &mesh));
  pcsim_raw_mesh_destroy(&raw);
  return mesh;
}
static inline pcsim_mesh *law_two_materials(MPI_Comm comm, const sample *s, double place) {
  return law_mesh(comm, s, place, false, 0);
}

/** A solver and what it stands on. */
typedef struct {
  pcsim_mesh *mesh;
  pcsim_tree *tree;
  pcsim_transport_problem *problem;
  pcsim_transport_solver *solver;
  pcsim_transport_options options;
} law_run;

static inline law_run law_begin(pcsim_mesh *mesh, const char *text) {
  law_run r = {.mesh = mesh, .options = pcsim_transport_options_default()};
  assert_ok(pcsim_tree_parse(text, strlen(text), "case.yaml", &r.tree));
  assert_ok(pcsim_transport_problem_read(r.tree, mesh, &r.problem));
  assert_ok(pcsim_tree_status(r.tree));
  assert_non_null(r.problem);
  return r;
}

static inline void law_end(law_run *r) {
  pcsim_transport_solver_destroy(&r->solver);
  pcsim_transport_problem_destroy(&r->problem);
  pcsim_tree_destroy(&r->tree);
  pcsim_mesh_destroy(&r->mesh);
}

static inline void law_solve(law_run *r, pcsim_solve_result *result) {
  assert_ok(pcsim_transport_solver_create(r->mesh, r->problem, &r->options, &r->solver));
  assert_ok(pcsim_transport_solver_run(r->solver, NULL, NULL, result));
  if (result->outcome != PCSIM_OUTCOME_CONVERGED)
    print_error("%s, %lld steps, residual %g\n", result->reason, (long long)result->steps, result->residual);
  assert_int_equal(result->outcome, PCSIM_OUTCOME_CONVERGED);
}

/** Relative L2 error of each unknown, the largest of them. */
static inline double law_error(const law_run *r, exact_values exact) {
  const pcsim_mesh_view *v = pcsim_mesh_get(r->mesh);
  pcsim_transport_fields f;
  double sum[2 * LAW_UNKNOWNS] = {0}, worst = 0;
  assert_ok(pcsim_transport_solver_fields(r->solver, &f));
  assert_true(f.num_unknowns <= LAW_UNKNOWNS);
  for (int64_t c = 0; c < v->num_cells; c++) {
    double value[LAW_UNKNOWNS] = {0};
    exact(v->cell_centre + 3 * c, value);
    for (int i = 0; i < f.num_unknowns; i++) {
      const double e = f.value[i][c] - value[i];
      sum[2 * i] += v->cell_volume[c] * e * e;
      sum[2 * i + 1] += v->cell_volume[c] * value[i] * value[i];
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, sum, 2 * LAW_UNKNOWNS, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(r->mesh));
  for (int i = 0; i < f.num_unknowns; i++) worst = fmax(worst, sqrt(sum[2 * i] / sum[2 * i + 1]));
  return worst;
}

/** Mean of the first unknown's error over the domain, with its sign. */
static inline double law_mean_error(const law_run *r, exact_values exact) {
  const pcsim_mesh_view *v = pcsim_mesh_get(r->mesh);
  pcsim_transport_fields f;
  double sum[2] = {0};
  assert_ok(pcsim_transport_solver_fields(r->solver, &f));
  for (int64_t c = 0; c < v->num_cells; c++) {
    double value[LAW_UNKNOWNS] = {0};
    exact(v->cell_centre + 3 * c, value);
    sum[0] += v->cell_volume[c] * (f.value[0][c] - value[0]);
    sum[1] += v->cell_volume[c];
  }
  MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(r->mesh));
  return sum[0] / sum[1];
}

/** Error on `num` meshes, each twice as fine as the one before, and the order between the last two (with
 * `whole` from the first to the last), which must be at least `wanted`: else false. A line of the table for
 * each. */
typedef struct {
  const char *name, *text;
  exact_values exact;
  int64_t steps; /**< of Newton's method, at most */
  double place;  /**< of the border of two materials, see law_two_materials */
  bool whole;
  int degree; /**< of the reconstruction; 0: the default */
} law_study;
static inline bool law_check_orders(const law_study *study, sample s, int num, double wanted) {
  double order = 0, before = 0, first = 0;
  for (int k = 0; k < num; k++, s.nx *= 2, s.ny *= 2, s.nz *= 2) {
    law_run r = law_begin(law_two_materials(MPI_COMM_WORLD, &s, study->place), study->text);
    pcsim_solve_result result;
    if (study->degree) r.options.degree = study->degree;
    law_solve(&r, &result);
    const double error = law_error(&r, study->exact);
    if (k == 0) first = error;
    if (k) order = study->whole ? log2(first / error) / k : log2(before / error);
    print_message("%-28s %-16s %8lld cells, error %.2e, its mean %9.1e", study->name, kind_names[s.kind],
                  (long long)pcsim_mesh_get(r.mesh)->num_cells_global, error,
                  law_mean_error(&r, study->exact));
    if (k) print_message(", order %.2f", order);
    print_message("\n");
    if (result.steps > study->steps) print_error("%lld steps\n", (long long)result.steps);
    assert_true(result.steps <= study->steps && error < 0.1);
    before = error;
    law_end(&r);
  }
  if (!(order >= wanted)) print_error("%s: expected an order of at least %g\n", study->name, wanted);
  return order >= wanted;
}

#endif
