/* SPDX-License-Identifier: BSD-2-Clause */
/* Scales of a flow problem: speed, length, and the size of a viscosity that varies. */
#include "flow.h"

#include <float.h>
#include <math.h>
#include <string.h>

static double norm(const double *a) { return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

/* The largest speed at the start. */
static double start_speed(const pcsim_flow_problem *problem) {
  double most = 0.0;
  const int64_t n = pcsim_mesh_get(problem->mesh)->num_cells;
  for (int64_t c = 0; c < n; ++c) most = fmax(most, norm(problem->start + 4 * c));
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, pcsim_mesh_comm(problem->mesh));
  return most;
}

/* The speed at which inertia and friction balance: it stands in where nothing moves the fluid. */
static double own_speed(const pcsim_flow_view *view) {
  return view->viscosity / (view->density * view->length_scale);
}

void flow_problem_find_scales(pcsim_flow_problem *problem, double area, double volume) {
  const int dim = problem->view.dim;
  double extreme[3] = {0.0, -DBL_MAX, -DBL_MAX}; /* speed, pressure, minus pressure */
  double fixed = 0.0;
  for (int64_t b = 0; b < problem->num_faces; ++b) {
    extreme[0] = fmax(extreme[0], norm(problem->velocity + 3 * b));
    if (problem->kind[b] != PCSIM_FLOW_PRESSURE && problem->kind[b] != PCSIM_FLOW_TOTAL_PRESSURE) continue;
    fixed = 1.0;
    extreme[1] = fmax(extreme[1], problem->pressure[b]);
    extreme[2] = fmax(extreme[2], -problem->pressure[b]);
  }
  MPI_Comm comm = pcsim_mesh_comm(problem->mesh);
  MPI_Allreduce(MPI_IN_PLACE, extreme, 3, MPI_DOUBLE, MPI_MAX, comm);
  MPI_Allreduce(MPI_IN_PLACE, &fixed, 1, MPI_DOUBLE, MPI_MAX, comm);
  pcsim_flow_view *view = &problem->view;
  view->pressure_free = fixed == 0.0;
  /* 2 dim V / A is the edge of a square or cube and the diameter of a circle or ball. */
  view->length_scale = area > 0.0 ? 2.0 * dim * volume / area : pow(volume, 1.0 / dim);
  double range = fixed > 0.0 ? extreme[1] + extreme[2] : 0.0;
  double drive = fmax(range, flow_force_largest(problem) * view->length_scale);
  view->velocity_scale = fmax(extreme[0], sqrt(drive / view->density));
  if (!(view->velocity_scale > 0.0)) view->velocity_scale = start_speed(problem); /* it comes to rest */
  if (!(view->velocity_scale > 0.0)) view->velocity_scale = own_speed(view);
}

void pcsim_flow_problem_set_start(pcsim_flow_problem *problem, const double *values) {
  pcsim_flow_view *view = &problem->view;
  const int64_t n = pcsim_mesh_get(problem->mesh)->num_cells;
  if (n > 0) memcpy(problem->start, values, 4 * (size_t)n * sizeof *values);
  view->has_start = true;
  const double speed = start_speed(problem);
  if (speed > 0.0 && view->velocity_scale <= own_speed(view)) view->velocity_scale = speed;
}

void flow_problem_add_force(pcsim_flow_problem *problem, double force) {
  pcsim_flow_view *view = &problem->view;
  const double speed = sqrt(force * view->length_scale / view->density);
  if (speed > 0.0 && view->velocity_scale <= own_speed(view)) view->velocity_scale = speed;
  view->velocity_scale = fmax(view->velocity_scale, speed);
}

pcsim_status flow_problem_scale_viscosity(pcsim_tree *tree, pcsim_flow_problem *problem,
                                          const pcsim_transport_view *laws) {
  pcsim_flow_view *view = &problem->view;
  if (!problem->law) return PCSIM_OK;
  const double shear = view->length_scale > 0 ? view->velocity_scale / view->length_scale : 1;
  return flow_viscosity_mean(tree, problem->mesh, problem->law, laws, view->time, shear, &view->viscosity);
}

/* Beyond 1e12 friction is lost in rounding: what comes out would be no solution of the equations. */
void flow_problem_check_reynolds(pcsim_tree *tree, const pcsim_flow_view *view) {
  const double most = 1e12;
  double reynolds = view->density * view->velocity_scale * view->length_scale / view->viscosity;
  if (reynolds <= most) return;
  pcsim_node *physics = pcsim_node_get(pcsim_tree_root(tree), "physics");
  pcsim_tree_problem(
      tree, pcsim_node_get(physics, "viscosity"),
      "`viscosity` is %g, so the Reynolds number is %.3g (speed %.3g m/s, length %.3g m, density "
      "%g kg/m^3); expected at most %g",
      view->viscosity, reynolds, view->velocity_scale, view->length_scale, view->density, most);
}
