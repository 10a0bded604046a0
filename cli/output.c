/* SPDX-License-Identifier: BSD-2-Clause */
/** @file output.c  `output:` of a case: what its run folder gets and when. */
#include "cli.h"

#include <float.h>
#include <math.h>
#include <string.h>

const pcsim_key cli_output_keys[] = {
    {"fields", PCSIM_KEY_NAMES, "[velocity, pressure]", NULL, "",
     "fields of fields.hdf: velocity, pressure, vorticity; of typed equations unknowns, all if not given", 0,
     0},
    {"checkpoint", PCSIM_KEY_ANY, "auto", NULL, "",
     "steps between checkpoints (whole number of at least 1), or auto: after each step, at most every 5 s", 0,
     0},
    {"times", PCSIM_KEY_NUMBERS, "", NULL, "s", "times at which the fields are written, each to its file", 0,
     0},
    {"every", PCSIM_KEY_NUMBER, "", NULL, "s", "the same at the start and in steps of so much", 1e-300,
     DBL_MAX},
    {"pictures", PCSIM_KEY_BOOL, "true", NULL, "", "pictures of the fields in the report and as files", 0, 0},
};
const size_t cli_num_output_keys = sizeof cli_output_keys / sizeof *cli_output_keys;

/* ----------------------------------------------------- which fields */

/* Names in a node that is one or a sequence of them; returns how many, at most `max`. */
static size_t list_names(const pcsim_node *list, const pcsim_node **item, const char **name, size_t max) {
  const bool one = pcsim_node_get_kind(list) == PCSIM_NODE_SCALAR;
  size_t n = 0;
  for (int64_t i = 0; i < (one ? 1 : pcsim_node_size(list)) && n < max; i++, n++) {
    const pcsim_node *at = one ? list : pcsim_node_child(list, i);
    if (item) item[n] = at;
    name[n] = pcsim_node_text(at);
  }
  return n;
}

/* "velocity, pressure or vorticity" */
static void join_names(const char *const *names, size_t n, char *text, size_t size) {
  text[0] = '\0';
  for (size_t i = 0; i < n; i++) {
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", i == 0 ? "" : i + 1 == n ? " or " : ", ", names[i]);
  }
}

/* `fields:` among `names` [n]: wanted[i] is set for those named. */
static void read_fields(pcsim_tree *tree, const pcsim_node *list, const char *const *names, size_t n,
                        bool *const *wanted) {
  const pcsim_node *item[OUTPUT_UNKNOWNS];
  const char *text[OUTPUT_UNKNOWNS];
  const size_t num = list_names(list, item, text, OUTPUT_UNKNOWNS);
  for (size_t i = 0; i < num; i++) {
    bool known = false;
    for (size_t k = 0; k < n; k++)
      if (!strcmp(text[i], names[k])) *wanted[k] = known = true;
    if (known) continue;
    char all[256];
    const char *near = pcsim_nearest(text[i], names, n);
    join_names(names, n, all, sizeof all);
    pcsim_tree_problem(tree, item[i], "no field '%s'; expected %s%s%s%s", text[i], all,
                       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  }
}

static void read_flow_fields(pcsim_tree *tree, const pcsim_node *node, cli_output *output) {
  static const char *const names[] = {"velocity", "pressure", "vorticity"};
  bool *const wanted[] = {&output->velocity, &output->pressure, &output->vorticity};
  const pcsim_node *list = pcsim_node_get(node, "fields");
  if (list) read_fields(tree, list, names, 3, wanted);
}

/* Of typed equations: unknowns, all of them where none is named. */
static void read_unknowns(pcsim_tree *tree, const pcsim_node *node, cli_output *output) {
  const char *names[OUTPUT_UNKNOWNS];
  bool *wanted[OUTPUT_UNKNOWNS];
  const pcsim_node *list = pcsim_node_get(node, "fields"),
                   *unknowns = pcsim_node_get(pcsim_node_get(pcsim_tree_root(tree), "physics"), "unknowns");
  const size_t n = unknowns ? list_names(unknowns, NULL, names, OUTPUT_UNKNOWNS) : 0;
  const bool given = list && (pcsim_node_size(list) > 0 || pcsim_node_text(list)[0]);
  for (size_t i = 0; i < OUTPUT_UNKNOWNS; i++) {
    output->unknowns[i] = !given;
    wanted[i] = &output->unknowns[i];
  }
  if (given) read_fields(tree, list, names, n, wanted);
}
/* Of a flow that equations join: its fields and their unknowns, all but the vorticity where none is named. */
static void read_joined_fields(pcsim_tree *tree, const pcsim_node *node, cli_output *output) {
  const char *names[3 + OUTPUT_UNKNOWNS] = {"velocity", "pressure", "vorticity"};
  bool *wanted[3 + OUTPUT_UNKNOWNS] = {&output->velocity, &output->pressure, &output->vorticity};
  const pcsim_node *list = pcsim_node_get(node, "fields"),
                   *unknowns = pcsim_node_get(pcsim_node_get(pcsim_tree_root(tree), "physics"), "unknowns");
  const size_t n = unknowns ? list_names(unknowns, NULL, names + 3, OUTPUT_UNKNOWNS) : 0;
  const bool given = list && (pcsim_node_size(list) > 0 || pcsim_node_text(list)[0]);
  for (size_t i = 0; i < n; i++) {
    output->unknowns[i] = !given;
    wanted[3 + i] = &output->unknowns[i];
  }
  output->velocity = output->pressure = !given;
  if (given) read_fields(tree, list, names, 3 + n, wanted);
}

static void check_output(pcsim_tree *tree, pcsim_node *node) {
  enum { KEYS = sizeof cli_output_keys / sizeof *cli_output_keys };
  pcsim_key keys[KEYS];
  memcpy(keys, cli_output_keys, sizeof keys);
  const bool typed = pcsim_transport_given(tree) || pcsim_joined_given(tree);
  for (size_t i = 0; typed && i < KEYS; i++)
    if (!strcmp(keys[i].name, "fields")) keys[i].fallback = "";
  pcsim_node_check(tree, node, keys, KEYS, "output");
}

/* -------------------------------------------------------------- when */

enum { TIMES_MAX = 100000 };

static void read_times(pcsim_tree *tree, const pcsim_node *node, const pcsim_time *time, cli_output *output) {
  const pcsim_node *list = pcsim_node_get(node, "times");
  int n = 0;
  if (pcsim_alloc((size_t)pcsim_node_size(list) + 1, sizeof(double), &output->times) != PCSIM_OK ||
      !pcsim_node_numbers(tree, node, "times", output->times, (int)pcsim_node_size(list), &n))
    return;
  for (int i = 0; i < n; i++) {
    const double t = output->times[i];
    if (!(t >= time->start && t <= time->end))
      pcsim_tree_problem(tree, pcsim_node_child(list, i), "%g is not between the start %g and the end %g", t,
                         time->start, time->end);
    else if (i && !(t > output->times[i - 1]))
      pcsim_tree_problem(tree, pcsim_node_child(list, i), "%g is not later than the time before it", t);
  }
  output->num_times = n;
}

static void read_every(pcsim_tree *tree, const pcsim_node *node, const pcsim_time *time, cli_output *output) {
  double every = 0;
  if (!pcsim_node_number(tree, node, "every", &every) || !(every > 0)) return;
  const double n = floor((time->end - time->start) / every * (1 + 1e-12)) + 1;
  if (!(n <= TIMES_MAX)) {
    pcsim_tree_problem(tree, pcsim_node_get(node, "every"), "%g files of fields; expected at most %d", n,
                       TIMES_MAX);
    return;
  }
  if (pcsim_alloc((size_t)n, sizeof(double), &output->times) != PCSIM_OK) return;
  output->num_times = (int64_t)n;
  for (int64_t i = 0; i < output->num_times; i++)
    output->times[i] = fmin(time->start + (double)i * every, time->end);
}

static void read_when(pcsim_tree *tree, const pcsim_node *node, cli_output *output) {
  const pcsim_node *times = pcsim_node_get(node, "times"), *every = pcsim_node_get(node, "every");
  pcsim_time time;
  pcsim_time_read(tree, &time);
  if (times && every) pcsim_tree_problem(tree, every, "`every` beside `times`; keep one");
  else if ((times || every) && !time.given)
    pcsim_tree_problem(tree, times ? times : every,
                       "times of output, but the case is steady; expected `solve: {time: {end: ..}}`");
  else if (times) read_times(tree, node, &time, output);
  else if (every) read_every(tree, node, &time, output);
}

void cli_output_read(pcsim_tree *tree, cli_output *output) {
  *output = (cli_output){.pictures = true};
  pcsim_node *node = pcsim_node_mapping(tree, pcsim_tree_root(tree), "output");
  if (!node) return;
  check_output(tree, node);
  if (pcsim_joined_given(tree)) read_joined_fields(tree, node, output);
  else if (pcsim_transport_given(tree)) read_unknowns(tree, node, output);
  else read_flow_fields(tree, node, output);
  read_when(tree, node, output);
  pcsim_node_bool(tree, node, "pictures", &output->pictures);
  const pcsim_node *every = pcsim_node_get(node, "checkpoint");
  if (!every || (pcsim_node_get_kind(every) == PCSIM_NODE_SCALAR && !strcmp(pcsim_node_text(every), "auto")))
    return;
  if (pcsim_node_get_kind(every) == PCSIM_NODE_SCALAR &&
      pcsim_node_integer(tree, node, "checkpoint", &output->checkpoint) && output->checkpoint < 1)
    pcsim_tree_problem(tree, every,
                       "'checkpoint' is %s; expected a whole number of steps of at least 1, or auto",
                       pcsim_node_text(every));
  else if (pcsim_node_get_kind(every) != PCSIM_NODE_SCALAR)
    pcsim_tree_problem(tree, every, "'checkpoint' must be a whole number of steps of at least 1, or auto");
}
