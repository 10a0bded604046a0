/* SPDX-License-Identifier: BSD-2-Clause */
/* Sizes of cells at places, from a file that the case names or from who embeds the library. */
#include "spec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static pcsim_status add(pcsim_mesh_spec *spec, const char *file, double growth) {
  const double factor = 1;
  if (file) PCSIM_TRY(pcsim_spec_add_text(spec, "sizes.file", file));
  PCSIM_TRY(pcsim_spec_add_numbers(spec, "sizes.growth", 1, &growth));
  return pcsim_spec_add_numbers(spec, "sizes.factor", 1, &factor);
}

pcsim_status pcsim_spec_read_sizes(pcsim_tree *tree, pcsim_node *mesh, pcsim_mesh_spec *spec) {
  pcsim_node *sizes = pcsim_node_get(mesh, "sizes");
  char *path = NULL;
  double growth = 0.2;
  if (!sizes || pcsim_node_get_kind(sizes) != PCSIM_NODE_MAPPING || pcsim_node_size(sizes) == 0)
    return PCSIM_OK;
  pcsim_node_check(tree, sizes, pcsim_sizes_keys, pcsim_sizes_num_keys, "sizes");
  const pcsim_node *file = pcsim_node_get(sizes, "file");
  if (!file || pcsim_node_get_kind(file) != PCSIM_NODE_SCALAR) return PCSIM_OK;
  pcsim_node_number(tree, sizes, "growth", &growth);
  pcsim_status status = pcsim_spec_find_file(tree, file, &path);
  if (status == PCSIM_OK && (pcsim_spec_has_control(path) || !pcsim_file_exists(path)))
    pcsim_tree_problem(tree, file, "there is no file of sizes '%s'", path);
  if (status == PCSIM_OK) status = add(spec, path, growth);
  pcsim_free(&path);
  return status;
}

/* Those of the case give way. */
static void drop(pcsim_mesh_spec *spec) {
  int kept = 0;
  for (int i = 0; i < spec->num_items; i++) {
    if (strncmp(spec->item[i].key, "sizes.", 6) != 0) {
      spec->item[kept++] = spec->item[i];
      continue;
    }
    pcsim_free(&spec->item[i].key);
    pcsim_free(&spec->item[i].text);
  }
  spec->num_items = kept;
  spec->num_sizes = 0;
  pcsim_free(&spec->sizes);
}

pcsim_status pcsim_mesh_spec_set_sizes(pcsim_mesh_spec *spec, const pcsim_mesh_sizes *sizes) {
  PCSIM_CHECK(!spec->file, PCSIM_ERR_CASE, "%s: the sizes of the mesh file '%s' cannot be changed",
              spec->place, spec->subject);
  PCSIM_CHECK(sizes->num > 0 && sizes->growth > 0 && isfinite(sizes->growth), PCSIM_ERR_ARG,
              "%lld sizes with the growth %g; expected some, and a positive one", (long long)sizes->num,
              sizes->growth);
  for (int64_t i = 0; i < sizes->num; i++) {
    const double *p = sizes->point + 3 * i;
    PCSIM_CHECK(sizes->size[i] > 0 && isfinite(sizes->size[i] + p[0] + p[1] + p[2]), PCSIM_ERR_ARG,
                "size %lld is %g at (%g, %g, %g); expected finite numbers and a positive size", (long long)i,
                sizes->size[i], p[0], p[1], p[2]);
  }
  drop(spec);
  PCSIM_TRY(pcsim_alloc((size_t)sizes->num, 4 * sizeof *spec->sizes, &spec->sizes));
  for (int64_t i = 0; i < sizes->num; i++) {
    memcpy(spec->sizes + 4 * i, sizes->point + 3 * i, 3 * sizeof *spec->sizes);
    spec->sizes[4 * i + 3] = sizes->size[i];
  }
  spec->num_sizes = sizes->num;
  return add(spec, NULL, sizes->growth);
}

pcsim_status pcsim_spec_write_sizes(const pcsim_mesh_spec *spec, const char *path) {
  enum { LINE = 4 * 26 + 1 };
  size_t used = 0;
  char *text = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)spec->num_sizes * LINE + 1, 1, &text));
  for (int64_t i = 0; i < spec->num_sizes; i++) {
    const double *s = spec->sizes + 4 * i;
    used += (size_t)snprintf(text + used, LINE, "%.17g %.17g %.17g %.17g\n", s[0], s[1], s[2], s[3]);
  }
  const pcsim_status status = pcsim_file_write(path, text, used);
  pcsim_free(&text);
  return status;
}
