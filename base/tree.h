/* SPDX-License-Identifier: BSD-2-Clause */
/** @file tree.h  Inside of the case-file tree. Private to base. */
#ifndef PCSIM_BASE_TREE_H
#define PCSIM_BASE_TREE_H

#include "arena.h"

enum {
  TREE_MAX_BYTES = 4 << 20, /**< of one file: a case is small, tables live in files of their own */
  TREE_MAX_NODES = 200000,  /**< of one file */
  TREE_MAX_DEPTH = 64,
  TREE_MAX_KEYS = 10000,      /**< of one mapping, and */
  TREE_MAX_PARAMETERS = 1000, /**< looking one up is a walk over all */
  TREE_MAX_KEY = 256,         /**< bytes of a key; YAML allows 1024 characters with escapes */
  TREE_MAX_FILES = 16,        /**< in a chain of `extends` */
  TREE_MAX_PROBLEMS = 1000,   /**< kept */
  TREE_SHOWN_PROBLEMS = 100,
  TREE_MAX_PROBLEM = 1000 /**< bytes of one text */
};

/** One text that nodes came from. */
typedef struct {
  const char *name;   /**< as it stands in messages */
  const char *folder; /**< for paths inside it */
  const char *text;   /**< [size], zero-terminated, without byte order mark */
  size_t size;
  int rank;  /**< order of reading: problems are sorted by it first */
  int shift; /**< columns before the text in its first line (an assignment) */
  bool made; /**< a default: its nodes have line 0 */
} tree_source;

typedef enum { STYLE_PLAIN, STYLE_SINGLE, STYLE_DOUBLE, STYLE_LITERAL, STYLE_FOLDED } scalar_style;

struct pcsim_node {
  pcsim_node_kind kind;
  scalar_style style; /**< scalars */
  int line, column;   /**< 1-based; line 0: a default */
  bool broken;        /**< has a problem already; others at it are consequences */
  bool used;          /**< was asked for by its key */
  const tree_source *source;
  size_t start, end;     /**< bytes in source->text */
  const char *text;      /**< scalar; else "" */
  int64_t place;         /**< among the children of its parent */
  pcsim_node *parent;    /**< NULL for the root */
  pcsim_node *key;       /**< the key that this value stands under; NULL in a sequence and for the root */
  pcsim_node **children; /**< [size] values */
  int64_t size, room;
};

typedef struct {
  const tree_source *source;
  int line, column;
  size_t order;
  bool of_parameters; /**< goes when the parameters are evaluated again */
  char *text;
} tree_problem;

struct pcsim_tree {
  arena memory;
  pcsim_node *root;
  tree_source *source; /**< of the case itself */
  int num_sources;
  tree_problem *problems; /**< [num_problems], in order of finding */
  size_t num_problems, room_problems;
  size_t num_dropped;      /**< found, but more than are kept */
  bool in_parameters;      /**< parameters are being evaluated */
  pcsim_status failure;    /**< memory ran out where nothing can be returned */
  const char **parameters; /**< [num_parameters] */
  double *values;          /**< [num_parameters]; nan: wrong, and said */
  int num_parameters, room_parameters;
};

/* tree.c */
pcsim_status tree_new_source(pcsim_tree *tree, const char *name, const char *folder, const char *text,
                             size_t size, tree_source **source) PCSIM_NODISCARD;
pcsim_status tree_new_node(pcsim_tree *tree, pcsim_node_kind kind, const tree_source *source,
                           pcsim_node **node) PCSIM_NODISCARD;
/** Append a value to a sequence (key NULL) or mapping. */
pcsim_status tree_append(pcsim_tree *tree, pcsim_node *parent, pcsim_node *key,
                         pcsim_node *value) PCSIM_NODISCARD;
/** Place of `key` among the children, -1 if absent. */
int64_t tree_find(const pcsim_node *mapping, const char *key);
/** Problem at a place of a source. */
void tree_problem_at(pcsim_tree *tree, const tree_source *source, int line, int column, const char *fmt, ...)
    PCSIM_PRINTF(5, 6);
/** Message of all problems, or a status of the tree itself. */
pcsim_status tree_report(const pcsim_tree *tree) PCSIM_NODISCARD;
/** Is this a scalar without any text (`key:`)? */
bool node_is_empty(const pcsim_node *node);
/** "'viscosity'" or "element 2 of 'velocity'". */
const char *node_label(const pcsim_node *node, char *out, size_t size);
/** "'abc'", "nothing", "a sequence", "a mapping". */
const char *node_found(const pcsim_node *node, char *out, size_t size);

/* tree_yaml.c */
/** Parse a text into nodes. Problems go to the tree; `*root` stays NULL if the text cannot be used at all.
 *  Returns only what is no problem of the text (memory). */
pcsim_status tree_scan(pcsim_tree *tree, const tree_source *source, pcsim_node **root) PCSIM_NODISCARD;
/** Line and column of byte `offset` of a scalar's value. */
void tree_place_inside(const pcsim_node *node, size_t offset, int *line, int *column);
/** One UTF-8 character: its size in bytes, 0 if wrong (or past `end`). */
size_t tree_decode(const char *text, const char *end, uint32_t *code);
/** May this character stand in YAML as it is? */
bool tree_printable(uint32_t code);

/* tree_parameters.c */
pcsim_status tree_evaluate_parameters(pcsim_tree *tree) PCSIM_NODISCARD;
/** Value of a scalar; records a problem and returns false if it is none. */
bool tree_number(pcsim_tree *tree, const pcsim_node *node, double *value);
/** The same, and whole. */
bool tree_integer(pcsim_tree *tree, const pcsim_node *node, int64_t *value);

#endif
