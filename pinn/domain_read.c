/* SPDX-License-Identifier: BSD-2-Clause */
/* `domain:` and `inputs:` of a case: coordinates, solids, the operations on them. */
#include "shape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

#define SOLID_ROWS                                                                                           \
  {"box", PCSIM_KEY_MAPPING, "", NULL, "", "NAME: [low, high] of each coordinate, time being t", 0, 0},      \
      {"ball", PCSIM_KEY_MAPPING, "", NULL, "", "centre, radius", 0, 0},                                     \
      {"plus",                                                                                               \
       PCSIM_KEY_MAPPING,                                                                                    \
       "",                                                                                                   \
       NULL,                                                                                                 \
       "",                                                                                                   \
       "added to it, NAME: {box or ball}; the name is that of the "                                          \
       "boundary",                                                                                           \
       0,                                                                                                    \
       0},                                                                                                   \
      {"and", PCSIM_KEY_MAPPING, "", NULL, "", "kept is what is in these too (after plus)", 0, 0}, {         \
    "minus", PCSIM_KEY_MAPPING, "", NULL, "", "taken away (after plus and and)", 0, 0                        \
  }

static const pcsim_key domain_key_table[] = {
    SOLID_ROWS,
    {"t", PCSIM_KEY_NUMBERS, "", NULL, "", "[start, end] of time, if no box says it", 0, 0},
};
static const pcsim_key piece_key_table[] = {SOLID_ROWS};
static const pcsim_key ball_key_table[] = {
    {"centre", PCSIM_KEY_NUMBERS, NULL, NULL, "", "a number for each coordinate", 0, 0},
    {"radius", PCSIM_KEY_NUMBER, NULL, NULL, "", "of the ball", 1e-300, 1e300},
    {"coordinates", PCSIM_KEY_NAMES, "", NULL, "",
     "what the centre counts; in a piece without some of the domain's it is a cylinder along those", 0, 0},
};

const pcsim_key *domain_keys(size_t *n) {
  *n = COUNT(domain_key_table);
  return domain_key_table;
}

/** What is being read. */
typedef struct {
  pcsim_tree *tree;
  domain *d;
  const pcsim_node *place[DOMAIN_MAX];                        /**< where each coordinate is named */
  double range[DOMAIN_MAX][2];                                /**< of space: of the first solid */
  const char *names[DOMAIN_MAX + 2 * SPACE_MAX + SOLIDS_MAX]; /**< coordinates, then pieces */
  int num_coordinates, num_space, num_pieces;
  bool time;
  double time_range[2];
  const pcsim_node *time_place;
  pcsim_status status;
} reader;

static const char *const default_names[] = {"x", "y", "z"};

/* -------------------------------------------------------------- coordinates */

static bool read_range(reader *r, const pcsim_node *node, const char *key, double range[2]) {
  const pcsim_node *value = pcsim_node_get(node, key);
  double v[2];
  int n = 0;
  if (!pcsim_node_numbers(r->tree, node, key, v, 2, &n)) return false;
  if (n != 2 || !(v[0] < v[1]) || !isfinite(v[0]) || !isfinite(v[1])) {
    if (n == 2)
      pcsim_tree_problem(r->tree, value,
                         "the range of '%s' is empty: [%g, %g]; expected [low, high] with low "
                         "below high",
                         key, v[0], v[1]);
    else pcsim_tree_problem(r->tree, value, "the range of '%s' has %d numbers; expected [low, high]", key, n);
    return false;
  }
  range[0] = v[0], range[1] = v[1];
  return true;
}

/** May a coordinate have this name? */
static bool check_coordinate(reader *r, const pcsim_node *at, const char *name) {
  if (pcsim_expr_check_name(name) != PCSIM_OK) {
    pcsim_tree_problem(r->tree, at, "a coordinate cannot be called '%s': %s", name, pcsim_error_message());
    pcsim_error_clear();
    return false;
  }
  for (int i = 0; i < r->num_coordinates; i++)
    if (!strcmp(r->names[i], name)) {
      pcsim_tree_problem(r->tree, at, "there is a coordinate '%s' already", name);
      return false;
    }
  return true;
}

static bool add_coordinate(reader *r, const pcsim_node *at, const char *name, int limit, const char *what) {
  if (!check_coordinate(r, at, name)) return false;
  if (r->num_coordinates == limit) {
    pcsim_tree_problem(r->tree, at, "'%s' is one coordinate too many: %s", name, what);
    return false;
  }
  r->place[r->num_coordinates] = at;
  r->names[r->num_coordinates++] = name;
  return true;
}

static bool add_space(reader *r, const pcsim_node *at, const char *name) {
  if (!add_coordinate(r, at, name, SPACE_MAX, "space has 10 at most")) return false;
  r->num_space = r->num_coordinates;
  return true;
}

static void read_time(reader *r, const pcsim_node *node) {
  const pcsim_node *at = pcsim_node_get(node, "t");
  if (!at) return;
  if (r->time) pcsim_tree_problem(r->tree, at, "the range of 't' is given twice");
  r->time = true;
  r->time_place = at;
  read_range(r, node, "t", r->time_range);
}

static int find_coordinate(const reader *r, const char *name) {
  for (int i = 0; i < r->num_space; i++)
    if (!strcmp(r->names[i], name)) return i;
  return -1;
}

static void report_no_coordinate(reader *r, const pcsim_node *at, const char *name) {
  const char *near = pcsim_nearest(name, r->names, (size_t)r->num_space);
  if (!strcmp(name, "t"))
    pcsim_tree_problem(r->tree, at, "'t' cannot be here: a piece of the domain lasts through all time");
  else
    pcsim_tree_problem(r->tree, at, "the domain has no coordinate '%s'%s%s%s", name,
                       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* ------------------------------------------------------------------- solids */

static bool add_step(reader *r, step s, int *number) {
  domain *d = r->d;
  *number = d->num_steps;
  d->steps[d->num_steps++] = s;
  return true;
}

static bool add_solid(reader *r, const pcsim_node *at, const solid *s, int *number) {
  domain *d = r->d;
  if (d->num_solids == SOLIDS_MAX) {
    pcsim_tree_problem(r->tree, at, "a domain is made of %d boxes and balls at most", SOLIDS_MAX);
    return false;
  }
  d->solids[d->num_solids] = *s;
  return add_step(r, (step){.kind = STEP_SOLID, .solid = d->num_solids++}, number);
}

/** The box around the first solid, wherever a piece is not bounded; a little wider, so that the sides of a
 *  cylinder end outside. */
static void extend(const reader *r, solid *s) {
  for (int i = 0; i < r->num_space; i++) {
    if (s->bounded[i]) continue;
    const double width = r->range[i][1] - r->range[i][0];
    s->low[i] = r->range[i][0] - 0.01 * width;
    s->high[i] = r->range[i][1] + 0.01 * width;
  }
}

/** `first`: the solid that says which coordinates there are. */
static bool read_box(reader *r, const pcsim_node *node, bool first, solid *s) {
  bool right = true;
  for (int64_t i = 0; i < pcsim_node_size(node); i++) {
    const char *key = pcsim_node_key(node, i);
    const pcsim_node *at = pcsim_node_key_node(node, i);
    double range[2];
    if (first && !strcmp(key, "t")) {
      read_time(r, node);
      continue;
    }
    (void)pcsim_node_get(node, key);
    if (first && !add_space(r, at, key)) {
      right = false;
      continue;
    }
    const int c = find_coordinate(r, key);
    if (c < 0) report_no_coordinate(r, at, key);
    if (c < 0 || !read_range(r, node, key, range)) {
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

/** Coordinates that a ball is in, `in` [SPACE_MAX]; their number, 0 after a problem. */
static int read_ball_coordinates(reader *r, const pcsim_node *node, bool first, int num_centre, int *in) {
  const pcsim_node *names = pcsim_node_get(node, "coordinates");
  const bool list = names && pcsim_node_get_kind(names) == PCSIM_NODE_SEQUENCE;
  const int64_t n = !names ? num_centre : list ? pcsim_node_size(names) : 1;
  static const char *const many[] = {"x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10"};
  if (n != num_centre) {
    pcsim_tree_problem(r->tree, pcsim_node_get(node, "centre"),
                       "the centre has %d numbers for %lld coordinates", num_centre, (long long)n);
    return 0;
  }
  if (n > SPACE_MAX) {
    pcsim_tree_problem(r->tree, pcsim_node_get(node, "centre"), "space has 10 coordinates at most");
    return 0;
  }
  if (!names && !first && num_centre != r->num_space) {
    pcsim_tree_problem(r->tree, pcsim_node_get(node, "centre"),
                       "the centre has %d numbers, the domain %d coordinates of space; for a cylinder name "
                       "those of its cross-section, as in `coordinates: [x, y]`",
                       num_centre, r->num_space);
    return 0;
  }
  for (int i = 0; i < n; i++) {
    const pcsim_node *at = !names ? pcsim_node_get(node, "centre")
                           : list ? pcsim_node_child(names, i)
                                  : names;
    const char *name = names    ? pcsim_node_text(at)
                       : !first ? r->names[i]
                       : n <= 3 ? default_names[i]
                                : many[i];
    if (first && !strcmp(name, "t")) {
      pcsim_tree_problem(r->tree, at,
                         "time cannot be a coordinate of a ball; expected `t: [start, end]` "
                         "beside `ball`");
      return 0;
    }
    if (first && !add_space(r, at, name)) return 0;
    in[i] = find_coordinate(r, name);
    if (in[i] < 0) {
      report_no_coordinate(r, at, name);
      return 0;
    }
    for (int j = 0; j < i; j++)
      if (in[j] == in[i]) {
        pcsim_tree_problem(r->tree, at, "the coordinate '%s' is named twice", name);
        return 0;
      }
  }
  return (int)n;
}

static bool read_ball(reader *r, pcsim_node *node, bool first, solid *s) {
  double centre[SPACE_MAX + 1];
  int n = 0, in[SPACE_MAX];
  pcsim_node_check(r->tree, node, ball_key_table, COUNT(ball_key_table), "ball");
  if (!pcsim_node_numbers(r->tree, node, "centre", centre, SPACE_MAX + 1, &n)) return false;
  if (n == 0) pcsim_tree_problem(r->tree, pcsim_node_get(node, "centre"), "the centre has no numbers");
  for (int i = 0; i < n; i++)
    if (!isfinite(centre[i])) {
      pcsim_tree_problem(r->tree, pcsim_node_get(node, "centre"), "the centre of the ball is not finite");
      return false;
    }
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

/* --------------------------------------------------------------- operations */

static bool read_shape(reader *r, pcsim_node *node, bool first, int piece, bool bounded, int *result);

/** Name of a new piece, its number. */
static bool add_piece(reader *r, const pcsim_node *at, const char *name, int *piece) {
  const size_t length = strlen(name);
  bool right = length > 0 && length < 64;
  for (size_t i = 0; i < length; i++)
    right = right && (unsigned char)name[i] > ' ' && !strchr("*?[]", name[i]);
  if (!right) {
    pcsim_tree_problem(r->tree, at, "a boundary cannot be called '%.64s'; expected a word without * ? [ ]",
                       name);
    return false;
  }
  for (int i = 0; i < r->num_pieces; i++)
    if (!strcmp(r->names[DOMAIN_MAX + i], name)) {
      pcsim_tree_problem(r->tree, at, "there is a boundary '%s' already", name);
      return false;
    }
  *piece = r->num_pieces;
  r->names[DOMAIN_MAX + r->num_pieces++] = name;
  return true;
}

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
    if (r->num_pieces >= SOLIDS_MAX) {
      pcsim_tree_problem(r->tree, child, "a domain is made of %d boxes and balls at most", SOLIDS_MAX);
      return false;
    }
    if (!add_piece(r, pcsim_node_key_node(pieces, i), name, &piece) ||
        !read_shape(r, child, false, piece, kind == STEP_PLUS, &other)) {
      right = false;
      continue;
    }
    right = right && add_step(r, (step){.kind = kind, .left = *result, .right = other}, result);
  }
  return right;
}

static bool check_bounded(reader *r, const pcsim_node *at, const solid *s) {
  for (int i = 0; i < r->num_space; i++)
    if (!s->bounded[i]) {
      pcsim_tree_problem(r->tree, at, "what is added must be bounded in every coordinate; '%s' is missing",
                         r->names[i]);
      return false;
    }
  return true;
}

static bool name_sides(reader *r, const solid *s) {
  static const char *const ends[] = {"min", "max"};
  if (s->kind == SOLID_BALL) {
    r->names[DOMAIN_MAX + r->num_pieces++] = "ball";
    return true;
  }
  for (int i = 0; i < 2 * r->num_space; i++) {
    char text[128];
    snprintf(text, sizeof text, "%.100s-%s", r->names[i / 2], ends[i % 2]);
    r->status = pcsim_strdup(text, &r->d->names[r->d->num_names]);
    if (r->status != PCSIM_OK) return false;
    r->names[DOMAIN_MAX + r->num_pieces++] = r->d->names[r->d->num_names++];
  }
  return true;
}

/** A box or a ball and what is added, kept and taken away. `piece`: the name of its boundary. */
static bool read_shape(reader *r, pcsim_node *node, bool first, int piece, bool bounded, int *result) {
  pcsim_node *box = pcsim_node_get(node, "box"), *ball = pcsim_node_get(node, "ball");
  pcsim_node *one = box ? box : ball;
  solid s = {.kind = SOLID_BOX, .piece = piece, .node = one};
  if (!first) pcsim_node_check(r->tree, node, piece_key_table, COUNT(piece_key_table), "piece of the domain");
  if (!one || (box && ball)) {
    pcsim_tree_problem(r->tree, node, "expected one of `box` and `ball`, found %s", one ? "both" : "none");
    return false;
  }
  if (pcsim_node_get_kind(one) != PCSIM_NODE_MAPPING) return false;
  bool right = box ? read_box(r, box, first, &s) : read_ball(r, ball, first, &s);
  if (right && first && r->num_space == 0) {
    pcsim_tree_problem(r->tree, one, "the domain has no coordinate of space");
    right = false;
  }
  if (first && (!right || !name_sides(r, &s))) return false;
  if (first && s.kind == SOLID_BALL) s.piece = 0;
  extend(r, &s);
  right = right && (!bounded || check_bounded(r, one, &s)) && add_solid(r, one, &s, result);
  right = read_pieces(r, node, "plus", STEP_PLUS, result) && right;
  right = read_pieces(r, node, "and", STEP_AND, result) && right;
  return read_pieces(r, node, "minus", STEP_MINUS, result) && right;
}

static void read_inputs(reader *r, const pcsim_node *inputs, double (*range)[2]) {
  for (int64_t i = 0; i < pcsim_node_size(inputs); i++) {
    const char *key = pcsim_node_key(inputs, i);
    (void)pcsim_node_get(inputs, key);
    if (add_coordinate(r, pcsim_node_key_node(inputs, i), key, DOMAIN_MAX,
                       "space, time and inputs have 12 together"))
      read_range(r, inputs, key, range[r->num_coordinates - 1]);
  }
}

/* ----------------------------------------------------------------- the whole */

static pcsim_status keep_names(reader *r) {
  domain *d = r->d;
  char *names[DOMAIN_MAX + 2 * SPACE_MAX + SOLIDS_MAX];
  int n = 0;
  /* The sides' names are copied already and become part of the list in its order. */
  for (int i = 0; i < r->num_coordinates; i++) PCSIM_TRY(pcsim_strdup(r->names[i], &names[n++]));
  for (int i = 0; i < r->num_pieces; i++) PCSIM_TRY(pcsim_strdup(r->names[DOMAIN_MAX + i], &names[n++]));
  for (int i = 0; i < d->num_names; i++) pcsim_free(&d->names[i]);
  for (int i = 0; i < n; i++) d->names[i] = names[i];
  d->num_names = n;
  return PCSIM_OK;
}

static pcsim_status allocate(domain *d) {
  const size_t names = DOMAIN_MAX + 4 * SPACE_MAX + SOLIDS_MAX;
  PCSIM_TRY(pcsim_alloc(SOLIDS_MAX, sizeof *d->solids, &d->solids));
  PCSIM_TRY(pcsim_alloc(STEPS_MAX, sizeof *d->steps, &d->steps));
  PCSIM_TRY(pcsim_alloc(names, sizeof *d->names, &d->names));
  PCSIM_TRY(pcsim_alloc(DOMAIN_MAX, sizeof *d->range, &d->range));
  return pcsim_alloc(2 * SPACE_MAX + SOLIDS_MAX, sizeof *d->area, &d->area);
}

/** Coordinates, pieces and faces are known. */
static pcsim_status complete(reader *r) {
  domain *d = r->d;
  int num_faces = 0;
  PCSIM_TRY(keep_names(r));
  d->view.num_coordinates = r->num_coordinates;
  d->view.num_space = r->num_space;
  d->view.num_pieces = r->num_pieces;
  PCSIM_TRY(pcsim_alloc((size_t)d->num_names, sizeof *d->name_list, &d->name_list));
  d->view.coordinate = (const char *const *)d->name_list;
  d->view.piece = (const char *const *)d->name_list + r->num_coordinates;
  d->view.range = (const double(*)[2])d->range;
  d->view.area = d->area;
  for (int i = 0; i < d->num_solids; i++) num_faces += d->solids[i].kind == SOLID_BALL ? 1 : 2 * r->num_space;
  PCSIM_TRY(pcsim_alloc((size_t)num_faces, sizeof *d->faces, &d->faces));
  for (int i = 0; i < d->num_solids; i++) solid_faces(d, i);
  return domain_measure(d, r->tree, pcsim_node_get(pcsim_tree_root(r->tree), "domain"));
}

static pcsim_status read_all(reader *r, pcsim_node *node, const pcsim_node *inputs) {
  int result = 0;
  const bool right = read_shape(r, node, true, -1, true, &result);
  PCSIM_TRY(r->status);
  read_time(r, node);
  r->d->view.time = -1;
  if (r->time && right) {
    r->d->view.time = r->num_coordinates;
    memcpy(r->d->range[r->num_coordinates], r->time_range, sizeof r->time_range);
    r->place[r->num_coordinates] = r->time_place;
    r->names[r->num_coordinates++] = "t";
  }
  if (inputs && pcsim_node_get_kind(inputs) == PCSIM_NODE_MAPPING) read_inputs(r, inputs, r->d->range);
  return PCSIM_OK;
}

pcsim_status domain_read(pcsim_tree *tree, domain **out) {
  const pcsim_node *root = pcsim_tree_root(tree), *inputs = pcsim_node_get(root, "inputs");
  pcsim_node *node = pcsim_node_get(root, "domain");
  const size_t before = pcsim_tree_num_problems(tree);
  reader r = {.tree = tree};
  pcsim_status status = PCSIM_OK;
  *out = NULL;
  if (!node || pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(tree, node ? node : root,
                       "a network needs `domain`, a mapping such as {box: {x: [0, 1]}}");
    return PCSIM_OK;
  }
  pcsim_node_check(tree, node, domain_key_table, COUNT(domain_key_table), "domain");
  PCSIM_TRY(pcsim_alloc(1, sizeof *r.d, &r.d));
  PCSIM_GOTO(allocate(r.d), status, done);
  PCSIM_GOTO(read_all(&r, node, inputs), status, done);
  if (pcsim_tree_num_problems(tree) == before) PCSIM_GOTO(complete(&r), status, done);
  if (pcsim_tree_num_problems(tree) == before) {
    *out = r.d;
    return PCSIM_OK;
  }
done:
  domain_destroy(&r.d);
  return status;
}
