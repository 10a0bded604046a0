/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements, groups and nodes out of Gmsh's model. */
#include "read_msh.h"

#include <ctype.h>
#include <gmshc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------- names */

pcsim_status msh_names_add(msh_names *names, const char *name, int *index) {
  enum { LIMIT = 10000 };
  for (*index = 0; *index < names->n; ++*index)
    if (!strcmp(names->name[*index], name)) return PCSIM_OK;
  PCSIM_CHECK(names->n < LIMIT, PCSIM_ERR_MESH, "the mesh has more than %d groups", LIMIT);
  if (names->n == names->max) {
    int max = names->max ? 2 * names->max : 16;
    PCSIM_TRY(pcsim_realloc((size_t)max, sizeof *names->name, &names->name));
    names->max = max;
  }
  PCSIM_TRY(pcsim_strdup(name, &names->name[names->n]));
  names->n++;
  return PCSIM_OK;
}

void msh_names_free(msh_names *names) {
  for (int i = 0; i < names->n; i++) pcsim_free(&names->name[i]);
  pcsim_free(&names->name);
}

/* ----------------------------------------------------------------- elements */

void msh_elements_free(msh_elements *elements) {
  pcsim_free(&elements->type);
  pcsim_free(&elements->group);
  pcsim_free(&elements->tag);
  msh_names_free(&elements->names);
}

static pcsim_status grow(msh_elements *el, int64_t more, int64_t more_nodes) {
  if (el->num + more > el->max) {
    el->max = el->num + more;
    PCSIM_TRY(pcsim_realloc((size_t)el->max, 1, &el->type));
    PCSIM_TRY(pcsim_realloc((size_t)el->max, sizeof *el->group, &el->group));
  }
  if (el->num_nodes + more_nodes > el->max_nodes) {
    el->max_nodes = el->num_nodes + more_nodes;
    PCSIM_TRY(pcsim_realloc((size_t)el->max_nodes, sizeof *el->tag, &el->tag));
  }
  return PCSIM_OK;
}

typedef struct {
  pcsim_cell_type type;
  int order, num_nodes, num_corners;
} element_kind;

static pcsim_status describe(int gmsh_type, int dim, element_kind *kind) {
  char *name = NULL;
  double *local = NULL;
  size_t num_local;
  int d = 0, e;
  gmshModelMeshGetElementProperties(gmsh_type, &name, &d, &kind->order, &kind->num_nodes, &local, &num_local,
                                    &kind->num_corners, &e);
  char text[64] = "unknown";
  if (!e && name) snprintf(text, sizeof text, "%s", name);
  if (!e) gmshFree(name);
  if (!e) gmshFree(local);
  static const struct {
    int dim, corners;
    pcsim_cell_type type;
  } known[] = {{1, 2, PCSIM_CELL_SEGMENT}, {2, 3, PCSIM_CELL_TRIANGLE}, {2, 4, PCSIM_CELL_QUAD},
               {3, 4, PCSIM_CELL_TETRA},   {3, 5, PCSIM_CELL_PYRAMID},  {3, 6, PCSIM_CELL_PRISM},
               {3, 8, PCSIM_CELL_HEXA}};
  for (size_t i = 0; !e && d == dim && i < sizeof known / sizeof *known; i++)
    if (known[i].dim == dim && known[i].corners == kind->num_corners &&
        kind->num_nodes >= kind->num_corners) {
      kind->type = known[i].type;
      return PCSIM_OK;
    }
  PCSIM_FAIL(PCSIM_ERR_MESH,
             "the mesh has elements of the Gmsh type %d (%s), which is not supported; expected "
             "triangles, quads, tetrahedra, pyramids, prisms, hexahedra",
             gmsh_type, text);
}

static pcsim_status add_block(msh_elements *el, const element_kind *kind, size_t n, const size_t *nodes,
                              int group) {
  static const int8_t straight[8] = {0, 1, 2, 3, 4, 5, 6, 7}, prism[8] = {0, 2, 1, 3, 5, 4};
  const int8_t *order =
      kind->type == PCSIM_CELL_PRISM ? prism : straight; /* Gmsh's prism to ours, see raw.h */
  PCSIM_TRY(grow(el, (int64_t)n, (int64_t)n * kind->num_corners));
  for (size_t i = 0; i < n; i++) {
    el->type[el->num] = (uint8_t)kind->type;
    el->group[el->num++] = group;
    for (int k = 0; k < kind->num_corners; k++)
      el->tag[el->num_nodes++] = nodes[i * (size_t)kind->num_nodes + (size_t)order[k]];
  }
  el->count[kind->type] += (int64_t)n;
  if (kind->order > el->order) el->order = kind->order;
  return PCSIM_OK;
}

static pcsim_status add_blocks(msh_elements *el, int tag, int group, const int *types, size_t num_types,
                               size_t *const *nodes, const size_t *num_nodes) {
  for (size_t i = 0; i < num_types; i++) {
    element_kind kind;
    if (num_nodes[i] == 0) continue;
    PCSIM_TRY(describe(types[i], el->dim, &kind));
    size_t n = num_nodes[i] / (size_t)kind.num_nodes;
    PCSIM_CHECK(n * (size_t)kind.num_nodes == num_nodes[i], PCSIM_ERR_MESH,
                "the elements of entity %d have a wrong number of nodes", tag);
    if (group < 0) el->ungrouped += (int64_t)n;
    else PCSIM_TRY(add_block(el, &kind, n, nodes[i], group));
  }
  return PCSIM_OK;
}

/* ------------------------------------------------------------------- groups */

static const char *entity_kind(int dim) { return dim == 1 ? "curve" : dim == 2 ? "surface" : "volume"; }

/* Name of a physical group: its own, blanks at the ends removed, or made of its tag. */
static void group_name(int dim, int tag, size_t size, char *name) {
  char *given = NULL;
  int e;
  gmshModelGetPhysicalName(dim, tag, &given, &e);
  const char *p = e || !given ? "" : given;
  while (isspace((unsigned char)*p)) p++;
  snprintf(name, size, "%s", p);
  size_t n = strlen(name);
  while (n > 0 && isspace((unsigned char)name[n - 1])) name[--n] = 0;
  for (size_t i = 0; i < n; i++)
    if (iscntrl((unsigned char)name[i])) name[i] = '_';
  if (n == 0) snprintf(name, size, "%s %d", entity_kind(dim), tag);
  if (!e) gmshFree(given);
}

/* Group of an entity, -1 if it has none while others do. Where no entity of the dimension is in a group,
 * the entities' own tags serve as names. */
static pcsim_status find_group(msh_elements *el, int tag, bool cells, bool any_group, int *group) {
  char name[256], second[256];
  int *physical = NULL, e;
  size_t n = 0;
  *group = -1;
  if (!any_group) {
    if (cells) snprintf(name, sizeof name, "fluid");
    else snprintf(name, sizeof name, "%s %d", entity_kind(el->dim), tag);
    return msh_names_add(&el->names, name, group);
  }
  gmshModelGetPhysicalGroupsForEntity(el->dim, tag, &physical, &n, &e);
  PCSIM_TRY(mesher_gmsh_check(e, "the groups of an entity"));
  if (n > 0) group_name(el->dim, abs(physical[0]), sizeof name, name);
  for (size_t i = 1; i < n && !cells; i++) {
    group_name(el->dim, abs(physical[i]), sizeof second, second);
    if (!strcmp(name, second)) continue;
    gmshFree(physical);
    PCSIM_FAIL(PCSIM_ERR_MESH, "%s %d is in two groups, '%s' and '%s'; a boundary needs one name",
               entity_kind(el->dim), tag, name, second);
  }
  gmshFree(physical);
  if (n == 0 && !cells) return PCSIM_OK;
  if (n == 0) snprintf(name, sizeof name, "%s %d", entity_kind(el->dim), tag);
  return msh_names_add(&el->names, name, group);
}

static pcsim_status take_entity(msh_elements *el, int tag, bool cells, bool any_group) {
  int *types = NULL, e, group;
  size_t num_types = 0, **tags = NULL, *num_tags = NULL, nn = 0, **nodes = NULL, *num_nodes = NULL, nn2 = 0;
  gmshModelMeshGetElements(&types, &num_types, &tags, &num_tags, &nn, &nodes, &num_nodes, &nn2, el->dim, tag,
                           &e);
  PCSIM_TRY(mesher_gmsh_check(e, "the elements"));
  pcsim_status status = PCSIM_OK;
  if (num_types > 0) status = find_group(el, tag, cells, any_group, &group);
  if (num_types > 0 && status == PCSIM_OK)
    status = add_blocks(el, tag, group, types, num_types, nodes, num_nodes);
  for (size_t i = 0; i < nn; i++) gmshFree(tags[i]);
  for (size_t i = 0; i < nn2; i++) gmshFree(nodes[i]);
  gmshFree(types);
  gmshFree(tags);
  gmshFree(num_tags);
  gmshFree(nodes);
  gmshFree(num_nodes);
  PCSIM_TRY(status);
  return PCSIM_OK;
}

pcsim_status msh_elements_take(int dim, bool cells, msh_elements *elements) {
  int *entity = NULL, *group = NULL, e;
  size_t num_entity = 0, num_group = 0;
  pcsim_status status = PCSIM_OK;
  *elements = (msh_elements){.dim = dim};
  gmshModelGetPhysicalGroups(&group, &num_group, dim, &e);
  PCSIM_TRY(mesher_gmsh_check(e, "the groups"));
  gmshFree(group);
  gmshModelGetEntities(&entity, &num_entity, dim, &e);
  PCSIM_TRY(mesher_gmsh_check(e, "the entities"));
  for (size_t i = 0; i + 1 < num_entity && status == PCSIM_OK; i += 2)
    status = take_entity(elements, entity[i + 1], cells, num_group > 0);
  gmshFree(entity);
  PCSIM_TRY(status);
  return PCSIM_OK;
}

/* -------------------------------------------------------------------- nodes */

void msh_nodes_free(msh_nodes *nodes) {
  pcsim_free(&nodes->x);
  pcsim_free(&nodes->tag);
  pcsim_free(&nodes->place);
}

typedef struct {
  uint64_t tag;
  int32_t place;
} tagged;

static int compare_tags(const void *a, const void *b) {
  const tagged *p = a, *q = b;
  return p->tag < q->tag ? -1 : p->tag > q->tag;
}

static pcsim_status sort_nodes(msh_nodes *nodes, const size_t *tag) {
  tagged *list = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)nodes->num, sizeof *list, &list));
  for (int64_t i = 0; i < nodes->num; i++) list[i] = (tagged){tag[i], (int32_t)i};
  qsort(list, (size_t)nodes->num, sizeof *list, compare_tags);
  for (int64_t i = 0; i < nodes->num; i++) {
    nodes->tag[i] = list[i].tag;
    nodes->place[i] = list[i].place;
  }
  pcsim_free(&list);
  for (int64_t i = 1; i < nodes->num; i++)
    PCSIM_CHECK(nodes->tag[i] != nodes->tag[i - 1], PCSIM_ERR_MESH, "two nodes have the number %llu",
                (unsigned long long)nodes->tag[i]);
  return PCSIM_OK;
}

pcsim_status msh_nodes_take(msh_nodes *nodes) {
  size_t *tag = NULL, n = 0, nx = 0, np = 0;
  double *x = NULL, *parameter = NULL;
  int e;
  pcsim_status status = PCSIM_OK;
  *nodes = (msh_nodes){0};
  gmshModelMeshGetNodes(&tag, &n, &x, &nx, &parameter, &np, -1, -1, 0, 0, &e);
  PCSIM_TRY(mesher_gmsh_check(e, "the nodes"));
  if (n > INT32_MAX || nx != 3 * n) {
    status = pcsim_error_set(PCSIM_ERR_MESH, __FILE__, __LINE__, __func__,
                             "the mesh has %zu nodes; the limit is %d", n, INT32_MAX);
    goto done;
  }
  nodes->num = (int64_t)n;
  PCSIM_GOTO(pcsim_alloc(n, 3 * sizeof *nodes->x, &nodes->x), status, done);
  PCSIM_GOTO(pcsim_alloc(n, sizeof *nodes->tag, &nodes->tag), status, done);
  PCSIM_GOTO(pcsim_alloc(n, sizeof *nodes->place, &nodes->place), status, done);
  if (n > 0) memcpy(nodes->x, x, n * 3 * sizeof *x);
  PCSIM_GOTO(sort_nodes(nodes, tag), status, done);
done:
  gmshFree(tag);
  gmshFree(x);
  gmshFree(parameter);
  return status;
}

int32_t msh_nodes_find(const msh_nodes *nodes, uint64_t tag) {
  int64_t low = 0, high = nodes->num;
  if (tag >= 1 && tag <= (uint64_t)nodes->num && nodes->tag[tag - 1] == tag) return nodes->place[tag - 1];
  while (low < high) {
    int64_t mid = low + (high - low) / 2;
    if (nodes->tag[mid] < tag) low = mid + 1;
    else high = mid;
  }
  return low < nodes->num && nodes->tag[low] == tag ? nodes->place[low] : -1;
}
