/* SPDX-License-Identifier: BSD-2-Clause */
/** @file domain_reader.h  Private to domain_read*.c: a domain while it is read. */
#ifndef PCSIM_PINN_DOMAIN_READER_H
#define PCSIM_PINN_DOMAIN_READER_H

#include "shape.h"

typedef struct {
  pcsim_tree *tree;
  domain *d;
  char *coordinate[DOMAIN_MAX]; /**< names; those of space first */
  char *piece[PIECES_MAX];      /**< names of boundaries */
  int num_coordinates, num_space, num_pieces;
  double range[SPACE_MAX][2]; /**< of the first solid */
  bool time;
  bool broken; /**< a range could not be read, be it told here or by the reader of the file */
  double time_range[2];
  pcsim_status status; /**< out of memory, a file that cannot be read */
} reader;

/** All of these report what is wrong in the tree and return false then. */

/** [low, high] under `key`. */
bool reader_range(reader *r, const pcsim_node *node, const char *key, double range[2]);
/** One more coordinate of space; `at`: where it is named. */
bool reader_add_space(reader *r, const pcsim_node *at, const char *name);
/** Place of a coordinate of space; -1 with a problem. */
int reader_find_space(reader *r, const pcsim_node *at, const char *name);
/** `t` of `node`, if it is there. */
void reader_time(reader *r, const pcsim_node *node);
/** A new boundary. */
bool reader_add_piece(reader *r, const pcsim_node *at, const char *name, int *piece);
/** A solid, an operation; `*number` gets the step. */
bool reader_add_solid(reader *r, const pcsim_node *at, const solid *s, int *number);
void reader_add_step(reader *r, step s, int *number);
/** Bounds of the coordinates in which a solid has none. */
void reader_extend(const reader *r, solid *s);

/** A box, a ball, a surface and what is added, kept and taken away. `first`: it says which coordinates there
 *  are; else `piece` is its boundary, and `bounded` whether it must be bounded in all of them. */
bool reader_shape(reader *r, pcsim_node *node, bool first, int piece, bool bounded, int *result);
/** A mesh file, named at `at`, as a domain. */
bool reader_msh(reader *r, const pcsim_node *at, const pcsim_mesh_spec *spec, int *result);
/** `mesh:` of the case as a domain. */
bool reader_mesh(reader *r, pcsim_node *mesh, int *result);

/** Keys of a box or ball with its pieces. */
extern const pcsim_key solid_keys[];
extern const size_t num_solid_keys;

#endif
