/* SPDX-License-Identifier: BSD-2-Clause */
/** @file cmd_report.c  pcsim report DIR: the HTML report again; --table: finished runs as a Markdown table.
 */
#include "cli.h"

#include <math.h>
#include <string.h>

/* ----------------------------------------------------------------- table */

static void print_row(const char *folder, const pcsim_report *r) {
  const char *name = strrchr(folder, '/');
  name = name ? name + 1 : folder;
  if (r->num_comparisons == 0)
    printf("| %s | %lld | %s | %lld | %.1f | | | | | |\n", name, (long long)r->cells, r->status,
           (long long)r->iterations, r->wall_seconds);
  for (int i = 0; i < r->num_comparisons; i++) {
    const pcsim_comparison *c = &r->comparisons[i];
    char reference[64], error[64] = "", tolerance[64] = "";
    if (isfinite(c->low) || isfinite(c->high)) {
      snprintf(reference, sizeof reference, "%.6g to %.6g", c->low, c->high);
    } else {
      snprintf(reference, sizeof reference, "%.9g", c->reference);
      snprintf(error, sizeof error, c->absolute ? "%.3g" : "%.3g %%",
               c->absolute ? c->error : 100 * c->error);
      snprintf(tolerance, sizeof tolerance, c->absolute ? "%.3g" : "%.3g %%",
               c->absolute ? c->tolerance : 100 * c->tolerance);
    }
    printf("| %s | %lld | %s | %lld | %.1f | %s | %.9g | %s | %s | %s%s |\n", name, (long long)r->cells,
           r->status, (long long)r->iterations, r->wall_seconds, c->quantity, c->value, reference, error,
           *tolerance ? tolerance : "", c->met ? ", met" : ", **missed**");
  }
}

/* Append the current message as a line of its own. */
static pcsim_status keep_message(char **lines) {
  const char *text = pcsim_error_message();
  size_t used = *lines ? strlen(*lines) : 0, more = strlen(text);
  char *longer = NULL;
  PCSIM_TRY(pcsim_alloc(used + more + 2, 1, &longer));
  snprintf(longer, used + more + 2, "%s%s%s", *lines ? *lines : "", used ? "\n" : "", text);
  pcsim_free(lines);
  *lines = longer;
  pcsim_error_clear();
  return PCSIM_OK;
}

/* A folder that cannot be shown does not keep the others from being shown. */
static pcsim_status print_table(cli *c, const char *const *folders, int n) {
  char *bad = NULL;
  pcsim_status first = PCSIM_OK;
  if (c->rank == 0)
    printf("| case | cells | status | steps | wall s | quantity | value | reference | error | tolerance |\n"
           "|---|---|---|---|---|---|---|---|---|---|\n");
  for (int i = 0; i < n; i++) {
    pcsim_report *summary = NULL;
    pcsim_status status = pcsim_status_agree(c->comm, cli_summary_read(folders[i], &summary));
    if (status == PCSIM_OK && c->rank == 0) print_row(folders[i], summary);
    pcsim_summary_free(&summary);
    if (status == PCSIM_OK) continue;
    if (first == PCSIM_OK) first = status;
    pcsim_status kept = keep_message(&bad);
    if (kept != PCSIM_OK) {
      pcsim_free(&bad);
      return kept;
    }
  }
  if (first != PCSIM_OK) first = pcsim_error_set(first, __FILE__, __LINE__, __func__, "%s", bad);
  pcsim_free(&bad);
  return first;
}

/* ---------------------------------------------------------------- report */

/* What the summary keeps of the solve; the rest is evaluated again from the last state. */
static void outcome_of(const pcsim_report *r, cli_outcome *o) {
  *o = (cli_outcome){.status = r->status,
                     .wall_seconds = r->wall_seconds,
                     .cpu_seconds = r->cpu_seconds,
                     .memory_peak = r->memory_peak,
                     .ranks = r->ranks,
                     .study = r->study};
  o->result.steps = r->iterations;
  o->result.linear_iterations = r->linear_iterations;
  o->result.residual = r->residual;
  o->result.seconds = r->solve_seconds;
  snprintf(o->result.reason, sizeof o->result.reason, "%s", r->reason ? r->reason : "");
  snprintf(o->machine, sizeof o->machine, "%s", r->machine ? r->machine : "");
}

static pcsim_status again(cli_session *s, const char *folder) {
  cli *c = s->c;
  pcsim_report *summary = NULL;
  pcsim_fields fields;
  cli_outcome outcome = {0};
  char path[4200];
  pcsim_status status = PCSIM_OK;
  PCSIM_GOTO(pcsim_status_agree(c->comm, cli_summary_read(folder, &summary)), status, done);
  outcome_of(summary, &outcome);
  PCSIM_GOTO(cli_session_open_run(c, folder, s), status, done);
  PCSIM_GOTO(cli_solver_fields(s, &fields), status, done);
  PCSIM_GOTO(pcsim_monitors_evaluate(s->monitors, &fields), status, done);
  PCSIM_GOTO(cli_session_restore(s, summary), status, done);
  if (s->references) PCSIM_GOTO(pcsim_references_compare(s->references, s->monitors, &fields), status, done);
  snprintf(path, sizeof path, "%s/history.csv", folder);
  status = c->rank == 0 && pcsim_file_exists(path) ? pcsim_history_read(path, &outcome.history) : PCSIM_OK;
  PCSIM_GOTO(pcsim_status_agree(c->comm, status), status, done);
  cli_results_wanted wanted = {.report = true, .pictures = s->output.pictures};
  PCSIM_GOTO(cli_results_write(s, &outcome, &fields, folder, wanted), status, done);
  if (c->rank == 0) printf("%s/report.html\n", folder);
done:
  cli_outcome_free(&outcome);
  pcsim_summary_free(&summary);
  cli_session_close(s);
  return status;
}

pcsim_status cmd_report(cli *c, int argc, char **argv) {
  bool table = false;
  const cli_option options[] = {{"--table", NULL, CLI_FLAG, &table}};
  const char *words[256];
  int n;
  PCSIM_TRY(cli_options_read("report", argc, argv, options, 1, "DIR", 1, 256, words, &n));
  if (table) return print_table(c, words, n);
  PCSIM_CHECK(n == 1, PCSIM_ERR_CASE, "pcsim report: one DIR at a time; --table takes more");
  cli_session session = {.c = c};
  return again(&session, words[0]);
}
