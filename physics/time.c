/* SPDX-License-Identifier: BSD-2-Clause */
/* `solve: {time: ...}`: whether and how a case goes through time. Conditions and solver both ask. */
#include <pcsim/physics.h>

#include <float.h>
#include <math.h>
#include <string.h>

#define POSITIVE 1e-300, DBL_MAX
#define NUM(a) (sizeof(a) / sizeof *(a))

static const pcsim_key time_keys[] = {
    {"start", PCSIM_KEY_NUMBER, "0", NULL, "s", "time of the initial state", 0, 0},
    {"end", PCSIM_KEY_NUMBER, NULL, NULL, "s", "time to stop at", 0, 0},
    {"tolerance", PCSIM_KEY_NUMBER, "", NULL, "1",
     "bound of the error that each step may add, relative to the scale of the unknowns (1e-4)", 1e-12, 0.1},
    {"step", PCSIM_KEY_NUMBER, "", NULL, "s", "steps of this size, without control of the error", POSITIVE},
    {"scheme", PCSIM_KEY_CHOICE, "tr-bdf2", "tr-bdf2|bdf2", "",
     "tr-bdf2: one step, two stages; bdf2: two steps, one stage", 0, 0},
    {"first", PCSIM_KEY_NUMBER, "", NULL, "s", "size of the first step; else a ten-thousandth of the span",
     POSITIVE},
    {"least", PCSIM_KEY_NUMBER, "", NULL, "s",
     "the run is given up where a smaller step would be needed; else 1e-9 of the span", POSITIVE},
    {"most", PCSIM_KEY_NUMBER, "", NULL, "s",
     "size of the largest step: where something grows from too small for the tolerance to see it", POSITIVE},
    {"steps", PCSIM_KEY_INTEGER, "1000000", NULL, "1", "largest number of steps", 0, 1e12},
};

const pcsim_key *pcsim_time_keys(size_t *n) {
  *n = NUM(time_keys);
  return time_keys;
}

bool pcsim_time_given(const pcsim_tree *tree) {
  const pcsim_node *solve = pcsim_node_get(pcsim_tree_root(tree), "solve");
  return pcsim_node_get(solve, "time") != NULL;
}

void pcsim_time_read(pcsim_tree *tree, pcsim_time *time) {
  pcsim_node *node = pcsim_node_get(pcsim_node_get(pcsim_tree_root(tree), "solve"), "time");
  const char *scheme = "tr-bdf2";
  *time = (pcsim_time){.tolerance = 1e-4, .steps = 1000000};
  if (!node) return;
  time->given = true;
  if (pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) {
    pcsim_tree_problem(tree, node, "`time` must be a mapping, e.g. {end: 8, tolerance: 1e-4}");
    return;
  }
  const pcsim_node *tolerance = pcsim_node_get(node, "tolerance");
  const size_t before = pcsim_tree_num_problems(tree);
  pcsim_node_check(tree, node, time_keys, NUM(time_keys), "solve.time");
  pcsim_node_number(tree, node, "start", &time->start);
  pcsim_node_number(tree, node, "end", &time->end);
  pcsim_node_number(tree, node, "tolerance", &time->tolerance);
  pcsim_node_number(tree, node, "step", &time->step);
  pcsim_node_string(tree, node, "scheme", &scheme);
  pcsim_node_number(tree, node, "first", &time->first);
  pcsim_node_number(tree, node, "least", &time->least);
  pcsim_node_number(tree, node, "most", &time->most);
  pcsim_node_integer(tree, node, "steps", &time->steps);
  if (pcsim_tree_num_problems(tree) != before) return;
  time->scheme = strcmp(scheme, "bdf2") == 0 ? PCSIM_TIME_BDF2 : PCSIM_TIME_TR_BDF2;
  const double span = time->end - time->start;
  if (!(span > 0) || !isfinite(span))
    pcsim_tree_problem(tree, pcsim_node_get(node, "end"),
                       "`end` is %g, but the time starts at %g; expected a later end", time->end,
                       time->start);
  if (time->step > 0 && tolerance)
    pcsim_tree_problem(
        tree, tolerance,
        "`tolerance` has no meaning beside `step`, which switches the control of the error off; "
        "keep one");
  if (time->step > 0 && pcsim_node_get(node, "first"))
    pcsim_tree_problem(tree, pcsim_node_get(node, "first"), "`first` has no meaning beside `step`; keep one");
  if (time->step > 0 && time->most > 0)
    pcsim_tree_problem(tree, pcsim_node_get(node, "most"), "`most` has no meaning beside `step`; keep one");
  if (!(time->least > 0)) time->least = 1e-9 * fabs(span);
  if (time->most > 0 && time->most < time->least)
    pcsim_tree_problem(tree, pcsim_node_get(node, "most"), "`most` is %g, below `least`, %g", time->most,
                       time->least);
}
