/* SPDX-License-Identifier: BSD-2-Clause */
/* Viscosity as an expression: of place, time, the shear rate `shear`, and of unknowns of equations that join
 * the flow. */
#include "flow.h"
#include "typed.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------- names */

static bool is_parameter(const pcsim_tree *tree, const char *name) {
  const char *const *all;
  const int num = pcsim_tree_parameters(tree, &all, NULL);
  for (int i = 0; i < num; ++i)
    if (strcmp(all[i], name) == 0) return true;
  return false;
}

static bool names_more(const pcsim_tree *tree, const pcsim_expr_node *node) {
  if (node->kind == PCSIM_EXPR_NAME)
    return strcmp(node->name, "shear") == 0 || !is_parameter(tree, node->name);
  for (int i = 0; i < node->num_args; ++i)
    if (names_more(tree, node->args[i])) return true;
  return false;
}

bool flow_viscosity_varies(const pcsim_tree *tree, const pcsim_node *physics) {
  const pcsim_node *node = pcsim_node_get(physics, "viscosity");
  pcsim_expr *expr = NULL;
  size_t offset;
  bool more = false;
  if (!node || pcsim_node_get_kind(node) != PCSIM_NODE_SCALAR) return false;
  if (pcsim_expr_parse(pcsim_node_text(node), &expr, &offset) != PCSIM_OK) pcsim_error_clear();
  else more = names_more(tree, pcsim_expr_root(expr));
  pcsim_expr_destroy(&expr);
  return more;
}

/* What the text may name: unknowns and coefficients of typed equations, and behind the unknowns the shear
 * rate in the place of the flow's velocity. */
static pcsim_status read_names(pcsim_tree *tree, int dim, typed_names *names) {
  static const char *const shear = "shear";
  if (pcsim_joined_given(tree)) {
    PCSIM_TRY(typed_names_read(tree, dim, names));
  } else {
    *names = (typed_names){.tree = tree, .dim = dim, .steady = !pcsim_time_given(tree)};
    names->num_parameters = pcsim_tree_parameters(tree, &names->parameter, &names->values);
    PCSIM_TRY(pcsim_alloc(1, sizeof *names->unknown, &names->unknown));
  }
  names->shear = true;
  names->num_carriers = 1;
  if (names->unknown) names->unknown[names->num_unknowns] = shear;
  return PCSIM_OK;
}

/* -------------------------------------------------------------------- program */

static pcsim_status make_program(const typed_names *names, const pcsim_node *node, const pcsim_expr *expr,
                                 pcsim_program **law) {
  typed_text text = {0};
  const typed_text *texts[1] = {&text};
  typed_text_tree(&text, names, pcsim_expr_root(expr), LEVEL_ANY);
  const pcsim_status status =
      typed_program_make(names, texts, &node, (typed_output[]){{"viscosity", 1}}, 1, law, NULL);
  typed_text_free(&text);
  return status;
}

static pcsim_status read_text(const typed_names *names, const pcsim_node *node, pcsim_program **law) {
  pcsim_expr *expr = NULL;
  pcsim_status status = PCSIM_OK;
  if (!typed_parse(names, node, MAY_UNKNOWNS | MAY_TIME, &expr)) return PCSIM_OK;
  const typed_uses uses = typed_uses_of(names, pcsim_expr_root(expr));
  if (uses.jumps)
    pcsim_tree_problem(names->tree, node,
                       "`viscosity` contains a coefficient by region; expected an expression that holds "
                       "everywhere, e.g. with `where(x < 1, .., ..)`");
  else status = make_program(names, node, expr, law);
  pcsim_expr_destroy(&expr);
  return status;
}

pcsim_status flow_viscosity_read(pcsim_tree *tree, int dim, pcsim_program **law) {
  const pcsim_node *physics = pcsim_node_get(pcsim_tree_root(tree), "physics");
  typed_names names;
  *law = NULL;
  pcsim_status status = read_names(tree, dim, &names);
  if (status == PCSIM_OK && !names.wrong && names.unknown)
    status = read_text(&names, pcsim_node_get(physics, "viscosity"), law);
  typed_names_clear(&names);
  return status;
}

/* ----------------------------------------------------------------- its size */

/* The first cell of all ranks with a value that is not positive: a problem. */
static bool report_wrong(pcsim_tree *tree, const pcsim_mesh *mesh, const cell_values *d) {
  const pcsim_mesh_view *v = pcsim_mesh_get(mesh);
  MPI_Comm comm = pcsim_mesh_comm(mesh);
  int rank, first;
  double about[5] = {0};
  int64_t c = 0;
  while (c < d->n && d->out[c] > 0 && isfinite(d->out[c])) ++c;
  MPI_Comm_rank(comm, &rank);
  if (c == d->n) MPI_Comm_size(comm, &rank);
  MPI_Allreduce(&rank, &first, 1, MPI_INT, MPI_MIN, comm);
  int size;
  MPI_Comm_size(comm, &size);
  if (first == size) return false;
  if (rank == first) {
    memcpy(about, v->cell_centre + 3 * c, 3 * sizeof(double));
    about[3] = (double)v->cell_original[c] + 1, about[4] = d->out[c];
  }
  MPI_Bcast(about, 5, MPI_DOUBLE, first, comm);
  pcsim_tree_problem(tree, pcsim_node_get(pcsim_node_get(pcsim_tree_root(tree), "physics"), "viscosity"),
                     "`viscosity` is %g Pa s in cell %.0f at (%.6g, %.6g, %.6g) with the scales of the case; "
                     "expected a positive number",
                     about[4], about[3], about[0], about[1], about[2]);
  return true;
}

pcsim_status flow_viscosity_mean(pcsim_tree *tree, const pcsim_mesh *mesh, const pcsim_program *law,
                                 const pcsim_transport_view *laws, double time, double shear, double *mean) {
  const pcsim_mesh_view *v = pcsim_mesh_get(mesh);
  cell_values d;
  double sum[2] = {0, 0};
  *mean = 0;
  pcsim_status status = cell_values_create(mesh, laws, 1, &d);
  for (int64_t c = 0; status == PCSIM_OK && c < d.n; ++c) d.points[4 * c + NAME_T] = time;
  if (status == PCSIM_OK) status = cell_values_run(&d, law, "viscosity", shear);
  status = pcsim_status_agree(pcsim_mesh_comm(mesh), status);
  if (status == PCSIM_OK && !report_wrong(tree, mesh, &d)) {
    for (int64_t c = 0; c < d.n; ++c) sum[0] += v->cell_volume[c] * d.out[c], sum[1] += v->cell_volume[c];
    MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(mesh));
    *mean = sum[0] / sum[1];
  }
  cell_values_free(&d);
  return status;
}
