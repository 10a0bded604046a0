/* SPDX-License-Identifier: BSD-2-Clause */
/* Boxes and balls of a case, and what is added, kept and taken away. */
#include "domain_reader.h"
#include "stl.h"

#include <stdio.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

const pcsim_key solid_keys[] = {
    {"box", PCSIM_KEY_MAPPING, "", NULL, "", "NAME: [low, high] of each coordinate, time being t", 0, 0},
    {"ball", PCSIM_KEY_MAPPING, "", NULL, "", "centre, radius", 0, 0},
    {"surface", PCSIM_KEY_MAPPING, "", NULL, "", "file, scale: what a closed STL surface encloses", 0, 0},
    {"plus", PCSIM_KEY_MAPPING, "", NULL, "", "added to it, NAME: {box or ball}; NAME is its boundary", 0, 0},
    {"and", PCSIM_KEY_MAPPING, "", NULL, "", "kept is what is in these too (after plus)", 0, 0},
    {"minus", PCSIM_KEY_MAPPING, "", NULL, "", "taken away (after plus and and)", 0, 0},
};
const size_t num_solid_keys = COUNT(solid_keys);

static const pcsim_key ball_keys[] = {
    {"centre", PCSIM_KEY_NUMBERS, NULL, NULL, "", "a number for each coordinate", 0, 0},
    {"radius", PCSIM_KEY_NUMBER, NULL, NULL, "", "of the ball", 1e-300, 1e300},
    {"coordinates", PCSIM_KEY_NAMES, "", NULL, "",
     "what the centre counts; in a piece without some of the domain's it is a cylinder along those", 0, 0},
};

static const pcsim_key surface_keys[] = {
    {"file", PCSIM_KEY_TEXT, NULL, NULL, "", "STL file, relative to the case", 0, 0},
    {"scale", PCSIM_KEY_NUMBER, "1", NULL, "1", "factor on the coordinates of the file", 1e-300, 1e300},
};

/* ---------------------------------------------------------- boxes and balls */

static bool read_box(reader *r, const pcsim_node *node, bool first, solid *s) {
  bool right = true;
  for (int64_t i = 0; i < pcsim_node_size(node); i++) {
    const char *key = pcsim_node_key(node, i);
    const pcsim_node *at = pcsim_node_key_node(node, i);
    double range[2];
    if (first && !strcmp(key, "t")) {
      reader_time(r, node);
      continue;
    }
    (void)pcsim_node_get(node, key);
    if (first && !reader_add_space(r, at, key)) {
      right = false;
      continue;
    }
    const int c = first ? r->num_space - 1 : reader_find_space(r, at, key);
    if (c < 0 || !reader_range(r, node, key, range)) {
      right = false;
      continue;
    }
    s->bounded[c] = true;
    s->low[c] = range[0], s->high[c] = range[1];
    if (first) r->range[c][0] = range[0], r->range[c][1] = range[1];
  }
  if (!pcsim_node_size(node)) {
    right = false;
    pcsim_tree_problem(r->tree, node, "the box has no coordinates; expected such as {x: [0, 1], y: [0, 1]}");
  }
  return right;
}

/** Names of the coordinates that a ball is in, if it says none: those of the domain, or of a new one. */
static const char *default_name(const reader *r, bool first, int n, int i) {
  static const char *const few[] = {"x", "y", "z"};
  static const char *const many[] = {"x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10"};
  return !first ? r->coordinate[i] : n <= 3 ? few[i] : many[i];
}

/** Coordinates that a ball is in, `in` [SPACE_MAX]; their number, 0 after a problem. */
static int read_ball_coordinates(reader *r, const pcsim_node *node, bool first, int n, int *in) {
  const pcsim_node *names = pcsim_node_get(node, "coordinates"), *centre = pcsim_node_get(node, "centre");
  const bool list = names && pcsim_node_get_kind(names) == PCSIM_NODE_SEQUENCE;
  const int64_t num_names = !names ? n : list ? pcsim_node_size(names) : 1;
  if (num_names != n) {
    pcsim_tree_problem(r->tree, centre, "the centre has %d numbers for %lld coordinates", n,
                       (long long)num_names);
    return 0;
  }
  if (n > SPACE_MAX) {
    pcsim_tree_problem(r->tree, centre, "space has 10 coordinates at most");
    return 0;
  }
  if (!names && !first && n != r->num_space) {
    pcsim_tree_problem(r->tree, centre,
                       "the centre has %d numbers, the domain %d coordinates of space; for a cylinder name "
                       "those of its cross-section, as in `coordinates: [x, y]`",
                       n, r->num_space);
    return 0;
  }
  for (int i = 0; i < n; i++) {
    const pcsim_node *at = !names ? centre : list ? pcsim_node_child(names, i) : names;
    const char *name = names ? pcsim_node_text(at) : default_name(r, first, n, i);
    if (first && !strcmp(name, "t")) {
      pcsim_tree_problem(r->tree, at,
                         "time cannot be a coordinate of a ball; expected `t: [start, end]` beside `ball`");
      return 0;
    }
    if (first && !reader_add_space(r, at, name)) return 0;
    in[i] = first ? r->num_space - 1 : reader_find_space(r, at, name);
    if (in[i] < 0) return 0;
    for (int j = 0; j < i; j++)
      if (in[j] == in[i]) {
        pcsim_tree_problem(r->tree, at, "the coordinate '%s' is named twice", name);
        return 0;
      }
  }
  return n;
}

static bool read_ball(reader *r, pcsim_node *node, bool first, solid *s) {
  double centre[SPACE_MAX + 1];
  int n = 0, in[SPACE_MAX];
  pcsim_node_check(r->tree, node, ball_keys, COUNT(ball_keys), "ball");
  if (!pcsim_node_numbers(r->tree, node, "centre", centre, SPACE_MAX + 1, &n)) return false;
  if (n == 0) pcsim_tree_problem(r->tree, pcsim_node_get(node, "centre"), "the centre has no numbers");
  n = read_ball_coordinates(r, node, first, n, in);
  if (n == 0 || !pcsim_node_number(r->tree, node, "radius", &s->radius) || !(s->radius > 0)) return false;
  s->kind = SOLID_BALL;
  for (int i = 0; i < n; i++) {
    const int c = in[i];
    s->bounded[c] = true;
    s->centre[c] = centre[i];
    s->low[c] = centre[i] - s->radius, s->high[c] = centre[i] + s->radius;
    if (first) r->range[c][0] = s->low[c], r->range[c][1] = s->high[c];
  }
  return true;
}

/** What a file's triangles enclose; the coordinates are x, y, z. */
static bool read_surface(reader *r, pcsim_node *node, bool first, solid *s) {
  static const char *const names[] = {"x", "y", "z"};
  const pcsim_node *at = pcsim_node_get(node, "file");
  double scale = 1, *corners = NULL, low[3], high[3];
  int64_t num;
  int32_t *patch = NULL;
  char *path = NULL;
  pcsim_node_check(r->tree, node, surface_keys, COUNT(surface_keys), "surface");
  if (!at || pcsim_node_get_kind(at) != PCSIM_NODE_SCALAR) return false;
  if (!pcsim_node_number(r->tree, node, "scale", &scale) || !(scale > 0)) return false;
  for (int i = 0; i < 3 && first; i++)
    if (!reader_add_space(r, at, names[i])) return false;
  if (r->num_space != 3) {
    pcsim_tree_problem(r->tree, at, "a surface is in space; the domain has %d coordinates", r->num_space);
    return false;
  }
  pcsim_status status = pcsim_node_path(at, &path);
  if (status == PCSIM_OK) status = stl_read(path, scale, &num, &corners);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)num, sizeof *patch, &patch);
  if (status == PCSIM_OK) status = surface_create(3, num, corners, patch, 1, &s->surface);
  if (status == PCSIM_OK) status = pcsim_alloc(1, sizeof *s->patch_piece, &s->patch_piece);
  pcsim_free(&patch);
  pcsim_free(&corners);
  pcsim_free(&path);
  if (status == PCSIM_ERR_CASE || status == PCSIM_ERR_IO) {
    pcsim_tree_problem(r->tree, at, "%s", pcsim_error_message());
    pcsim_error_clear();
    return false;
  }
  if (status != PCSIM_OK) {
    r->status = status;
    return false;
  }
  s->kind = SOLID_SURFACE;
  s->patch_piece[0] = s->piece[0];
  surface_box(s->surface, low, high);
  for (int i = 0; i < 3; i++) {
    s->bounded[i] = true;
    s->low[i] = low[i], s->high[i] = high[i];
    if (first) r->range[i][0] = low[i], r->range[i][1] = high[i];
  }
  return true;
}

static bool check_bounded(reader *r, const pcsim_node *at, const solid *s) {
  for (int i = 0; i < r->num_space; i++)
    if (!s->bounded[i]) {
      pcsim_tree_problem(r->tree, at, "what is added must be bounded in every coordinate; '%s' is missing",
                         r->coordinate[i]);
      return false;
    }
  return true;
}

/** Boundaries of the first solid. */
static bool name_sides(reader *r, const pcsim_node *at, solid *s) {
  if (s->kind == SOLID_BALL) return reader_add_piece(r, at, "ball", &s->piece[0]);
  if (s->kind == SOLID_SURFACE) return reader_add_piece(r, at, "surface", &s->patch_piece[0]);
  for (int i = 0; i < 2 * r->num_space; i++) {
    char name[64];
    snprintf(name, sizeof name, "%.58s-%s", r->coordinate[i / 2], i % 2 ? "max" : "min");
    if (!reader_add_piece(r, at, name, &s->piece[i])) return false;
  }
  return true;
}

/* --------------------------------------------------------------- operations */

/** The pieces of one operation, one after the other. */
static bool read_pieces(reader *r, const pcsim_node *node, const char *key, step_kind kind, int *result) {
  const pcsim_node *pieces = pcsim_node_get(node, key);
  bool right = true;
  if (!pieces || pcsim_node_get_kind(pieces) != PCSIM_NODE_MAPPING) return true;
  for (int64_t i = 0; i < pcsim_node_size(pieces); i++) {
    const char *name = pcsim_node_key(pieces, i);
    pcsim_node *child = pcsim_node_get(pieces, name);
    int piece, other;
    if (pcsim_node_get_kind(child) != PCSIM_NODE_MAPPING) {
      pcsim_tree_problem(r->tree, child, "'%s' must be a mapping such as {ball: {centre: [0, 0], radius: 1}}",
                         name);
      right = false;
      continue;
    }
    if (!reader_add_piece(r, pcsim_node_key_node(pieces, i), name, &piece) ||
        !reader_shape(r, child, false, piece, kind == STEP_PLUS, &other)) {
      right = false;
      continue;
    }
    if (right) reader_add_step(r, (step){.kind = kind, .left = *result, .right = other}, result);
  }
  return right;
}

/** The solid itself. */
static bool read_solid(reader *r, const pcsim_node *node, bool first, bool bounded, solid *s, int *result) {
  pcsim_node *box = pcsim_node_get(node, "box"), *ball = pcsim_node_get(node, "ball");
  pcsim_node *file = pcsim_node_get(node, "surface"), *one = box ? box : ball ? ball : file;
  if (!one || (box != NULL) + (ball != NULL) + (file != NULL) > 1) {
    pcsim_tree_problem(r->tree, node, "expected one of `box`, `ball` and `surface`, found %s",
                       one ? "several" : "none");
    return false;
  }
  if (pcsim_node_get_kind(one) != PCSIM_NODE_MAPPING) return false;
  s->node = first ? NULL : one;
  const bool right = box    ? read_box(r, box, first, s)
                     : ball ? read_ball(r, ball, first, s)
                            : read_surface(r, file, first, s);
  if (!right) return false;
  if (first && !name_sides(r, one, s)) return false;
  reader_extend(r, s);
  return (!bounded || check_bounded(r, one, s)) && reader_add_solid(r, one, s, result);
}

bool reader_shape(reader *r, pcsim_node *node, bool first, int piece, bool bounded, int *result) {
  solid s = {.kind = SOLID_BOX};
  if (!first) pcsim_node_check(r->tree, node, solid_keys, num_solid_keys, "piece of the domain");
  for (int i = 0; i < 2 * SPACE_MAX; i++) s.piece[i] = piece;
  bool right = read_solid(r, node, first, bounded, &s, result);
  if (!right) {
    surface_destroy(&s.surface);
    pcsim_free(&s.patch_piece);
  }
  /* Without coordinates nothing more can be said. */
  if (first && !right) return false;
  right = read_pieces(r, node, "plus", STEP_PLUS, result) && right;
  right = read_pieces(r, node, "and", STEP_AND, result) && right;
  return read_pieces(r, node, "minus", STEP_MINUS, result) && right;
}
