/* SPDX-License-Identifier: BSD-2-Clause */
/** @file base.h  Status and messages, counted memory, log, case-file tree, expressions.
 *
 *  The bottom layer: includes nothing of pcsim. Nothing here prints or exits; text leaves through
 *  the log sink that the host installs. Unless a line says "collective", calls are local. */
#ifndef PCSIM_BASE_H
#define PCSIM_BASE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PCSIM_NODISCARD __attribute__((warn_unused_result))
#define PCSIM_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define PCSIM_NODISCARD
#define PCSIM_PRINTF(fmt, args)
#endif

/* ---------------------------------------------------------------- status */

/** Every status: name, exit code of the command line, text. */
#define PCSIM_STATUS_LIST(X)                                                                                 \
  X(OK, 0, "no error")                                                                                       \
  X(ERR_CASE, 2, "the case or the call is wrong")                                                            \
  X(ERR_MESH, 2, "the mesh cannot be used")                                                                  \
  X(ERR_IO, 4, "a file cannot be read or written")                                                           \
  X(ERR_MEMORY, 4, "out of memory")                                                                          \
  X(ERR_ENV, 4, "a part of the environment failed")                                                          \
  X(ERR_ARG, 5, "wrong argument")                                                                            \
  X(ERR_LIBRARY, 5, "a library reported an error")                                                           \
  X(ERR_INTERNAL, 5, "internal error")

typedef enum {
#define PCSIM_STATUS_ENUM(name, code, text) PCSIM_##name,
  PCSIM_STATUS_LIST(PCSIM_STATUS_ENUM)
#undef PCSIM_STATUS_ENUM
      PCSIM_NUM_STATUS
} pcsim_status;

/** Text of a status; never NULL. */
const char *pcsim_status_text(pcsim_status status);
/** Exit code (design: 0 done, 2 case, 4 environment, 5 internal) of a status. */
int pcsim_status_exit_code(pcsim_status status);

/** Record a failure on this thread's stack and return `status`: the first call sets the message
 *  (any older one is dropped), PCSIM_TRY adds frames. */
pcsim_status pcsim_error_set(pcsim_status status, const char *file, int line, const char *func,
                             const char *fmt, ...) PCSIM_PRINTF(5, 6);
/** Add a frame (called by PCSIM_TRY); returns `status`. */
pcsim_status pcsim_error_frame(pcsim_status status, const char *file, int line, const char *func);
/** The message of the last failure ("" when none); may hold several lines, one per problem.
 *  Borrowed until the next failure on this thread. */
const char *pcsim_error_message(void);
/** Frames, innermost first: "func (file:line)"; NULL past the end. */
const char *pcsim_error_trace(size_t i);
/** Forget the last failure. */
void pcsim_error_clear(void);
/** Collective: every rank returns the same status, that of the lowest failing rank, and holds that
 *  rank's message. Call before the next collective operation after something that can fail on one
 *  rank only. */
pcsim_status pcsim_status_agree(MPI_Comm comm, pcsim_status status) PCSIM_NODISCARD;

#define PCSIM_FAIL(code, ...) return pcsim_error_set(code, __FILE__, __LINE__, __func__, __VA_ARGS__)
#define PCSIM_CHECK(cond, code, ...)                                                                         \
  do {                                                                                                       \
    if (!(cond)) PCSIM_FAIL(code, __VA_ARGS__);                                                              \
  } while (0)
#define PCSIM_TRY(call)                                                                                      \
  do {                                                                                                       \
    pcsim_status try_status_ = (call);                                                                       \
    if (try_status_ != PCSIM_OK) return pcsim_error_frame(try_status_, __FILE__, __LINE__, __func__);        \
  } while (0)
/** The same with clean-up: keeps the status in `status` and jumps to `label`. */
#define PCSIM_GOTO(call, status, label)                                                                      \
  do {                                                                                                       \
    (status) = (call);                                                                                       \
    if ((status) != PCSIM_OK) {                                                                              \
      pcsim_error_frame(status, __FILE__, __LINE__, __func__);                                               \
      goto label;                                                                                            \
    }                                                                                                        \
  } while (0)

/* ---------------------------------------------------------------- memory */

/** Zeroed, 64-byte aligned, counted. `*ptr` is NULL for count 0 (a success). Errors: ERR_MEMORY
 *  (also on overflow of count*size). Use as: PCSIM_TRY(pcsim_alloc(n, sizeof *a, &a)). */
pcsim_status pcsim_alloc(size_t count, size_t size, void *ptr) PCSIM_NODISCARD;
/** Grow or shrink, keeping the content; new bytes are zero. Errors as pcsim_alloc; on failure the
 *  old block stays. */
pcsim_status pcsim_realloc(size_t count, size_t size, void *ptr) PCSIM_NODISCARD;
/** Free `*ptr` and null it. Takes the address of the pointer. NULL-safe. */
void pcsim_free(void *ptr);
/** Copy of a string, counted. Caller frees with pcsim_free(&copy). */
pcsim_status pcsim_strdup(const char *text, char **copy) PCSIM_NODISCARD;
/** Bytes held now, and the most held so far, by this process through pcsim_alloc. */
size_t pcsim_memory_used(void);
size_t pcsim_memory_peak(void);
/** Peak resident set of this process in bytes, as the kernel reports it (0 if unknown). */
size_t pcsim_memory_resident_peak(void);

/* ------------------------------------------------------------------- log */

typedef enum { PCSIM_LOG_ERROR, PCSIM_LOG_WARNING, PCSIM_LOG_INFO, PCSIM_LOG_PROGRESS } pcsim_log_level;
typedef void (*pcsim_log_sink)(void *context, pcsim_log_level level, const char *line);
/** Install the host's sink (NULL: silence, the default). Process-wide; set before threads start.
 *  A PROGRESS line replaces the one before it on a terminal. */
void pcsim_log_set_sink(pcsim_log_sink sink, void *context);
void pcsim_log(pcsim_log_level level, const char *fmt, ...) PCSIM_PRINTF(2, 3);
/** Monotonic wall clock and this process's CPU time (user + system), seconds. */
double pcsim_time_wall(void);
double pcsim_time_cpu(void);

/* --------------------------------------------------------------- threads */

/** A number of threads. Pools of a process share their threads, which sleep when there is no work. */
typedef struct pcsim_pool pcsim_pool;
/** Work of `threads` threads (fewer than 1: one), the caller being one. Caller destroys. From any thread,
 * inside a part too; so is its end. Errors: ERR_MEMORY, ERR_ENV (a thread could not be started). */
pcsim_status pcsim_pool_create(int threads, pcsim_pool **pool) PCSIM_NODISCARD;
void pcsim_pool_destroy(pcsim_pool **pool);
int pcsim_pool_threads(const pcsim_pool *pool);
/** A part of the work on one of the threads, 0 being the caller. */
typedef void pcsim_pool_work(void *context, int part, int thread);
/** All parts 0 .. parts - 1 once, in ascending order, each on the thread that is free next; returns when all
 *  are done. Where the threads are at another caller's work (a call out of a part is one) the caller does all
 *  parts alone. */
void pcsim_pool_run(pcsim_pool *pool, int parts, pcsim_pool_work *work, void *context);

/* -------------------------------------------------------- random numbers */

/** 64 random bits by their place in one of the streams of a seed: a pure function, so that numbers come out
 *  the same in any order, on any thread or rank. Streams and seeds are independent. Method: Philox 4x32-10
 *  (Salmon et al., SC 2011). */
uint64_t pcsim_random_bits(uint64_t seed, uint64_t stream, uint64_t place);
/** Uniform between 0 and 1, both excluded. */
double pcsim_random_uniform(uint64_t seed, uint64_t stream, uint64_t place);
/** Normal with mean 0 and variance 1. Its last bits are those of the C library's log and cos. */
double pcsim_random_normal(uint64_t seed, uint64_t stream, uint64_t place);

/* ----------------------------------------------------------- expressions */

/** What a node of a parsed expression is. */
typedef enum {
  PCSIM_EXPR_NUMBER, /**< value */
  PCSIM_EXPR_NAME,   /**< name; `index` is its place among the bound names, -1 before binding */
  PCSIM_EXPR_NEG,
  PCSIM_EXPR_ADD,
  PCSIM_EXPR_SUB,
  PCSIM_EXPR_MUL,
  PCSIM_EXPR_DIV,
  PCSIM_EXPR_POW,
  PCSIM_EXPR_LT,
  PCSIM_EXPR_LE,
  PCSIM_EXPR_GT,
  PCSIM_EXPR_GE,
  PCSIM_EXPR_EQ,
  PCSIM_EXPR_NE,
  PCSIM_EXPR_AND,
  PCSIM_EXPR_OR,
  PCSIM_EXPR_NOT,
  PCSIM_EXPR_CALL /**< name(args): sin, cos, ..., where(c, a, b), min, max, atan2, ... */
} pcsim_expr_kind;

typedef struct pcsim_expr_node {
  pcsim_expr_kind kind;
  int column;   /**< 0-based offset in the text where this node starts */
  double value; /**< NUMBER */
  char *name;   /**< NAME, CALL; owned by the expression; else NULL */
  int index;    /**< NAME: place among bound names; CALL: place in the function table; else -1 */
  int num_args; /**< 0..3 for operators and built-in functions; more for calls as allowed */
  struct pcsim_expr_node **args; /**< [num_args], owned */
} pcsim_expr_node;

typedef struct pcsim_expr pcsim_expr;

/** Parse. `^` is power, right-associative, above unary minus; `pi` and `e` become NUMBER nodes; `0.1%`
 *  is a number; comparisons (unchained) and `and or not`; function calls. On failure `*offset` (may be NULL)
 * is the 0-based place in `text` and the error message says what was found and expected (without place).
 *  Names are [A-Za-z][A-Za-z0-9]* with derivative suffixes after `_` (u_xx). Depth and length are
 *  bounded. Caller destroys. Errors: ERR_CASE. */
pcsim_status pcsim_expr_parse(const char *text, pcsim_expr **expr, size_t *offset) PCSIM_NODISCARD;
/** Resolve every name to a place in `names` [n] or to a constant (`constants`, `values`, [num_constants];
 *  may be NULL). An unknown name is an error with its offset and the nearest valid name. Functions are
 *  checked for their number of arguments (by parse). Operators of equations (lap, dt, ...) are refused: they
 *  have a value only where there are unknowns to differentiate. Constant sub-trees are folded. */
pcsim_status pcsim_expr_bind(pcsim_expr *expr, const char *const *names, int n, const char *const *constants,
                             const double *values, int num_constants, size_t *offset) PCSIM_NODISCARD;
/** Value for `x` [n], after bind. IEEE: 1/0 is inf, sqrt(-1) is nan. No allocation. */
double pcsim_expr_eval(const pcsim_expr *expr, const double *x);
/** The same of a part of an expression: a node below its root. */
double pcsim_expr_eval_node(const pcsim_expr_node *node, const double *x);
/** True if no bound name is used (the value does not depend on x); `*value` (may be NULL) gets it. */
bool pcsim_expr_is_constant(const pcsim_expr *expr, double *value);
/** True if bound name `index` is used. */
bool pcsim_expr_uses(const pcsim_expr *expr, int index);
const pcsim_expr_node *pcsim_expr_root(const pcsim_expr *expr);
/** The text it was parsed from. Borrowed. */
const char *pcsim_expr_text(const pcsim_expr *expr);
void pcsim_expr_destroy(pcsim_expr **expr);

/** One function that an expression can call; `index` of a CALL node is its place in this table. */
typedef struct {
  const char *name;
  int min_args, max_args;
  const char *help;
  bool differential; /**< operator of equations (lap, grad, div, dt, dn, vector, dot): a CALL node like any
                        other, but bind refuses it, and a parameter or unknown may have its name */
} pcsim_expr_function;
size_t pcsim_expr_num_functions(void);
/** NULL past the end. */
const pcsim_expr_function *pcsim_expr_get_function(size_t i);
/** Can `name` be given to a parameter or an unknown? [A-Za-z][A-Za-z0-9]*, no function, `pi`, `e`,
 *  `and`, `or`, `not`, `true`, `false`. Errors: ERR_CASE with the reason. */
pcsim_status pcsim_expr_check_name(const char *name) PCSIM_NODISCARD;

/** Nearest of `names` [n] to `word` by edit distance with transpositions, letter case being free, or NULL
 *  if none is near (distance > 1 + length/3, or no letter in common). */
const char *pcsim_nearest(const char *word, const char *const *names, size_t n);

/* -------------------------------------------------------- case-file tree */

typedef struct pcsim_tree pcsim_tree; /**< a case: files, nodes, parameters, problems */
typedef struct pcsim_node pcsim_node; /**< one YAML value; borrowed from its tree */
typedef enum { PCSIM_NODE_SCALAR, PCSIM_NODE_SEQUENCE, PCSIM_NODE_MAPPING } pcsim_node_kind;

/** Read a case file, follow `extends` (relative to the file it stands in), check for duplicate keys,
 *  evaluate `parameters` in order (each may use earlier ones). ERR_IO if the file cannot be opened.
 *  ERR_CASE, with every problem so far, one per line `file:line:column: text`, if there is nothing to go
 *  on with: wrong YAML, an empty or binary file, no mapping, an `extends` that fails. Other problems
 *  (duplicate keys, wrong parameters) are kept in the tree, so that one pass over the case reports
 *  everything: whoever reads a tree ends with pcsim_tree_status. Anchors, aliases, tags and further
 *  documents are problems; size and depth are bounded. Caller destroys. */
pcsim_status pcsim_tree_read(const char *path, pcsim_tree **tree) PCSIM_NODISCARD;
/** The same from memory; `name` stands for the file in messages. */
pcsim_status pcsim_tree_parse(const char *text, size_t size, const char *name,
                              pcsim_tree **tree) PCSIM_NODISCARD;
/** Apply `path=value` (`solve.tolerance=1e-8`, `boundaries.inlet.velocity=[1, 0]`; value is YAML);
 *  missing mappings on the way are made; parameters are evaluated again. An existing key with dots
 *  (`forces.cd`) is found, a new one is quoted (`reference."forces.cl".value=0`); elements of a sequence
 *  are counted from 0. Errors: ERR_CASE, the tree being as it was; what is wrong with the value itself
 *  comes out of the checks, at `--set path=value:1:column`. */
pcsim_status pcsim_tree_set(pcsim_tree *tree, const char *assignment) PCSIM_NODISCARD;
void pcsim_tree_destroy(pcsim_tree **tree);

pcsim_node *pcsim_tree_root(const pcsim_tree *tree);
/** Folder of the case file, for relative paths; "." when parsed from memory. Borrowed. */
const char *pcsim_tree_folder(const pcsim_tree *tree);
/** Parameters in order: names [n] and values [n]; borrowed. */
int pcsim_tree_parameters(const pcsim_tree *tree, const char *const **names, const double **values);

pcsim_node_kind pcsim_node_get_kind(const pcsim_node *node);
/** Scalar text ("" for others). */
const char *pcsim_node_text(const pcsim_node *node);
int64_t pcsim_node_size(const pcsim_node *node); /**< children; 0 for a scalar */
pcsim_node *pcsim_node_child(const pcsim_node *node, int64_t i);
/** Key of child i of a mapping (its text) or NULL. */
const char *pcsim_node_key(const pcsim_node *node, int64_t i);
/** Node of the key itself, to place a problem at it. */
const pcsim_node *pcsim_node_key_node(const pcsim_node *node, int64_t i);
/** Value under `key`, NULL if absent. Marks the key as used. NULL-safe in node. */
pcsim_node *pcsim_node_get(const pcsim_node *node, const char *key);
/** Was this value asked for through pcsim_node_get (or a reader on it)? */
bool pcsim_node_used(const pcsim_node *node);
/** The path that a scalar holds, relative to the file in which it stands (a case can extend one in
 *  another folder). Caller frees with pcsim_free. */
pcsim_status pcsim_node_path(const pcsim_node *node, char **path) PCSIM_NODISCARD;
const char *pcsim_node_file(const pcsim_node *node);
int pcsim_node_line(const pcsim_node *node);   /**< 1-based; 0 for a default that was filled in */
int pcsim_node_column(const pcsim_node *node); /**< 1-based */

/** Record a problem at a node (`file:line:column: ...`): a mapping and an empty value are shown at their
 *  key, a default at the mapping it was filled into; NULL: the case. `_inside`: `offset` bytes into the
 *  text of the scalar, whatever its quoting. The same text at the same place is kept once; a node that
 *  has a fault of syntax gets no others. */
void pcsim_tree_problem(pcsim_tree *tree, const pcsim_node *at, const char *fmt, ...) PCSIM_PRINTF(3, 4);
void pcsim_tree_problem_inside(pcsim_tree *tree, const pcsim_node *at, size_t offset, const char *fmt, ...)
    PCSIM_PRINTF(4, 5);
size_t pcsim_tree_num_problems(const pcsim_tree *tree);
/** OK, or ERR_CASE with every problem so far, sorted by place, one per line. */
pcsim_status pcsim_tree_status(const pcsim_tree *tree) PCSIM_NODISCARD;

/** Type of a key's value. */
typedef enum {
  PCSIM_KEY_BOOL,    /**< true | false */
  PCSIM_KEY_INTEGER, /**< whole number (1e5 too) */
  PCSIM_KEY_NUMBER,  /**< number or expression of the parameters */
  PCSIM_KEY_TEXT,
  PCSIM_KEY_CHOICE,     /**< one of `choices`, written "a|b|c" */
  PCSIM_KEY_EXPRESSION, /**< number or expression; checked by who uses it */
  PCSIM_KEY_NUMBERS,    /**< sequence of numbers (each an expression of the parameters) */
  PCSIM_KEY_SEQUENCE,
  PCSIM_KEY_MAPPING,
  PCSIM_KEY_NAMES, /**< one text or a sequence of texts */
  PCSIM_KEY_ANY
} pcsim_key_type;

/** One key that a module reads. A table of these is the documentation of the module's input:
 *  `pcsim list keys` and docs are generated from it. */
typedef struct {
  const char *name;
  pcsim_key_type type;
  const char *fallback; /**< default, as it would be written; NULL: required; "": optional without default */
  const char *choices;  /**< CHOICE only */
  const char *unit;     /**< "m", "1", "" */
  const char *help;
  double min, max; /**< inclusive bounds of INTEGER and NUMBER; both 0: none */
} pcsim_key;

/** Check a mapping against its keys: unknown keys (with the nearest valid name), duplicates, types,
 *  bounds, missing required keys (reported at the key of `node`). Defaults are filled in, so that
 *  pcsim_tree_write gives the completed case. `where` names the mapping in messages ("mesh"; NULL or
 *  "the case" for the root). `min` above 0 but below 1e-290 (DBL_MIN) means "positive". */
void pcsim_node_check(pcsim_tree *tree, pcsim_node *node, const pcsim_key *keys, size_t num_keys,
                      const char *where);
/** Make (or get) the mapping child `key` of a mapping, to fill defaults into it. NULL if it exists
 *  but is not a mapping (a problem is recorded). */
pcsim_node *pcsim_node_mapping(pcsim_tree *tree, pcsim_node *node, const char *key);

/* Typed readers: `key` of `node`. They return true and set the value; if the key is absent they
 * return false and leave it; a value of the wrong type records a problem and returns false. */
bool pcsim_node_bool(pcsim_tree *tree, const pcsim_node *node, const char *key, bool *value);
bool pcsim_node_integer(pcsim_tree *tree, const pcsim_node *node, const char *key, int64_t *value);
bool pcsim_node_number(pcsim_tree *tree, const pcsim_node *node, const char *key, double *value);
bool pcsim_node_string(pcsim_tree *tree, const pcsim_node *node, const char *key, const char **value);
/** Sequence of at most `max` numbers; `*n` gets how many. */
bool pcsim_node_numbers(pcsim_tree *tree, const pcsim_node *node, const char *key, double *values, int max,
                        int *n);
/** Value of the scalar node itself as a number (expression of the parameters). */
bool pcsim_node_as_number(pcsim_tree *tree, const pcsim_node *node, double *value);
/** Parse and bind the scalar node as an expression in `names` [n] and the parameters; problems carry
 *  the column inside the text. A name that is in `names` and a parameter too is a problem. Caller destroys.
 */
bool pcsim_node_as_expr(pcsim_tree *tree, const pcsim_node *node, const char *const *names, int n,
                        pcsim_expr **expr);

/** The completed case as YAML text. Caller frees with pcsim_free. */
pcsim_status pcsim_tree_write(const pcsim_tree *tree, char **text) PCSIM_NODISCARD;

/* ------------------------------------------------------------------ files */

/** Write a whole file under its name or not at all (temporary file, fsync, rename). Errors: ERR_IO
 *  with the path and the system's reason. */
pcsim_status pcsim_file_write(const char *path, const void *data, size_t size) PCSIM_NODISCARD;
/** Read a whole file, zero-terminated; caller frees with pcsim_free. `limit` bytes at most (0: 1 GiB). */
pcsim_status pcsim_file_read(const char *path, size_t limit, char **data, size_t *size) PCSIM_NODISCARD;
bool pcsim_file_exists(const char *path);
/** Make a folder and its parents. */
pcsim_status pcsim_folder_make(const char *path) PCSIM_NODISCARD;
/** A new empty file, or folder, of a name of its own in TMPDIR, else in /tmp. Caller removes it and frees the
 *  path with pcsim_free. Errors: ERR_IO with the path and the system's reason. */
pcsim_status pcsim_temporary_make(bool folder, char **path) PCSIM_NODISCARD;
/** `folder`/`name`, or `name` if it is absolute. Caller frees with pcsim_free. */
pcsim_status pcsim_path_join(const char *folder, const char *name, char **path) PCSIM_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif
