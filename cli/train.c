/* SPDX-License-Identifier: BSD-2-Clause */
/** @file train.c  A training in a run folder: progress, history, checkpoints, results. */
#include "train.h"

#include <math.h>
#include <string.h>

enum { NUM_COLUMNS = 7 };
static const char *const columns[NUM_COLUMNS] = {
    "step", "residual.training", "residual.held-out", "residual.best", "gradient", "radius", "seconds"};
static const double checkpoint_seconds = 10, progress_seconds = 0.5;

typedef struct {
  cli_session *s;
  const cli_part *part;
  pcsim_history *history;
  char checkpoint[4200], history_path[4200];
  double *row;
  int num_quantities;
  pcsim_quantity *quantity;    /* [num_quantities] as they were last evaluated */
  int64_t looks;               /* since the last checkpoint */
  double written_at, shown_at; /* wall clock */
  double began_wall, began_cpu;
  int stop_signal;
} course;

/* ------------------------------------------------------------------------- on the way */

/* Errors against `reference:`, then what the monitors follow; `all` NULL: only how many. */
static int followed(const cli_session *s, pcsim_quantity *all) {
  const pcsim_quantity *errors, *monitored;
  const int n = cli_train_references_quantities(s->train_references, &errors),
            m = cli_train_monitors_quantities(s->train_monitors, &monitored);
  if (all && n) memcpy(all, errors, (size_t)n * sizeof *all);
  if (all && m) memcpy(all + n, monitored, (size_t)m * sizeof *all);
  return n + m;
}

static pcsim_status evaluate(const cli_session *s, bool whole) {
  PCSIM_TRY(cli_train_monitors_evaluate(s->train_monitors, whole));
  return cli_train_references_compare(s->train_references, s->training, whole);
}

static pcsim_status open_history(course *c) {
  const char **names = NULL;
  c->num_quantities = followed(c->s, NULL);
  PCSIM_TRY(pcsim_alloc((size_t)c->num_quantities, sizeof *c->quantity, &c->quantity));
  followed(c->s, c->quantity);
  const int n = NUM_COLUMNS + c->num_quantities;
  const int64_t at = pcsim_training_at(c->s->training);
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *c->row, &c->row));
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *names, &names));
  for (int i = 0; i < n; i++) names[i] = i < NUM_COLUMNS ? columns[i] : c->quantity[i - NUM_COLUMNS].name;
  /* rows of steps that are done again go */
  pcsim_status status = pcsim_history_open(c->history_path, names, n, at > 0 ? at + 1 : -1, &c->history);
  pcsim_free(&names);
  return status;
}

static pcsim_status add_row(course *c, const pcsim_training_step *step) {
  const double numbers[NUM_COLUMNS] = {(double)step->step,   sqrt(2 * step->loss), sqrt(2 * step->held_out),
                                       sqrt(2 * step->best), step->gradient,       step->radius,
                                       step->seconds};
  memcpy(c->row, numbers, sizeof numbers);
  followed(c->s, c->quantity);
  for (int i = 0; i < c->num_quantities; i++) c->row[NUM_COLUMNS + i] = c->quantity[i].value;
  return pcsim_history_add(c->history, c->row);
}

static void show(course *c, const pcsim_training_step *step) {
  const pcsim_training_view *v = pcsim_training_get(c->s->training);
  char line[512], left[48] = "", part[64] = "";
  const double now = pcsim_time_wall();
  if (now - c->shown_at < progress_seconds) return;
  c->shown_at = now;
  double rest = v->budget_seconds > 0 ? v->budget_seconds - step->seconds : 0;
  if (v->budget_steps > 0 && step->step > 0)
    rest = step->seconds / (double)step->step * (double)(v->budget_steps - step->step);
  if (rest >= 1) snprintf(left, sizeof left, ", %.0f s left", rest);
  if (v->num_slabs > 1) snprintf(part, sizeof part, "slab %d of %d, ", v->slab + 1, v->num_slabs);
  if (v->stage) snprintf(part + strlen(part), sizeof part - strlen(part), "stage %d, ", v->stage + 1);
  int used =
      snprintf(line, sizeof line, "%sstep %lld: residual %.2e, held out %.2e, radius %.1e, %lld points%s",
               part, (long long)step->step, sqrt(2 * step->loss), sqrt(2 * step->held_out), step->radius,
               (long long)v->num_points, left);
  for (int i = 0; i < c->num_quantities && i < 3 && used < 400; i++)
    used += snprintf(line + used, sizeof line - (size_t)used, ", %s %.2e", c->quantity[i].name,
                     c->quantity[i].value);
  pcsim_log(PCSIM_LOG_PROGRESS, "%s", line);
}

static pcsim_status write_checkpoint(course *c) {
  c->written_at = pcsim_time_wall();
  c->looks = 0;
  return pcsim_training_save(c->s->training, c->s->case_hash, c->checkpoint);
}

static pcsim_status observe(void *context, const pcsim_training_step *step) {
  course *c = context;
  PCSIM_TRY(evaluate(c->s, false));
  PCSIM_TRY(add_row(c, step));
  show(c, step);
  const int64_t every = c->s->output.checkpoint;
  const bool due = every > 0 ? ++c->looks >= every : pcsim_time_wall() - c->written_at > checkpoint_seconds;
  c->stop_signal = cli_signals_any(c->s->c->comm);
  if (due || c->stop_signal) PCSIM_TRY(write_checkpoint(c));
  if (c->stop_signal) PCSIM_FAIL(PCSIM_ERR_ENV, "stopped after step %lld", (long long)step->step);
  return PCSIM_OK;
}

static pcsim_status begin(course *c) {
  const bool there = c->part->resume && pcsim_file_exists(c->checkpoint);
  if (c->part->resume && !there) pcsim_log(PCSIM_LOG_INFO, "resume: no checkpoint yet; goes on from step 0");
  if (!there) return pcsim_training_choose(c->s->training);
  PCSIM_TRY(pcsim_training_load(c->s->training, c->s->case_hash, c->checkpoint));
  pcsim_log(PCSIM_LOG_INFO, "resume: goes on from step %lld", (long long)pcsim_training_at(c->s->training));
  return PCSIM_OK;
}

/* ------------------------------------------------------------------------- at the end */

static const char *status_of(const pcsim_training_result *r) {
  return r->outcome == PCSIM_TRAINING_CONVERGED   ? "converged"
         : r->outcome == PCSIM_TRAINING_COMPLETED ? "completed"
         : r->outcome == PCSIM_TRAINING_DIVERGED  ? "diverged"
                                                  : "not-converged";
}

enum { MORE_QUANTITIES = 256 /* beside what is followed on the way */ };
/* Coefficients that were found and are the same everywhere. */
static pcsim_status gather_numbers(course *c, pcsim_quantity *all, int *n) {
  const pcsim_training_view *v = pcsim_training_get(c->s->training);
  double *point = NULL, *values;
  PCSIM_TRY(pcsim_alloc((size_t)(v->num_coordinates + v->num_unknowns), sizeof *point, &point));
  values = point + v->num_coordinates;
  pcsim_status status = pcsim_training_points(c->s->training, 0, 1, point);
  if (status == PCSIM_OK) status = pcsim_training_evaluate(c->s->training, 1, point, values, NULL);
  for (int u = 0; status == PCSIM_OK && u < v->num_unknowns && *n < c->num_quantities + MORE_QUANTITIES;
       u++) {
    if (!v->number[u]) continue;
    pcsim_quantity *q = &all[(*n)++];
    snprintf(q->name, sizeof q->name, "%s", v->unknown[u]);
    snprintf(q->unit, sizeof q->unit, "1");
    q->value = values[u];
  }
  pcsim_free(&point);
  return status;
}

/* Errors and monitors first, then numbers that were found, then the residuals at fresh points and what they
 * say about the error. */
static pcsim_status gather(course *c, pcsim_quantity *all, int *n, pcsim_training_bound *bound) {
  *n = followed(c->s, all);
  PCSIM_TRY(gather_numbers(c, all, n));
  const int groups = pcsim_training_get(c->s->training)->num_groups;
  for (int g = 0; g < groups && *n < c->num_quantities + MORE_QUANTITIES; g++) {
    const char *name;
    double norm;
    PCSIM_TRY(pcsim_training_residual(c->s->training, g, &name, &norm));
    pcsim_quantity *q = &all[(*n)++];
    snprintf(q->name, sizeof q->name, "residual.%s", name);
    snprintf(q->unit, sizeof q->unit, "1");
    q->value = norm;
  }
  PCSIM_TRY(pcsim_training_error_bound(c->s->training, bound));
  if (!bound->known || !isfinite(bound->relative) || *n == c->num_quantities + MORE_QUANTITIES)
    return PCSIM_OK;
  pcsim_quantity *q = &all[(*n)++];
  snprintf(q->name, sizeof q->name, "bound.%s", pcsim_training_get(c->s->training)->unknown[0]);
  snprintf(q->unit, sizeof q->unit, "1");
  q->value = bound->relative;
  return PCSIM_OK;
}

static void log_end(const course *c, const pcsim_training_result *r, const pcsim_quantity *q, int n,
                    const pcsim_training_bound *bound) {
  const pcsim_comparison *comparison;
  const int compared = cli_train_references_comparisons(c->s->train_references, &comparison);
  pcsim_log(PCSIM_LOG_INFO, "%s after %lld steps, %.1f s: %s", status_of(r), (long long)r->steps, r->seconds,
            r->reason);
  for (int i = 0; i < n; i++) pcsim_log(PCSIM_LOG_INFO, "  %-24s %.4g", q[i].name, q[i].value);
  for (int i = 0; i < compared; i++)
    pcsim_log(PCSIM_LOG_INFO, "  reference %s: %.4g, off by %.3g (tolerance %.3g): %s",
              comparison[i].quantity, comparison[i].value, comparison[i].error, comparison[i].tolerance,
              comparison[i].met ? "met" : "MISSED");
  if (bound->known)
    pcsim_log(PCSIM_LOG_INFO, "  bound: the relative error is at most %.3g (%s)", bound->relative,
              bound->reason);
  else pcsim_log(PCSIM_LOG_INFO, "  no bound of the error: %s", bound->reason);
  pcsim_log(PCSIM_LOG_INFO, "results in %s", c->part->folder);
}

static pcsim_status write_model(const course *c) {
  char path[4200];
  pcsim_program *model = NULL;
  snprintf(path, sizeof path, "%s/model.h5", c->part->folder);
  PCSIM_TRY(pcsim_training_model(c->s->training, &model));
  pcsim_status status = pcsim_program_save(model, path);
  pcsim_program_destroy(&model);
  return status;
}

static pcsim_status write_report(course *c, const pcsim_training_result *r, const pcsim_quantity *q, int n,
                                 const cli_train_album *album) {
  const pcsim_training_view *v = pcsim_training_get(c->s->training);
  const pcsim_report_training training = {.parameters = v->num_parameters,
                                          .points = v->num_points,
                                          .seed = (int64_t)v->seed,
                                          .loss = r->held_out,
                                          .network = v->network,
                                          .optimizer = v->optimizer};
  const char *captions[TRAIN_PICTURES], *title = "";
  char path[4200], machine[256];
  cli_machine(1, machine);
  for (int i = 0; i < album->count; i++) captions[i] = album->caption[i];
  pcsim_node_string(c->s->tree, pcsim_tree_root(c->s->tree), "title", &title);
  pcsim_report report = {.title = title,
                         .status = status_of(r),
                         .reason = r->reason,
                         .version = PCSIM_VERSION,
                         .case_text = c->s->text,
                         .machine = machine,
                         .wall_seconds = fmax(r->seconds, pcsim_time_wall() - c->began_wall),
                         .cpu_seconds = pcsim_time_cpu() - c->began_cpu,
                         .solve_seconds = r->seconds,
                         .ranks = 1,
                         .iterations = r->steps,
                         .residual = sqrt(2 * r->held_out),
                         .memory_peak = pcsim_memory_resident_peak(),
                         .quantities = q,
                         .num_quantities = n,
                         .history = c->history,
                         .pictures = (const pcsim_picture *const *)album->picture,
                         .captions = captions,
                         .num_pictures = album->count,
                         .training = &training};
  report.num_comparisons = cli_train_references_comparisons(c->s->train_references, &report.comparisons);
  snprintf(path, sizeof path, "%s/report.html", c->part->folder);
  PCSIM_TRY(pcsim_report_write(&report, path));
  /* The summary marks the folder as finished: nothing is written after it. */
  snprintf(path, sizeof path, "%s/summary.json", c->part->folder);
  return pcsim_summary_write(&report, path);
}

static int exit_code(const course *c, const pcsim_training_result *r) {
  const pcsim_comparison *comparison;
  if (r->outcome != PCSIM_TRAINING_COMPLETED && r->outcome != PCSIM_TRAINING_CONVERGED)
    return CLI_NOT_CONVERGED;
  const int n = cli_train_references_comparisons(c->s->train_references, &comparison);
  for (int i = 0; i < n; i++)
    if (!comparison[i].met) return CLI_MISSED;
  return CLI_DONE;
}

static pcsim_status finish(course *c, const pcsim_training_result *r) {
  pcsim_quantity *all = NULL;
  cli_train_album album = {0};
  pcsim_training_bound bound;
  int n = 0;
  pcsim_status status;
  const size_t most = (size_t)c->num_quantities + MORE_QUANTITIES;
  PCSIM_GOTO(pcsim_alloc(most, sizeof *all, &all), status, done);
  PCSIM_GOTO(evaluate(c->s, true), status, done);
  PCSIM_GOTO(gather(c, all, &n, &bound), status, done);
  PCSIM_GOTO(write_checkpoint(c), status, done);
  PCSIM_GOTO(write_model(c), status, done);
  PCSIM_GOTO(cli_train_fields(c->s->training, c->part->folder, c->s->output.pictures, &album), status, done);
  log_end(c, r, all, n, &bound);
  PCSIM_GOTO(write_report(c, r, all, n, &album), status, done);
  c->s->c->exit_code = exit_code(c, r);
done:
  cli_train_album_free(&album);
  pcsim_free(&all);
  return status;
}

pcsim_status cli_train(cli_session *s, const cli_part *part) {
  course c = {.s = s, .part = part, .began_wall = pcsim_time_wall(), .began_cpu = pcsim_time_cpu()};
  pcsim_training_result result;
  pcsim_status status;
  c.written_at = c.began_wall;
  snprintf(c.checkpoint, sizeof c.checkpoint, "%s/checkpoint.training", part->folder);
  snprintf(c.history_path, sizeof c.history_path, "%s/history.csv", part->folder);
  PCSIM_GOTO(begin(&c), status, done);
  PCSIM_GOTO(open_history(&c), status, done);
  status = pcsim_training_run(s->training, part->steps, observe, &c, &result);
  if (c.stop_signal && status != PCSIM_OK) { /* asked for: the run is left unfinished, not failed */
    pcsim_error_clear();
    status = PCSIM_OK;
    result.outcome = PCSIM_TRAINING_STOPPED;
  }
  if (status != PCSIM_OK) goto done;
  if (result.outcome == PCSIM_TRAINING_STOPPED) {
    if (!c.stop_signal) PCSIM_GOTO(write_checkpoint(&c), status, done);
    pcsim_log(PCSIM_LOG_INFO, "stopped; a checkpoint of step %lld is kept, --resume goes on from it",
              (long long)pcsim_training_at(s->training));
    s->c->exit_code = CLI_NOT_CONVERGED;
    goto done;
  }
  status = finish(&c, &result);
done:
  if (c.history && pcsim_history_close(&c.history) != PCSIM_OK) pcsim_error_clear();
  pcsim_free(&c.row), pcsim_free(&c.quantity);
  return status;
}
