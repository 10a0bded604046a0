/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a number makes the arguments of tables pass their points: values as linear functions of it, followed
 * through the graph. */
#include "graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** slope * x + level, or not known. */
typedef struct {
  bool known;
  double slope, level;
} line;

typedef struct {
  const pcsim_program *p;
  line **rows; /* [num_nodes][rows of the node] */
} follower;

static line row_of(const follower *f, const node *n, int input, int row) {
  const pcsim_value v = n->inputs[input];
  return f->rows[v][graph_node(f->p, v)->rows == 1 ? 0 : row];
}

static line op_of(const follower *f, const node *n, int row) {
  line a[8] = {{0}};
  double in[8];
  bool level = true;
  if (n->num_inputs > 8) return (line){0};
  for (int i = 0; i < n->num_inputs; i++) {
    a[i] = row_of(f, n, i, row);
    if (!a[i].known) return (line){0};
    level = level && a[i].slope == 0;
    in[i] = a[i].level;
  }
  if (level) return (line){true, 0, op_value(n->op, in)};
  switch (n->op) {
  case PCSIM_OP_ADD:
    return (line){true, a[0].slope + a[1].slope, a[0].level + a[1].level};
  case PCSIM_OP_SUB:
    return (line){true, a[0].slope - a[1].slope, a[0].level - a[1].level};
  case PCSIM_OP_NEG:
    return (line){true, -a[0].slope, -a[0].level};
  case PCSIM_OP_MUL:
    return (line){a[0].slope == 0 || a[1].slope == 0, a[0].slope * a[1].level + a[1].slope * a[0].level,
                  a[0].level * a[1].level};
  case PCSIM_OP_DIV:
    return (line){a[1].slope == 0, a[0].slope / a[1].level, a[0].level / a[1].level};
  default:
    return (line){0};
  }
}

static line value_of(const follower *f, const node *n, int row, const char *input, int wanted) {
  switch (n->kind) {
  case NODE_CONSTANT:
  case NODE_PARAMETER:
    return (line){n->columns == 1, 0, n->numbers[row]};
  case NODE_INPUT:
    return (line){row == wanted && !strcmp(f->p->names[n->index], input), 1, 0};
  case NODE_OP:
    return n->columns == 1 ? op_of(f, n, row) : (line){0};
  case NODE_SLICE:
    return f->rows[n->inputs[0]][n->first + row];
  case NODE_BROADCAST:
  case NODE_FROZEN:
    return row_of(f, n, 0, row);
  case NODE_CONCAT:
    for (int i = 0; i < n->num_inputs; i++) {
      const int rows = graph_node(f->p, n->inputs[i])->rows;
      if (row < rows) return f->rows[n->inputs[i]][row];
      row -= rows;
    }
    return (line){0};
  default:
    return (line){0};
  }
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The points of one table, for each row of its argument. */
static pcsim_status add_points(const follower *f, const node *n, double from, double to, int64_t *num,
                               double **points) {
  const node *numbers = graph_node(f->p, n->inputs[0]), *at = graph_node(f->p, n->inputs[1]);
  const int count = numbers->rows / 2;
  for (int row = 0; row < at->rows; row++) {
    const line a = f->rows[n->inputs[1]][row];
    if (!a.known || a.slope == 0) continue;
    PCSIM_TRY(pcsim_realloc((size_t)(*num + count), sizeof **points, points));
    for (int k = 0; k < count; k++) {
      const double x = (numbers->numbers[k] - a.level) / a.slope;
      if (x > from && x < to) (*points)[(*num)++] = x;
    }
  }
  return PCSIM_OK;
}

pcsim_status pcsim_program_table_points(const pcsim_program *program, const char *input, int row, double from,
                                        double to, int64_t *num, double **points) {
  follower f = {.p = program};
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc((size_t)program->num_nodes, sizeof *f.rows, &f.rows), status, done);
  for (pcsim_value v = 0; v < program->num_nodes; v++) {
    const node *n = graph_node(program, v);
    PCSIM_GOTO(pcsim_alloc((size_t)n->rows, sizeof **f.rows, &f.rows[v]), status, done);
    for (int r = 0; r < n->rows; r++) f.rows[v][r] = value_of(&f, n, r, input, row);
    if (n->kind == NODE_TABLE) PCSIM_GOTO(add_points(&f, n, from, to, num, points), status, done);
  }
  status = PCSIM_OK;
  if (*num) qsort(*points, (size_t)*num, sizeof **points, compare);
  int64_t kept = 0;
  for (int64_t i = 0; i < *num; i++)
    if (i == 0 || (*points)[i] != (*points)[kept - 1]) (*points)[kept++] = (*points)[i];
  *num = kept;
done:
  for (pcsim_value v = 0; f.rows && v < program->num_nodes; v++) pcsim_free(&f.rows[v]);
  pcsim_free(&f.rows);
  return status;
}
