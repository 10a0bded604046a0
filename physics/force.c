/* SPDX-License-Identifier: BSD-2-Clause */
/* A force per volume on a flow: numbers, or expressions of place and time at the centres of cells. */
#include "flow.h"

#include <math.h>
#include <stdio.h>

static double norm(const double *a) { return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }
static bool wrong(double value) { return !(fabs(value) <= FLOW_LARGEST); }

/* The first component of a constant force that cannot be. */
static void check_numbers(pcsim_tree *tree, const pcsim_node *node, const double *force, int num) {
  int i = 0;
  while (i < num && !wrong(force[i])) ++i;
  if (i == num) return;
  if (isfinite(force[i]))
    pcsim_tree_problem(tree, node, "`force` has a component %g, which is too large; expected at most %g",
                       force[i], FLOW_LARGEST);
  else pcsim_tree_problem(tree, node, "`force` is not a finite number");
}

void flow_force_read(pcsim_tree *tree, const pcsim_node *node, int dim, flow_physics *physics) {
  flow_value *push = &physics->push;
  bool constant = flow_value_vector(tree, node, "force", dim, push);
  for (int i = 0; i < push->num; ++i)
    if (!pcsim_expr_is_constant(push->expr[i], &physics->force[i])) constant = false;
  if (constant) {
    check_numbers(tree, node, physics->force, push->num);
    flow_value_clear(push);
  } else {
    for (int i = 0; i < 3; ++i) physics->force[i] = 0;
  }
}

void flow_force_fill(pcsim_flow_problem *problem) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(problem->mesh);
  for (int64_t c = 0; problem->cell_force && c < mesh->num_cells; ++c)
    flow_value_at(&problem->push, mesh->cell_centre + 3 * c, problem->view.time, problem->cell_force + 3 * c);
}

/* The first component of this rank that cannot be, its place in cell_force; -1: none. */
static int64_t find_wrong(const pcsim_flow_problem *problem) {
  const int64_t num = problem->cell_force ? 3 * pcsim_mesh_get(problem->mesh)->num_cells : 0;
  int64_t i = 0;
  while (i < num && !wrong(problem->cell_force[i])) ++i;
  return i < num ? i : -1;
}

void flow_force_report(pcsim_tree *tree, const pcsim_flow_problem *problem) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(problem->mesh);
  MPI_Comm comm = pcsim_mesh_comm(problem->mesh);
  const int64_t mine = find_wrong(problem);
  int rank, size, first;
  double about[4] = {0};
  MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &size);
  const int candidate = mine < 0 ? size : rank;
  MPI_Allreduce(&candidate, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first == size) return;
  if (rank == first) {
    for (int i = 0; i < 3; ++i) about[i] = mesh->cell_centre[mine - mine % 3 + i];
    about[3] = problem->cell_force[mine];
  }
  MPI_Bcast(about, 4, MPI_DOUBLE, first, comm);
  char when[48] = "", what[64] = "not a finite number";
  if (problem->view.changes) snprintf(when, sizeof when, " at t = %g", problem->view.time);
  if (isfinite(about[3])) snprintf(what, sizeof what, "%g, which is too large", about[3]);
  pcsim_tree_problem(tree, problem->push.node[0],
                     "`force` is %s, in the cell around (%g, %g, %g)%s; expected at most %g", what, about[0],
                     about[1], about[2], when, FLOW_LARGEST);
}

pcsim_status flow_force_check(const pcsim_flow_problem *problem) {
  const int64_t mine = find_wrong(problem);
  if (mine < 0) return PCSIM_OK;
  const double *x = pcsim_mesh_get(problem->mesh)->cell_centre + (mine - mine % 3);
  PCSIM_FAIL(PCSIM_ERR_CASE, "at t = %g the force is not finite, or over %g, in the cell around (%g, %g, %g)",
             problem->view.time, FLOW_LARGEST, x[0], x[1], x[2]);
}

double flow_force_largest(const pcsim_flow_problem *problem) {
  const int64_t num = problem->cell_force ? pcsim_mesh_get(problem->mesh)->num_cells : 0;
  double most = norm(problem->view.force);
  for (int64_t c = 0; c < num; ++c) most = fmax(most, norm(problem->cell_force + 3 * c));
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, pcsim_mesh_comm(problem->mesh));
  return most;
}
