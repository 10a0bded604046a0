/* SPDX-License-Identifier: BSD-2-Clause */
/** @file spec.h  Private to mesh/: mesh specifications between the case and pcsim-mesh. */
#ifndef PCSIM_MESH_SPEC_H
#define PCSIM_MESH_SPEC_H

#include <pcsim/mesh.h>

/** One `key=value` of the hand-over: numbers, or a text if n is 0. */
typedef struct {
  char *key;
  int n;
  double value[3];
  char *text;
} pcsim_spec_item;

struct pcsim_mesh_spec {
  bool file;
  char *subject; /**< name of the shape, or path of the mesh file */
  char *place;   /**< file:line:column where the case names it */
  int num_items, max_items;
  pcsim_spec_item *item;
  int64_t num_sizes;
  double *sizes; /**< [num_sizes][4] places and sizes (pcsim_mesh_spec_set_sizes) */
};

pcsim_status pcsim_spec_add_text(pcsim_mesh_spec *spec, const char *key, const char *text) PCSIM_NODISCARD;
pcsim_status pcsim_spec_add_numbers(pcsim_mesh_spec *spec, const char *key, int n,
                                    const double *values) PCSIM_NODISCARD;

enum {
  PCSIM_SHAPE_PATCHES = 8, /**< names of boundaries of a shape, without what is taken away */
  PCSIM_SHAPE_HOLES = 40,  /**< balls that can be taken away from a box */
  PCSIM_SPEC_NAME = 60     /**< characters of the name of one */
};
/** `minus:` of a box, checked, as items `hole.NAME`. `patches` [PCSIM_SHAPE_PATCHES]: names that are taken.
 * (spec_holes.c)
 */
pcsim_status pcsim_spec_read_holes(pcsim_tree *tree, const pcsim_node *mesh, const char *const *patches,
                                   pcsim_mesh_spec *spec) PCSIM_NODISCARD;
/* spec_sizes.c */

/** `sizes:` of a case. */
pcsim_status pcsim_spec_read_sizes(pcsim_tree *tree, pcsim_node *mesh, pcsim_mesh_spec *spec) PCSIM_NODISCARD;
/** The sizes that were set as a file that the mesher reads. */
pcsim_status pcsim_spec_write_sizes(const pcsim_mesh_spec *spec, const char *path) PCSIM_NODISCARD;

/** A file relative to the one that names it, else to the case. Caller frees. */
pcsim_status pcsim_spec_find_file(const pcsim_tree *tree, const pcsim_node *node,
                                  char **path) PCSIM_NODISCARD;
bool pcsim_spec_has_control(const char *text);

/** What a shape is beside its public entry. */
typedef struct {
  const pcsim_shape *shape;
  const char *patches[PCSIM_SHAPE_PATCHES]; /**< names it can make, NULL-terminated; near: takes them */
  const char *layers_on;                    /**< patch that can have wall layers, or NULL */
  /** What the keys cannot say one by one; problems go to the tree. May be NULL. */
  void (*check)(pcsim_tree *tree, const pcsim_node *mesh);
} pcsim_shape_entry;
const pcsim_shape_entry *pcsim_shape_entries(size_t *n);

/** Keys of every shape: shape, near, algorithm. */
extern const pcsim_key pcsim_shape_common_keys[];
extern const size_t pcsim_shape_num_common_keys;
/** Keys of one entry of near, and of its layers. */
extern const pcsim_key pcsim_near_keys[];
extern const size_t pcsim_near_num_keys;
extern const pcsim_key pcsim_layer_keys[];
extern const size_t pcsim_layer_num_keys;
/** Keys of sizes. */
extern const pcsim_key pcsim_sizes_keys[];
extern const size_t pcsim_sizes_num_keys;
/** Keys of a mesh from a file. */
extern const pcsim_key pcsim_mesh_file_keys[];
extern const size_t pcsim_mesh_num_file_keys;

#endif
