/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a program jumps or bends, and what its operators decide that by. */
#include "graph.h"

enum { SWITCHES_MAX = 256 };

/** What tells on which side of a jump or a bend a value is. */
typedef enum {
  SMOOTH,
  BY_SIGN,  /* of the first input */
  BY_ORDER, /* of both inputs */
  BY_SLOPE, /* of the table */
  ITSELF,   /* the value is constant in between */
  FOLLOWS,  /* the comparisons that it is made of */
  UNKNOWN
} decision;

static decision decides_by(const node *n) {
  if (n->kind == NODE_TABLE) return n->first ? ITSELF : BY_SLOPE;
  if (n->kind == NODE_USER || n->kind == NODE_SEGMENT_MIN || n->kind == NODE_SEGMENT_MAX ||
      n->kind == NODE_SEGMENT_PICK)
    return UNKNOWN;
  if (n->kind != NODE_OP) return SMOOTH;
  switch (n->op) {
  case PCSIM_OP_ABS:
    return BY_SIGN;
  case PCSIM_OP_MIN:
  case PCSIM_OP_MAX:
    return BY_ORDER;
  case PCSIM_OP_SIGN:
  case PCSIM_OP_STEP:
  case PCSIM_OP_FLOOR:
  case PCSIM_OP_LT:
  case PCSIM_OP_LE:
  case PCSIM_OP_EQ:
    return ITSELF;
  case PCSIM_OP_WHERE:
    return FOLLOWS;
  default:
    return SMOOTH; /* logic follows comparisons as well */
  }
}

bool pcsim_program_is_smooth(const pcsim_program *program) {
  bool *live = graph_live(program, 0), smooth = live != NULL;
  for (pcsim_value v = 0; smooth && v < program->num_nodes; v++)
    smooth = !live[v] || decides_by(graph_node(program, v)) == SMOOTH;
  pcsim_free(&live);
  return smooth;
}

/* A value that is constant but where the node jumps or bends; NO_VALUE: it does not, or others tell. */
static pcsim_value switch_of(pcsim_program *p, pcsim_value v) {
  const node n = *graph_node(p, v);
  if (n.space == PCSIM_NO_SPACE) return PCSIM_NO_VALUE;
  switch (decides_by(&n)) {
  case BY_SIGN:
    return pcsim_build_unary(p, PCSIM_OP_SIGN, n.inputs[0]);
  case BY_ORDER:
    return pcsim_build_binary(p, PCSIM_OP_LT, n.inputs[0], n.inputs[1]);
  case BY_SLOPE:
    return graph_table(p, n.inputs[0], n.inputs[1], true);
  case ITSELF:
    return v;
  default:
    return PCSIM_NO_VALUE;
  }
}

/* Output "switches" of what tells where the only output jumps or bends; `*num` of them. */
static pcsim_status add_switches(pcsim_program *p, int *num) {
  const pcsim_value nodes = p->num_nodes;
  pcsim_value found[SWITCHES_MAX];
  bool *live = graph_live(p, 0);
  PCSIM_CHECK(live, PCSIM_ERR_MEMORY, "no memory for a program of %d values", nodes);
  for (pcsim_value v = 0; v < nodes && *num < SWITCHES_MAX; v++) {
    const pcsim_value one = live[v] ? switch_of(p, v) : PCSIM_NO_VALUE;
    if (one >= 0) found[(*num)++] = one;
  }
  pcsim_free(&live);
  if (*num) pcsim_build_output(p, "switches", *num == 1 ? found[0] : pcsim_build_concat(p, found, *num));
  return pcsim_program_status(p);
}

pcsim_status pcsim_program_switches(const pcsim_program *program, const char *output,
                                    pcsim_program **switches) {
  const char *const name = "switches";
  pcsim_program *p = NULL;
  int num = 0;
  *switches = NULL;
  PCSIM_TRY(pcsim_program_copy(program, &p));
  pcsim_status status = pcsim_program_keep(p, &output, 1);
  if (status == PCSIM_OK) status = add_switches(p, &num);
  if (status == PCSIM_OK && num) status = pcsim_program_keep(p, &name, 1);
  if (status == PCSIM_OK && num) *switches = p, p = NULL;
  pcsim_program_destroy(&p);
  return status;
}
