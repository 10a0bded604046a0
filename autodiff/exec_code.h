/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_code.h  Private: elementwise steps as machine code.
 *
 *  A run of elementwise instructions and copies becomes one loop over the vectors of a tile whose body
 * computes all their rows: values stay in registers, copies and repeated rows cost nothing, and what nobody
 * reads later is not written. In double, loads and gathers before the run and stores behind it are part of
 * it: rows come from memory when they are first wanted and go there without a place in the tile. The
 * operations are those of the kernels, rounding for rounding, so that the
 * result has the same bits. Code is made for x86-64 with AVX2 or AVX-512; elsewhere, or where the system
 * gives no memory to run code in, there is none and the kernels do the work. */
#ifndef PCSIM_AUTODIFF_EXEC_CODE_H
#define PCSIM_AUTODIFF_EXEC_CODE_H

#include "exec.h"

/* ------------------------------------------------------- straight-line programs */

/** One machine instruction or two. Results of comparisons are masks. */
typedef enum {
  CODE_ADD,
  CODE_SUB,
  CODE_MUL,
  CODE_DIV,
  CODE_LESS_OF, /**< the first where it is less than the second, else the second */
  CODE_MORE_OF,
  CODE_SQRT,
  CODE_FLOOR,
  CODE_AND,     /**< bits */
  CODE_AND_NOT, /**< bits of the second that the first has not */
  CODE_OR,
  CODE_XOR,
  CODE_LT,
  CODE_LE,
  CODE_EQ,
  CODE_NOT_EQ,
  CODE_NAN,   /**< one of two is nan */
  CODE_BLEND, /**< the second where the mask, the first, is set; else the third */
  CODE_FMA,   /**< a b + c */
  CODE_FMS,   /**< a b - c */
  CODE_FNMA,  /**< c - a b */
  CODE_STORE, /**< the first into row `row` of the tile */
  /* Four points of a stream of doubles; `at`: bytes from where a point begins. */
  CODE_TAKE_PAIR,   /**< two rows of point `point` and of point `point` + 2 */
  CODE_TAKE_HALF,   /**< a row of points `point` and `point` + 1 in the lower half */
  CODE_TAKE,        /**< a row of four points that stand side by side */
  CODE_UNPACK_LOW,  /**< of two pairs the first row of four points; of two rows the pair of point 0 */
  CODE_UNPACK_HIGH, /**< the second row; the pair of point 1 */
  CODE_JOIN,        /**< the lower halves of two */
  CODE_PUT_PAIR,    /**< the first as CODE_TAKE_PAIR takes it */
  CODE_PUT          /**< the first as CODE_TAKE takes it */
} code_op;

/** Where a value is in memory. */
typedef enum {
  CODE_NOWHERE,
  CODE_ROW,      /**< row of the tile, from the row at which the code is started */
  CODE_FIXED,    /**< row of the tile, from its first */
  CODE_CONSTANT, /**< slot of the constants */
  CODE_SPILL     /**< slot of the spilled values */
} code_base;
typedef struct {
  code_base base;
  int index;
} code_home;

enum { CODE_INPUTS = 3, CODE_SLOT_BYTES = 64 };
typedef struct {
  code_op op;
  int out, in[CODE_INPUTS]; /**< values, -1: none */
  int row;
  int stream, point, at;
} code_step;

/** Points in memory, a tile of them for each call, that code reads or writes as it goes: side by side, or
 * where an index says. */
typedef enum { STREAM_IN, STREAM_GATHER, STREAM_OUT } stream_kind;
typedef struct {
  stream_kind kind;
  int point_bytes;
  int used_bytes; /**< of a point, from where it begins */
  int index;      /**< of a gather: which index */
} code_stream;

/** Values are numbered; those that no step makes have a home. */
typedef struct {
  code_home *homes;
  int num_values;
  code_step *steps;
  int num_steps;
  code_stream *streams;
  int num_streams, num_indices;
} code_trace;

/** Bytes as they grow. */
typedef struct {
  unsigned char *bytes;
  size_t size, room;
  pcsim_status status; /**< the first failure; later bytes are dropped */
} code_bytes;

/** Points of an index ahead of which sources are asked for. */
enum { CODE_AHEAD = 64 };
/** Arguments: the row at which homes ROW begin, the tile, constants, memory for spilled values, the addresses
 * of streams, which the code moves on: of each its first point (a gather: of all points), then of each index
 * its first entry and the one that is CODE_AHEAD further on, or any other with a tile of entries behind it.
 */
typedef void code_function(char *row, char *tile, const char *constants, char *spill, const void **streams);

/** Machine code of `trace` for rows of row_bytes bytes (a multiple of 32; of 64 with AVX-512), appended to
 * `out`; `spills` gets the slots of spilled values, CODE_SLOT_BYTES each. The function runs over `rows` rows,
 * one after the other, which only a trace without homes CODE_FIXED and without streams may have more than one
 * of. */
pcsim_status code_emit(const code_trace *trace, bool single, bool avx512, int64_t row_bytes, int rows,
                       code_bytes *out, int *spills) PCSIM_NODISCARD;

/* ------------------------------------------------------------------ of a plan */

/** A number of a value on no space that the code of a stage reads. */
typedef struct {
  pcsim_value node;
  int row;
} code_constant;

/** Instructions first .. first + count - 1 of the plan as one function, called at rows 0 .. calls - 1. */
typedef struct {
  int stage, first, count, calls;
  size_t offset; /**< into the code */
  int first_stream, num_streams, num_indices;
} code_unit;

/** What an instruction loads, gathers or stores. */
typedef struct {
  code_stream stream;
  int instruction;
} unit_stream;
enum { MAX_UNIT_STREAMS = 32 };

typedef struct {
  int tile;         /**< points a tile */
  code_unit *units; /**< ascending */
  int num_units;
  unit_stream *streams; /**< of all units */
  int num_streams;
  size_t pad_bytes; /**< what exec_code_run needs for tiles that are not full */
  int *unit_of;     /**< [instructions of the plan]: unit that begins here, -1 */
  code_constant *constants;
  int num_constants;
  int *first_constant; /**< [stages + 1] */
  char *slots;         /**< [constants] of CODE_SLOT_BYTES */
  void *memory;        /**< what runs */
  size_t memory_bytes;
  int spills;
} exec_code;

/** Code of a plan for the kernels that go with it, for tiles of `tile` points (a multiple of the kernels'
 * lanes and of 8); none (num_units 0) where it cannot be had. */
pcsim_status exec_code_create(const plan *p, const exec_kernels *kernels, int tile,
                              exec_code *code) PCSIM_NODISCARD;
void exec_code_destroy(exec_code *code);
/** The numbers that stage `number` reads, from values [nodes] on no space. */
void exec_code_prepare(exec_code *code, int number, const exec_kernels *kernels, double *const *uniform);
/** Unit `unit` on points first .. first + n - 1 in a tile of the code's; spill [spills][CODE_SLOT_BYTES], pad
 * [pad_bytes]. */
void exec_code_run(const exec_code *code, int unit, const pcsim_executor *x, char *tile, int64_t first, int n,
                   char *spill, char *pad);
/** Is this elementwise value made of operations that bodies take? */
bool exec_code_is_simple(const node *n);
/** May this value be made in a body with others? The planner keeps such together. */
bool exec_code_takes(const pcsim_program *program, pcsim_value v);

#endif
