/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts to local programs: lowered, put together into named outputs, on the coordinates x, y, z, t. */
#include "typed.h"

#include <stdio.h>
#include <string.h>

/* The names as the lowering takes them. The region is a field: to it one more unknown. */
typedef struct {
  pcsim_lowering lowering;
  const char **unknowns; /* [num_unknowns + 1] */
  pcsim_lowering_table *tables;
  const char **parameters; /* without those that a coordinate or unknown hides */
} lowering_names;

static pcsim_status make_names(const typed_names *names, lowering_names *made) {
  static const char *const plane[] = {"x", "y", "t"}, *const space[] = {"x", "y", "z", "t"};
  const int n = names->num_unknowns + names->num_carriers;
  *made = (lowering_names){.lowering = {.num_coordinates = names->dim == 2 ? 3 : 4,
                                        .coordinates = names->dim == 2 ? plane : space,
                                        .num_unknowns = n + 1}};
  PCSIM_TRY(pcsim_alloc((size_t)n + 1, sizeof *made->unknowns, &made->unknowns));
  PCSIM_TRY(pcsim_alloc((size_t)names->num_parameters, sizeof *made->parameters, &made->parameters));
  for (int i = 0; i < n; ++i) made->unknowns[i] = names->unknown[i];
  made->unknowns[n] = "region";
  for (int i = 0; i < names->num_parameters; ++i)
    if (typed_resolve(names, names->parameter[i]).kind == TYPED_PARAMETER)
      made->parameters[made->lowering.num_parameters++] = names->parameter[i];
  PCSIM_TRY(pcsim_alloc((size_t)names->num_tables, sizeof *made->tables, &made->tables));
  for (int i = 0; i < names->num_tables; ++i)
    made->tables[i] = (pcsim_lowering_table){names->table[i].name, names->table[i].path};
  made->lowering.num_tables = names->num_tables;
  made->lowering.tables = made->tables;
  made->lowering.unknowns = made->unknowns;
  made->lowering.parameters = made->parameters;
  return PCSIM_OK;
}

static void free_names(lowering_names *made) {
  pcsim_free(&made->unknowns);
  pcsim_free(&made->parameters);
  pcsim_free(&made->tables);
}

/* A component of a flux is lowered as "dot(flux, vector(1, 0))"; what the user typed is the argument of div.
 */
static void report_fault(const typed_names *names, const typed_text *text, const pcsim_node *node,
                         size_t offset) {
  const char *message = pcsim_error_message();
  bool flux = offset == 4 && strncmp(message, "'dot' ", 6) == 0;
  pcsim_tree_problem_inside(names->tree, node, typed_text_column(text, offset), "%s%s", flux ? "'div' " : "",
                            message + (flux ? 6 : 0));
}

/* What the lowering finds wrong in each text alone, files of tables among it, is a problem at its column. */
static pcsim_status check_texts(const typed_names *names, const pcsim_lowering *lowering,
                                const typed_text *const *texts, const pcsim_node *const *node, int n) {
  for (int i = 0; i < n; ++i) {
    pcsim_program *alone = NULL;
    size_t offset = 0;
    int which = 0;
    if (!texts[i] || !texts[i]->text) continue;
    const char *text = texts[i]->text;
    pcsim_status status = pcsim_lower(&text, 1, lowering, &alone, &which, &offset);
    pcsim_program_destroy(&alone);
    if (status == PCSIM_OK) continue;
    if ((status != PCSIM_ERR_CASE && status != PCSIM_ERR_IO) || which < 0)
      return pcsim_error_frame(status, __FILE__, __LINE__, __func__);
    report_fault(names, texts[i], node[i], offset);
    pcsim_error_clear();
  }
  return PCSIM_OK;
}

/* "0", "1", ... of the lowered program side by side in the named outputs. */
static pcsim_status make_frame(const typed_output *outputs, int num_outputs, pcsim_program **frame) {
  pcsim_value *rows = NULL;
  pcsim_status status;
  int first = 0;
  PCSIM_GOTO(pcsim_program_create(frame), status, done);
  pcsim_space points = pcsim_build_space(*frame, "points");
  for (int o = 0; o < num_outputs; ++o) {
    PCSIM_GOTO(pcsim_realloc((size_t)outputs[o].rows, sizeof *rows, &rows), status, done);
    for (int r = 0; r < outputs[o].rows; ++r) {
      char name[16];
      snprintf(name, sizeof name, "%d", first++);
      rows[r] = pcsim_build_input(*frame, name, points, 1);
    }
    pcsim_value all = outputs[o].rows == 1 ? rows[0] : pcsim_build_concat(*frame, rows, outputs[o].rows);
    pcsim_build_output(*frame, outputs[o].name, all);
  }
  status = pcsim_program_status(*frame);
done:
  pcsim_free(&rows);
  return status;
}

/* The coordinates of a plane case, x, y, t, out of x, y, z, t. */
static pcsim_status make_plane(pcsim_program **plane) {
  PCSIM_TRY(pcsim_program_create(plane));
  pcsim_space points = pcsim_build_space(*plane, "points");
  pcsim_value all = pcsim_build_input(*plane, "coordinates", points, 4);
  pcsim_value part[2] = {pcsim_build_slice(*plane, all, 0, 2), pcsim_build_slice(*plane, all, TYPED_T, 1)};
  pcsim_build_output(*plane, "coordinates", pcsim_build_concat(*plane, part, 2));
  return pcsim_program_status(*plane);
}

static pcsim_status finish(const typed_names *names, const typed_output *outputs, int num_outputs,
                           pcsim_program *program) {
  const char *keep[8];
  PCSIM_CHECK(num_outputs <= 8, PCSIM_ERR_INTERNAL, "a local program with %d outputs", num_outputs);
  for (int o = 0; o < num_outputs; ++o) keep[o] = outputs[o].name;
  PCSIM_TRY(pcsim_program_keep(program, keep, num_outputs));
  for (int i = 0; i < names->num_parameters; ++i) {
    double *value = pcsim_program_parameter(program, names->parameter[i], NULL, NULL);
    if (value) *value = names->values[i];
  }
  return PCSIM_OK;
}

static pcsim_status assemble(const typed_names *names, const pcsim_lowering *lowering,
                             const typed_text *const *texts, int n, const typed_output *outputs,
                             int num_outputs, pcsim_program **program, pcsim_program **kept) {
  pcsim_program *lowered = NULL, *frame = NULL, *plane = NULL, *made = NULL;
  const char **text = NULL;
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc((size_t)n, sizeof *text, &text), status, done);
  for (int i = 0; i < n; ++i) text[i] = texts[i] && texts[i]->text ? texts[i]->text : "0";
  PCSIM_GOTO(pcsim_lower(text, n, lowering, &lowered, NULL, NULL), status, done);
  PCSIM_GOTO(make_frame(outputs, num_outputs, &frame), status, done);
  PCSIM_GOTO(pcsim_program_compose(frame, lowered, &made), status, done);
  if (names->dim == 2) {
    pcsim_program *whole = NULL;
    PCSIM_GOTO(make_plane(&plane), status, done);
    PCSIM_GOTO(pcsim_program_compose(made, plane, &whole), status, done);
    pcsim_program_destroy(&made);
    made = whole;
  }
  PCSIM_GOTO(finish(names, outputs, num_outputs, made), status, done);
  *program = made;
  made = NULL;
  if (kept) {
    *kept = lowered;
    lowered = NULL;
  }
done:
  pcsim_program_destroy(&lowered);
  pcsim_program_destroy(&frame);
  pcsim_program_destroy(&plane);
  pcsim_program_destroy(&made);
  pcsim_free(&text);
  return status;
}

pcsim_status typed_program_make(const typed_names *names, const typed_text *const *texts,
                                const pcsim_node *const *node, const typed_output *outputs, int num_outputs,
                                pcsim_program **program, pcsim_program **lowered) {
  lowering_names made;
  size_t before = pcsim_tree_num_problems(names->tree);
  int n = 0;
  *program = NULL;
  for (int o = 0; o < num_outputs; ++o) n += outputs[o].rows;
  for (int i = 0; i < n; ++i)
    if (texts[i]) PCSIM_TRY(typed_text_status(names, node[i], texts[i]));
  pcsim_status status = make_names(names, &made);
  if (status == PCSIM_OK) status = check_texts(names, &made.lowering, texts, node, n);
  if (status == PCSIM_OK && pcsim_tree_num_problems(names->tree) == before)
    status = assemble(names, &made.lowering, texts, n, outputs, num_outputs, program, lowered);
  free_names(&made);
  return status;
}

bool typed_program_uses(const pcsim_program *program, const char *input) {
  const char *name;
  bool used = false;
  for (int i = 0; (name = pcsim_program_input(program, i, NULL, &used)); ++i)
    if (used && strcmp(name, input) == 0) return true;
  return false;
}

static pcsim_status run_output(const pcsim_program *program, const char *name, int64_t n,
                               const double *points, const double *region, double *values) {
  pcsim_executor *executor = NULL;
  pcsim_status status;
  PCSIM_GOTO(pcsim_executor_create(program, NULL, &executor), status, done);
  PCSIM_GOTO(pcsim_executor_points(executor, "points", n), status, done);
  if (typed_program_uses(program, "coordinates"))
    PCSIM_GOTO(pcsim_executor_bind(executor, "coordinates", points), status, done);
  if (typed_program_uses(program, "region"))
    PCSIM_GOTO(pcsim_executor_bind(executor, "region", region), status, done);
  PCSIM_GOTO(pcsim_executor_bind_output(executor, name, values), status, done);
  status = pcsim_executor_run(executor, false);
done:
  pcsim_executor_destroy(&executor);
  return status;
}

pcsim_status typed_program_values(const pcsim_program *program, const char *name, int64_t n,
                                  const double *points, const double *region, double *values) {
  pcsim_program *copy = NULL;
  pcsim_status status;
  if (n == 0) return PCSIM_OK;
  PCSIM_GOTO(pcsim_program_copy(program, &copy), status, done);
  PCSIM_GOTO(pcsim_program_keep(copy, &name, 1), status, done);
  bool normal =
      typed_program_uses(copy, "n.x") || typed_program_uses(copy, "n.y") || typed_program_uses(copy, "n.z");
  if (!normal) status = run_output(copy, name, n, points, region, values);
done:
  pcsim_program_destroy(&copy);
  return status;
}
