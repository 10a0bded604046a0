/* SPDX-License-Identifier: BSD-2-Clause */
/** @file file.h  Private to autodiff/: the form in which a program stands in a file. Every part is one data
 * set of the HDF5 file, so that other tools can read a program too; docs/autodiff.md describes them. */
#ifndef PCSIM_AUTODIFF_FILE_H
#define PCSIM_AUTODIFF_FILE_H

#include "graph.h"

#include <hdf5.h>

enum { FILE_VERSION = 2, FILE_HEADER_SIZE = 512, FILE_NODE_WIDTH = 8 };

/** Columns of the part "nodes". */
enum {
  COLUMN_KIND,
  COLUMN_OP,
  COLUMN_INDEX,
  COLUMN_SPACE,
  COLUMN_ROWS,
  COLUMN_COLUMNS,
  COLUMN_FIRST,
  COLUMN_INPUTS
};

/** Parts: X(enum, name of the data set, type). INT and DOUBLE are flat arrays, TEXT is texts with a zero byte
 *  behind each. */
#define FILE_PART_LIST(X)                                                                                    \
  X(NODES, "nodes", INT)        /* [values][8] */                                                            \
  X(INPUTS, "inputs", INT)      /* of all values, one after another */                                       \
  X(NUMBERS, "numbers", DOUBLE) /* of constants and parameters, one after another */                         \
  X(NAMES, "names", TEXT)       /* of inputs and parameters, in their order */                               \
  X(SPACES, "spaces", TEXT)                                                                                  \
  X(MAPS, "maps", INT) /* [maps][3]: to, from, width (0: index map) */                                       \
  X(MAP_NAMES, "map_names", TEXT)                                                                            \
  X(OUTPUTS, "outputs", INT) /* values */                                                                    \
  X(OUTPUT_NAMES, "output_names", TEXT)                                                                      \
  X(OPERATORS, "operators", INT) /* of the host: inputs of each */                                           \
  X(OPERATOR_NAMES, "operator_names", TEXT)
typedef enum {
#define FILE_PART_ENUM(part, name, type) PART_##part,
  FILE_PART_LIST(FILE_PART_ENUM)
#undef FILE_PART_ENUM
      NUM_PARTS
} file_part;
typedef enum { PART_INT, PART_DOUBLE, PART_TEXT } file_part_type;
typedef struct {
  const char *name;
  file_part_type type;
} file_part_info;
extern const file_part_info file_parts[NUM_PARTS];
/** Bytes of one element in memory. */
size_t file_element_size(file_part_type type);

/** A program as arrays. */
typedef struct {
  struct {
    size_t count; /**< elements; bytes of TEXT */
    void *data;   /**< owned */
  } part[NUM_PARTS];
} program_flat;
void program_flat_free(program_flat *flat);
/** Of a host's operators the names are kept. Errors: ERR_ARG for a program that no file can hold (faults of
 * building, two operators of one name). */
pcsim_status program_flatten(const pcsim_program *program, program_flat *flat) PCSIM_NODISCARD;
/** What a host has for programs that name its operators. */
typedef struct {
  const pcsim_user_op *ops;
  int n;
} file_operators;
/** Build the program through the builders, which check it; what they derive must be what stands there.
 * Errors: ERR_IO with a sentence that begins after the file's name ("value 3: ..."). Caller destroys. */
pcsim_status program_unflatten(const program_flat *flat, file_operators operators,
                               pcsim_program **program) PCSIM_NODISCARD;

/** The whole file in memory. Caller frees. */
pcsim_status program_image_make(const pcsim_program *program, char **image, size_t *size) PCSIM_NODISCARD;
/** `path` is for messages. Caller destroys. */
pcsim_status program_image_read(const char *path, const char *image, size_t size, file_operators operators,
                                pcsim_program **program) PCSIM_NODISCARD;
/** Text before the HDF5 file: magic, version, bytes in all, checksums of content and of itself. */
void file_header(char header[FILE_HEADER_SIZE], const char *content, size_t content_size);
extern const char file_magic[];

/** HDF5 prints nothing between the two; the host's setting comes back. */
typedef struct {
  H5E_auto2_t function;
  void *context;
} file_printing;
void file_quiet(file_printing *saved);
void file_loud(const file_printing *saved);

#endif
