/* SPDX-License-Identifier: BSD-2-Clause */
/* Unknowns and coefficients of typed equations, and what a name in a text stands for. */
#include "typed.h"

#include <stdio.h>
#include <string.h>

#define NUM(a) (sizeof(a) / sizeof *(a))

static const char *const coordinates[4] = {"x", "y", "z", "t"};
static const char *const normals[3] = {"nx", "ny", "nz"};
static const char *const velocities[3] = {"u", "v", "w"};
/* Keys beside the unknowns in `boundaries:`, `initial:`, `sources:`, and inputs of the programs. */
static const char *const reserved[] = {"region", "coordinates", "flux", "free", "symmetry", "periodic",
                                       "table",  "run",         "at",   "from", "to"};

static int place_of(const char *name, size_t size, const char *const *names, int n) {
  for (int i = 0; i < n; ++i)
    if (strlen(names[i]) == size && memcmp(names[i], name, size) == 0) return i;
  return -1;
}

/* ------------------------------------------------------------ resolving */

/* Letters of a suffix to derivatives; false if one is no coordinate. */
static bool read_suffix(const char *suffix, int orders[4]) {
  for (const char *s = suffix; *s; ++s) {
    if (*s == '_') continue;
    int axis = place_of(s, 1, coordinates, 4);
    if (axis < 0) return false;
    orders[axis]++;
  }
  return true;
}

typed_name typed_resolve(const typed_names *names, const char *name) {
  const char *suffix = strchr(name, '_');
  size_t size = suffix ? (size_t)(suffix - name) : strlen(name);
  typed_name found = {.kind = TYPED_UNKNOWN,
                      .index =
                          place_of(name, size, names->unknown, names->num_unknowns + names->num_carriers)};
  if (found.index >= 0) {
    if (suffix && !read_suffix(suffix, found.orders)) found.kind = TYPED_NONE;
    return found;
  }
  found.kind = TYPED_NONE;
  if (suffix) return found;
  if ((found.index = place_of(name, size, coordinates, 4)) >= 0) found.kind = TYPED_COORDINATE;
  for (int i = 0; found.kind == TYPED_NONE && i < names->num_coefficients; ++i)
    if (strcmp(names->coefficient[i].name, name) == 0) found = (typed_name){TYPED_COEFFICIENT, i, {0}};
  if (found.kind != TYPED_NONE) return found;
  if ((found.index = place_of(name, size, names->parameter, names->num_parameters)) >= 0)
    found.kind = TYPED_PARAMETER;
  for (int i = 0; found.kind == TYPED_NONE && i < names->num_tables; ++i)
    if (strcmp(names->table[i].name, name) == 0) found = (typed_name){TYPED_TABLE, i, {0}};
  if (found.kind == TYPED_NONE && (found.index = place_of(name, size, normals, 3)) >= 0)
    found.kind = TYPED_NORMAL;
  return found;
}

/* ------------------------------------------------------------- checking */

typedef struct {
  const typed_names *names;
  const pcsim_node *node;
  const pcsim_expr *expr;
  unsigned may;
} checking;

static void report_unknown_name(const checking *c, const pcsim_expr_node *tree) {
  const typed_names *names = c->names;
  const char *all[4 + 2 * TYPED_MAX + 128], *suffix = strchr(tree->name, '_');
  char stem[128], known[600] = "";
  int n = 0;
  snprintf(stem, sizeof stem, "%.*s", suffix ? (int)(suffix - tree->name) : (int)strlen(tree->name),
           tree->name);
  for (int i = 0; i < 4; ++i)
    if ((names->dim != 2 || i != 2) && (i != TYPED_T || (c->may & MAY_TIME && !names->steady)))
      all[n++] = coordinates[i];
  const int unknowns = names->num_unknowns + names->shear;
  for (int i = 0; c->may & MAY_UNKNOWNS && i < unknowns; ++i) all[n++] = names->unknown[i];
  for (int i = 0; i < names->num_coefficients; ++i) all[n++] = names->coefficient[i].name;
  for (int i = 0; i < names->num_parameters && i < 128; ++i) all[n++] = names->parameter[i];
  const char *near = pcsim_nearest(stem, all, (size_t)n);
  for (int i = 0; i < n && strlen(known) + strlen(all[i]) + 8 < sizeof known; ++i) {
    if (i) strcat(known, ", ");
    strcat(known, all[i]);
  }
  pcsim_tree_problem_inside(names->tree, c->node, (size_t)tree->column, "unknown name `%s`%s%s%s (known: %s)",
                            stem, near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "", known);
}

/* A name that resolves to nothing: a derivative of something, or no name at all. */
static void report_no_name(const checking *c, const pcsim_expr_node *tree) {
  const char *suffix = strchr(tree->name, '_');
  char stem[128];
  typed_name found = {.kind = TYPED_NONE};
  if (suffix) {
    snprintf(stem, sizeof stem, "%.*s", (int)(suffix - tree->name), tree->name);
    found = typed_resolve(c->names, stem);
  }
  if (found.kind == TYPED_UNKNOWN)
    pcsim_tree_problem_inside(
        c->names->tree, c->node, (size_t)tree->column,
        "`%s` is a derivative by something that is no coordinate; expected x, y, z or t", tree->name);
  else if (found.kind != TYPED_NONE)
    pcsim_tree_problem_inside(c->names->tree, c->node, (size_t)tree->column,
                              "`%s` is no unknown and has no derivative `%s`", stem, tree->name);
  else report_unknown_name(c, tree);
}

static bool fail(const checking *c, const pcsim_expr_node *tree, const char *why) {
  pcsim_tree_problem_inside(c->names->tree, c->node, (size_t)tree->column, why, pcsim_expr_text(c->expr));
  return false;
}

static bool check_coordinate(const checking *c, const pcsim_expr_node *tree, int axis) {
  if (place_of(tree->name, strlen(tree->name), c->names->parameter, c->names->num_parameters) >= 0) {
    pcsim_tree_problem_inside(c->names->tree, c->node, (size_t)tree->column,
                              "`%s` is both a coordinate and a parameter; rename the parameter", tree->name);
    return false;
  }
  if (axis == 2 && c->names->dim == 2)
    return fail(c, tree, "`%s` depends on z, but the mesh is plane; expected x and y");
  if (axis == TYPED_T && !(c->may & MAY_TIME))
    return fail(c, tree, "`%s` depends on the time t, but it stands where the time is the start");
  if (axis == TYPED_T && c->names->steady)
    return fail(c, tree, "`%s` depends on the time t, but the case is steady (no `solve: {time: ...}`)");
  return true;
}

static bool check_unknown(const checking *c, const pcsim_expr_node *tree, const typed_name *name) {
  bool derivative = false;
  for (int i = 0; i < 4; ++i) derivative = derivative || name->orders[i];
  if (!(c->may & MAY_UNKNOWNS))
    return fail(c, tree, "`%s` contains an unknown; expected an expression of place and parameters");
  if (derivative && c->names->shear && name->index >= c->names->num_unknowns)
    return fail(c, tree, "`%s` contains a derivative of the shear rate; expected its value only");
  if (derivative && name->index >= c->names->num_unknowns)
    return fail(c, tree, "`%s` contains a derivative of the flow's velocity; expected its values only");
  if (derivative && !(c->may & MAY_DERIVATIVES))
    return fail(c, tree, "`%s` contains a derivative of an unknown; expected values of unknowns only");
  if (name->orders[2] && c->names->dim == 2)
    return fail(c, tree, "`%s` contains a derivative by z, but the mesh is plane");
  return true;
}

static bool check_coefficient(const checking *c, const pcsim_expr_node *tree) {
  typed_uses uses = typed_uses_of(c->names, tree);
  if (!(c->may & MAY_UNKNOWNS) && !typed_uses_no_unknowns(&uses))
    return fail(c, tree, "`%s` contains a coefficient that depends on an unknown; expected none");
  return true;
}

static bool check_name(const checking *c, const pcsim_expr_node *tree) {
  typed_name found = typed_resolve(c->names, tree->name);
  switch (found.kind) {
  case TYPED_NONE:
    report_no_name(c, tree);
    return false;
  case TYPED_COORDINATE:
    return check_coordinate(c, tree, found.index);
  case TYPED_UNKNOWN:
    return check_unknown(c, tree, &found);
  case TYPED_COEFFICIENT:
    return check_coefficient(c, tree);
  case TYPED_TABLE:
    pcsim_tree_problem_inside(c->names->tree, c->node, (size_t)tree->column,
                              "`%s` is a table; expected `table(%s, ...)` with what is looked up", tree->name,
                              tree->name);
    return false;
  case TYPED_NORMAL:
    if (c->may & MAY_NORMAL) return true;
    report_unknown_name(c, tree);
    return false;
  default:
    return true;
  }
}

static bool check_operator(const checking *c, const pcsim_expr_node *tree) {
  if (tree->kind != PCSIM_EXPR_CALL || !pcsim_expr_get_function((size_t)tree->index)->differential)
    return true;
  if (typed_is_call(tree, "vector") || typed_is_call(tree, "dot") || typed_is_call(tree, "table"))
    return true;
  typed_uses uses = typed_uses_of(c->names, tree);
  if (typed_is_call(tree, "dn") && !(c->may & MAY_NORMAL))
    return fail(c, tree, "`%s` contains dn, which has a meaning on boundaries only");
  if (!(c->may & MAY_DERIVATIVES) && !typed_uses_no_unknowns(&uses))
    return fail(c, tree, "`%s` contains a derivative of an unknown; expected values of unknowns only");
  return true;
}

/* The first argument of table(). */
static bool check_table(const checking *c, const pcsim_expr_node *tree) {
  const typed_names *names = c->names;
  if (tree->kind == PCSIM_EXPR_NAME && typed_resolve(names, tree->name).kind == TYPED_TABLE) return true;
  const char *near = NULL, *all[TYPED_MAX];
  for (int i = 0; i < names->num_tables && i < TYPED_MAX; ++i) all[i] = names->table[i].name;
  if (tree->kind == PCSIM_EXPR_NAME)
    near = pcsim_nearest(tree->name, all,
                         (size_t)(names->num_tables < TYPED_MAX ? names->num_tables : TYPED_MAX));
  pcsim_tree_problem_inside(
      names->tree, c->node, (size_t)typed_column(tree),
      "the first argument of `table` is no table%s%s%s; expected a name of `physics: {tables: "
      "{name: file.csv}}`",
      near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
  return false;
}

static bool check(const checking *c, const pcsim_expr_node *tree) {
  if (tree->kind == PCSIM_EXPR_NAME) return check_name(c, tree);
  bool good = check_operator(c, tree), table = typed_is_call(tree, "table");
  if (table) good = check_table(c, tree->args[0]);
  for (int i = table; i < tree->num_args; ++i)
    if (!check(c, tree->args[i])) good = false;
  return good;
}

bool typed_parse(const typed_names *names, const pcsim_node *node, unsigned may, pcsim_expr **expr) {
  size_t offset = 0;
  *expr = NULL;
  if (pcsim_node_get_kind(node) != PCSIM_NODE_SCALAR) {
    pcsim_tree_problem(names->tree, node, "expected one number or expression");
    return false;
  }
  if (pcsim_expr_parse(pcsim_node_text(node), expr, &offset) != PCSIM_OK) {
    pcsim_tree_problem_inside(names->tree, node, offset, "%s", pcsim_error_message());
    pcsim_error_clear();
    return false;
  }
  if (check(&(checking){names, node, *expr, may}, pcsim_expr_root(*expr))) return true;
  pcsim_expr_destroy(expr);
  return false;
}

/* ------------------------------------------------------------- unknowns */

static bool name_is_good(const typed_names *names, const pcsim_node *at, const char *name, const char *what) {
  if (pcsim_expr_check_name(name) != PCSIM_OK) {
    pcsim_tree_problem(names->tree, at, "%s", pcsim_error_message());
    pcsim_error_clear();
    return false;
  }
  typed_name other = typed_resolve(names, name);
  const char *taken = other.kind == TYPED_COORDINATE    ? "a coordinate"
                      : other.kind == TYPED_UNKNOWN     ? "an unknown"
                      : other.kind == TYPED_COEFFICIENT ? "a coefficient"
                      : other.kind == TYPED_PARAMETER   ? "a parameter"
                      : other.kind == TYPED_TABLE       ? "a table"
                      : place_of(name, strlen(name), reserved, NUM(reserved)) >= 0
                          ? "a word of the case format"
                          : NULL;
  if (taken && strcmp(taken, what) == 0) pcsim_tree_problem(names->tree, at, "`%s` is named twice", name);
  else if (taken) pcsim_tree_problem(names->tree, at, "`%s` cannot be %s: it is %s", name, what, taken);
  return !taken;
}

/* Behind the unknowns the velocity of the flow. */
static void join_velocities(typed_names *names) {
  const int dim = names->dim ? names->dim : 3;
  for (int i = 0; i < names->num_unknowns; ++i) {
    const char *name = names->unknown[i];
    if (place_of(name, strlen(name), velocities, NUM(velocities)) < 0 && strcmp(name, "p") != 0 &&
        strcmp(name, "shear") != 0)
      continue;
    pcsim_tree_problem(names->tree, names->unknown_node[i],
                       "`%s` cannot be an unknown: it is a field of the flow that the equations join", name);
    names->wrong = true;
  }
  for (int i = 0; i < dim; ++i) names->unknown[names->num_unknowns + i] = velocities[i];
  names->num_carriers = dim;
}

static pcsim_status read_unknowns(typed_names *names, const pcsim_node *physics) {
  const pcsim_node *list = pcsim_node_get(physics, "unknowns");
  if (!list) {
    pcsim_tree_problem(names->tree, physics, "typed equations need `unknowns`, e.g. [u]");
    return PCSIM_OK;
  }
  bool one = pcsim_node_get_kind(list) == PCSIM_NODE_SCALAR;
  int64_t n = one ? 1 : pcsim_node_size(list);
  if (n == 0 || n > TYPED_MAX || pcsim_node_get_kind(list) == PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(names->tree, list, "`unknowns` must be a sequence of one to %d names, e.g. [u, v]",
                       TYPED_MAX);
    return PCSIM_OK;
  }
  PCSIM_TRY(pcsim_alloc((size_t)n + NUM(velocities), sizeof *names->unknown, &names->unknown));
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *names->unknown_node, &names->unknown_node));
  for (int64_t i = 0; i < n; ++i) {
    const pcsim_node *item = one ? list : pcsim_node_child(list, i);
    const char *name = pcsim_node_text(item);
    if (!name_is_good(names, item, name, "an unknown")) {
      names->wrong = true;
      continue;
    }
    names->unknown[names->num_unknowns] = name;
    names->unknown_node[names->num_unknowns++] = item;
  }
  if (pcsim_joined_given(names->tree)) join_velocities(names);
  return PCSIM_OK;
}

/* --------------------------------------------------------------- tables */

pcsim_status typed_table_add(typed_names *names, const pcsim_node *node, const char *name,
                             const char **made) {
  size_t n = (size_t)names->num_tables;
  PCSIM_TRY(pcsim_realloc(n + 1, sizeof *names->table, &names->table));
  typed_table *table = &names->table[n];
  *table = (typed_table){.name = name};
  PCSIM_TRY(pcsim_node_path(node, &table->path));
  char text[32] = "";
  for (int k = 0; !name && (!text[0] || typed_resolve(names, text).kind != TYPED_NONE); ++k)
    snprintf(text, sizeof text, "table%d", k);
  if (!name) {
    pcsim_status status = pcsim_strdup(text, &table->made);
    if (status != PCSIM_OK) pcsim_free(&table->path);
    PCSIM_TRY(status);
    table->name = table->made;
  }
  names->num_tables++;
  *made = table->name;
  return PCSIM_OK;
}

static pcsim_status read_tables(typed_names *names, const pcsim_node *physics) {
  const pcsim_node *list = pcsim_node_get(physics, "tables");
  if (!list) return PCSIM_OK;
  if (pcsim_node_get_kind(list) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(names->tree, list, "`tables` must be a mapping of names to files, e.g. {k: k.csv}");
    return PCSIM_OK;
  }
  for (int64_t i = 0; i < pcsim_node_size(list); ++i) {
    const pcsim_node *file = pcsim_node_child(list, i);
    const char *name = pcsim_node_key(list, i);
    if (!name_is_good(names, pcsim_node_key_node(list, i), name, "a table")) continue;
    if (pcsim_node_get_kind(file) == PCSIM_NODE_SCALAR) PCSIM_TRY(typed_table_add(names, file, name, &name));
    else pcsim_tree_problem(names->tree, file, "table `%s` must name a file", name);
  }
  return PCSIM_OK;
}

/* --------------------------------------------------------- coefficients */

enum { MAY_COEFFICIENT = MAY_UNKNOWNS | MAY_TIME };

static pcsim_status read_coefficient(typed_names *names, const pcsim_node *list, int64_t i,
                                     typed_coefficient *made) {
  const pcsim_node *node = pcsim_node_child(list, i);
  made->name = pcsim_node_key(list, i);
  made->key = pcsim_node_key_node(list, i);
  made->jumps = pcsim_node_get_kind(node) == PCSIM_NODE_MAPPING;
  made->num = made->jumps ? (int)pcsim_node_size(node) : 1;
  if (made->jumps && made->num == 0)
    pcsim_tree_problem(names->tree, node,
                       "coefficient `%s` has no values; expected e.g. {core: 1000, rest: 1}", made->name);
  PCSIM_TRY(pcsim_alloc((size_t)made->num, sizeof *made->expr, &made->expr));
  PCSIM_TRY(pcsim_alloc((size_t)made->num, sizeof *made->region, &made->region));
  for (int k = 0; k < made->num; ++k) {
    made->region[k] = made->jumps ? pcsim_node_key(node, k) : NULL;
    typed_parse(names, made->jumps ? pcsim_node_child(node, k) : node, MAY_COEFFICIENT, &made->expr[k]);
    if (made->expr[k]) typed_uses_add(&made->uses, typed_uses_of(names, pcsim_expr_root(made->expr[k])));
  }
  return PCSIM_OK;
}

static void coefficient_clear(typed_coefficient *c) {
  for (int k = 0; c->expr && k < c->num; ++k) pcsim_expr_destroy(&c->expr[k]);
  pcsim_free(&c->expr);
  pcsim_free(&c->region);
  pcsim_free(&c->of_region);
}

static pcsim_status read_coefficients(typed_names *names, const pcsim_node *physics) {
  const pcsim_node *list = pcsim_node_get(physics, "coefficients");
  if (!list) return PCSIM_OK;
  int64_t n = pcsim_node_size(list);
  if (pcsim_node_get_kind(list) != PCSIM_NODE_MAPPING || n > TYPED_MAX) {
    pcsim_tree_problem(
        names->tree, list,
        "`coefficients` must be a mapping of at most %d names, e.g. {k: {core: 1000, rest: 1}}", TYPED_MAX);
    return PCSIM_OK;
  }
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *names->coefficient, &names->coefficient));
  for (int64_t i = 0; i < n; ++i) {
    typed_coefficient made = {0};
    if (!name_is_good(names, pcsim_node_key_node(list, i), pcsim_node_key(list, i), "a coefficient"))
      continue;
    pcsim_status status = read_coefficient(names, list, i, &made);
    names->coefficient[names->num_coefficients++] = made;
    PCSIM_TRY(status);
  }
  return PCSIM_OK;
}

pcsim_status typed_names_read(pcsim_tree *tree, int dim, typed_names *names) {
  const pcsim_node *root = pcsim_tree_root(tree), *physics = pcsim_node_get(root, "physics");
  const pcsim_node *solve = pcsim_node_get(root, "solve");
  *names = (typed_names){.tree = tree, .dim = dim};
  names->steady =
      !solve || pcsim_node_get_kind(solve) != PCSIM_NODE_MAPPING || !pcsim_node_get(solve, "time");
  names->num_parameters = pcsim_tree_parameters(tree, &names->parameter, &names->values);
  PCSIM_TRY(read_unknowns(names, physics));
  PCSIM_TRY(read_tables(names, physics));
  return read_coefficients(names, physics);
}

void typed_names_clear(typed_names *names) {
  for (int i = 0; i < names->num_coefficients; ++i) coefficient_clear(&names->coefficient[i]);
  for (int i = 0; i < names->num_tables; ++i) {
    pcsim_free(&names->table[i].made);
    pcsim_free(&names->table[i].path);
  }
  pcsim_free(&names->table);
  pcsim_free(&names->coefficient);
  pcsim_free(&names->unknown);
  pcsim_free(&names->unknown_node);
  *names = (typed_names){0};
}

/* -------------------------------------------------------------- regions */

static void list_regions(const pcsim_mesh_view *mesh, char *out, size_t size) {
  out[0] = '\0';
  for (int r = 0; r < mesh->num_regions && strlen(out) + strlen(mesh->region_name[r]) + 8 < size; ++r) {
    if (r) strcat(out, ", ");
    strcat(out, mesh->region_name[r]);
  }
}

static void match_coefficient(const typed_names *names, const pcsim_mesh_view *mesh, typed_coefficient *c) {
  char known[600];
  list_regions(mesh, known, sizeof known);
  for (int r = 0; r < mesh->num_regions; ++r) c->of_region[r] = -1;
  bool misspelt = false;
  for (int k = 0; k < c->num; ++k) {
    int r = place_of(c->region[k], strlen(c->region[k]), mesh->region_name, mesh->num_regions);
    if (r >= 0) {
      c->of_region[r] = k;
      continue;
    }
    const char *near = pcsim_nearest(c->region[k], mesh->region_name, (size_t)mesh->num_regions);
    pcsim_tree_problem(
        names->tree, c->key, "coefficient `%s`: the mesh has no region `%.96s`; it has: %s%s%s%s", c->name,
        c->region[k], known, near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
    misspelt = true;
  }
  for (int r = 0; !misspelt && r < mesh->num_regions; ++r)
    if (c->of_region[r] < 0)
      pcsim_tree_problem(names->tree, c->key, "coefficient `%s` has no value in region `%s` of the mesh",
                         c->name, mesh->region_name[r]);
}

pcsim_status typed_names_match(typed_names *names, const pcsim_mesh *mesh) {
  const pcsim_mesh_view *view = pcsim_mesh_get(mesh);
  names->num_regions = view->num_regions;
  for (int i = 0; i < names->num_coefficients; ++i) {
    typed_coefficient *c = &names->coefficient[i];
    if (!c->jumps) continue;
    PCSIM_TRY(pcsim_alloc((size_t)view->num_regions, sizeof *c->of_region, &c->of_region));
    match_coefficient(names, view, c);
  }
  return PCSIM_OK;
}
