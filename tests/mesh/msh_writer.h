/* SPDX-License-Identifier: BSD-2-Clause */
/** @file msh_writer.h  Plane meshes as Gmsh files of every kind that the tests read. */
#ifndef TESTS_MESH_MSH_WRITER_H
#define TESTS_MESH_MSH_WRITER_H

#include "pcsim_test.h"

#include <pcsim/mesh.h>

typedef struct {
  int version; /**< 22 or 41 */
  bool binary, second_order, reversed, unnamed, no_facets;
  double z;
} msh_kind;

/* One value, as text with what follows, or as bytes. */
static inline void put_int(FILE *f, bool binary, int v, char after) {
  if (binary) fwrite(&v, sizeof v, 1, f);
  else fprintf(f, "%d%c", v, after);
}
static inline void put_size(FILE *f, bool binary, size_t v, char after) {
  if (binary) fwrite(&v, sizeof v, 1, f);
  else fprintf(f, "%zu%c", v, after);
}
static inline void put_real(FILE *f, bool binary, double v, char after) {
  if (binary) fwrite(&v, sizeof v, 1, f);
  else fprintf(f, "%.17g%c", v, after);
}

/* Elements of a plane mesh: facets first, then cells. Second order adds a node per edge (and one in the
 * middle of a quad), each element its own: nobody but the element uses them. */
typedef struct {
  int kind, group, dim, num, node[9];
} msh_element;

static inline msh_element msh_element_of(const pcsim_raw_mesh *m, const msh_kind *k, int64_t i, int *next) {
  static const int first[] = {1, 2, 3}, second[] = {8, 9, 10};
  bool facet = i < m->num_facets;
  int64_t j = facet ? i : i - m->num_facets;
  int type = facet ? m->facet_type[j] : m->cell_type[j];
  const int32_t *node = facet ? m->facet_nodes + m->facet_start[j] : m->cell_nodes + m->cell_start[j];
  msh_element e = {.kind = k->second_order ? second[type] : first[type],
                   .group = facet ? m->facet_patch[j] + 1 : 100 + m->cell_region[j],
                   .dim = facet ? 1 : 2,
                   .num = pcsim_cell_num_nodes((pcsim_cell_type)type)};
  for (int c = 0; c < e.num; c++) e.node[c] = node[!facet && k->reversed ? e.num - 1 - c : c] + 1;
  int extra = !k->second_order ? 0 : e.num == 2 ? 1 : e.num == 3 ? 3 : 5;
  for (int c = 0; c < extra; c++) e.node[e.num++] = ++*next;
  return e;
}

static inline void msh_write_22(FILE *f, const pcsim_raw_mesh *m, const msh_kind *k, int64_t first,
                                int64_t total, int nodes) {
  int next = (int)m->num_nodes;
  fprintf(f, "$Nodes\n%d\n", nodes);
  for (int i = 0; i < nodes; i++) {
    put_int(f, k->binary, i + 1, ' ');
    put_real(f, k->binary, i < m->num_nodes ? m->nodes[3 * i] : 0.5, ' ');
    put_real(f, k->binary, i < m->num_nodes ? m->nodes[3 * i + 1] : 0.5, ' ');
    put_real(f, k->binary, k->z, '\n');
  }
  fprintf(f, "%s$EndNodes\n$Elements\n%d\n", k->binary ? "\n" : "", (int)(total - first));
  for (int64_t i = first; i < total; i++) {
    msh_element e = msh_element_of(m, k, i, &next);
    int physical = k->unnamed ? 0 : e.group;
    const int binary_head[] = {e.kind, 1, 2, (int)i + 1, physical, e.group},
              text_head[] = {(int)i + 1, e.kind, 2, physical, e.group};
    for (int c = 0; c < (k->binary ? 6 : 5); c++)
      put_int(f, k->binary, k->binary ? binary_head[c] : text_head[c], ' ');
    for (int c = 0; c < e.num; c++) put_int(f, k->binary, e.node[c], c + 1 < e.num ? ' ' : '\n');
  }
  fprintf(f, "%s$EndElements\n", k->binary ? "\n" : "");
}

static inline void msh_write_41(FILE *f, const pcsim_raw_mesh *m, const msh_kind *k, int64_t first,
                                int64_t total, int nodes) {
  bool b = k->binary;
  int next = (int)m->num_nodes;
  fprintf(f, "$Entities\n");
  const size_t count[4] = {0, (size_t)m->num_patches, (size_t)m->num_regions, 0};
  for (int c = 0; c < 4; c++) put_size(f, b, count[c], c < 3 ? ' ' : '\n');
  for (int g = 0; g < m->num_patches + m->num_regions; g++) {
    int tag = g < m->num_patches ? g + 1 : 100 + g - m->num_patches;
    put_int(f, b, tag, ' ');
    for (int c = 0; c < 6; c++) put_real(f, b, c < 3 ? -10 : 10, ' ');
    put_size(f, b, k->unnamed ? 0 : 1, ' ');
    if (!k->unnamed) put_int(f, b, tag, ' ');
    put_size(f, b, 0, '\n');
  }
  fprintf(f, "%s$EndEntities\n$Nodes\n", b ? "\n" : "");
  const size_t head[4] = {1, (size_t)nodes, 1, (size_t)nodes};
  for (int c = 0; c < 4; c++) put_size(f, b, head[c], c < 3 ? ' ' : '\n');
  put_int(f, b, 2, ' ');
  put_int(f, b, 100, ' ');
  put_int(f, b, 0, ' ');
  put_size(f, b, (size_t)nodes, '\n');
  for (int i = 0; i < nodes; i++) put_size(f, b, (size_t)i + 1, '\n');
  for (int i = 0; i < nodes; i++) {
    put_real(f, b, i < m->num_nodes ? m->nodes[3 * i] : 0.5, ' ');
    put_real(f, b, i < m->num_nodes ? m->nodes[3 * i + 1] : 0.5, ' ');
    put_real(f, b, k->z, '\n');
  }
  fprintf(f, "%s$EndNodes\n$Elements\n", b ? "\n" : "");
  const size_t elements[4] = {(size_t)(total - first), (size_t)(total - first), 1, (size_t)total};
  for (int c = 0; c < 4; c++) put_size(f, b, elements[c], c < 3 ? ' ' : '\n');
  for (int64_t i = first; i < total; i++) { /* a block for each: the order stays */
    msh_element e = msh_element_of(m, k, i, &next);
    put_int(f, b, e.dim, ' ');
    put_int(f, b, e.group, ' ');
    put_int(f, b, e.kind, ' ');
    put_size(f, b, 1, '\n');
    put_size(f, b, (size_t)i + 1, ' ');
    for (int c = 0; c < e.num; c++) put_size(f, b, (size_t)e.node[c], c + 1 < e.num ? ' ' : '\n');
  }
  fprintf(f, "%s$EndElements\n", b ? "\n" : "");
}

/** Write a plane raw mesh. */
static inline void msh_write(const pcsim_raw_mesh *m, const msh_kind *k, const char *path) {
  FILE *f = fopen(path, "wb");
  int64_t first = k->no_facets ? m->num_facets : 0, total = m->num_facets + m->num_cells;
  int nodes = (int)m->num_nodes;
  assert_non_null(f);
  fprintf(f, "$MeshFormat\n%s %d 8\n", k->version == 22 ? "2.2" : "4.1", k->binary);
  if (k->binary) put_int(f, true, 1, '\n');
  fprintf(f, "%s$EndMeshFormat\n", k->binary ? "\n" : "");
  if (!k->unnamed) {
    fprintf(f, "$PhysicalNames\n%d\n", m->num_patches + m->num_regions);
    for (int i = 0; i < m->num_patches; i++) fprintf(f, "1 %d \"%s\"\n", i + 1, m->patches[i]);
    for (int i = 0; i < m->num_regions; i++) fprintf(f, "2 %d \"%s\"\n", 100 + i, m->regions[i]);
    fprintf(f, "$EndPhysicalNames\n");
  }
  for (int64_t i = first; i < total; i++) msh_element_of(m, k, i, &nodes);
  if (k->version == 22) msh_write_22(f, m, k, first, total, nodes);
  else msh_write_41(f, m, k, first, total, nodes);
  assert_int_equal(fclose(f), 0);
}

#endif
