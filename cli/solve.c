/* SPDX-License-Identifier: BSD-2-Clause */
/** @file solve.c  One solve in one folder: steps are followed, written down and checkpointed. */
#include "cli.h"

#include <math.h>
#include <string.h>

/* Places in a checkpoint's scalars after the solver's own. */
enum { SCALAR_WALL = PCSIM_NUM_STATE_SCALARS, SCALAR_CPU, SCALAR_SOLVE };
/* Columns of history.csv before the quantities: of a steady march (with the residuals of the equations
 * between), of a run through time. */
static const char *const step_columns[] = {"step", "residual"}, *const behind_residuals[] = {"cfl", "linear"};
static const char *const flow_residuals[] = {"momentum.x", "momentum.y", "momentum.z", "continuity"};
static const char *const time_columns[] = {"step", "time", "dt", "error", "linear", "rejections"};
enum {
  NUM_FLOW_RESIDUALS = sizeof flow_residuals / sizeof *flow_residuals,
  NUM_TIME_COLUMNS = sizeof time_columns / sizeof *time_columns,
  TIME_COLUMN = 1
};
/* Seconds between checkpoints where the case names no steps. */
static const double checkpoint_seconds = 5;

typedef struct {
  cli_session *s;
  cli_outcome *outcome;
  const char *folder, *history_path, *checkpoint_path;
  bool through_time;
  int num_quantities;     /* columns of history.csv behind those of the step */
  double *state;          /* [num_cells][width] */
  double *row;            /* of history.csv */
  int num_residuals;      /* of the equations of a steady march */
  int64_t first, written; /* step the march began with; of the last checkpoint */
  double written_at;      /* wall clock of the last checkpoint */
  double began_wall, began_cpu;
  double earlier[3];      /* wall, CPU and solve seconds before this start */
  double before_residual; /* of the step before, for the estimate of the time left */
  double rate;            /* smoothed logarithmic decrease of the residual a step */
  double first_time;      /* time the run began with, NaN before its first step */
  int stop_signal;
} march;

const char *cli_outcome_name(pcsim_outcome outcome) {
  return outcome == PCSIM_OUTCOME_CONVERGED  ? "converged"
         : outcome == PCSIM_OUTCOME_DIVERGED ? "diverged"
                                             : "not-converged";
}

void cli_outcome_free(cli_outcome *outcome) {
  if (outcome->history && pcsim_history_close(&outcome->history) != PCSIM_OK) pcsim_error_clear();
}

static double seconds_now(const march *m) { return m->earlier[0] + pcsim_time_wall() - m->began_wall; }

static double cpu_now(const march *m) {
  double mine = pcsim_time_cpu() - m->began_cpu, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, m->s->c->comm);
  return m->earlier[1] + all;
}

/* `seconds` of the solve since its begin. */
static pcsim_status write_checkpoint(march *m, double seconds) {
  pcsim_checkpoint info = {.step = cli_solver_step(m->s),
                           .width = cli_solver_width(m->s),
                           .num_cells_global = pcsim_mesh_get(m->s->mesh)->num_cells_global};
  memcpy(info.case_hash, m->s->hash, sizeof info.case_hash);
  PCSIM_TRY(cli_solver_get_state(m->s, m->state, info.scalars));
  info.scalars[SCALAR_WALL] = seconds_now(m);
  info.scalars[SCALAR_CPU] = cpu_now(m);
  info.scalars[SCALAR_SOLVE] = m->earlier[2] + seconds;
  PCSIM_TRY(pcsim_checkpoint_write(m->s->mesh, &info, m->state, m->checkpoint_path));
  m->written = info.step;
  m->written_at = pcsim_time_wall();
  return PCSIM_OK;
}

enum { COLUMN_NAME = 80 };

/* Names of the columns of a steady march in front of the quantities; returns how many. */
static int name_steady(const cli_session *s, int num_residuals, char (*names)[COLUMN_NAME]) {
  const char *const *unknown = s->transport ? pcsim_transport_problem_get(s->transport)->unknown : NULL;
  const int typed = unknown ? pcsim_transport_problem_get(s->transport)->num_unknowns : 0;
  const int of_flow = num_residuals - typed;
  int n = 0;
  for (int i = 0; i < 2; i++) snprintf(names[n++], COLUMN_NAME, "%s", step_columns[i]);
  for (int i = 0; i < of_flow; i++) {
    const int last = NUM_FLOW_RESIDUALS - 1; /* continuity; in the plane there is no third momentum */
    snprintf(names[n++], COLUMN_NAME, "%s", flow_residuals[i + 1 < of_flow && i < last ? i : last]);
  }
  for (int i = 0; i < typed; i++) {
    const char *name = unknown[i] ? unknown[i] : "";
    snprintf(names[n++], COLUMN_NAME, "residual.%s", name);
  }
  for (int i = 0; i < 2; i++) snprintf(names[n++], COLUMN_NAME, "%s", behind_residuals[i]);
  return n;
}

/* The first step tells which quantities there are. Rank 0. */
static pcsim_status open_history(march *m, int64_t step, const pcsim_quantity *quantities) {
  char(*first)[COLUMN_NAME] = NULL;
  const char **names = NULL;
  pcsim_status status = PCSIM_OK;
  const size_t most = (size_t)(NUM_TIME_COLUMNS + m->num_residuals + m->num_quantities);
  PCSIM_GOTO(pcsim_alloc(most, sizeof *first, &first), status, done);
  PCSIM_GOTO(pcsim_alloc(most, sizeof *names, &names), status, done);
  PCSIM_GOTO(pcsim_alloc(most, sizeof *m->row, &m->row), status, done);
  int n = m->through_time ? NUM_TIME_COLUMNS : name_steady(m->s, m->num_residuals, first);
  for (int i = 0; i < n; i++) names[i] = m->through_time ? time_columns[i] : first[i];
  for (int i = 0; i < m->num_quantities; i++) names[n++] = quantities[i].name;
  status = pcsim_history_open(m->history_path, names, n, step > 0 ? step : -1, &m->outcome->history);
done:
  pcsim_free(&first);
  pcsim_free(&names);
  return status;
}

static pcsim_status add_history(march *m, const pcsim_solve_step *step) {
  const pcsim_quantity *quantities;
  pcsim_monitors_quantities(m->s->monitors, &quantities);
  if (!m->outcome->history) PCSIM_TRY(open_history(m, step->step, quantities));
  double *r = m->row;
  *r++ = (double)step->step;
  if (m->through_time) {
    *r++ = step->time, *r++ = step->dt, *r++ = step->error;
    *r++ = (double)step->linear_iterations, *r++ = (double)step->rejections;
  } else {
    *r++ = step->residual;
    for (int i = 0; i < m->num_residuals; i++) *r++ = step->residuals[i];
    *r++ = step->cfl;
    *r++ = (double)step->linear_iterations;
  }
  for (int i = 0; i < m->num_quantities; i++) *r++ = quantities[i].value;
  return pcsim_history_add(m->outcome->history, m->row);
}

/* Residuals of this method fall faster and faster: the mean of the last rates is a safe side guess. */
static void time_left(march *m, const pcsim_solve_step *step, char text[48]) {
  double before = m->before_residual, tolerance = m->s->tolerance;
  text[0] = '\0';
  m->before_residual = step->residual;
  if (step->step <= m->first || !(before > 0) || !(step->residual > 0)) return;
  double rate = log(before / step->residual);
  m->rate = m->rate > 0 && rate > 0 ? 0.5 * (m->rate + rate) : rate;
  if (!(m->rate > 0.02) || step->residual <= tolerance) return;
  double steps = ceil(log(step->residual / tolerance) / m->rate);
  double left = steps * step->wall_seconds / (double)(step->step - m->first);
  if (left >= 1 && left < 1e6) snprintf(text, 48, ", about %.0f s left", left);
}

/* As if the rest of the time went as fast as that behind. */
static void time_span_left(march *m, const pcsim_solve_step *step, char text[48]) {
  text[0] = '\0';
  if (!isfinite(m->first_time)) m->first_time = step->time - step->dt;
  const double done = step->time - m->first_time, rest = m->s->time.end - step->time;
  const double left = done > 0 ? step->wall_seconds * rest / done : 0;
  if (step->step > m->first && left >= 1 && left < 1e7) snprintf(text, 48, ", about %.0f s left", left);
}

static bool is_compared(const march *m, const char *name) {
  const pcsim_comparison *list = NULL;
  int n = m->s->references ? pcsim_references_get(m->s->references, &list) : 0;
  for (int i = 0; i < n; i++)
    if (!strcmp(list[i].quantity, name)) return true;
  return false;
}

/* Up to three quantities, those with a reference first. */
static void log_step(march *m, const pcsim_solve_step *step) {
  const pcsim_quantity *quantities;
  char left[48], line[512];
  int shown = 0, used;
  const int n = m->num_quantities;
  pcsim_monitors_quantities(m->s->monitors, &quantities);
  if (m->through_time) {
    time_span_left(m, step, left);
    used = snprintf(line, sizeof line, "step %lld: t %.6g, dt %.3g, error %.1e%s, linear %lld",
                    (long long)step->step, step->time, step->dt, step->error, left,
                    (long long)step->linear_iterations);
  } else {
    time_left(m, step, left);
    used = snprintf(line, sizeof line, "step %lld: residual %.2e%s, linear %lld", (long long)step->step,
                    step->residual, left, (long long)step->linear_iterations);
  }
  for (int wanted = 1; wanted >= 0; wanted--)
    for (int i = 0; i < n && shown < 3 && used < 400; i++) {
      if (is_compared(m, quantities[i].name) != (wanted == 1) || !isfinite(quantities[i].value)) continue;
      used += snprintf(line + used, sizeof line - (size_t)used, ", %s %.6g", quantities[i].name,
                       quantities[i].value);
      shown++;
    }
  pcsim_log(PCSIM_LOG_PROGRESS, "%s", line);
}

/* Rank 0's clock decides for all, or they would part. Bit 0: a checkpoint is due; above it: the signal. */
static int agree_on_due(march *m, int64_t step) {
  int due = m->s->output.checkpoint > 0 ? step % m->s->output.checkpoint == 0
                                        : pcsim_time_wall() - m->written_at > checkpoint_seconds;
  MPI_Bcast(&due, 1, MPI_INT, 0, m->s->c->comm);
  m->stop_signal = cli_signals_any(m->s->c->comm);
  return due;
}

/* The fields, where this is one of the times that the case asks for. */
static pcsim_status write_snapshot(march *m, const pcsim_fields *fields, double time) {
  for (int64_t i = 0; i < m->s->output.num_times; i++)
    if (m->s->output.times[i] == time) return cli_results_snapshot(m->s, fields, m->folder, i);
  return PCSIM_OK;
}

static pcsim_status observe(void *context, const pcsim_solve_step *step) {
  march *m = context;
  pcsim_fields fields;
  PCSIM_TRY(cli_solver_fields(m->s, &fields));
  PCSIM_TRY(pcsim_monitors_evaluate(m->s->monitors, &fields));
  pcsim_status status = m->s->c->rank == 0 ? add_history(m, step) : PCSIM_OK;
  PCSIM_TRY(pcsim_status_agree(m->s->c->comm, status));
  log_step(m, step);
  if (m->through_time) PCSIM_TRY(write_snapshot(m, &fields, step->time));
  bool due = agree_on_due(m, step->step);
  bool news = cli_solver_step(m->s) > m->written && isfinite(step->residual);
  if (news && (due || m->stop_signal)) PCSIM_TRY(write_checkpoint(m, step->wall_seconds));
  if (m->stop_signal)
    PCSIM_FAIL(PCSIM_ERR_ENV, "stopped after step %lld by signal %d", (long long)step->step, m->stop_signal);
  return PCSIM_OK;
}

/* Collective. */
static bool checkpoint_is_there(const march *m) {
  int there = m->s->c->rank == 0 && pcsim_file_exists(m->checkpoint_path);
  MPI_Bcast(&there, 1, MPI_INT, 0, m->s->c->comm);
  return there;
}

/* State of the folder's checkpoint into the solver; without one the march begins at the start. */
static pcsim_status load_checkpoint(march *m) {
  pcsim_checkpoint info = {.width = cli_solver_width(m->s)};
  if (!checkpoint_is_there(m)) {
    pcsim_log(PCSIM_LOG_INFO, "resume: no checkpoint yet; goes on from step 0");
    return PCSIM_OK;
  }
  pcsim_status status = pcsim_checkpoint_read(m->s->mesh, m->checkpoint_path, &info, m->state);
  if (status == PCSIM_ERR_IO) {
    char text[1024];
    snprintf(text, sizeof text, "%s", pcsim_error_message());
    PCSIM_FAIL(PCSIM_ERR_IO, "%s; it cannot be resumed from, --force starts again", text);
  }
  PCSIM_TRY(status);
  PCSIM_CHECK(!strcmp(info.case_hash, m->s->hash), PCSIM_ERR_CASE,
              "%s is of another case or mesh and cannot be resumed; --force starts again",
              m->checkpoint_path);
  PCSIM_TRY(cli_solver_set_state(m->s, m->state, info.scalars));
  memcpy(m->earlier, &info.scalars[SCALAR_WALL], sizeof m->earlier);
  m->first = m->written = info.step;
  pcsim_log(PCSIM_LOG_INFO, "resume: goes on from step %lld", (long long)info.step);
  return PCSIM_OK;
}

static void fill_outcome(march *m, const char *status) {
  cli_outcome *o = m->outcome;
  double mine = (double)pcsim_memory_resident_peak(), all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, m->s->c->comm);
  o->status = status;
  o->memory_peak = (size_t)all;
  o->ranks = m->s->c->ranks;
  o->wall_seconds = seconds_now(m);
  o->cpu_seconds = cpu_now(m);
  o->result.seconds += m->earlier[2];
  cli_machine(o->ranks, o->machine);
}

/* A checkpoint that has converged already leaves no step to observe: the rows of before are the history. */
static pcsim_status keep_history(march *m) {
  pcsim_status status = PCSIM_OK;
  if (m->s->c->rank == 0 && !m->outcome->history && pcsim_file_exists(m->history_path))
    status = pcsim_history_read(m->history_path, &m->outcome->history);
  return pcsim_status_agree(m->s->c->comm, status);
}

/* What PETSc refuses of the case's options is reported at their key. */
static pcsim_status at_petsc_key(cli_session *s, pcsim_status status) {
  static const char key[] = "solve.linear.petsc: ";
  const pcsim_node *solve = pcsim_node_get(pcsim_tree_root(s->tree), "solve"),
                   *node = pcsim_node_get(pcsim_node_get(solve, "linear"), "petsc");
  char text[1024];
  snprintf(text, sizeof text, "%s", pcsim_error_message());
  if (status != PCSIM_ERR_CASE || !node || strncmp(text, key, sizeof key - 1) != 0) return status;
  pcsim_tree_problem(s->tree, node, "%s", text);
  return pcsim_tree_status(s->tree);
}

static pcsim_status find_statistics(march *m) {
  const double *rows = NULL;
  int columns = 0;
  const int64_t n = m->outcome->history ? pcsim_history_rows(m->outcome->history, &rows, &columns) : 0;
  return pcsim_monitors_statistics(m->s->monitors, rows, n, columns, TIME_COLUMN, NUM_TIME_COLUMNS);
}

/* Where a run that was given up left its last good state. */
static void name_checkpoint(march *m) {
  pcsim_solve_result *r = &m->outcome->result;
  const size_t used = strlen(r->reason);
  snprintf(r->reason + used, sizeof r->reason - used, "; the last good state is in %s",
           strrchr(m->checkpoint_path, '/') ? strrchr(m->checkpoint_path, '/') + 1 : m->checkpoint_path);
}

static pcsim_status go(march *m, pcsim_fields *fields) {
  pcsim_solve_result *result = &m->outcome->result;
  m->written_at = pcsim_time_wall();
  pcsim_status status = cli_solver_run(m->s, observe, m, result);
  if (m->stop_signal && status != PCSIM_OK) { /* asked for: the run is left unfinished, not failed */
    pcsim_error_clear();
    pcsim_log(PCSIM_LOG_INFO,
              "stopped by signal %d; a checkpoint of step %lld is kept, --resume goes on from it",
              m->stop_signal, (long long)m->written);
    return PCSIM_OK;
  }
  PCSIM_TRY(at_petsc_key(m->s, status));
  PCSIM_TRY(keep_history(m));
  PCSIM_TRY(cli_solver_fields(m->s, fields));
  PCSIM_TRY(pcsim_monitors_evaluate(m->s->monitors, fields));
  if (m->through_time) PCSIM_TRY(find_statistics(m));
  if (result->outcome == PCSIM_OUTCOME_CONVERGED) PCSIM_TRY(cli_sensitivities_find(m->s, m->folder, fields));
  if (m->s->references) PCSIM_TRY(pcsim_references_compare(m->s->references, m->s->monitors, fields));
  const bool good = m->through_time || result->outcome != PCSIM_OUTCOME_DIVERGED;
  if (good && result->steps > m->written) PCSIM_TRY(write_checkpoint(m, result->seconds));
  if (m->through_time && result->outcome == PCSIM_OUTCOME_DIVERGED) name_checkpoint(m);
  const bool at_end = m->through_time && result->outcome == PCSIM_OUTCOME_CONVERGED;
  fill_outcome(m, at_end ? "completed" : cli_outcome_name(result->outcome));
  return PCSIM_OK;
}

pcsim_status cli_solve(cli_session *s, const cli_part *part, cli_outcome *outcome, pcsim_fields *fields) {
  march m = {.s = s,
             .outcome = outcome,
             .written = -1,
             .folder = part->folder,
             .through_time = s->time.given,
             .first_time = NAN,
             .began_wall = pcsim_time_wall(),
             .began_cpu = pcsim_time_cpu()};
  char *raw = NULL, *history = NULL, *checkpoint = NULL;
  pcsim_status status = PCSIM_OK;
  *outcome = (cli_outcome){0};
  PCSIM_GOTO(pcsim_path_join(part->folder, "mesh.raw", &raw), status, done);
  PCSIM_GOTO(pcsim_path_join(part->folder, "history.csv", &history), status, done);
  PCSIM_GOTO(pcsim_path_join(part->folder, "checkpoint.h5", &checkpoint), status, done);
  m.history_path = history;
  m.checkpoint_path = checkpoint;
  PCSIM_GOTO(cli_session_mesh(s, part->factor, raw, part->resume, NULL), status, done);
  PCSIM_GOTO(cli_session_problem(s), status, done);
  pcsim_free(&s->full_text); /* of a coarser mesh before */
  status = s->c->rank == 0 ? cli_session_text(s, &s->full_text) : PCSIM_OK;
  if (s->c->rank == 0 && status == PCSIM_OK)
    status = cli_folder_write_case(part->folder, s->text, s->full_text);
  PCSIM_GOTO(pcsim_status_agree(s->c->comm, status), status, done);
  PCSIM_GOTO(pcsim_solver_start(s->c->comm), status, done);
  /* what a steady march goes on from replaces its start; through time the start sets scales too */
  const bool goes_on = part->resume && !s->time.given && checkpoint_is_there(&m);
  if (s->start_folder && !goes_on) PCSIM_GOTO(cli_start_from(s, s->start_folder), status, done);
  else if (s->start.potential && !goes_on) PCSIM_GOTO(cli_start_potential(s), status, done);
  PCSIM_GOTO(at_petsc_key(s, cli_solver_create(s, part->steps)), status, done);
  m.num_residuals =
      s->transport ? pcsim_transport_problem_get(s->transport)->num_unknowns : NUM_FLOW_RESIDUALS;
  if (s->transport && s->problem) m.num_residuals += pcsim_mesh_get(s->mesh)->dim + 1;
  m.num_quantities = pcsim_monitors_num_followed(s->monitors);
  const int64_t size = pcsim_mesh_get(s->mesh)->num_cells * cli_solver_width(s);
  status = pcsim_alloc((size_t)size, sizeof *m.state, &m.state);
  PCSIM_GOTO(pcsim_status_agree(s->c->comm, status), status, done);
  if (part->resume) PCSIM_GOTO(load_checkpoint(&m), status, done);
  PCSIM_GOTO(go(&m, fields), status, done);
done:
  pcsim_free(&m.state);
  pcsim_free(&m.row);
  pcsim_free(&raw);
  pcsim_free(&history);
  pcsim_free(&checkpoint);
  return status;
}
