/* SPDX-License-Identifier: BSD-2-Clause */
/* Regions of a domain: reading them, where a point lies, points inside and on the boundary. */
#include "regions_parts.h"

#include <math.h>
#include <string.h>

enum {
  MEASURE_POINTS = 8192, /**< that volumes, shares and boxes are taken from */
  PIECE_POINTS = 1024,
  MOST_POINTS = 1 << 25 /**< from which those of a region are taken */
};

/* -------------------------------------------------------------- conditions as levels */

/* Positive where a condition holds, 0 on its border, smooth where it is. */
static double level(const pcsim_expr_node *node, const double *x) {
  switch (node->kind) {
  case PCSIM_EXPR_LT:
  case PCSIM_EXPR_LE:
    return pcsim_expr_eval_node(node->args[1], x) - pcsim_expr_eval_node(node->args[0], x);
  case PCSIM_EXPR_GT:
  case PCSIM_EXPR_GE:
    return pcsim_expr_eval_node(node->args[0], x) - pcsim_expr_eval_node(node->args[1], x);
  case PCSIM_EXPR_AND:
    return fmin(level(node->args[0], x), level(node->args[1], x));
  case PCSIM_EXPR_OR:
    return fmax(level(node->args[0], x), level(node->args[1], x));
  default: /* not: is_condition has let nothing else through */
    return -level(node->args[0], x);
  }
}

static bool is_condition(const pcsim_expr_node *node) {
  switch (node->kind) {
  case PCSIM_EXPR_LT:
  case PCSIM_EXPR_LE:
  case PCSIM_EXPR_GT:
  case PCSIM_EXPR_GE:
    return true;
  case PCSIM_EXPR_AND:
  case PCSIM_EXPR_OR:
    return is_condition(node->args[0]) && is_condition(node->args[1]);
  case PCSIM_EXPR_NOT:
    return is_condition(node->args[0]);
  default:
    return false;
  }
}

double regions_level(const regions *r, int region, const double *x) {
  return level(pcsim_expr_root(r->expr[region]), x);
}

/* Where no condition holds and nothing is the rest x is on a border: the first region is taken that it
 * bounds.
 */
int regions_find(const regions *r, const double *x) {
  int i = 0;
  while (i < r->num_given && pcsim_expr_eval(r->expr[i], x) == 0) i++;
  if (i < r->view.num) return i;
  for (i = 0; i < r->view.num - 1 && regions_level(r, i, x) < 0;) i++;
  return i;
}

/* Marks in the text of a condition its comparisons that leave out the border ('<') or, behind `not`, hold it
 * ('=');
 * `*num` of them. The operator stands before the right operand. */
static int mark_comparisons(const pcsim_expr_node *node, bool negated, const char *text, char *marks) {
  int num = 0;
  switch (node->kind) {
  case PCSIM_EXPR_LT:
  case PCSIM_EXPR_GT:
  case PCSIM_EXPR_LE:
  case PCSIM_EXPR_GE: {
    int at = node->args[1]->column - 1;
    while (at > 0 && !strchr("<>=", text[at])) at--;
    const bool holds = text[at] == '=';
    if (holds != negated) return 0;
    marks[at] = holds ? '=' : '<';
    return 1;
  }
  default:
    for (int i = 0; i < node->num_args; i++)
      num += mark_comparisons(node->args[i], negated != (node->kind == PCSIM_EXPR_NOT), text, marks);
    return num;
  }
}

/* The condition of a region together with its border. */
static pcsim_status close_condition(regions *r, int i) {
  const char *text = pcsim_expr_text(r->expr[i]);
  const size_t length = strlen(text);
  char *marks = NULL;
  pcsim_status status;
  PCSIM_TRY(pcsim_alloc(length + 1, 1, &marks));
  const int num = mark_comparisons(pcsim_expr_root(r->expr[i]), false, text, marks);
  PCSIM_GOTO(pcsim_alloc(length + (size_t)num + 1, 1, &r->closed[i]), status, done);
  char *to = r->closed[i];
  for (size_t k = 0; k < length; k++) {
    if (marks[k] != '=') *to++ = text[k];
    if (marks[k] == '<') *to++ = '=';
  }
done:
  pcsim_free(&marks);
  return status;
}

/* --------------------------------------------------------------------------- drawing */

/* Region on the inner side of a point of the boundary: a border that lies in the boundary is no part of it.
 */
static int region_behind(const regions *r, const double *point, const double *normal) {
  const domain_view *d = domain_get(r->domain);
  double x[DOMAIN_MAX];
  for (int k = 0; k < d->num_space; k++)
    x[k] = point[k] - 1e-9 * normal[k] * (d->range[k][1] - d->range[k][0]);
  return regions_find(r, x);
}

/* Rows of points [m] that lie in the region, moved to the front; how many, `n` at most. */
static int64_t keep(const regions *r, int region, int64_t m, int64_t n, double *points, double *normals) {
  const domain_view *d = domain_get(r->domain);
  int64_t kept = 0;
  for (int64_t i = 0; i < m && kept < n; i++) {
    const double *x = points + i * d->num_coordinates;
    if ((normals ? region_behind(r, x, normals + i * d->num_space) : regions_find(r, x)) != region) continue;
    memmove(points + kept * d->num_coordinates, points + i * d->num_coordinates,
            (size_t)d->num_coordinates * sizeof *points);
    if (normals)
      memmove(normals + kept * d->num_space, normals + i * d->num_space,
              (size_t)d->num_space * sizeof *normals);
    kept++;
  }
  return kept;
}

/* What points are drawn from. */
typedef enum { FROM_INSIDE, FROM_START, FROM_PIECE } source;

static pcsim_status draw_from(const regions *r, source from, int piece, uint64_t seed, uint64_t draw,
                              int64_t n, double *points, double *normals) {
  if (from == FROM_PIECE) return domain_draw_piece(r->domain, piece, seed, draw, n, points, normals);
  if (from == FROM_START) return domain_draw_start(r->domain, seed, draw, n, points);
  return domain_draw_inside(r->domain, seed, draw, n, points);
}

/* Longer draws until n of their points lie in the region: the first points of a longer draw are those of a
 * shorter one. */
static pcsim_status draw_region(const regions *r, int region, source from, int piece, double share,
                                uint64_t seed, uint64_t draw, int64_t n, double *points, double *normals) {
  const domain_view *d = domain_get(r->domain);
  const size_t width = (size_t)(d->num_coordinates + d->num_space);
  int64_t m = (int64_t)fmin(1.2 * (double)n / fmax(share, 1.0 / MEASURE_POINTS), MOST_POINTS - 64.) + 64,
          kept = 0;
  double *room = NULL;
  pcsim_status status = PCSIM_OK;
  for (; m <= MOST_POINTS && kept < n && status == PCSIM_OK; m *= 2) {
    pcsim_free(&room);
    PCSIM_TRY(pcsim_alloc((size_t)m * width, sizeof *room, &room));
    double *on = room + m * d->num_coordinates;
    status = draw_from(r, from, piece, seed, draw, m, room, on);
    if (status == PCSIM_OK) kept = keep(r, region, m, n, room, from == FROM_PIECE ? on : NULL);
    if (status != PCSIM_OK || kept < n) continue;
    memcpy(points, room, (size_t)(n * d->num_coordinates) * sizeof *points);
    if (normals) memcpy(normals, on, (size_t)(n * d->num_space) * sizeof *normals);
  }
  pcsim_free(&room);
  PCSIM_TRY(status);
  PCSIM_CHECK(kept == n, PCSIM_ERR_CASE,
              "the region `%s` is too small: %lld of %lld points are found in it, of %d in the domain",
              r->view.name[region], (long long)kept, (long long)n, MOST_POINTS);
  return PCSIM_OK;
}

pcsim_status regions_draw_inside(const regions *r, int region, uint64_t seed, uint64_t draw, int64_t n,
                                 double *points) {
  return draw_region(r, region, FROM_INSIDE, -1, r->volume[region] / domain_get(r->domain)->volume, seed,
                     draw, n, points, NULL);
}

pcsim_status regions_draw_start(const regions *r, int region, uint64_t seed, uint64_t draw, int64_t n,
                                double *points) {
  return draw_region(r, region, FROM_START, -1, r->volume[region] / domain_get(r->domain)->volume, seed, draw,
                     n, points, NULL);
}

pcsim_status regions_draw_piece(const regions *r, int region, int piece, uint64_t seed, uint64_t draw,
                                int64_t n, double *points, double *normals) {
  return draw_region(r, region, FROM_PIECE, piece, regions_share(r, region, piece), seed, draw, n, points,
                     normals);
}

double regions_share(const regions *r, int region, int piece) {
  return r->share[region * domain_get(r->domain)->num_pieces + piece];
}

/* -------------------------------------------------------------------------- measuring */

static void measure_inside(regions *r, const double *points) {
  const domain_view *d = domain_get(r->domain);
  for (int i = 0; i < r->view.num; i++)
    for (int k = 0; k < d->num_space; k++) r->range[i][k][0] = INFINITY, r->range[i][k][1] = -INFINITY;
  for (int64_t i = 0; i < MEASURE_POINTS; i++) {
    const double *x = points + i * d->num_coordinates;
    const int region = regions_find(r, x);
    r->volume[region] += d->volume / MEASURE_POINTS;
    for (int k = 0; k < d->num_space; k++) {
      r->range[region][k][0] = fmin(r->range[region][k][0], x[k]);
      r->range[region][k][1] = fmax(r->range[region][k][1], x[k]);
    }
  }
}

static pcsim_status measure_pieces(regions *r, double *points) {
  const domain_view *d = domain_get(r->domain);
  double *normals = points + (int64_t)PIECE_POINTS * d->num_coordinates;
  for (int p = 0; p < d->num_pieces; p++) {
    PCSIM_TRY(domain_draw_piece(r->domain, p, 1, 0, PIECE_POINTS, points, normals));
    for (int64_t i = 0; i < PIECE_POINTS; i++) {
      const int region = region_behind(r, points + i * d->num_coordinates, normals + i * d->num_space);
      r->share[region * d->num_pieces + p] += 1.0 / PIECE_POINTS;
    }
  }
  return PCSIM_OK;
}

/* The rest counts where points of it are found. */
static pcsim_status measure(regions *r, pcsim_tree *tree, const pcsim_node *node) {
  const domain_view *d = domain_get(r->domain);
  double *points = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)MEASURE_POINTS * (size_t)(d->num_coordinates + d->num_space), sizeof *points,
                        &points));
  r->view.num = r->num_given + 1;
  pcsim_status status = domain_draw_inside(r->domain, 1, 0, MEASURE_POINTS, points);
  if (status == PCSIM_OK) measure_inside(r, points);
  if (status == PCSIM_OK) status = measure_pieces(r, points);
  pcsim_free(&points);
  for (int i = 0; status == PCSIM_OK && i < r->num_given; i++)
    if (!(r->volume[i] > 0))
      pcsim_tree_problem(tree, pcsim_node_child(node, i),
                         "the region `%s` has no point in the domain (or only those of regions before it)",
                         r->view.name[i]);
  if (!(r->volume[r->num_given] > 0)) r->view.num = r->num_given;
  return status;
}

/* ---------------------------------------------------------------------------- reading */

const pcsim_node *regions_node(const pcsim_tree *tree) {
  const pcsim_node *root = pcsim_tree_root(tree),
                   *of_domain = pcsim_node_get(pcsim_node_get(root, "domain"), "regions"),
                   *node = of_domain ? of_domain : pcsim_node_get(pcsim_node_get(root, "mesh"), "regions");
  return node && pcsim_node_get_kind(node) == PCSIM_NODE_MAPPING && pcsim_node_size(node) > 0 ? node : NULL;
}

static void read_region(pcsim_tree *tree, regions *r, const pcsim_node *node, int i) {
  const domain_view *d = domain_get(r->domain);
  const pcsim_node *child = pcsim_node_child(node, i);
  r->name[i] = pcsim_node_key(node, i);
  if (!strcmp(r->name[i], "rest"))
    pcsim_tree_problem(tree, pcsim_node_key_node(node, i),
                       "`rest` is what no region holds; it has no condition");
  if (pcsim_node_get_kind(child) != PCSIM_NODE_SCALAR) {
    pcsim_tree_problem(tree, child, "a region is a condition of space, e.g. %s: \"x < 0.5\"", r->name[i]);
    return;
  }
  r->condition[i] = pcsim_node_text(child);
  if (!pcsim_node_as_expr(tree, child, d->coordinate, d->num_space, &r->expr[i])) return;
  if (!is_condition(pcsim_expr_root(r->expr[i])))
    pcsim_tree_problem(tree, child,
                       "`%s` is no comparison; a region is e.g. \"x < 0.5\" or \"x < 0 and y > 0\"",
                       r->condition[i]);
}

static pcsim_status allocate(regions *r) {
  const size_t n = (size_t)r->num_given + 1, pieces = (size_t)domain_get(r->domain)->num_pieces;
  PCSIM_TRY(pcsim_alloc(n, sizeof *r->name, &r->name));
  PCSIM_TRY(pcsim_alloc(n, sizeof *r->condition, &r->condition));
  PCSIM_TRY(pcsim_alloc(n, sizeof *r->closed, &r->closed));
  PCSIM_TRY(pcsim_alloc(n, sizeof *r->expr, &r->expr));
  PCSIM_TRY(pcsim_alloc(n, sizeof *r->range, &r->range));
  PCSIM_TRY(pcsim_alloc(n, sizeof *r->volume, &r->volume));
  PCSIM_TRY(pcsim_alloc(n * pieces + 1, sizeof *r->share, &r->share));
  return pcsim_alloc(INTERFACES_MAX, sizeof *r->interface, &r->interface);
}

pcsim_status regions_read(pcsim_tree *tree, const domain *d, regions **out) {
  const pcsim_node *node = regions_node(tree);
  const size_t before = pcsim_tree_num_problems(tree);
  regions *r = NULL;
  pcsim_status status = PCSIM_OK;
  *out = NULL;
  if (!node) return PCSIM_OK;
  if (pcsim_node_size(node) >= REGIONS_MAX) {
    pcsim_tree_problem(tree, node, "more than %d regions", REGIONS_MAX - 1);
    return PCSIM_OK;
  }
  PCSIM_TRY(pcsim_alloc(1, sizeof *r, &r));
  r->domain = d;
  r->num_given = (int)pcsim_node_size(node);
  PCSIM_GOTO(allocate(r), status, done);
  r->view = (regions_view){.name = r->name,
                           .condition = r->condition,
                           .closed = (const char *const *)r->closed,
                           .range = (const double(*)[DOMAIN_MAX][2])r->range,
                           .volume = r->volume,
                           .interface = r->interface};
  r->name[r->num_given] = "rest";
  for (int i = 0; i < r->num_given; i++) read_region(tree, r, node, i);
  if (pcsim_tree_num_problems(tree) != before) goto done;
  for (int i = 0; i < r->num_given; i++) PCSIM_GOTO(close_condition(r, i), status, done);
  PCSIM_GOTO(measure(r, tree, node), status, done);
  if (pcsim_tree_num_problems(tree) != before) goto done;
  PCSIM_GOTO(regions_find_interfaces(r), status, done);
  *out = r, r = NULL;
done:
  regions_destroy(&r);
  return status;
}

void regions_destroy(regions **regions_) {
  regions *r = *regions_;
  if (!r) return;
  for (int i = 0; r->expr && i < r->num_given; i++) pcsim_expr_destroy(&r->expr[i]);
  for (int i = 0; r->closed && i < r->num_given; i++) pcsim_free(&r->closed[i]);
  for (int i = 0; i < REGIONS_KEPT; i++) pcsim_free(&r->kept[i].points);
  pcsim_free(&r->name), pcsim_free(&r->condition), pcsim_free(&r->closed), pcsim_free(&r->expr);
  pcsim_free(&r->range), pcsim_free(&r->volume), pcsim_free(&r->share), pcsim_free(&r->interface);
  pcsim_free(regions_);
}

const regions_view *regions_get(const regions *r) { return &r->view; }
