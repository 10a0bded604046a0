/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrays of a file to a program. Every value goes through the builder that made it, so that the rules of
 * shapes and spaces stand in one place; what the builder derives must be what the file says. */
#include "file.h"

#include <string.h>

/** Texts of a part, taken one by one. */
typedef struct {
  const char *at, *end;
} texts;

static texts texts_of(const program_flat *flat, file_part part) {
  const char *data = flat->part[part].data;
  return (texts){data, data ? data + flat->part[part].count : NULL};
}

/** Next text, or NULL if there is no more that ends and has a letter. */
static const char *next_text(texts *t) {
  size_t left = t->at ? (size_t)(t->end - t->at) : 0;
  const char *text = t->at, *zero = left ? memchr(text, 0, left) : NULL;
  if (!zero || zero == text) return NULL;
  t->at = zero + 1;
  return text;
}

typedef struct {
  const program_flat *flat;
  file_operators operators;
  pcsim_program *program;
  texts names;
  int named;
  const int32_t *inputs, *inputs_end;
  const double *numbers, *numbers_end;
} loader;

/** What the builder refused. */
static pcsim_status program_fault(const pcsim_program *p, const char *what, int i) {
  if (p->status == PCSIM_OK) return PCSIM_OK;
  if (p->status == PCSIM_ERR_MEMORY) return pcsim_program_status(p);
  PCSIM_FAIL(PCSIM_ERR_IO, "%s %d: %s", what, i, p->fault ? p->fault : "it cannot be built");
}

static pcsim_status load_spaces(loader *l) {
  texts t = texts_of(l->flat, PART_SPACES);
  for (int i = 0; t.at < t.end; i++) {
    const char *name = next_text(&t);
    PCSIM_CHECK(name, PCSIM_ERR_IO, "space %d has no name", i);
    pcsim_build_space(l->program, name);
    PCSIM_TRY(program_fault(l->program, "space", i));
  }
  return PCSIM_OK;
}

static pcsim_status load_maps(loader *l) {
  texts t = texts_of(l->flat, PART_MAP_NAMES);
  const int32_t *map = l->flat->part[PART_MAPS].data;
  size_t n = l->flat->part[PART_MAPS].count;
  PCSIM_CHECK(n % 3 == 0, PCSIM_ERR_IO, "%zu numbers about maps; expected three for each", n);
  for (int i = 0; i < (int)(n / 3); i++, map += 3) {
    const char *name = next_text(&t);
    PCSIM_CHECK(name, PCSIM_ERR_IO, "map %d has no name", i);
    if (map[2] == 0) pcsim_build_index_map(l->program, name, map[0], map[1]);
    else pcsim_build_sparse_map(l->program, name, map[0], map[1], map[2]);
    PCSIM_TRY(program_fault(l->program, "map", i));
  }
  PCSIM_CHECK(t.at == t.end, PCSIM_ERR_IO, "there are more names of maps than maps");
  return PCSIM_OK;
}

/** The host's operator of this name and number of inputs. */
static pcsim_status find_operator(const loader *l, const char *name, int num_inputs,
                                  const pcsim_user_op **found) {
  const file_operators *have = &l->operators;
  const char **names = NULL;
  *found = NULL;
  for (int i = 0; i < have->n; i++)
    if (!strcmp(have->ops[i].name, name)) *found = &have->ops[i];
  if (*found) {
    PCSIM_CHECK((*found)->num_inputs == num_inputs, PCSIM_ERR_IO,
                "inputs of its operator '%.60s': %d when it was saved, %d of the one that is given here",
                name, num_inputs, (*found)->num_inputs);
    return PCSIM_OK;
  }
  PCSIM_TRY(pcsim_alloc((size_t)have->n, sizeof *names, &names));
  for (int i = 0; i < have->n; i++) names[i] = have->ops[i].name;
  const char *near = pcsim_nearest(name, names, (size_t)have->n);
  pcsim_free(&names);
  PCSIM_FAIL(
      PCSIM_ERR_IO,
      "it uses the operator '%.60s' of the program that saved it; expected it among the operators given "
      "to loading%s%s%s",
      name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static pcsim_status load_operators(loader *l) {
  texts t = texts_of(l->flat, PART_OPERATOR_NAMES);
  const int32_t *inputs = l->flat->part[PART_OPERATORS].data;
  for (int i = 0; i < (int)l->flat->part[PART_OPERATORS].count; i++) {
    const pcsim_user_op *op;
    const char *name = next_text(&t);
    PCSIM_CHECK(name, PCSIM_ERR_IO, "operator %d has no name", i);
    PCSIM_TRY(find_operator(l, name, inputs[i], &op));
    pcsim_program_add_op(l->program, op);
    PCSIM_TRY(program_fault(l->program, "operator", i));
  }
  PCSIM_CHECK(t.at == t.end, PCSIM_ERR_IO, "there are more names of operators than operators");
  return PCSIM_OK;
}

static pcsim_status load_outputs(loader *l) {
  texts t = texts_of(l->flat, PART_OUTPUT_NAMES);
  const int32_t *value = l->flat->part[PART_OUTPUTS].data;
  for (int i = 0; i < (int)l->flat->part[PART_OUTPUTS].count; i++) {
    const char *name = next_text(&t);
    PCSIM_CHECK(name, PCSIM_ERR_IO, "output %d has no name", i);
    PCSIM_CHECK(value[i] >= 0 && value[i] < l->program->num_nodes, PCSIM_ERR_IO,
                "the output '%.60s' is value %d, which is not there", name, value[i]);
    pcsim_build_output(l->program, name, value[i]);
    PCSIM_TRY(program_fault(l->program, "output", i));
  }
  PCSIM_CHECK(t.at == t.end, PCSIM_ERR_IO, "there are more names of outputs than outputs");
  return PCSIM_OK;
}

/* ----------------------------------------------------------------- values */

/** Numbers of inputs that a kind can have. */
static bool inputs_fit(const pcsim_program *program, const node *n) {
  switch (n->kind) {
  case NODE_CONSTANT:
  case NODE_INPUT:
  case NODE_PARAMETER:
    return n->num_inputs == 0;
  case NODE_OP:
    return (int)n->op >= 0 && n->op < PCSIM_NUM_OPS && n->num_inputs == op_num_inputs(n->op);
  case NODE_USER:
    return n->num_inputs == program->user_ops[n->index].num_inputs;
  case NODE_DENSE:
    return n->num_inputs == 2 || n->num_inputs == 3;
  case NODE_DENSE_TRANSPOSED:
  case NODE_OUTER:
  case NODE_TABLE:
  case NODE_SEGMENT_PICK:
  case NODE_SEGMENT_PUT:
    return n->num_inputs == 2;
  case NODE_CONCAT:
    return n->num_inputs >= 1;
  default:
    return n->num_inputs == 1;
  }
}

/** Fill a node from its line, as far as that can be judged without its kind's rules. */
static pcsim_status read_line(loader *l, int v, const int32_t *line, node *n) {
  const int32_t kind = line[COLUMN_KIND], op = line[COLUMN_OP];
  PCSIM_CHECK(kind >= 0 && kind < NUM_NODE_KINDS, PCSIM_ERR_IO,
              "value %d has the kind %d, which is not known here", v, kind);
  PCSIM_CHECK(kind != NODE_USER || (line[COLUMN_INDEX] >= 0 && line[COLUMN_INDEX] < l->program->num_user_ops),
              PCSIM_ERR_IO, "value %d is the operator %d of the host, which is not there", v,
              line[COLUMN_INDEX]);
  PCSIM_CHECK(op >= 0 && op < PCSIM_NUM_OPS && (kind == NODE_OP || !op), PCSIM_ERR_IO,
              "value %d has the operator %d, which is not known here", v, op);
  *n = (node){.kind = (node_kind)kind,
              .op = (pcsim_op)op,
              .index = line[COLUMN_INDEX],
              .space = line[COLUMN_SPACE],
              .rows = line[COLUMN_ROWS],
              .columns = line[COLUMN_COLUMNS],
              .first = line[COLUMN_FIRST],
              .num_inputs = line[COLUMN_INPUTS],
              .inputs = (pcsim_value *)l->inputs};
  PCSIM_CHECK(n->rows >= 1 && n->columns >= 1 && (int64_t)n->rows * n->columns <= INT32_MAX, PCSIM_ERR_IO,
              "value %d has %d x %d numbers", v, n->rows, n->columns);
  PCSIM_CHECK(n->space >= PCSIM_NO_SPACE && n->space < l->program->num_spaces, PCSIM_ERR_IO,
              "value %d lives on space %d, which is not there", v, n->space);
  PCSIM_CHECK(n->columns == 1 || n->space == PCSIM_NO_SPACE, PCSIM_ERR_IO,
              "value %d is a matrix at every point", v);
  PCSIM_CHECK(inputs_fit(l->program, n) && n->num_inputs <= l->inputs_end - l->inputs, PCSIM_ERR_IO,
              "value %d (%s) has %d inputs", v, node_kind_name(n->kind), n->num_inputs);
  for (int i = 0; i < n->num_inputs; i++)
    PCSIM_CHECK(n->inputs[i] >= 0 && n->inputs[i] < v, PCSIM_ERR_IO,
                "value %d is made of value %d, which does not come before it", v, n->inputs[i]);
  l->inputs += n->num_inputs;
  return PCSIM_OK;
}

/** Numbers of a constant or parameter from the file. */
static pcsim_status take_numbers(loader *l, int v, node *n) {
  int64_t count = (int64_t)n->rows * n->columns;
  PCSIM_CHECK(count <= l->numbers_end - l->numbers, PCSIM_ERR_IO,
              "value %d has %d x %d numbers, %td are left", v, n->rows, n->columns,
              l->numbers_end - l->numbers);
  n->numbers = (double *)l->numbers;
  l->numbers += count;
  return PCSIM_OK;
}

static pcsim_status take_name(loader *l, int v, const node *n, const char **name) {
  *name = n->index == l->named ? next_text(&l->names) : NULL;
  PCSIM_CHECK(*name, PCSIM_ERR_IO, "value %d (%s) has no name", v, node_kind_name(n->kind));
  l->named++;
  return PCSIM_OK;
}

/** Sums of rows that do not fit an int would be derived wrongly. */
static pcsim_status check_rows(const loader *l, int v, const node *n) {
  int64_t rows = n->rows;
  if (n->kind == NODE_CONCAT) {
    rows = 0;
    for (int i = 0; i < n->num_inputs; i++) rows += graph_node(l->program, n->inputs[i])->rows;
  }
  if (n->kind == NODE_SPARSE && n->index >= 0 && n->index < l->program->num_maps)
    rows = (int64_t)graph_node(l->program, n->inputs[0])->rows * l->program->maps[n->index].width;
  PCSIM_CHECK(rows == n->rows || n->kind != NODE_CONCAT, PCSIM_ERR_IO,
              "value %d has %d rows, its inputs %lld", v, n->rows, (long long)rows);
  PCSIM_CHECK(rows <= INT32_MAX, PCSIM_ERR_IO, "value %d has %lld rows", v, (long long)rows);
  return PCSIM_OK;
}

static pcsim_value build_map_value(pcsim_program *p, const node *n) {
  const pcsim_value *in = n->inputs;
  switch (n->kind) {
  case NODE_GATHER:
    return pcsim_build_gather(p, n->index, in[0]);
  case NODE_SCATTER_ADD:
    return pcsim_build_scatter_add(p, n->index, in[0]);
  case NODE_SPARSE:
    return pcsim_build_sparse(p, n->index, in[0]);
  case NODE_SPARSE_TRANSPOSED:
    return pcsim_build_sparse_transposed(p, n->index, in[0]);
  case NODE_SEGMENT_MIN:
    return pcsim_build_segment_min(p, n->index, in[0]);
  case NODE_SEGMENT_MAX:
    return pcsim_build_segment_max(p, n->index, in[0]);
  case NODE_SEGMENT_PICK:
    return graph_segment_pick(p, n->index, in[0], in[1], n->first != 0);
  case NODE_SEGMENT_PUT:
    return graph_segment_put(p, n->index, in[0], in[1], n->first != 0);
  default:
    return PCSIM_NO_VALUE;
  }
}

static pcsim_value build_value(pcsim_program *p, const node *n, const char *name) {
  const pcsim_value *in = n->inputs;
  switch (n->kind) {
  case NODE_CONSTANT:
    return graph_append(p, n);
  case NODE_INPUT:
    return graph_input(p, name, n->space, n->rows, n->columns);
  case NODE_PARAMETER:
    return pcsim_build_parameter(p, name, n->rows, n->columns);
  case NODE_OP:
    return pcsim_build_op(p, n->op, in, n->num_inputs);
  case NODE_USER:
    return pcsim_build_user(p, n->index, in);
  case NODE_DENSE:
    return pcsim_build_dense(p, in[0], in[1], n->num_inputs == 3 ? in[2] : PCSIM_NO_VALUE);
  case NODE_DENSE_TRANSPOSED:
    return pcsim_build_dense_transposed(p, in[0], in[1]);
  case NODE_OUTER:
    return pcsim_build_outer(p, in[0], in[1]);
  case NODE_CONCAT:
    return pcsim_build_concat(p, in, n->num_inputs);
  case NODE_SLICE:
    return pcsim_build_slice(p, in[0], n->first, n->rows);
  case NODE_ROW_SUM:
    return pcsim_build_row_sum(p, in[0]);
  case NODE_SUM:
    return pcsim_build_sum(p, in[0]);
  case NODE_BROADCAST:
    return graph_broadcast(p, in[0], n->space, n->rows);
  case NODE_FROZEN:
    return pcsim_build_frozen(p, in[0]);
  case NODE_TRANSPOSE:
    return graph_transpose(p, in[0]);
  case NODE_TABLE:
    return graph_table(p, in[0], in[1], n->first == 1);
  default:
    return build_map_value(p, n);
  }
}

static bool same_shape(const node *a, const node *b) {
  return a->kind == b->kind && a->op == b->op && a->index == b->index && a->space == b->space &&
         a->rows == b->rows && a->columns == b->columns && a->first == b->first &&
         a->num_inputs == b->num_inputs;
}

static pcsim_status load_value(loader *l, int v, const int32_t *line) {
  node n;
  const char *name = NULL;
  PCSIM_TRY(read_line(l, v, line, &n));
  if (n.kind == NODE_INPUT || n.kind == NODE_PARAMETER) PCSIM_TRY(take_name(l, v, &n, &name));
  if (n.kind == NODE_CONSTANT || n.kind == NODE_PARAMETER) PCSIM_TRY(take_numbers(l, v, &n));
  PCSIM_TRY(check_rows(l, v, &n));
  PCSIM_CHECK(n.kind != NODE_CONSTANT || (n.space == PCSIM_NO_SPACE && !n.index && !n.first), PCSIM_ERR_IO,
              "value %d is a constant with a space or a place", v);
  pcsim_value built = build_value(l->program, &n, name);
  PCSIM_TRY(program_fault(l->program, "value", v));
  PCSIM_CHECK(built == v && same_shape(graph_node(l->program, v), &n), PCSIM_ERR_IO,
              "value %d (%s) is not what its inputs make: %d x %d numbers", v, node_kind_name(n.kind), n.rows,
              n.columns);
  if (n.kind == NODE_PARAMETER)
    memcpy(l->program->nodes[v].numbers, n.numbers, (size_t)n.rows * (size_t)n.columns * sizeof *n.numbers);
  return PCSIM_OK;
}

static pcsim_status load_values(loader *l) {
  const int32_t *line = l->flat->part[PART_NODES].data;
  size_t n = l->flat->part[PART_NODES].count;
  PCSIM_CHECK(n % FILE_NODE_WIDTH == 0 && n / FILE_NODE_WIDTH <= INT32_MAX, PCSIM_ERR_IO,
              "%zu numbers about values; expected %d for each", n, FILE_NODE_WIDTH);
  for (int v = 0; v < (int)(n / FILE_NODE_WIDTH); v++, line += FILE_NODE_WIDTH)
    PCSIM_TRY(load_value(l, v, line));
  PCSIM_CHECK(l->inputs == l->inputs_end && l->numbers == l->numbers_end && l->names.at == l->names.end,
              PCSIM_ERR_IO, "there are more inputs, numbers or names than the values have");
  return PCSIM_OK;
}

pcsim_status program_unflatten(const program_flat *flat, file_operators operators, pcsim_program **program) {
  /* No pointer is moved that points nowhere. */
  static const int32_t no_inputs[1];
  static const double no_numbers[1];
  loader l = {.flat = flat,
              .operators = operators,
              .names = texts_of(flat, PART_NAMES),
              .inputs = no_inputs,
              .numbers = no_numbers};
  if (flat->part[PART_INPUTS].count) l.inputs = flat->part[PART_INPUTS].data;
  if (flat->part[PART_NUMBERS].count) l.numbers = flat->part[PART_NUMBERS].data;
  l.inputs_end = l.inputs + flat->part[PART_INPUTS].count;
  l.numbers_end = l.numbers + flat->part[PART_NUMBERS].count;
  *program = NULL;
  PCSIM_TRY(pcsim_program_create(&l.program));
  pcsim_status status = load_spaces(&l);
  if (status == PCSIM_OK) status = load_maps(&l);
  if (status == PCSIM_OK) status = load_operators(&l);
  if (status == PCSIM_OK) status = load_values(&l);
  if (status == PCSIM_OK) status = load_outputs(&l);
  if (status != PCSIM_OK) {
    pcsim_program_destroy(&l.program);
    return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
  }
  *program = l.program;
  return PCSIM_OK;
}
