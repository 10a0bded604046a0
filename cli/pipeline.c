/* SPDX-License-Identifier: BSD-2-Clause */
/** @file pipeline.c  `pcsim run`: case, folder, solve or study, results, exit code. */
#include "train.h"

#include <math.h>
#include <string.h>

/* What the run says last: how it ended, and the references one by one. */
static void log_end(const cli_session *s, const cli_outcome *o, const char *folder) {
  const pcsim_solve_result *r = &o->result;
  if (s->time.given)
    pcsim_log(PCSIM_LOG_INFO, "%s after %lld steps: t = %.6g, %.1f s",
              r->outcome == PCSIM_OUTCOME_CONVERGED ? "finished" : o->status, (long long)r->steps, r->time,
              o->wall_seconds);
  else
    pcsim_log(PCSIM_LOG_INFO, "%s after %lld steps: residual %.2e, %.1f s", o->status, (long long)r->steps,
              r->residual, o->wall_seconds);
  if (r->outcome != PCSIM_OUTCOME_CONVERGED) pcsim_log(PCSIM_LOG_WARNING, "%s: %s", o->status, r->reason);
  const pcsim_quantity *quantities;
  int n = pcsim_monitors_quantities(s->monitors, &quantities);
  const int followed = pcsim_monitors_num_followed(s->monitors);
  for (int i = 0; i < n; i++)
    if (i < followed || !s->time.given) /* statistics stand in the report */
      pcsim_log(PCSIM_LOG_INFO, "  %-24s %.10g %s", quantities[i].name, quantities[i].value,
                quantities[i].unit);
  const pcsim_comparison *c = NULL;
  n = s->references ? pcsim_references_get(s->references, &c) : 0;
  for (int i = 0; i < n; i++) {
    const char *verdict = c[i].met ? "met" : "MISSED";
    if (isfinite(c[i].low) || isfinite(c[i].high))
      pcsim_log(PCSIM_LOG_INFO, "  reference %s: %.8g in [%g, %g]: %s", c[i].quantity, c[i].value, c[i].low,
                c[i].high, verdict);
    else
      pcsim_log(PCSIM_LOG_INFO, "  reference %s: %.8g against %.8g, error %.3g (%s, tolerance %.3g): %s",
                c[i].quantity, c[i].value, c[i].reference, c[i].error,
                c[i].absolute ? "absolute" : "relative", c[i].tolerance, verdict);
  }
  pcsim_log(PCSIM_LOG_INFO, "results in %s", folder);
}

static int exit_code(const cli_session *s, const cli_outcome *o) {
  const pcsim_comparison *c = NULL;
  if (o->result.outcome != PCSIM_OUTCOME_CONVERGED) return CLI_NOT_CONVERGED;
  int n = s->references ? pcsim_references_get(s->references, &c) : 0;
  for (int i = 0; i < n; i++)
    if (!c[i].met) return CLI_MISSED;
  return CLI_DONE;
}

/* ----------------------------------------------------------------- study */

/* Quantities of a coarse mesh that an earlier start has finished; `*done` false where there are none. `table`
 * NULL: nobody wants them. */
static pcsim_status finished_before(cli_session *s, const char *folder, bool resume, cli_study_table *table,
                                    bool *done) {
  char *path = NULL;
  int there = 0;
  PCSIM_TRY(pcsim_path_join(folder, "summary.json", &path));
  if (resume && s->c->rank == 0) there = pcsim_file_exists(path);
  pcsim_free(&path);
  MPI_Bcast(&there, 1, MPI_INT, 0, s->c->comm);
  *done = there;
  if (!there || !table) return PCSIM_OK;
  pcsim_report *summary = NULL;
  pcsim_status status = cli_summary_read(folder, &summary);
  if (status == PCSIM_OK)
    status = cli_study_add(table, (int)s->study.count, summary->cells, summary->quantities,
                           summary->num_quantities);
  pcsim_summary_free(&summary);
  return pcsim_status_agree(s->c->comm, status);
}

static pcsim_status coarse_mesh(cli_session *s, const cli_part *part, cli_study_table *table, bool *stopped) {
  cli_outcome outcome = {0};
  pcsim_fields fields;
  pcsim_status status = PCSIM_OK;
  bool done = false;
  *stopped = false;
  if (s->c->rank == 0) status = pcsim_folder_make(part->folder);
  PCSIM_TRY(pcsim_status_agree(s->c->comm, status));
  PCSIM_TRY(finished_before(s, part->folder, part->resume, table, &done));
  if (done) return PCSIM_OK;
  PCSIM_GOTO(cli_solve(s, part, &outcome, &fields), status, end);
  *stopped = !outcome.status;
  if (*stopped) goto end;
  if (outcome.result.outcome != PCSIM_OUTCOME_CONVERGED)
    pcsim_log(PCSIM_LOG_WARNING, "this run on the way is %s: %s", outcome.status, outcome.result.reason);
  const pcsim_quantity *quantities;
  int n = pcsim_monitors_quantities(s->monitors, &quantities);
  if (table)
    PCSIM_GOTO(cli_study_add(table, (int)s->study.count, s->quality.num_cells, quantities, n), status, end);
  PCSIM_GOTO(cli_results_write(s, &outcome, &fields, part->folder, (cli_results_wanted){.summary = true}),
             status, end);
end:
  cli_outcome_free(&outcome);
  return status;
}

/* All runs but the finest, each in a subfolder of its own. */
static pcsim_status coarse_meshes(cli_session *s, const cli_part *finest, cli_study_table *table,
                                  bool *stopped) {
  *stopped = false;
  for (int64_t i = 0; i + 1 < s->study.count && !*stopped; i++) {
    char folder[4200];
    snprintf(folder, sizeof folder, "%s/study-%lld", finest->folder, (long long)i + 1);
    const double factor = pow(s->study.ratio, (double)(s->study.count - 1 - i));
    cli_part part = *finest;
    part.folder = folder;
    *(s->study.of_steps ? &s->step_factor : &part.factor) = factor;
    pcsim_log(PCSIM_LOG_INFO, "study: %s %lld of %lld, sizes times %g",
              s->study.of_steps ? "time step" : "mesh", (long long)i + 1, (long long)s->study.count, factor);
    PCSIM_TRY(coarse_mesh(s, &part, table, stopped));
  }
  return PCSIM_OK;
}

/* ----------------------------------------------------------------- start */

/* How far a solve goes whose only purpose is to be a start. */
static const double start_tolerance = 1e-3;

static double *tolerance_of(cli_session *s) {
  return pcsim_transport_given(s->tree) ? &s->transport_options.tolerance : &s->flow_options.tolerance;
}

/* Whether the finished run in `folder` has a state to start from. Collective. */
static pcsim_status can_start(const cli_session *s, const char *folder, bool *can) {
  pcsim_report *summary = NULL;
  const pcsim_status status = cli_summary_read(folder, &summary);
  *can = status == PCSIM_OK && strcmp(summary->status, cli_outcome_name(PCSIM_OUTCOME_DIVERGED)) != 0;
  pcsim_summary_free(&summary);
  return pcsim_status_agree(s->c->comm, status);
}

/* The coarser meshes of `initial: {coarser: n}`, each in a subfolder of its own; the last one that did not
 * diverge is what the solve starts from. `folder` keeps the names of that one and the next. */
static pcsim_status start_meshes(cli_session *s, const cli_part *finest, char folder[2][4200],
                                 bool *stopped) {
  const double tolerance = *tolerance_of(s);
  pcsim_status status = PCSIM_OK;
  *tolerance_of(s) = fmax(tolerance, start_tolerance);
  int next = 0;
  for (int64_t i = 0; i < s->start.coarser && !*stopped && status == PCSIM_OK; i++) {
    char *own = folder[next];
    bool can = false;
    snprintf(own, sizeof folder[0], "%s/start-%lld", finest->folder, (long long)i + 1);
    cli_part part = *finest;
    part.folder = own;
    part.factor = pow(2, (double)(s->start.coarser - i));
    pcsim_log(PCSIM_LOG_INFO, "start: mesh %lld of %lld, sizes times %g", (long long)i + 1,
              (long long)s->start.coarser, part.factor);
    status = coarse_mesh(s, &part, NULL, stopped);
    if (status == PCSIM_OK && !*stopped) status = can_start(s, own, &can);
    if (!can) continue;
    s->start_folder = own;
    next = 1 - next;
  }
  *tolerance_of(s) = tolerance;
  return status;
}

static void log_study(const pcsim_study *study) {
  for (int q = 0; q < study->num_quantities; q++) {
    if (isfinite(study->extrapolated[q]))
      pcsim_log(PCSIM_LOG_INFO, "study: %-24s order %.3g%s, extrapolated %.10g, uncertainty %.2g %%",
                study->names[q], study->order[q],
                pcsim_study_order_expected(study->order[q]) ? "" : " (outside the expected range)",
                study->extrapolated[q], 100 * study->uncertainty[q]);
    else if (isfinite(study->order[q]))
      pcsim_log(PCSIM_LOG_INFO, "study: %-24s order %.3g", study->names[q], study->order[q]);
    else pcsim_log(PCSIM_LOG_INFO, "study: %-24s does not approach a limit monotonically", study->names[q]);
  }
}

/* Orders and extrapolated values become quantities of the finest run, so that references can name them. */
static pcsim_status study_quantities(cli_session *s, const pcsim_study *study, const pcsim_fields *fields) {
  char name[128], unit[16];
  for (int q = 0; q < study->num_quantities; q++) {
    snprintf(unit, sizeof unit, "%s",
             cli_unit(s->monitors, study->names[q])); /* the quantities may move when one joins */
    snprintf(name, sizeof name, "order.%s", study->names[q]);
    PCSIM_TRY(pcsim_monitors_put(s->monitors, name, "1", study->order[q]));
    snprintf(name, sizeof name, "extrapolated.%s", study->names[q]);
    if (isfinite(study->extrapolated[q]))
      PCSIM_TRY(pcsim_monitors_put(s->monitors, name, unit, study->extrapolated[q]));
  }
  return s->references ? pcsim_references_compare(s->references, s->monitors, fields) : PCSIM_OK;
}

/* -------------------------------------------------------------- the run */

static pcsim_status run_in(cli_session *s, const cli_run *run, const char *folder, bool resume) {
  cli_part part = {.folder = folder, .factor = 1, .resume = resume, .steps = run->steps};
  cli_outcome outcome = {0};
  cli_study_table table = {0};
  pcsim_fields fields;
  pcsim_status status = PCSIM_OK;
  bool stopped = false;
  char starts[2][4200], *start = NULL;
  if (s->start.run) {
    PCSIM_GOTO(pcsim_node_path(s->start.run, &start), status, done);
    s->start_folder = start;
  }
  if (s->start.coarser) PCSIM_GOTO(start_meshes(s, &part, starts, &stopped), status, done);
  if (s->study.count) PCSIM_GOTO(coarse_meshes(s, &part, &table, &stopped), status, done);
  s->step_factor = 1;
  if (!stopped) PCSIM_GOTO(cli_solve(s, &part, &outcome, &fields), status, done);
  if (stopped || !outcome.status) {
    s->c->exit_code = CLI_NOT_CONVERGED;
    goto done;
  }
  if (s->study.count) {
    const pcsim_quantity *quantities;
    int n = pcsim_monitors_quantities(s->monitors, &quantities);
    PCSIM_GOTO(cli_study_add(&table, (int)s->study.count, s->quality.num_cells, quantities, n), status, done);
    if (s->study.of_steps) cli_study_finish_steps(&table, s->time.step, s->study.ratio);
    else cli_study_finish(&table, s->quality.volume, pcsim_mesh_get(s->mesh)->dim);
    outcome.study = &table.view;
    log_study(&table.view);
    PCSIM_GOTO(study_quantities(s, &table.view, &fields), status, done);
  }
  cli_results_wanted all = {.files = true, .report = true, .summary = true, .pictures = s->output.pictures};
  log_end(s, &outcome, folder);
  PCSIM_GOTO(cli_results_write(s, &outcome, &fields, folder, all), status, done);
  s->c->exit_code = exit_code(s, &outcome);
done:
  s->start_folder = NULL;
  pcsim_free(&start);
  cli_outcome_free(&outcome);
  cli_study_free(&table);
  return status;
}

/* Nothing to resume: say how it ended and end the same way. */
static pcsim_status say_finished(cli *c, const char *folder) {
  pcsim_report *summary = NULL;
  pcsim_status status = pcsim_status_agree(c->comm, cli_summary_read(folder, &summary));
  if (status == PCSIM_OK) {
    pcsim_log(PCSIM_LOG_INFO, "%s is finished (%s): nothing to resume", folder, summary->status);
    c->exit_code = cli_summary_exit_code(summary);
  }
  pcsim_summary_free(&summary);
  return status;
}

static pcsim_status open_log(const char *folder) {
  char *path = NULL;
  PCSIM_TRY(pcsim_path_join(folder, "log.txt", &path));
  pcsim_status status = cli_log_open(path);
  pcsim_free(&path);
  return status;
}

static pcsim_status with_case(cli *c, const cli_run *run, cli_session *s) {
  char *folder = NULL;
  cli_folder_state state = CLI_FOLDER_FRESH;
  pcsim_status status = PCSIM_OK;
  PCSIM_GOTO(cli_session_read(c, run->case_path, &run->sets, s), status, done);
  if (!s->training) PCSIM_GOTO(cli_start_check(s), status, done);
  PCSIM_GOTO(run->folder ? pcsim_strdup(run->folder, &folder) : cli_folder_default(run->case_path, &folder),
             status, done);
  for (size_t n = strlen(folder); n > 1 && folder[n - 1] == '/';) folder[--n] = '\0';
  if (c->rank == 0 && run->folder) status = cli_folder_parent(folder);
  if (c->rank == 0 && status == PCSIM_OK) status = cli_folder_prepare(folder, &run->rules, s->text, &state);
  PCSIM_GOTO(pcsim_status_agree(c->comm, status), status, done);
  MPI_Bcast(&state, (int)sizeof state, MPI_BYTE, 0, c->comm);
  if (state == CLI_FOLDER_FINISHED) {
    status = say_finished(c, folder);
    goto done;
  }
  /* a reference that is solved first has a log of its own */
  if (s->training)
    PCSIM_GOTO(cli_train_references_prepare(s->train_references, c, s->training), status, done);
  status = c->rank == 0 ? open_log(folder) : PCSIM_OK;
  PCSIM_GOTO(pcsim_status_agree(c->comm, status), status, done);
  pcsim_log(PCSIM_LOG_INFO, "pcsim %s: %s, %d rank%s", PCSIM_VERSION, run->case_path, c->ranks,
            c->ranks > 1 ? "s" : "");
  if (run->rules.resume && state == CLI_FOLDER_FRESH)
    pcsim_log(PCSIM_LOG_INFO, "nothing to resume in %s; the run starts from the beginning", folder);
  cli_signals_catch();
  if (s->training)
    status = cli_train(
        s, &(cli_part){.folder = folder, .resume = state == CLI_FOLDER_UNFINISHED, .steps = run->steps});
  else status = run_in(s, run, folder, state == CLI_FOLDER_UNFINISHED);
done:
  pcsim_free(&folder);
  return status;
}

pcsim_status cli_pipeline(cli *c, const cli_run *run) {
  cli_session s;
  pcsim_status status = with_case(c, run, &s);
  cli_session_close(&s);
  return status;
}
