/* SPDX-License-Identifier: BSD-2-Clause */
/* `domain:`, `mesh:` and `inputs:` of a case: coordinates, then the solids, then what is left of them. */
#include "domain_reader.h"

#include <string.h>

/* -------------------------------------------------------------- coordinates */

bool reader_range(reader *r, const pcsim_node *node, const char *key, double range[2]) {
  const pcsim_node *value = pcsim_node_get(node, key);
  double v[2];
  int n = 0;
  if (!pcsim_node_numbers(r->tree, node, key, v, 2, &n)) return false;
  if (n != 2) {
    pcsim_tree_problem(r->tree, value, "the range of '%s' has %d numbers; expected [low, high]", key, n);
    return false;
  }
  if (!(v[0] < v[1])) {
    pcsim_tree_problem(r->tree, value,
                       "the range of '%s' is empty: [%g, %g]; expected [low, high] with low below high", key,
                       v[0], v[1]);
    return false;
  }
  range[0] = v[0], range[1] = v[1];
  return true;
}

static bool copy_name(reader *r, const char *name, char **copy) {
  const pcsim_status status = pcsim_strdup(name, copy);
  if (status != PCSIM_OK) r->status = status;
  return status == PCSIM_OK;
}

static bool add_coordinate(reader *r, const pcsim_node *at, const char *name, int limit, const char *what) {
  if (pcsim_expr_check_name(name) != PCSIM_OK) {
    pcsim_tree_problem(r->tree, at, "a coordinate cannot be called '%s': %s", name, pcsim_error_message());
    pcsim_error_clear();
    return false;
  }
  for (int i = 0; i < r->num_coordinates; i++)
    if (!strcmp(r->coordinate[i], name)) {
      pcsim_tree_problem(r->tree, at, "there is a coordinate '%s' already", name);
      return false;
    }
  if (r->num_coordinates == limit) {
    pcsim_tree_problem(r->tree, at, "'%s' is one coordinate too many: %s", name, what);
    return false;
  }
  if (!copy_name(r, name, &r->coordinate[r->num_coordinates])) return false;
  r->num_coordinates++;
  return true;
}

bool reader_add_space(reader *r, const pcsim_node *at, const char *name) {
  if (!add_coordinate(r, at, name, SPACE_MAX, "space has 10 at most")) return false;
  r->num_space = r->num_coordinates;
  return true;
}

int reader_find_space(reader *r, const pcsim_node *at, const char *name) {
  for (int i = 0; i < r->num_space; i++)
    if (!strcmp(r->coordinate[i], name)) return i;
  const char *near = pcsim_nearest(name, (const char *const *)r->coordinate, (size_t)r->num_space);
  if (!strcmp(name, "t"))
    pcsim_tree_problem(r->tree, at, "'t' cannot be here: a piece of the domain lasts through all time");
  else
    pcsim_tree_problem(r->tree, at, "the domain has no coordinate '%s'%s%s%s", name,
                       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  return -1;
}

void reader_time(reader *r, const pcsim_node *node) {
  const pcsim_node *at = pcsim_node_get(node, "t");
  if (!at) return;
  if (r->time) pcsim_tree_problem(r->tree, at, "the range of 't' is given twice");
  r->time = true;
  if (!reader_range(r, node, "t", r->time_range)) r->broken = true;
}

static void read_inputs(reader *r, const pcsim_node *inputs, double (*range)[2]) {
  for (int64_t i = 0; i < pcsim_node_size(inputs); i++) {
    const char *key = pcsim_node_key(inputs, i);
    (void)pcsim_node_get(inputs, key);
    if (add_coordinate(r, pcsim_node_key_node(inputs, i), key, DOMAIN_MAX,
                       "space, time and inputs have 12 together"))
      r->broken = !reader_range(r, inputs, key, range[r->num_coordinates - 1]) || r->broken;
  }
}

/* ------------------------------------------------------------------- pieces */

bool reader_add_piece(reader *r, const pcsim_node *at, const char *name, int *piece) {
  const size_t length = strlen(name);
  bool right = length > 0 && length < 64;
  for (size_t i = 0; i < length && right; i++)
    right = (unsigned char)name[i] >= ' ' && !strchr("*?[]", name[i]);
  if (!right) {
    pcsim_tree_problem(r->tree, at, "a boundary cannot be called '%.64s'; expected a name without * ? [ ]",
                       name);
    return false;
  }
  for (int i = 0; i < r->num_pieces; i++)
    if (!strcmp(r->piece[i], name)) {
      pcsim_tree_problem(r->tree, at, "there is a boundary '%s' already", name);
      return false;
    }
  if (r->num_pieces == PIECES_MAX) {
    pcsim_tree_problem(r->tree, at, "a domain has %d boundaries at most", PIECES_MAX);
    return false;
  }
  if (!copy_name(r, name, &r->piece[r->num_pieces])) return false;
  *piece = r->num_pieces++;
  return true;
}

void reader_add_step(reader *r, step s, int *number) {
  *number = r->d->num_steps;
  r->d->steps[r->d->num_steps++] = s;
}

bool reader_add_solid(reader *r, const pcsim_node *at, const solid *s, int *number) {
  if (r->d->num_solids == SOLIDS_MAX) {
    pcsim_tree_problem(r->tree, at, "a domain is made of %d boxes and balls at most", SOLIDS_MAX);
    return false;
  }
  r->d->solids[r->d->num_solids] = *s;
  reader_add_step(r, (step){.kind = STEP_SOLID, .solid = r->d->num_solids++}, number);
  return true;
}

/** A little wider than the first solid, so that the ends of a cylinder lie outside. */
void reader_extend(const reader *r, solid *s) {
  for (int i = 0; i < r->num_space; i++) {
    if (s->bounded[i]) continue;
    const double width = r->range[i][1] - r->range[i][0];
    s->low[i] = r->range[i][0] - 0.01 * width;
    s->high[i] = r->range[i][1] + 0.01 * width;
  }
}

/* ---------------------------------------------------------------- the whole */

static pcsim_status allocate(domain *d) {
  PCSIM_TRY(pcsim_alloc(SOLIDS_MAX, sizeof *d->solids, &d->solids));
  PCSIM_TRY(pcsim_alloc(STEPS_MAX, sizeof *d->steps, &d->steps));
  PCSIM_TRY(pcsim_alloc(DOMAIN_MAX + PIECES_MAX, sizeof *d->names, &d->names));
  PCSIM_TRY(pcsim_alloc(DOMAIN_MAX + PIECES_MAX, sizeof *d->name_list, &d->name_list));
  PCSIM_TRY(pcsim_alloc(DOMAIN_MAX, sizeof *d->range, &d->range));
  return pcsim_alloc(PIECES_MAX, sizeof *d->area, &d->area);
}

/** Coordinates, pieces and solids are known. `at`: where the domain is asked for. */
static pcsim_status complete(reader *r, const pcsim_node *at) {
  domain *d = r->d;
  int num_faces = 0;
  for (int i = 0; i < r->num_coordinates; i++) d->names[d->num_names++] = r->coordinate[i];
  for (int i = 0; i < r->num_pieces; i++) d->names[d->num_names++] = r->piece[i];
  d->view.num_coordinates = r->num_coordinates;
  d->view.num_space = r->num_space;
  d->view.num_pieces = r->num_pieces;
  d->view.coordinate = (const char *const *)d->name_list;
  d->view.piece = (const char *const *)d->name_list + r->num_coordinates;
  d->view.range = (const double(*)[2])d->range;
  d->view.area = d->area;
  /* The names are the domain's from here on. */
  r->num_coordinates = r->num_pieces = 0;
  for (int i = 0; i < d->num_solids; i++) num_faces += solid_num_faces(d, i);
  PCSIM_TRY(pcsim_alloc((size_t)num_faces, sizeof *d->faces, &d->faces));
  for (int i = 0; i < d->num_solids; i++) solid_faces(d, i);
  return domain_measure(d, r->tree, at);
}

/** `*right`: whether there is a shape. What is broken in the file itself is told already, without a problem
 * here. */
static pcsim_status read_all(reader *r, pcsim_node *node, pcsim_node *mesh, bool *right) {
  const pcsim_node *inputs = pcsim_node_get(pcsim_tree_root(r->tree), "inputs");
  int result = 0;
  *right = mesh ? reader_mesh(r, mesh, &result) : reader_shape(r, node, true, -1, true, &result);
  PCSIM_TRY(r->status);
  if (node) reader_time(r, node);
  r->d->view.time = -1;
  if (r->time && *right) {
    r->d->view.time = r->num_coordinates;
    memcpy(r->d->range[r->num_coordinates], r->time_range, sizeof r->time_range);
    if (copy_name(r, "t", &r->coordinate[r->num_coordinates])) r->num_coordinates++;
  }
  if (*right && inputs && pcsim_node_get_kind(inputs) == PCSIM_NODE_MAPPING)
    read_inputs(r, inputs, r->d->range);
  return r->status;
}

static const pcsim_key time_key = {
    "t", PCSIM_KEY_NUMBERS, "", NULL, "", "[start, end] of time, if no box says it; alone beside `mesh`", 0,
    0};

static const pcsim_key regions_key = {
    "regions",
    PCSIM_KEY_MAPPING,
    "",
    NULL,
    "",
    "materials, NAME: condition of space, e.g. {core: \"x^2 + y^2 < 1\"}; of several the first, what is left "
    "is `rest`; each has a network of its own",
    0,
    0};

const pcsim_key *domain_keys(size_t *n) {
  static pcsim_key keys[16];
  memcpy(keys, solid_keys, num_solid_keys * sizeof *keys);
  keys[num_solid_keys] = time_key;
  keys[num_solid_keys + 1] = regions_key;
  *n = num_solid_keys + 2;
  return keys;
}

/** Which of `domain` and `mesh` says what the domain is? */
static bool check_nodes(pcsim_tree *tree, pcsim_node *node, pcsim_node *mesh) {
  const pcsim_node *root = pcsim_tree_root(tree);
  size_t n;
  if ((!node || pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) && (node || !mesh)) {
    pcsim_tree_problem(tree, node ? node : root,
                       "a network needs `domain`, a mapping such as {box: {x: [0, 1]}}, or `mesh`");
    return false;
  }
  if (mesh && pcsim_node_get_kind(mesh) != PCSIM_NODE_MAPPING) return false;
  if (node) {
    const pcsim_key *keys = domain_keys(&n);
    pcsim_node_check(tree, node, keys, n, "domain");
  }
  for (size_t i = 0; mesh && node && i < num_solid_keys; i++)
    if (pcsim_node_get(node, solid_keys[i].name)) {
      pcsim_tree_problem(
          tree, pcsim_node_get(node, solid_keys[i].name),
          "`mesh` and `domain` both say what the domain is; beside a mesh `domain` has `t` alone");
      return false;
    }
  return true;
}

pcsim_status domain_read(pcsim_tree *tree, domain **out) {
  const pcsim_node *root = pcsim_tree_root(tree);
  pcsim_node *node = pcsim_node_get(root, "domain"), *mesh = pcsim_node_get(root, "mesh");
  const size_t before = pcsim_tree_num_problems(tree);
  reader r = {.tree = tree};
  pcsim_status status = PCSIM_OK;
  bool right;
  *out = NULL;
  if (!check_nodes(tree, node, mesh)) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc(1, sizeof *r.d, &r.d));
  PCSIM_GOTO(allocate(r.d), status, done);
  PCSIM_GOTO(read_all(&r, node, mesh, &right), status, done);
  right = right && !r.broken && pcsim_tree_num_problems(tree) == before;
  if (right) PCSIM_GOTO(complete(&r, node ? node : mesh), status, done);
  if (right && pcsim_tree_num_problems(tree) == before) {
    *out = r.d;
    r.d = NULL;
  }
done:
  for (int i = 0; i < r.num_coordinates; i++) pcsim_free(&r.coordinate[i]);
  for (int i = 0; i < r.num_pieces; i++) pcsim_free(&r.piece[i]);
  domain_destroy(&r.d);
  return status;
}
