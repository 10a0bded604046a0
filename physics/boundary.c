/* SPDX-License-Identifier: BSD-2-Clause */
/* `boundaries:`: the conditions of a case, and which boundary of the mesh gets which. */
#include "flow.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static bool is_pattern(const char *name) { return strpbrk(name, "*?[") != NULL; }

/* Boundaries of the mesh with a condition, then periodic ones. */
static const char *name_of(const pcsim_mesh_view *mesh, int i) {
  return i < mesh->num_patches ? mesh->patch_name[i] : mesh->periodic_name[i - mesh->num_patches];
}

/* "inlet, outlet, walls" behind what stands there, cut with "..." where it gets long. */
static void list_names(const char *const *name, int num, char *text, size_t size) {
  for (int i = 0; i < num; ++i) {
    size_t used = strlen(text), need = strlen(name[i]) + 8;
    if (used + need > size) {
      strncat(text, ", ...", size - used - 1);
      return;
    }
    snprintf(text + used, size - used, "%s%s", used ? ", " : "", name[i]);
  }
}

/* The partner of a periodic boundary, NULL if it is none. */
static const char *partner_of(const pcsim_mesh_view *mesh, const char *name) {
  for (int i = 0; i < 2 * mesh->num_periodic; ++i)
    if (strcmp(mesh->periodic_name[i], name) == 0) return mesh->periodic_name[i ^ 1];
  return NULL;
}

static void report_names(pcsim_tree *tree, const pcsim_node *at, const char *name, const char *list,
                         const char *near) {
  pcsim_tree_problem(tree, at, "the mesh has no boundary %s`%.96s`; it has: %s%s%s%s",
                     is_pattern(name) ? "that matches " : "", name, list[0] ? list : "none",
                     near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

void boundary_report_no_match(pcsim_tree *tree, const pcsim_node *at, const char *const *names, int num,
                              const char *name) {
  char list[800] = "";
  list_names(names, num, list, sizeof list);
  report_names(tree, at, name, list, pcsim_nearest(name, names, (size_t)num));
}

static void report_no_match(pcsim_tree *tree, const pcsim_node *at, const pcsim_mesh_view *mesh,
                            const char *name) {
  char list[800] = "";
  list_names(mesh->patch_name, mesh->num_patches, list, sizeof list);
  list_names(mesh->periodic_name, 2 * mesh->num_periodic, list, sizeof list);
  const char *near = pcsim_nearest(name, mesh->patch_name, (size_t)mesh->num_patches);
  if (!near) near = pcsim_nearest(name, mesh->periodic_name, 2 * (size_t)mesh->num_periodic);
  report_names(tree, at, name, list, near);
}

/* Marks what `pattern` names; returns how many. */
static int select_patches(const pcsim_mesh *mesh, const char *pattern, bool *wanted) {
  const pcsim_mesh_view *view = pcsim_mesh_get(mesh);
  int exact = pcsim_mesh_find_patch(mesh, pattern), count = 0;
  if (exact >= 0) {
    wanted[exact] = true;
    return 1;
  }
  if (!is_pattern(pattern)) return 0;
  for (int p = 0; p < view->num_patches; ++p) {
    if (fnmatch(pattern, view->patch_name[p], 0) != 0) continue;
    wanted[p] = true;
    ++count;
  }
  return count;
}

bool pcsim_patch_select(pcsim_tree *tree, const pcsim_node *at, const pcsim_mesh *mesh, const char *pattern,
                        bool *wanted) {
  if (select_patches(mesh, pattern, wanted) > 0) return true;
  report_no_match(tree, at, pcsim_mesh_get(mesh), pattern);
  return false;
}

/* The place that a missing entry of `boundaries` is reported at: its key. */
static const pcsim_node *boundaries_place(const pcsim_tree *tree) {
  const pcsim_node *root = pcsim_tree_root(tree);
  for (int64_t i = 0; i < pcsim_node_size(root); ++i) {
    const char *key = pcsim_node_key(root, i);
    if (key && strcmp(key, "boundaries") == 0) return pcsim_node_key_node(root, i);
  }
  return root;
}

pcsim_status flow_boundaries_read(pcsim_tree *tree, int dim, flow_boundaries *boundaries) {
  memset(boundaries, 0, sizeof *boundaries);
  pcsim_node *root = pcsim_tree_root(tree), *node = pcsim_node_get(root, "boundaries");
  if (!node) {
    pcsim_tree_problem(tree, root, "no `boundaries:`; expected a condition for every boundary of the mesh");
    return PCSIM_OK;
  }
  if (pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(tree, node,
                       "`boundaries` must be a mapping of names to conditions, e.g. {walls: {wall: "
                       "no-slip}}");
    return PCSIM_OK;
  }
  int64_t n = pcsim_node_size(node);
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *boundaries->condition, &boundaries->condition));
  boundaries->num = (int)n;
  for (int64_t i = 0; i < n; ++i) {
    flow_condition *condition = &boundaries->condition[i];
    condition->name = pcsim_node_key(node, i);
    condition->key = pcsim_node_key_node(node, i);
    condition->node = pcsim_node_get(node, condition->name);
    flow_condition_read(tree, dim, condition);
  }
  return PCSIM_OK;
}

/* Entry that fits patch p by its exact name or by a pattern, -1 if none does; two patterns are a problem. */
static int match_patch(pcsim_tree *tree, const char *name, const boundary_entry *entry, int num) {
  int found = -1;
  for (int c = 0; c < num; ++c)
    if (strcmp(entry[c].name, name) == 0) found = c;
  for (int c = 0; found < 0 && c < num; ++c) {
    if (!is_pattern(entry[c].name) || fnmatch(entry[c].name, name, 0) != 0) continue;
    found = c;
    for (int d = c + 1; d < num; ++d) {
      if (!is_pattern(entry[d].name) || fnmatch(entry[d].name, name, 0) != 0) continue;
      const pcsim_node *first = entry[c].key;
      pcsim_tree_problem(
          tree, entry[d].key,
          "boundary `%s` gets two conditions: from `%s` here and from `%s` at %s:%d:%d; expected "
          "one, or its own name as a key",
          name, entry[d].name, entry[c].name, pcsim_node_file(first), pcsim_node_line(first),
          pcsim_node_column(first));
    }
  }
  return found;
}

static bool is_boundary(const pcsim_mesh_view *mesh, const char *name) {
  for (int i = 0; i < mesh->num_patches + 2 * mesh->num_periodic; ++i)
    if (strcmp(name_of(mesh, i), name) == 0) return true;
  return false;
}

/* `name: {periodic: other}`: both must be there, and joined by the mesh. */
static void check_periodic(pcsim_tree *tree, const pcsim_mesh_view *mesh, const boundary_entry *entry) {
  const char *other = pcsim_node_text(entry->periodic), *partner = partner_of(mesh, entry->name);
  if (!is_boundary(mesh, entry->name)) {
    report_no_match(tree, entry->key, mesh, entry->name);
  } else if (!is_boundary(mesh, other)) {
    report_no_match(tree, entry->periodic, mesh, other);
  } else if (!partner || strcmp(partner, other) != 0) {
    pcsim_tree_problem(tree, entry->periodic, "the mesh does not join boundary `%s` to `%s`%s%s%s",
                       entry->name, other, partner ? "; it joins it to `" : "", partner ? partner : "",
                       partner ? "`" : "");
  }
}

/* Report entries that name nothing. A misspelt key already names the boundary it was meant for: `meant` keeps
 * it from a second report. */
static pcsim_status check_entries(pcsim_tree *tree, const pcsim_mesh *mesh, const boundary_entry *entry,
                                  int num, bool *meant) {
  const pcsim_mesh_view *view = pcsim_mesh_get(mesh);
  size_t n = (size_t)view->num_patches;
  bool *matched = NULL;
  PCSIM_TRY(pcsim_alloc(n, sizeof *matched, &matched));
  for (int c = 0; c < num; ++c) {
    const char *partner = partner_of(view, entry[c].name);
    if (entry[c].periodic) {
      check_periodic(tree, view, &entry[c]);
      continue;
    }
    if (partner) {
      pcsim_tree_problem(tree, entry[c].key,
                         "boundary `%s` is periodic with `%s`: it takes no other condition", entry[c].name,
                         partner);
      continue;
    }
    if (select_patches(mesh, entry[c].name, matched) > 0) continue;
    report_no_match(tree, entry[c].key, view, entry[c].name);
    const char *near = pcsim_nearest(entry[c].name, view->patch_name, n);
    if (near) meant[pcsim_mesh_find_patch(mesh, near)] = true;
  }
  pcsim_free(&matched);
  return PCSIM_OK;
}

pcsim_status boundary_entries_match(pcsim_tree *tree, const pcsim_mesh *mesh, const boundary_entry *entry,
                                    int num, const char *example, int *of_patch) {
  const pcsim_mesh_view *view = pcsim_mesh_get(mesh);
  bool *meant = NULL, given = pcsim_node_get(pcsim_tree_root(tree), "boundaries") != NULL;
  PCSIM_TRY(pcsim_alloc((size_t)view->num_patches, sizeof *meant, &meant));
  pcsim_status status = check_entries(tree, mesh, entry, num, meant);
  for (int p = 0; status == PCSIM_OK && p < view->num_patches; ++p) {
    of_patch[p] = match_patch(tree, view->patch_name[p], entry, num);
    long long size = (long long)view->patch_size_global[p];
    if (of_patch[p] < 0 && !meant[p] && given && size > 0)
      pcsim_tree_problem(tree, boundaries_place(tree),
                         "boundary `%s` of the mesh (%lld face%s) has no condition; expected e.g. `%s: %s`",
                         view->patch_name[p], size, size == 1 ? "" : "s", view->patch_name[p], example);
  }
  pcsim_free(&meant);
  return status;
}

pcsim_status flow_boundaries_match(pcsim_tree *tree, const pcsim_mesh *mesh, flow_boundaries *boundaries) {
  boundary_entry *entries = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)pcsim_mesh_get(mesh)->num_patches, sizeof *boundaries->of_patch,
                        &boundaries->of_patch));
  PCSIM_TRY(pcsim_alloc((size_t)boundaries->num, sizeof *entries, &entries));
  for (int c = 0; c < boundaries->num; ++c)
    entries[c] = (boundary_entry){boundaries->condition[c].name, boundaries->condition[c].key,
                                  boundaries->condition[c].periodic};
  pcsim_status status =
      boundary_entries_match(tree, mesh, entries, boundaries->num, "{wall: no-slip}", boundaries->of_patch);
  pcsim_free(&entries);
  return status;
}

void flow_boundaries_clear(flow_boundaries *boundaries) {
  for (int c = 0; c < boundaries->num; ++c) flow_value_clear(&boundaries->condition[c].value);
  pcsim_free(&boundaries->condition);
  pcsim_free(&boundaries->of_patch);
  boundaries->num = 0;
}

/* Kind that a mapping stands for, without checks of its values. */
static int kind_of(const pcsim_node *node) {
  static const struct {
    const char *name;
    int kind;
  } kinds[] = {{"velocity", PCSIM_FLOW_VELOCITY},
               {"flow-rate", PCSIM_FLOW_VELOCITY},
               {"pressure", PCSIM_FLOW_PRESSURE},
               {"total-pressure", PCSIM_FLOW_TOTAL_PRESSURE},
               {"symmetry", PCSIM_FLOW_SLIP}};
  const pcsim_condition *second;
  if (!node || pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) return -1;
  const pcsim_condition *found = flow_condition_find(node, &second);
  if (!found || second) return -1;
  if (strcmp(found->name, "wall") == 0)
    return strcmp(pcsim_node_text(pcsim_node_get(node, "wall")), "slip") == 0 ? PCSIM_FLOW_SLIP
                                                                              : PCSIM_FLOW_WALL;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (strcmp(found->name, kinds[i].name) == 0) return kinds[i].kind;
  return -1;
}

void pcsim_flow_kinds(const pcsim_tree *tree, const pcsim_mesh *mesh, int *kind) {
  const pcsim_mesh_view *view = pcsim_mesh_get(mesh);
  const pcsim_node *node = pcsim_node_get(pcsim_tree_root(tree), "boundaries");
  bool mapping = node && pcsim_node_get_kind(node) == PCSIM_NODE_MAPPING;
  for (int p = 0; p < view->num_patches; ++p) {
    kind[p] = -1;
    const pcsim_node *found = mapping ? pcsim_node_get(node, view->patch_name[p]) : NULL;
    for (int64_t i = 0; mapping && !found && i < pcsim_node_size(node); ++i) {
      const char *key = pcsim_node_key(node, i);
      if (key && is_pattern(key) && fnmatch(key, view->patch_name[p], 0) == 0)
        found = pcsim_node_get(node, key);
    }
    kind[p] = kind_of(found);
  }
}
