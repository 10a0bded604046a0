/* SPDX-License-Identifier: BSD-2-Clause */
/* The shapes of `mesh:` as domains: the same boxes and cylinders, exactly, with the same names of boundaries.
 */
#include "domain_reader.h"

#include <math.h>
#include <string.h>

static double number_of(reader *r, const pcsim_node *mesh, const char *key) {
  double value;
  return pcsim_node_number(r->tree, mesh, key, &value) ? value : NAN;
}

/** The first box, from low to high [dim], with the names of its sides (those that are the same are one
 *  boundary). */
static bool add_box(reader *r, const pcsim_node *at, int dim, const double *low, const double *high,
                    const char *const *names, int *result) {
  static const char *const coordinates[] = {"x", "y", "z"};
  solid s = {.kind = SOLID_BOX};
  for (int i = 0; i < dim; i++)
    if (!(low[i] < high[i])) return false; /* a number is missing, as is told already */
  for (int i = 0; i < dim; i++) {
    if (!reader_add_space(r, at, coordinates[i])) return false;
    s.bounded[i] = true;
    s.low[i] = r->range[i][0] = low[i];
    s.high[i] = r->range[i][1] = high[i];
  }
  for (int i = 0; i < 2 * dim; i++) {
    int same = 0;
    while (same < r->num_pieces && strcmp(r->piece[same], names[i]) != 0) same++;
    s.piece[i] = same;
    if (same == r->num_pieces && !reader_add_piece(r, at, names[i], &s.piece[i])) return false;
  }
  return reader_add_solid(r, at, &s, result);
}

/** Take a solid away, its boundary being `name`. */
static bool take_away(reader *r, const pcsim_node *at, solid *s, const char *name, int *result) {
  int piece = 0, other;
  while (piece < r->num_pieces && strcmp(r->piece[piece], name) != 0) piece++;
  if (piece == r->num_pieces && !reader_add_piece(r, at, name, &piece)) return false;
  for (int i = 0; i < 2 * SPACE_MAX; i++) s->piece[i] = piece;
  reader_extend(r, s);
  if (!reader_add_solid(r, at, s, &other)) return false;
  reader_add_step(r, (step){.kind = STEP_MINUS, .left = *result, .right = other}, result);
  return true;
}

/* Balls that `minus:` takes away; the specification was checked. */
static bool take_balls(reader *r, const pcsim_node *mesh, int dim, int *result) {
  const pcsim_node *minus = pcsim_node_get(mesh, "minus");
  for (int64_t i = 0; minus && i < pcsim_node_size(minus); i++) {
    const pcsim_node *at = pcsim_node_get(pcsim_node_child(minus, i), "ball");
    solid ball = {.kind = SOLID_BALL, .radius = number_of(r, at, "radius")};
    int n = 0;
    if (!pcsim_node_numbers(r->tree, at, "centre", ball.centre, dim, &n) || n != dim) return false;
    for (int k = 0; k < dim; k++) {
      ball.bounded[k] = true;
      ball.low[k] = ball.centre[k] - ball.radius;
      ball.high[k] = ball.centre[k] + ball.radius;
    }
    if (!take_away(r, at, &ball, pcsim_node_key(minus, i), result)) return false;
  }
  return true;
}

static bool box(reader *r, const pcsim_node *mesh, int *result) {
  static const char *const names[] = {"x-min", "x-max", "y-min", "y-max", "z-min", "z-max"};
  double low[3], high[3];
  int dim = 0, n = 0;
  return pcsim_node_numbers(r->tree, mesh, "low", low, 3, &dim) &&
         pcsim_node_numbers(r->tree, mesh, "high", high, 3, &n) && n == dim && n >= 2 &&
         add_box(r, mesh, dim, low, high, names, result) && take_balls(r, mesh, dim, result);
}

static bool cavity(reader *r, const pcsim_node *mesh, int *result) {
  static const char *const names[] = {"walls", "walls", "walls", "lid"};
  const double high[] = {number_of(r, mesh, "width"), number_of(r, mesh, "height")};
  return add_box(r, mesh, 2, (const double[]){0, 0}, high, names, result);
}

static bool channel(reader *r, const pcsim_node *mesh, int *result) {
  static const char *const names[] = {"inlet", "outlet", "walls", "walls", "walls", "walls"};
  const int dim = pcsim_node_get(mesh, "width") ? 3 : 2;
  const double high[] = {number_of(r, mesh, "length"), number_of(r, mesh, "height"),
                         dim == 3 ? number_of(r, mesh, "width") : 0};
  solid cylinder = {.kind = SOLID_BALL, .radius = 0.5 * number_of(r, mesh, "diameter")};
  int n = 0;
  if (!pcsim_node_numbers(r->tree, mesh, "centre", cylinder.centre, 2, &n) || n != 2 ||
      !(cylinder.radius > 0))
    return false;
  for (int i = 0; i < 2; i++) {
    cylinder.bounded[i] = true;
    cylinder.low[i] = cylinder.centre[i] - cylinder.radius;
    cylinder.high[i] = cylinder.centre[i] + cylinder.radius;
  }
  return add_box(r, mesh, dim, (const double[]){0, 0, 0}, high, names, result) &&
         take_away(r, mesh, &cylinder, "cylinder", result);
}

static bool channel_step(reader *r, const pcsim_node *mesh, int *result) {
  static const char *const names[] = {"inlet", "outlet", "walls", "walls"};
  const double length = number_of(r, mesh, "length"), below = number_of(r, mesh, "step"),
               above = number_of(r, mesh, "height") - below, upstream = number_of(r, mesh, "upstream");
  solid corner = {.kind = SOLID_BOX, .bounded = {true, true}};
  if (!(upstream > 0) && !isnan(upstream)) {
    pcsim_tree_problem(
        r->tree, mesh,
        "for a network the step needs 'upstream' above 0: without it its inlet is a part of a side");
    return false;
  }
  corner.low[0] = -upstream, corner.high[0] = 0;
  corner.low[1] = -below, corner.high[1] = 0;
  return upstream > 0 && below > 0 &&
         add_box(r, mesh, 2, corner.low, (const double[]){length, above}, names, result) &&
         take_away(r, mesh, &corner, "walls", result);
}

static const struct {
  const char *name;
  bool (*read)(reader *r, const pcsim_node *mesh, int *result);
} shapes[] = {{"box", box},
              {"cavity", cavity},
              {"channel-cylinder", channel},
              {"channel-cylinder-3d", channel},
              {"step", channel_step}};

bool reader_mesh(reader *r, pcsim_node *mesh, int *result) {
  const size_t before = pcsim_tree_num_problems(r->tree);
  const pcsim_node *shape = pcsim_node_get(mesh, "shape");
  pcsim_mesh_spec *spec = NULL;
  bool right = false, known = false;
  r->status = pcsim_mesh_spec_read(r->tree, &spec);
  if (r->status == PCSIM_ERR_CASE) r->status = PCSIM_OK; /* it is in the tree */
  if (r->status != PCSIM_OK || pcsim_tree_num_problems(r->tree) != before) {
    pcsim_mesh_spec_destroy(&spec);
    return false;
  }
  if (pcsim_mesh_spec_is_file(spec)) right = reader_msh(r, pcsim_node_get(mesh, "file"), spec, result);
  else {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes && !known; i++) {
      known = !strcmp(pcsim_node_text(shape), shapes[i].name);
      if (known) right = shapes[i].read(r, mesh, result);
    }
    if (!known)
      pcsim_tree_problem(r->tree, shape,
                         "a network does not know the shape '%s'; expected a file or `domain`",
                         pcsim_node_text(shape));
  }
  pcsim_mesh_spec_destroy(&spec);
  return right;
}
