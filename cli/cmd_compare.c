/* SPDX-License-Identifier: BSD-2-Clause */
/** @file cmd_compare.c  pcsim compare DIR REFERENCE: the `reference:` of another file against a finished run.
 */
#include "cli.h"

#include <math.h>

static void print_comparisons(const pcsim_comparison *c, int n) {
  printf("%-28s %16s %16s %11s %11s\n", "quantity", "value", "reference", "error", "tolerance");
  for (int i = 0; i < n; i++) {
    char reference[48];
    if (isfinite(c[i].low) || isfinite(c[i].high))
      snprintf(reference, sizeof reference, "[%.6g, %.6g]", c[i].low, c[i].high);
    else snprintf(reference, sizeof reference, "%.9g", c[i].reference);
    printf("%-28s %16.9g %16s %11.3g %11.3g  %s\n", c[i].quantity, c[i].value, reference, c[i].error,
           c[i].tolerance, c[i].met ? "met" : "MISSED");
  }
}

/* What only the summary of a finished run has. */
static pcsim_status restore(cli_session *s, const char *folder) {
  pcsim_report *summary = NULL;
  char *path = NULL;
  pcsim_status status = pcsim_path_join(folder, "summary.json", &path);
  if (status == PCSIM_OK && pcsim_file_exists(path)) status = pcsim_summary_read(path, &summary);
  if (status == PCSIM_OK && summary) status = cli_session_restore(s, summary);
  pcsim_summary_free(&summary);
  pcsim_free(&path);
  return pcsim_status_agree(s->c->comm, status);
}

/* Only the `reference:` of the file counts, so that a whole case serves as well. */
static pcsim_status compare(cli_session *s, const char *folder, const char *path) {
  cli *c = s->c;
  pcsim_tree *tree = NULL;
  pcsim_references *references = NULL;
  pcsim_fields fields;
  pcsim_status status = pcsim_tree_read(path, &tree);
  if (status == PCSIM_OK) {
    pcsim_node *root = pcsim_tree_root(tree);
    if (!pcsim_node_get(root, "reference"))
      pcsim_tree_problem(tree, root,
                         "'reference' is missing: the mapping of quantities, fields or curves to compare");
    status = pcsim_tree_status(tree);
  }
  PCSIM_GOTO(pcsim_status_agree(c->comm, status), status, done);
  PCSIM_GOTO(cli_session_open_run(c, folder, s), status, done);
  PCSIM_GOTO(cli_solver_fields(s, &fields), status, done);
  PCSIM_GOTO(pcsim_monitors_evaluate(s->monitors, &fields), status, done);
  PCSIM_GOTO(restore(s, folder), status, done);
  status = pcsim_references_read(tree, s->monitors, &references);
  if (pcsim_tree_num_problems(tree)) status = pcsim_tree_status(tree);
  PCSIM_GOTO(pcsim_status_agree(c->comm, status), status, done);
  PCSIM_GOTO(pcsim_references_compare(references, s->monitors, &fields), status, done);
  const pcsim_comparison *list;
  int n = pcsim_references_get(references, &list);
  if (c->rank == 0) print_comparisons(list, n);
  for (int i = 0; i < n; i++)
    if (!list[i].met) c->exit_code = CLI_MISSED;
done:
  pcsim_references_destroy(&references);
  cli_session_close(s);
  pcsim_tree_destroy(&tree);
  return status;
}

pcsim_status cmd_compare(cli *c, int argc, char **argv) {
  const char *words[2];
  int n;
  PCSIM_TRY(cli_options_read("compare", argc, argv, NULL, 0, "DIR and REFERENCE.yaml", 2, 2, words, &n));
  cli_session session = {.c = c};
  return compare(&session, words[0], words[1]);
}
