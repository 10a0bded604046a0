/* SPDX-License-Identifier: BSD-2-Clause */
/** @file build_values.c  Builders of values: the shape of each is checked and derived here. */
#include "graph.h"

#include <math.h>
#include <string.h>

/** Is `v` a value of the program? Records a fault if it is out of range; silent for PCSIM_NO_VALUE. */
static bool is_value(pcsim_program *program, const char *what, pcsim_value v) {
  if (v == PCSIM_NO_VALUE) {
    graph_fault(program, PCSIM_ERR_ARG, "%s: an input has no value", what);
    return false;
  }
  if (v >= 0 && v < program->num_nodes) return true;
  graph_fault(program, PCSIM_ERR_ARG, "%s: there is no value %d in this program", what, v);
  return false;
}

/** Common shape of values that meet point by point: rows and columns equal or 1 x 1, one space at most. */
static bool meet(pcsim_program *program, const char *what, const pcsim_value *inputs, int n, node *out) {
  out->space = PCSIM_NO_SPACE;
  out->rows = out->columns = 1;
  for (int i = 0; i < n; i++) {
    if (!is_value(program, what, inputs[i])) return false;
    const node *a = &program->nodes[inputs[i]];
    if (a->space != PCSIM_NO_SPACE) {
      if (out->space != PCSIM_NO_SPACE && out->space != a->space) {
        graph_fault(program, PCSIM_ERR_ARG, "%s: values on '%s' and on '%s' meet; a map has to join them",
                    what, program->spaces[out->space], program->spaces[a->space]);
        return false;
      }
      out->space = a->space;
    }
    if (a->rows == 1 && a->columns == 1) continue;
    if ((out->rows != 1 || out->columns != 1) && (out->rows != a->rows || out->columns != a->columns)) {
      graph_fault(program, PCSIM_ERR_ARG,
                  "%s: %d x %d and %d x %d numbers meet; expected equal sizes or one number", what, out->rows,
                  out->columns, a->rows, a->columns);
      return false;
    }
    out->rows = a->rows;
    out->columns = a->columns;
  }
  if (out->space != PCSIM_NO_SPACE && out->columns > 1) {
    graph_fault(program, PCSIM_ERR_ARG, "%s: a matrix meets a value on '%s'", what,
                program->spaces[out->space]);
    return false;
  }
  return true;
}

pcsim_value pcsim_build_op(pcsim_program *program, pcsim_op op, const pcsim_value *inputs, int num_inputs) {
  if ((int)op < 0 || op >= PCSIM_NUM_OPS)
    return graph_fault(program, PCSIM_ERR_ARG, "there is no operator %d", (int)op);
  if (num_inputs != op_num_inputs(op))
    return graph_fault(program, PCSIM_ERR_ARG, "%s takes %d inputs, %d given", op_name(op), op_num_inputs(op),
                       num_inputs);
  node n = {.kind = NODE_OP, .op = op, .num_inputs = num_inputs, .inputs = (pcsim_value *)inputs};
  if (!meet(program, op_name(op), inputs, num_inputs, &n)) return PCSIM_NO_VALUE;
  return graph_add(program, &n);
}

pcsim_value pcsim_build_unary(pcsim_program *program, pcsim_op op, pcsim_value a) {
  return pcsim_build_op(program, op, &a, 1);
}

pcsim_value pcsim_build_binary(pcsim_program *program, pcsim_op op, pcsim_value a, pcsim_value b) {
  return pcsim_build_op(program, op, (pcsim_value[]){a, b}, 2);
}

pcsim_value pcsim_build_user(pcsim_program *program, int op, const pcsim_value *inputs) {
  if (op < 0 || op >= program->num_user_ops)
    return graph_fault(program, PCSIM_ERR_ARG, "there is no user operator %d", op);
  const pcsim_user_op *user = &program->user_ops[op];
  node n = {.kind = NODE_USER, .index = op, .num_inputs = user->num_inputs, .inputs = (pcsim_value *)inputs};
  if (!meet(program, user->name, inputs, user->num_inputs, &n)) return PCSIM_NO_VALUE;
  return graph_add(program, &n);
}

/** Checks of W x and W^T x: a matrix on no space and a column with `needed` rows. */
static bool product_good(pcsim_program *program, const char *what, pcsim_value weight, pcsim_value x,
                         bool transposed) {
  if (!is_value(program, what, weight) || !is_value(program, what, x)) return false;
  const node *w = &program->nodes[weight], *a = &program->nodes[x];
  if (w->space != PCSIM_NO_SPACE) {
    graph_fault(program, PCSIM_ERR_ARG, "%s: the weights differ from point to point of '%s'", what,
                program->spaces[w->space]);
    return false;
  }
  const int needed = transposed ? w->rows : w->columns;
  if (a->rows == needed && a->columns == 1) return true;
  graph_fault(program, PCSIM_ERR_ARG, "%s: weights %d x %d%s act on %d x %d numbers, expected %d x 1", what,
              w->rows, w->columns, transposed ? " transposed" : "", a->rows, a->columns, needed);
  return false;
}

pcsim_value pcsim_build_dense(pcsim_program *program, pcsim_value weight, pcsim_value x, pcsim_value bias) {
  if (!product_good(program, "dense", weight, x, false)) return PCSIM_NO_VALUE;
  const node *w = &program->nodes[weight];
  node n = {.kind = NODE_DENSE,
            .space = program->nodes[x].space,
            .rows = w->rows,
            .columns = 1,
            .num_inputs = 2,
            .inputs = (pcsim_value[]){weight, x, bias}};
  if (bias != PCSIM_NO_VALUE) {
    if (!is_value(program, "dense", bias)) return PCSIM_NO_VALUE;
    const node *b = &program->nodes[bias];
    if (b->space != PCSIM_NO_SPACE || b->rows != w->rows || b->columns != 1)
      return graph_fault(program, PCSIM_ERR_ARG,
                         "dense: bias of %d x %d numbers on %s, expected %d x 1 on no space", b->rows,
                         b->columns, graph_space_name(program, b->space), w->rows);
    n.num_inputs = 3;
  }
  return graph_add(program, &n);
}

pcsim_value pcsim_build_dense_transposed(pcsim_program *program, pcsim_value weight, pcsim_value x) {
  if (!product_good(program, "dense_transposed", weight, x, true)) return PCSIM_NO_VALUE;
  return graph_add(program, &(node){.kind = NODE_DENSE_TRANSPOSED,
                                    .space = program->nodes[x].space,
                                    .rows = program->nodes[weight].columns,
                                    .columns = 1,
                                    .num_inputs = 2,
                                    .inputs = (pcsim_value[]){weight, x}});
}

pcsim_value pcsim_build_outer(pcsim_program *program, pcsim_value y, pcsim_value x) {
  if (!is_value(program, "outer", y) || !is_value(program, "outer", x)) return PCSIM_NO_VALUE;
  const node *a = &program->nodes[y], *b = &program->nodes[x];
  if (a->columns != 1 || b->columns != 1)
    return graph_fault(program, PCSIM_ERR_ARG, "outer: matrices given, expected columns");
  if (a->space != PCSIM_NO_SPACE && b->space != PCSIM_NO_SPACE && a->space != b->space)
    return graph_fault(program, PCSIM_ERR_ARG,
                       "outer: values on '%s' and on '%s' meet; a map has to join them",
                       program->spaces[a->space], program->spaces[b->space]);
  return graph_add(program, &(node){.kind = NODE_OUTER,
                                    .space = PCSIM_NO_SPACE,
                                    .rows = a->rows,
                                    .columns = b->rows,
                                    .num_inputs = 2,
                                    .inputs = (pcsim_value[]){y, x}});
}

pcsim_value pcsim_build_concat(pcsim_program *program, const pcsim_value *values, int n) {
  if (n < 1) return graph_fault(program, PCSIM_ERR_ARG, "concat: nothing given");
  node out = {.kind = NODE_CONCAT,
              .space = PCSIM_NO_SPACE,
              .columns = 1,
              .num_inputs = n,
              .inputs = (pcsim_value *)values};
  for (int i = 0; i < n; i++) {
    if (!is_value(program, "concat", values[i])) return PCSIM_NO_VALUE;
    const node *a = &program->nodes[values[i]];
    if (a->columns != 1)
      return graph_fault(program, PCSIM_ERR_ARG, "concat: a matrix given, expected columns");
    if (a->space != PCSIM_NO_SPACE && out.space != PCSIM_NO_SPACE && a->space != out.space)
      return graph_fault(program, PCSIM_ERR_ARG,
                         "concat: values on '%s' and on '%s' meet; a map has to join them",
                         program->spaces[out.space], program->spaces[a->space]);
    if (a->space != PCSIM_NO_SPACE) out.space = a->space;
    out.rows += a->rows;
  }
  return graph_add(program, &out);
}

pcsim_value pcsim_build_slice(pcsim_program *program, pcsim_value a, int first, int rows) {
  if (!is_value(program, "slice", a)) return PCSIM_NO_VALUE;
  const node *n = &program->nodes[a];
  if (first < 0 || rows < 1 || first > n->rows - rows)
    return graph_fault(program, PCSIM_ERR_ARG, "slice: %d rows from row %d of a value with %d", rows, first,
                       n->rows);
  return graph_add(program, &(node){.kind = NODE_SLICE,
                                    .space = n->space,
                                    .rows = rows,
                                    .columns = n->columns,
                                    .first = first,
                                    .num_inputs = 1,
                                    .inputs = &a});
}

pcsim_value pcsim_build_row_sum(pcsim_program *program, pcsim_value a) {
  if (!is_value(program, "row_sum", a)) return PCSIM_NO_VALUE;
  const node *n = &program->nodes[a];
  return graph_add(program, &(node){.kind = NODE_ROW_SUM,
                                    .space = n->space,
                                    .rows = 1,
                                    .columns = n->columns,
                                    .num_inputs = 1,
                                    .inputs = &a});
}

pcsim_value pcsim_build_sum(pcsim_program *program, pcsim_value a) {
  if (!is_value(program, "sum", a)) return PCSIM_NO_VALUE;
  const node *n = &program->nodes[a];
  if (n->space == PCSIM_NO_SPACE)
    return graph_fault(program, PCSIM_ERR_ARG, "sum: the value lives on no space");
  return graph_add(program, &(node){.kind = NODE_SUM,
                                    .space = PCSIM_NO_SPACE,
                                    .rows = n->rows,
                                    .columns = 1,
                                    .num_inputs = 1,
                                    .inputs = &a});
}

pcsim_value pcsim_build_mean(pcsim_program *program, pcsim_value a) {
  pcsim_value sum = pcsim_build_sum(program, a);
  if (sum < 0) return sum;
  /* The number of points is known at run time only: the sum of ones. */
  pcsim_value ones = graph_broadcast(program, pcsim_build_constant(program, 1), program->nodes[a].space, 1);
  return pcsim_build_binary(program, PCSIM_OP_DIV, sum, pcsim_build_sum(program, ones));
}

pcsim_value pcsim_build_frozen(pcsim_program *program, pcsim_value a) {
  if (!is_value(program, "frozen", a)) return PCSIM_NO_VALUE;
  const node *n = &program->nodes[a];
  return graph_add(program, &(node){.kind = NODE_FROZEN,
                                    .space = n->space,
                                    .rows = n->rows,
                                    .columns = n->columns,
                                    .num_inputs = 1,
                                    .inputs = &a});
}

pcsim_value graph_broadcast(pcsim_program *program, pcsim_value a, pcsim_space space, int rows) {
  if (!is_value(program, "broadcast", a)) return PCSIM_NO_VALUE;
  const node *n = &program->nodes[a];
  if (n->columns != 1 || (n->rows != 1 && n->rows != rows) ||
      (n->space != PCSIM_NO_SPACE && n->space != space))
    return graph_fault(program, PCSIM_ERR_ARG, "broadcast: %d x %d numbers on %s cannot become %d rows on %s",
                       n->rows, n->columns, graph_space_name(program, n->space), rows,
                       graph_space_name(program, space));
  return graph_add(
      program,
      &(node){
          .kind = NODE_BROADCAST, .space = space, .rows = rows, .columns = 1, .num_inputs = 1, .inputs = &a});
}

pcsim_value graph_transpose(pcsim_program *program, pcsim_value a) {
  if (!is_value(program, "transpose", a)) return PCSIM_NO_VALUE;
  const node *n = &program->nodes[a];
  if (n->space != PCSIM_NO_SPACE)
    return graph_fault(program, PCSIM_ERR_ARG, "transpose: the value lives on a space");
  return graph_add(program, &(node){.kind = NODE_TRANSPOSE,
                                    .space = PCSIM_NO_SPACE,
                                    .rows = n->columns,
                                    .columns = n->rows,
                                    .num_inputs = 1,
                                    .inputs = &a});
}

pcsim_value graph_table(pcsim_program *program, pcsim_value numbers, pcsim_value a, bool slope) {
  if (!is_value(program, "table", numbers) || !is_value(program, "table", a)) return PCSIM_NO_VALUE;
  const node *t = &program->nodes[numbers], *n = &program->nodes[a];
  if (t->kind != NODE_CONSTANT || t->columns != 1 || t->rows < 4 || t->rows % 2)
    return graph_fault(program, PCSIM_ERR_ARG,
                       "table: expected a constant column of two or more abscissae and as many ordinates");
  if (n->columns != 1) return graph_fault(program, PCSIM_ERR_ARG, "table: it is looked up at a matrix");
  const int points = t->rows / 2;
  for (int i = 0; i < points; i++) {
    if (!isfinite(t->numbers[i]) || !isfinite(t->numbers[points + i]))
      return graph_fault(program, PCSIM_ERR_ARG, "table: point %d is (%g, %g); expected finite numbers", i,
                         t->numbers[i], t->numbers[points + i]);
    if (i && t->numbers[i] <= t->numbers[i - 1])
      return graph_fault(program, PCSIM_ERR_ARG,
                         "table: %.17g comes after %.17g; expected ascending abscissae", t->numbers[i],
                         t->numbers[i - 1]);
  }
  return graph_add(program, &(node){.kind = NODE_TABLE,
                                    .space = n->space,
                                    .rows = n->rows,
                                    .columns = 1,
                                    .first = slope,
                                    .num_inputs = 2,
                                    .inputs = (pcsim_value[]){numbers, a}});
}

pcsim_value pcsim_build_table(pcsim_program *program, int points, const double *x, const double *y,
                              pcsim_value a) {
  if (program->status != PCSIM_OK) return PCSIM_NO_VALUE;
  if (points < 2 || points > INT32_MAX / 2)
    return graph_fault(program, PCSIM_ERR_ARG, "table: %d points; expected two or more", points);
  double *numbers = NULL;
  if (pcsim_alloc(2 * (size_t)points, sizeof *numbers, &numbers) != PCSIM_OK)
    return graph_fault(program, PCSIM_ERR_MEMORY, "out of memory for a table of %d points", points);
  memcpy(numbers, x, (size_t)points * sizeof *numbers);
  memcpy(numbers + points, y, (size_t)points * sizeof *numbers);
  const pcsim_value column = pcsim_build_constants(program, 2 * points, numbers);
  pcsim_free(&numbers);
  return graph_table(program, column, a, false);
}

/* ------------------------------------------------------------------ maps */

/** Node of a map applied to `a`: checks that `a` lives where the map starts. */
static pcsim_value apply(pcsim_program *program, node_kind kind, pcsim_map map, const pcsim_value *inputs,
                         int n, int first) {
  const char *what = node_kind_name(kind);
  if (map < 0 || map >= program->num_maps)
    return graph_fault(program, PCSIM_ERR_ARG, "%s: there is no map %d", what, map);
  if (!is_value(program, what, inputs[0])) return PCSIM_NO_VALUE;
  const graph_map *m = &program->maps[map];
  const bool back = kind == NODE_SCATTER_ADD || kind == NODE_SPARSE_TRANSPOSED || kind == NODE_SEGMENT_PUT;
  const bool index_map = kind == NODE_GATHER || kind == NODE_SCATTER_ADD;
  if (index_map != (m->width == 0))
    return graph_fault(program, PCSIM_ERR_ARG, "%s: '%s' is %s map", what, m->name,
                       index_map ? "a sparse" : "an index");
  const node *a = &program->nodes[inputs[0]];
  const pcsim_space start = back ? m->to : m->from, end = back ? m->from : m->to;
  if (a->space != start)
    return graph_fault(program, PCSIM_ERR_ARG, "%s: map '%s' needs a value on '%s', this one lives on '%s'",
                       what, m->name, graph_space_name(program, start), graph_space_name(program, a->space));
  int rows = a->rows;
  if (kind == NODE_SPARSE) rows *= m->width;
  if (kind == NODE_SPARSE_TRANSPOSED) {
    if (rows % m->width)
      return graph_fault(program, PCSIM_ERR_ARG, "%s: map '%s' has %d weights an entry, the value %d rows",
                         what, m->name, m->width, rows);
    rows /= m->width;
  }
  return graph_add(program, &(node){.kind = kind,
                                    .index = map,
                                    .space = end,
                                    .rows = rows,
                                    .columns = 1,
                                    .first = first,
                                    .num_inputs = n,
                                    .inputs = (pcsim_value *)inputs});
}

pcsim_value pcsim_build_gather(pcsim_program *program, pcsim_map map, pcsim_value a) {
  return apply(program, NODE_GATHER, map, &a, 1, 0);
}
pcsim_value pcsim_build_scatter_add(pcsim_program *program, pcsim_map map, pcsim_value a) {
  return apply(program, NODE_SCATTER_ADD, map, &a, 1, 0);
}
pcsim_value pcsim_build_sparse(pcsim_program *program, pcsim_map map, pcsim_value a) {
  return apply(program, NODE_SPARSE, map, &a, 1, 0);
}
pcsim_value pcsim_build_sparse_transposed(pcsim_program *program, pcsim_map map, pcsim_value a) {
  return apply(program, NODE_SPARSE_TRANSPOSED, map, &a, 1, 0);
}
pcsim_value pcsim_build_segment_min(pcsim_program *program, pcsim_map map, pcsim_value a) {
  return apply(program, NODE_SEGMENT_MIN, map, &a, 1, 0);
}
pcsim_value pcsim_build_segment_max(pcsim_program *program, pcsim_map map, pcsim_value a) {
  return apply(program, NODE_SEGMENT_MAX, map, &a, 1, 0);
}

/** `chosen` must live where the map starts, with the rows of the value. */
static bool chosen_good(pcsim_program *program, pcsim_map map, pcsim_value a, pcsim_value chosen) {
  if (!is_value(program, "segment", a) || !is_value(program, "segment", chosen)) return false;
  const node *n = &program->nodes[a], *c = &program->nodes[chosen];
  if (map >= 0 && map < program->num_maps && c->space == program->maps[map].from && c->rows == n->rows)
    return true;
  graph_fault(program, PCSIM_ERR_ARG, "segment: the value has %d rows, what it is chosen by %d rows on '%s'",
              n->rows, c->rows, graph_space_name(program, c->space));
  return false;
}

pcsim_value graph_segment_pick(pcsim_program *program, pcsim_map map, pcsim_value a, pcsim_value chosen,
                               bool max) {
  if (!chosen_good(program, map, a, chosen)) return PCSIM_NO_VALUE;
  return apply(program, NODE_SEGMENT_PICK, map, (pcsim_value[]){a, chosen}, 2, max);
}

pcsim_value graph_segment_put(pcsim_program *program, pcsim_map map, pcsim_value y, pcsim_value chosen,
                              bool max) {
  if (!chosen_good(program, map, y, chosen)) return PCSIM_NO_VALUE;
  return apply(program, NODE_SEGMENT_PUT, map, (pcsim_value[]){y, chosen}, 2, max);
}
