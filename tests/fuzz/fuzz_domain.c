/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as a case whose domain is read. What must hold: no crash, no leak; a domain, or a problem; points
 * of it are inside and on its boundary, and distance functions are programs without a fault. */
#include "pinn/domain_reader.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                                      \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "%s:%d: does not hold: %s\n%s\n", __FILE__, __LINE__, #condition,                      \
              pcsim_error_message());                                                                        \
      abort();                                                                                               \
    }                                                                                                        \
  } while (0)

/* No mesher is started from here. */
bool reader_msh(reader *r, const pcsim_node *at, const pcsim_mesh_spec *spec, int *result) {
  (void)spec, (void)result;
  pcsim_tree_problem(r->tree, at, "no files");
  return false;
}

enum { POINTS = 8 };

static void draw(const domain *d) {
  const domain_view *v = domain_get(d);
  double points[POINTS * DOMAIN_MAX], normals[POINTS * SPACE_MAX];
  if (domain_draw_inside(d, 1, 2, POINTS, points) == PCSIM_OK)
    for (int i = 0; i < POINTS; i++) MUST(domain_inside(d, points + i * v->num_coordinates));
  for (int p = 0; p < v->num_pieces; p++) {
    MUST(v->area[p] > 0 && v->piece[p][0]);
    if (domain_draw_piece(d, p, 1, 2, POINTS, points, normals) != PCSIM_OK) continue;
    for (int i = 0; i < POINTS; i++) MUST(domain_near(d, points + i * v->num_coordinates, 1e-9));
  }
}

static void measure(const domain *d, uint64_t which) {
  const domain_view *v = domain_get(d);
  pcsim_program *p = NULL;
  bool of[PIECES_MAX];
  for (int i = 0; i < v->num_pieces; i++) of[i] = which >> i % 64 & 1;
  MUST(pcsim_program_create(&p) == PCSIM_OK);
  const pcsim_value x =
      pcsim_build_input(p, "coordinates", pcsim_build_space(p, "points"), v->num_coordinates);
  (void)domain_distance(d, of, p, x);
  MUST(pcsim_program_status(p) == PCSIM_OK);
  pcsim_program_destroy(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  pcsim_tree *tree = NULL;
  domain *d = NULL;
  if (pcsim_tree_parse((const char *)data, size, "fuzz.yaml", &tree) == PCSIM_OK) {
    MUST(domain_read(tree, &d) == PCSIM_OK);
    MUST((d != NULL) == (pcsim_tree_num_problems(tree) == 0) || d == NULL);
    MUST(d || pcsim_tree_num_problems(tree) > 0);
    if (d) {
      draw(d);
      measure(d, size * 0x9E3779B97F4A7C15u);
      measure(d, ~(uint64_t)0);
    }
  }
  domain_destroy(&d);
  pcsim_tree_destroy(&tree);
  MUST(pcsim_memory_used() == 0);
  return 0;
}
