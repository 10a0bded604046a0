/* SPDX-License-Identifier: BSD-2-Clause */
/* typed.h  Private to physics/: how the parts of a typed problem hand over to each other. */
#ifndef PCSIM_PHYSICS_TYPED_H
#define PCSIM_PHYSICS_TYPED_H

#include <pcsim/physics.h>

enum {
  TYPED_MAX_TEXT = 60000, /* bytes of a text with its coefficients written out: below the parser's limit */
  TYPED_MAX = 64,         /* unknowns, and coefficients: sets of them are the bits of a word */
  TYPED_X = 0,            /* coordinates in the order of programs */
  TYPED_T = 3
};

/* What a tree depends on, coefficients looked into. */
typedef struct {
  unsigned coordinates; /* bit 0 x .. bit 3 t */
  uint64_t values;      /* unknowns that stand outside of derivatives */
  uint64_t derived;     /* unknowns inside of derivatives */
  uint64_t jumps;       /* coefficients by region */
  int order;            /* highest derivative in space; that of an operator adds to its argument's */
  int time_order;
} typed_uses;

/* ---- transport_problem.c: the keys of `physics:`, with those of a built-in model that the equations join */

void typed_check_keys(pcsim_tree *tree, pcsim_node *physics);

/* ---- typed_names.c: what a text of typed equations may name */

/* A coefficient: one expression, or one for each region of the mesh. */
typedef struct {
  const char *name;
  const pcsim_node *key;
  int num;             /* expressions */
  bool jumps;          /* by region */
  pcsim_expr **expr;   /* [num], NULL where the text is wrong */
  const char **region; /* [num] names of regions; by region only */
  int *of_region;      /* [num_regions] -> place in expr, -1 none; NULL before the mesh is known */
  typed_uses uses;     /* of all expressions together */
} typed_coefficient;

/* A table that texts look up by table(name, x). */
typedef struct {
  const char *name; /* of the case, or `made` */
  char *made, *path;
} typed_table;

typedef struct {
  pcsim_tree *tree;
  int dim;     /* 2 or 3; 0: no mesh yet, z is accepted */
  bool steady; /* no `solve: {time: ...}` */
  bool wrong;  /* an unknown's name is: what uses the unknowns cannot be read */
  int num_unknowns;
  int num_carriers;                /* velocities of a built-in flow that the equations join */
  bool shear;                      /* in their place stands the shear rate: the names of a viscosity */
  const char **unknown;            /* [num_unknowns + num_carriers] */
  const pcsim_node **unknown_node; /* [num_unknowns] */
  int num_coefficients;
  typed_coefficient *coefficient;
  int num_tables;
  typed_table *table;
  int num_parameters;
  const char *const *parameter;
  const double *values;
  int num_regions;
} typed_names;

typedef enum {
  TYPED_NONE,
  TYPED_COORDINATE,
  TYPED_UNKNOWN,
  TYPED_COEFFICIENT,
  TYPED_PARAMETER,
  TYPED_TABLE,
  TYPED_NORMAL /* nx, ny, nz */
} typed_kind;
typedef struct {
  typed_kind kind;
  int index;
  int orders[4]; /* UNKNOWN: derivatives by x, y, z, t */
} typed_name;

/* What a text may hold beside coordinates, coefficients and parameters. */
enum { MAY_UNKNOWNS = 1, MAY_DERIVATIVES = 2, MAY_NORMAL = 4, MAY_TIME = 8 };

/* `unknowns`, `tables` and `coefficients` of `physics:`; problems go to the tree. */
pcsim_status typed_names_read(pcsim_tree *tree, int dim, typed_names *names) PCSIM_NODISCARD;
/* Coefficients by region against the regions of the mesh. */
pcsim_status typed_names_match(typed_names *names, const pcsim_mesh *mesh) PCSIM_NODISCARD;
void typed_names_clear(typed_names *names);
/* One more table, of the file that the scalar `node` names; `name` NULL: one that is free. `*made` gets the
 * name, borrowed from `names`. */
pcsim_status typed_table_add(typed_names *names, const pcsim_node *node, const char *name,
                             const char **made) PCSIM_NODISCARD;
typed_name typed_resolve(const typed_names *names, const char *name);
/* Parse a scalar and check its names; a problem at its column else. Caller destroys. */
bool typed_parse(const typed_names *names, const pcsim_node *node, unsigned may, pcsim_expr **expr);

/* ---- typed_uses.c */

typed_uses typed_uses_of(const typed_names *names, const pcsim_expr_node *tree);
void typed_uses_add(typed_uses *to, typed_uses more);
bool typed_uses_no_unknowns(const typed_uses *uses);
/* Neither place nor time, unknowns or regions. */
bool typed_uses_constant(const typed_uses *uses);
/* Is the node a call of this function? */
bool typed_is_call(const pcsim_expr_node *tree, const char *name);
/* First column of the text of a tree, parentheses left out. */
int typed_column(const pcsim_expr_node *tree);

/* ---- typed_text.c: trees back to text; every character knows the column that it comes from */

typedef struct {
  char *text;     /* zero-terminated; NULL: nothing written */
  int32_t *place; /* [used] column in the source */
  size_t used, room;
  pcsim_status status; /* first failure, ERR_CASE for TYPED_MAX_TEXT; later writing does nothing */
} typed_text;
/* Binding strength of what a tree is written as, from the outermost: used as the least that a place takes. */
enum { LEVEL_ANY, LEVEL_SUM = 5, LEVEL_PRODUCT, LEVEL_SIGNED, LEVEL_POWER, LEVEL_PRIMARY };

void typed_text_free(typed_text *text);
void typed_text_put(typed_text *text, int place, const char *fmt, ...) PCSIM_PRINTF(3, 4);
/* As typed; with `names` coefficients are written out and nx becomes dn(x), for lowering. */
void typed_text_tree(typed_text *text, const typed_names *names, const pcsim_expr_node *tree, int level);
/* The status; a text that is too long is a problem at `node` instead. */
pcsim_status typed_text_status(const typed_names *names, const pcsim_node *node,
                               const typed_text *text) PCSIM_NODISCARD;
/* Column in the source of place `at` in the text. */
size_t typed_text_column(const typed_text *text, size_t at);

/* ---- typed_split.c: an equation into what stands under dt, under div, and the rest */

enum { PART_ACCUMULATION, PART_FLUX, PART_SOURCE, NUM_PARTS };
typedef struct {
  const pcsim_node *node;
  pcsim_expr *expr;            /* NULL where the text is wrong */
  typed_text part[NUM_PARTS];  /* for lowering; the flux is a vector; no text: nothing there */
  typed_text shown[NUM_PARTS]; /* as the user wrote it */
  typed_uses uses;             /* of the whole equation */
  uint64_t flux_jumps;         /* coefficients by region in its flux */
} typed_equation;

/* `equations` of `physics:`, one for each unknown; problems go to the tree. */
pcsim_status typed_equations_read(const typed_names *names, int *num,
                                  typed_equation **equations) PCSIM_NODISCARD;
void typed_equations_free(int num, typed_equation **equations);

/* ---- typed_strong.c: terms that are no part of a conservation law */

/* A factor of a term, the inner ones first. */
typedef struct typed_factor {
  const pcsim_expr_node *tree;
  bool divides;
  const struct typed_factor *outer;
} typed_factor;
/* A term: sign times factors times `leaf`. */
typedef struct {
  const typed_names *names;
  const pcsim_node *node; /* of the equation */
  bool minus;
  const typed_factor *factors;
  const pcsim_expr_node *leaf;
} typed_term;
typed_uses typed_factor_uses(const typed_names *names, const typed_factor *factors);
/* What stands before and behind the body of a term: "2*nu*" and "/Re". */
void typed_term_open(typed_text *text, const typed_names *names, const typed_factor *factors);
void typed_term_close(typed_text *text, const typed_names *names, const typed_factor *factors);
/* Report a term whose leaf is a derivative (u_x, u_xx, dot(a, grad(u)), or dt, div, lap behind a factor that
 * varies), and how it is written as a divergence where it can be. A first derivative times another unknown is
 * none: returns false. */
bool typed_term_is_strong(const typed_term *term);
/* A problem at the first column of the term; `why` follows its text. */
void typed_term_report(const typed_term *term, const char *why);

/* ---- typed_program.c: texts to programs */

/* One output of a local program: `rows` texts become its rows. */
typedef struct {
  const char *name;
  int rows;
} typed_output;
/* Lower texts [sum of rows], from the nodes `node` (for problems); a text that is NULL is 0. `*program` stays
 * NULL where there are problems. `*lowered` (may be NULL) gets what it was made of. Caller destroys both. */
pcsim_status typed_program_make(const typed_names *names, const typed_text *const *texts,
                                const pcsim_node *const *node, const typed_output *outputs, int num_outputs,
                                pcsim_program **program, pcsim_program **lowered) PCSIM_NODISCARD;
bool typed_program_uses(const pcsim_program *program, const char *input);
/* Values of output `name` [n][rows] at points [n][4] (x, y, z, t); region [n] may be NULL where the program
 * does not ask for it. Nothing is written where the output depends on the normal. */
pcsim_status typed_program_values(const pcsim_program *program, const char *name, int64_t n,
                                  const double *points, const double *region, double *values) PCSIM_NODISCARD;

/* ---- typed_conditions.c: `boundaries:` of typed equations */

enum { TYPED_NO_CONDITION = 255 };
typedef struct {
  const char *name;
  const pcsim_node *key;
  pcsim_node *node;
  uint8_t *kind;              /* [m] pcsim_transport_kind or TYPED_NO_CONDITION */
  pcsim_expr **expr;          /* [m] value or flux; NULL: none given, or wrong */
  const pcsim_node **text;    /* [m] node of expr */
  const pcsim_node *periodic; /* the boundary that it continues at; then nothing else is given */
} typed_condition;
typedef struct {
  int num, num_periodic; /* the periodic ones come last */
  typed_condition *condition;
  int *of_patch; /* [num_patches] -1 none */
} typed_conditions;
pcsim_status typed_conditions_read(typed_names *names, typed_conditions *conditions) PCSIM_NODISCARD;
pcsim_status typed_conditions_match(const typed_names *names, const pcsim_mesh *mesh,
                                    typed_conditions *conditions) PCSIM_NODISCARD;
/* Program of one condition; NULL where there are problems. */
pcsim_status typed_condition_program(const typed_names *names, const typed_condition *condition,
                                     pcsim_program **program, pcsim_program **lowered) PCSIM_NODISCARD;
void typed_conditions_clear(int num_unknowns, typed_conditions *conditions);

/* ---- typed_sources.c: `physics: {sources: [...]}` */

typedef struct {
  const pcsim_node *node;
  bool segment;
  double from[3], to[3];
  pcsim_expr **expr; /* [m] NULL: 0 */
  const pcsim_node **text;
} typed_source;
pcsim_status typed_sources_read(const typed_names *names, int *num, typed_source **sources) PCSIM_NODISCARD;
void typed_sources_free(int num_unknowns, int num, typed_source **sources);
/* Cells, places and weights on this rank, and the program; collective. `made` is cleared by
 * typed_source_clear. */
pcsim_status typed_source_make(const typed_names *names, const pcsim_mesh *mesh, const typed_source *source,
                               pcsim_transport_source *made) PCSIM_NODISCARD;
void typed_source_clear(pcsim_transport_source *made);

#endif
