/* SPDX-License-Identifier: BSD-2-Clause */
/* `mesh:` of a case, checked and completed, as a list of key=value for pcsim-mesh. */
#include "spec.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_KEYS = 32, MAX_KEY = 160 };

/* ------------------------------------------------------------------- items */

static pcsim_status new_item(pcsim_mesh_spec *spec, const char *key, pcsim_spec_item **item) {
  if (spec->num_items == spec->max_items) {
    int max = spec->max_items ? 2 * spec->max_items : 16;
    PCSIM_TRY(pcsim_realloc((size_t)max, sizeof *spec->item, &spec->item));
    spec->max_items = max;
  }
  *item = &spec->item[spec->num_items];
  **item = (pcsim_spec_item){0};
  PCSIM_TRY(pcsim_strdup(key, &(*item)->key));
  spec->num_items++;
  return PCSIM_OK;
}

pcsim_status pcsim_spec_add_text(pcsim_mesh_spec *spec, const char *key, const char *text) {
  pcsim_spec_item *item = NULL;
  PCSIM_TRY(new_item(spec, key, &item));
  return pcsim_strdup(text, &item->text);
}

pcsim_status pcsim_spec_add_numbers(pcsim_mesh_spec *spec, const char *key, int n, const double *values) {
  pcsim_spec_item *item = NULL;
  PCSIM_TRY(new_item(spec, key, &item));
  item->n = n;
  memcpy(item->value, values, (size_t)n * sizeof *values);
  return PCSIM_OK;
}

void pcsim_mesh_spec_destroy(pcsim_mesh_spec **spec) {
  if (!spec || !*spec) return;
  for (int i = 0; i < (*spec)->num_items; i++) {
    pcsim_free(&(*spec)->item[i].key);
    pcsim_free(&(*spec)->item[i].text);
  }
  pcsim_free(&(*spec)->item);
  pcsim_free(&(*spec)->sizes);
  pcsim_free(&(*spec)->subject);
  pcsim_free(&(*spec)->place);
  pcsim_free(spec);
}

bool pcsim_mesh_spec_is_file(const pcsim_mesh_spec *spec) { return spec->file; }

/* ----------------------------------------------------------------- reading */

/* The value under a key of a table, whatever its type, as an item. */
static pcsim_status add_key(pcsim_tree *tree, const pcsim_node *node, const pcsim_key *key,
                            const char *prefix, pcsim_mesh_spec *spec) {
  char name[MAX_KEY];
  double value[3] = {0};
  int64_t whole;
  int n = 0;
  const char *text;
  snprintf(name, sizeof name, "%s%s", prefix, key->name);
  switch (key->type) {
  case PCSIM_KEY_NUMBER:
    return pcsim_node_number(tree, node, key->name, value) ? pcsim_spec_add_numbers(spec, name, 1, value)
                                                           : PCSIM_OK;
  case PCSIM_KEY_INTEGER:
    if (!pcsim_node_integer(tree, node, key->name, &whole)) return PCSIM_OK;
    value[0] = (double)whole;
    return pcsim_spec_add_numbers(spec, name, 1, value);
  case PCSIM_KEY_NUMBERS:
    if (!pcsim_node_numbers(tree, node, key->name, value, 3, &n) || n == 0) return PCSIM_OK;
    return pcsim_spec_add_numbers(spec, name, n, value);
  case PCSIM_KEY_TEXT:
  case PCSIM_KEY_CHOICE:
    return pcsim_node_string(tree, node, key->name, &text) ? pcsim_spec_add_text(spec, name, text) : PCSIM_OK;
  default:
    return PCSIM_OK;
  }
}

static pcsim_status add_keys(pcsim_tree *tree, const pcsim_node *node, const pcsim_key *keys, size_t n,
                             const char *prefix, pcsim_mesh_spec *spec) {
  for (size_t i = 0; i < n; i++) PCSIM_TRY(add_key(tree, node, &keys[i], prefix, spec));
  return PCSIM_OK;
}

static pcsim_status read_near_entry(pcsim_tree *tree, const pcsim_shape_entry *entry, const char *name,
                                    pcsim_node *node, const pcsim_node *cells, pcsim_mesh_spec *spec) {
  char where[MAX_KEY];
  snprintf(where, sizeof where, "near.%s", name);
  if (pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(tree, node, "'%s' must be a mapping such as {size: 0.01, growth: 0.1}", where);
    return PCSIM_OK;
  }
  pcsim_node_check(tree, node, pcsim_near_keys, pcsim_near_num_keys, where);
  snprintf(where, sizeof where, "near.%s.", name);
  PCSIM_TRY(add_keys(tree, node, pcsim_near_keys, pcsim_near_num_keys, where, spec));
  pcsim_node *layers = pcsim_node_get(node, "layers");
  if (!layers || pcsim_node_get_kind(layers) != PCSIM_NODE_MAPPING) return PCSIM_OK;
  snprintf(where, sizeof where, "near.%s.layers", name);
  if (!entry->layers_on || strcmp(entry->layers_on, name) != 0)
    pcsim_tree_problem(tree, layers, "'%s' cannot have layers; in a %s %s%s%s", name, entry->shape->name,
                       entry->layers_on ? "only '" : "no boundary",
                       entry->layers_on ? entry->layers_on : " can", entry->layers_on ? "' can" : "");
  if (cells && !strcmp(pcsim_node_text(cells), "tetrahedra"))
    pcsim_tree_problem(
        tree, layers,
        "tetrahedra have no wall layers; expected hexahedra or prisms with layers, or no layers");
  pcsim_node_check(tree, layers, pcsim_layer_keys, pcsim_layer_num_keys, where);
  double first = 0, thickness = INFINITY;
  if (pcsim_node_number(tree, layers, "first", &first) &&
      pcsim_node_number(tree, layers, "thickness", &thickness) && first > thickness)
    pcsim_tree_problem(tree, pcsim_node_get(layers, "first"),
                       "'%s.first' is %g, more than the thickness of all layers, %g", where, first,
                       thickness);
  strcat(where, ".");
  return add_keys(tree, layers, pcsim_layer_keys, pcsim_layer_num_keys, where, spec);
}

/* Boundaries that `near:` can name: those of the shape, then those of what is taken away. */
static size_t near_names(const pcsim_shape_entry *entry, const pcsim_mesh_spec *spec, const char **names) {
  size_t num = 0;
  while (num < PCSIM_SHAPE_PATCHES && entry->patches[num]) names[num] = entry->patches[num], num++;
  for (int i = 0; i < spec->num_items; i++)
    if (!strncmp(spec->item[i].key, "hole.", 5)) names[num++] = spec->item[i].key + 5;
  return num;
}

static pcsim_status read_near(pcsim_tree *tree, const pcsim_shape_entry *entry, const pcsim_node *mesh,
                              pcsim_mesh_spec *spec) {
  pcsim_node *near = pcsim_node_get(mesh, "near");
  const char *names[PCSIM_SHAPE_PATCHES + PCSIM_SHAPE_HOLES];
  const size_t num = near_names(entry, spec, names);
  char list[200] = "";
  if (!near || pcsim_node_get_kind(near) != PCSIM_NODE_MAPPING) return PCSIM_OK;
  for (size_t i = 0, used = 0; i < num; i++, used = strlen(list))
    snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
  bool given[PCSIM_SHAPE_PATCHES + PCSIM_SHAPE_HOLES] = {false};
  for (int whole = 1; whole >= 0; whole--) /* names before patterns */
    for (int64_t i = 0; i < pcsim_node_size(near); i++) {
      const char *name = pcsim_node_key(near, i);
      bool found = false;
      if ((strpbrk(name, "*?[") == NULL) != (whole == 1)) continue;
      for (size_t k = 0; k < num; k++) {
        if (fnmatch(name, names[k], 0) != 0) continue;
        found = true;
        if (given[k]) continue;
        given[k] = true;
        PCSIM_TRY(read_near_entry(tree, entry, names[k], pcsim_node_child(near, i),
                                  pcsim_node_get(mesh, "cells"), spec));
      }
      if (found) continue;
      const char *meant = pcsim_nearest(name, names, num);
      pcsim_tree_problem(tree, pcsim_node_key_node(near, i), "a %s has no boundary '%s'; it has %s%s%s%s",
                         entry->shape->name, name, list, meant ? "; did you mean '" : "", meant ? meant : "",
                         meant ? "'?" : "");
    }
  return PCSIM_OK;
}

static const pcsim_shape_entry *find_shape(pcsim_tree *tree, const pcsim_node *node) {
  const char *names[16], *name = pcsim_node_text(node);
  char list[200] = "";
  size_t n;
  const pcsim_shape_entry *entries = pcsim_shape_entries(&n);
  for (size_t i = 0; i < n; i++) {
    size_t used = strlen(list);
    names[i] = entries[i].shape->name;
    snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    if (pcsim_node_get_kind(node) == PCSIM_NODE_SCALAR && !strcmp(names[i], name)) return &entries[i];
  }
  const char *meant = pcsim_nearest(name, names, n);
  pcsim_tree_problem(tree, node, "unknown shape '%s'; expected one of %s%s%s%s", name, list,
                     meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
  return NULL;
}

static pcsim_status read_shape(pcsim_tree *tree, pcsim_node *mesh, pcsim_mesh_spec *spec) {
  const pcsim_shape_entry *entry = find_shape(tree, pcsim_node_get(mesh, "shape"));
  pcsim_key keys[MAX_KEYS];
  if (!entry) return PCSIM_OK;
  size_t n = pcsim_shape_num_common_keys, own = entry->shape->num_keys;
  PCSIM_CHECK(n + own <= MAX_KEYS, PCSIM_ERR_INTERNAL, "shape %s has too many keys", entry->shape->name);
  memcpy(keys, pcsim_shape_common_keys, n * sizeof *keys);
  memcpy(keys + n, entry->shape->keys, own * sizeof *keys);
  pcsim_node_check(tree, mesh, keys, n + own, "mesh");
  PCSIM_TRY(add_keys(tree, mesh, keys, n + own, "", spec));
  if (entry->check) entry->check(tree, mesh);
  PCSIM_TRY(pcsim_spec_read_holes(tree, mesh, entry->patches, spec));
  PCSIM_TRY(pcsim_spec_read_sizes(tree, mesh, spec));
  return read_near(tree, entry, mesh, spec);
}

/* Relative to the file that names it (a case can extend one in another folder), else to the case. */
pcsim_status pcsim_spec_find_file(const pcsim_tree *tree, const pcsim_node *node, char **path) {
  const char *file = pcsim_node_file(node), *slash = file ? strrchr(file, '/') : NULL;
  char *folder = NULL;
  if (slash) {
    PCSIM_TRY(pcsim_strdup(file, &folder));
    folder[slash - file] = 0;
    pcsim_status status = pcsim_path_join(slash == file ? "/" : folder, pcsim_node_text(node), path);
    pcsim_free(&folder);
    PCSIM_TRY(status);
    if (pcsim_file_exists(*path)) return PCSIM_OK;
    pcsim_free(path);
  }
  return pcsim_path_join(pcsim_tree_folder(tree), pcsim_node_text(node), path);
}

bool pcsim_spec_has_control(const char *text) {
  for (; *text; text++)
    if ((unsigned char)*text < ' ') return true;
  return false;
}

static pcsim_status read_names(pcsim_tree *tree, const pcsim_node *names, pcsim_mesh_spec *spec) {
  for (int64_t i = 0; i < pcsim_node_size(names); i++) {
    const char *from = pcsim_node_key(names, i), *to = pcsim_node_text(pcsim_node_child(names, i));
    char line[1200];
    if (!from || !*from || !*to || pcsim_spec_has_control(from) || pcsim_spec_has_control(to) ||
        strlen(from) + strlen(to) > 500) {
      pcsim_tree_problem(tree, pcsim_node_child(names, i), "expected OLD: NEW, two names");
      continue;
    }
    snprintf(line, sizeof line, "%s\t%s", from, to);
    PCSIM_TRY(pcsim_spec_add_text(spec, "rename", line));
  }
  return PCSIM_OK;
}

static pcsim_status read_file(pcsim_tree *tree, pcsim_node *mesh, pcsim_mesh_spec *spec) {
  const pcsim_node *node = pcsim_node_get(mesh, "file"), *names;
  char *path = NULL;
  double scale = 1;
  pcsim_node_check(tree, mesh, pcsim_mesh_file_keys, pcsim_mesh_num_file_keys, "mesh");
  if (pcsim_node_get_kind(node) != PCSIM_NODE_SCALAR) return PCSIM_OK;
  pcsim_status status = pcsim_spec_find_file(tree, node, &path);
  if (status == PCSIM_OK && (pcsim_spec_has_control(path) || !pcsim_file_exists(path)))
    pcsim_tree_problem(tree, node, "there is no mesh file '%s'", path);
  if (status == PCSIM_OK && (strlen(path) < 5 || strcasecmp(path + strlen(path) - 4, ".msh") != 0))
    pcsim_tree_problem(tree, node, "'%s' is no Gmsh mesh; expected a file NAME.msh", pcsim_node_text(node));
  if (status == PCSIM_OK) status = pcsim_spec_add_text(spec, "file", path);
  pcsim_free(&path);
  PCSIM_TRY(status);
  if (pcsim_node_number(tree, mesh, "scale", &scale))
    PCSIM_TRY(pcsim_spec_add_numbers(spec, "scale", 1, &scale));
  names = pcsim_node_get(mesh, "names");
  return names && pcsim_node_get_kind(names) == PCSIM_NODE_MAPPING ? read_names(tree, names, spec) : PCSIM_OK;
}

/* `regions:` and, for its expressions, the parameters of the case. */
static pcsim_status read_regions(pcsim_tree *tree, const pcsim_node *mesh, pcsim_mesh_spec *spec) {
  static const char *const coordinates[] = {"x", "y", "z"};
  const pcsim_node *regions = pcsim_node_get(mesh, "regions");
  const char *const *name;
  const double *value;
  char line[1200];
  if (!regions || pcsim_node_get_kind(regions) != PCSIM_NODE_MAPPING) return PCSIM_OK;
  for (int64_t i = 0; i < pcsim_node_size(regions); i++) {
    const pcsim_node *node = pcsim_node_child(regions, i);
    const char *region = pcsim_node_key(regions, i), *text = pcsim_node_text(node);
    pcsim_expr *expr;
    if (!*region || pcsim_spec_has_control(region) || pcsim_spec_has_control(text) ||
        strlen(region) + strlen(text) > 1000) {
      pcsim_tree_problem(tree, node, "expected NAME: an expression of x, y, z in one line");
      continue;
    }
    if (!pcsim_node_as_expr(tree, node, coordinates, 3, &expr)) continue;
    pcsim_expr_destroy(&expr);
    snprintf(line, sizeof line, "%s\t%s", region, text);
    PCSIM_TRY(pcsim_spec_add_text(spec, "region", line));
  }
  const int n = pcsim_tree_parameters(tree, &name, &value);
  for (int i = 0; i < n && pcsim_node_size(regions) > 0; i++) {
    snprintf(line, sizeof line, "%.200s\t%.17g", name[i], value[i]);
    PCSIM_TRY(pcsim_spec_add_text(spec, "parameter", line));
  }
  return PCSIM_OK;
}

static pcsim_status read_mesh(pcsim_tree *tree, pcsim_node *mesh, pcsim_mesh_spec *spec) {
  const pcsim_node *shape = pcsim_node_get(mesh, "shape"), *file = pcsim_node_get(mesh, "file");
  char place[1024];
  if (!shape == !file) {
    pcsim_tree_problem(tree, file ? file : mesh, "'mesh' needs either 'shape' or 'file'%s",
                       file ? ", both are given" : "");
    return PCSIM_OK;
  }
  const pcsim_node *node = file ? file : shape;
  spec->file = file != NULL;
  snprintf(place, sizeof place, "%s:%d:%d", pcsim_node_file(node), pcsim_node_line(node),
           pcsim_node_column(node));
  PCSIM_TRY(pcsim_strdup(place, &spec->place));
  PCSIM_TRY(pcsim_strdup(pcsim_node_text(node), &spec->subject));
  PCSIM_TRY(spec->file ? read_file(tree, mesh, spec) : read_shape(tree, mesh, spec));
  return read_regions(tree, mesh, spec);
}

/* Pairs `A: {periodic: B}` of `boundaries:`, once each; whoever reads the conditions judges the rest of them,
 * and whether the mesh has such boundaries. */
static pcsim_status read_periodic(pcsim_tree *tree, pcsim_mesh_spec *spec) {
  const pcsim_node *node = pcsim_node_get(pcsim_tree_root(tree), "boundaries");
  if (!node || pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) return PCSIM_OK;
  for (int64_t i = 0; i < pcsim_node_size(node); i++) {
    const pcsim_node *entry = pcsim_node_child(node, i), *other = NULL;
    if (pcsim_node_get_kind(entry) == PCSIM_NODE_MAPPING) other = pcsim_node_get(entry, "periodic");
    if (!other || pcsim_node_get_kind(other) != PCSIM_NODE_SCALAR) continue;
    const char *name = pcsim_node_key(node, i), *partner = pcsim_node_text(other);
    char line[1200];
    if (!*name || !*partner || pcsim_spec_has_control(name) || pcsim_spec_has_control(partner) ||
        strlen(name) + strlen(partner) > 500 || strpbrk(name, "*?[") || strpbrk(partner, "*?[")) {
      pcsim_tree_problem(tree, other, "expected NAME: {periodic: OTHER}, the names of two boundaries");
      continue;
    }
    snprintf(line, sizeof line, "%s\t%s", name, partner);
    PCSIM_TRY(pcsim_spec_add_text(spec, "periodic", line));
  }
  return PCSIM_OK;
}

pcsim_status pcsim_mesh_spec_read(pcsim_tree *tree, pcsim_mesh_spec **spec) {
  pcsim_node *root = pcsim_tree_root(tree), *mesh = pcsim_node_get(root, "mesh");
  size_t before = pcsim_tree_num_problems(tree);
  pcsim_mesh_spec *s = NULL;
  *spec = NULL;
  if (!mesh || pcsim_node_get_kind(mesh) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(tree, mesh ? mesh : root, "%s",
                       mesh ? "'mesh' must be a mapping: {shape: ...} or {file: ...}"
                            : "the key 'mesh' is missing: {shape: ...} or {file: ...}");
    return pcsim_tree_status(tree);
  }
  PCSIM_TRY(pcsim_alloc(1, sizeof *s, &s));
  pcsim_status status = read_mesh(tree, mesh, s);
  if (status == PCSIM_OK) status = read_periodic(tree, s);
  if (status == PCSIM_OK && pcsim_tree_num_problems(tree) > before) status = pcsim_tree_status(tree);
  if (status != PCSIM_OK) pcsim_mesh_spec_destroy(&s);
  PCSIM_TRY(status);
  *spec = s;
  return PCSIM_OK;
}

/* --------------------------------------------------------------- refinement */

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), k = strlen(end);
  return n >= k && !strcmp(text + n - k, end);
}

/* Layers keep their thickness: with n layers of ratio q, n / factor of q^factor fill the same height. */
static void refine_layers(pcsim_mesh_spec *spec, int first, double factor) {
  char key[MAX_KEY];
  snprintf(key, sizeof key, "%s", spec->item[first].key);
  strcpy(strrchr(key, '.'), ".ratio");
  double *height = spec->item[first].value, *ratio = NULL;
  for (int i = 0; i < spec->num_items; i++)
    if (!strcmp(spec->item[i].key, key)) ratio = spec->item[i].value;
  double old = ratio ? *ratio : 1, finer = pow(old, factor);
  *height *= old > 1 + 1e-9 ? (finer - 1) / (old - 1) : factor;
  if (ratio) *ratio = finer;
}

pcsim_status pcsim_mesh_spec_refine(pcsim_mesh_spec *spec, double factor) {
  PCSIM_CHECK(factor > 0 && isfinite(factor), PCSIM_ERR_ARG,
              "refinement by the factor %g, expected a positive one", factor);
  PCSIM_CHECK(!spec->file, PCSIM_ERR_CASE,
              "%s: the sizes of the mesh file '%s' cannot be changed; expected a shape", spec->place,
              spec->subject);
  for (int i = 0; i < spec->num_items; i++) {
    pcsim_spec_item *item = &spec->item[i];
    if (ends_with(item->key, ".layers.first")) refine_layers(spec, i, factor);
    else if (!strcmp(item->key, "size") || ends_with(item->key, ".size") || ends_with(item->key, ".growth") ||
             !strcmp(item->key, "sizes.factor"))
      item->value[0] *= factor;
    else if (!strcmp(item->key, "n") || !strcmp(item->key, "nz"))
      for (int k = 0; k < item->n; k++) item->value[k] /= factor; /* rounded when it is handed over */
  }
  return PCSIM_OK;
}
