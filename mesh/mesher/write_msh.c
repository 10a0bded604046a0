/* SPDX-License-Identifier: BSD-2-Clause */
/* A raw mesh as Gmsh 2.2 text, the version that most other codes read. */
#include "mesher.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const int gmsh_type[PCSIM_NUM_CELL_TYPES] = {
    [PCSIM_CELL_SEGMENT] = 1, [PCSIM_CELL_TRIANGLE] = 2, [PCSIM_CELL_QUAD] = 3, [PCSIM_CELL_TETRA] = 4,
    [PCSIM_CELL_PYRAMID] = 7, [PCSIM_CELL_PRISM] = 6,    [PCSIM_CELL_HEXA] = 5};

static void write_elements(FILE *file, int64_t first, int64_t n, const uint8_t *type, const int64_t *start,
                           const int32_t *nodes, const int32_t *group, int first_group) {
  static const int straight[8] = {0, 1, 2, 3, 4, 5, 6, 7}, prism[8] = {0, 2, 1, 3, 5, 4};
  for (int64_t i = 0; i < n; i++) {
    const int *order = type[i] == PCSIM_CELL_PRISM ? prism : straight;
    int tag = first_group + group[i];
    fprintf(file, "%" PRId64 " %d 2 %d %d", first + i, gmsh_type[type[i]], tag, tag);
    for (int k = 0; k < pcsim_cell_num_nodes(type[i]); k++)
      fprintf(file, " %d", nodes[start[i] + order[k]] + 1);
    fputc('\n', file);
  }
}

static void write_all(FILE *file, const pcsim_raw_mesh *m) {
  fprintf(file, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n%d\n",
          m->num_patches + m->num_regions);
  for (int i = 0; i < m->num_patches; i++) fprintf(file, "%d %d \"%s\"\n", m->dim - 1, i + 1, m->patches[i]);
  for (int i = 0; i < m->num_regions; i++)
    fprintf(file, "%d %d \"%s\"\n", m->dim, m->num_patches + i + 1, m->regions[i]);
  fprintf(file, "$EndPhysicalNames\n$Nodes\n%" PRId64 "\n", m->num_nodes);
  for (int64_t i = 0; i < m->num_nodes; i++)
    fprintf(file, "%" PRId64 " %.17g %.17g %.17g\n", i + 1, m->nodes[3 * i], m->nodes[3 * i + 1],
            m->nodes[3 * i + 2]);
  fprintf(file, "$EndNodes\n$Elements\n%" PRId64 "\n", m->num_facets + m->num_cells);
  write_elements(file, 1, m->num_facets, m->facet_type, m->facet_start, m->facet_nodes, m->facet_patch, 1);
  write_elements(file, m->num_facets + 1, m->num_cells, m->cell_type, m->cell_start, m->cell_nodes,
                 m->cell_region, m->num_patches + 1);
  fprintf(file, "$EndElements\n");
}

pcsim_status mesher_msh_write(const pcsim_raw_mesh *raw, const char *path) {
  char *part = NULL;
  size_t n = strlen(path) + 6;
  PCSIM_TRY(pcsim_alloc(n, 1, &part));
  snprintf(part, n, "%s.part", path);
  FILE *file = fopen(part, "w");
  bool good = file != NULL;
  if (file) {
    write_all(file, raw);
    good = !ferror(file);
    good = fflush(file) == 0 && fsync(fileno(file)) == 0 && good;
    good = fclose(file) == 0 && good;
  }
  good = good && rename(part, path) == 0;
  int reason = errno;
  if (!good && file) unlink(part);
  pcsim_free(&part);
  PCSIM_CHECK(good, PCSIM_ERR_IO, "%s: cannot be written: %s", path, strerror(reason));
  return PCSIM_OK;
}
