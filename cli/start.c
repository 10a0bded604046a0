/* SPDX-License-Identifier: BSD-2-Clause */
/** @file start.c  A start from another run, on this mesh or another, or from potential flow. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

pcsim_status cli_start_check(cli_session *s) {
  const pcsim_node *run = s->start.run;
  char *folder = NULL, *state = NULL;
  if (!run) return PCSIM_OK;
  pcsim_status status = s->c->rank == 0 ? pcsim_node_path(run, &folder) : PCSIM_OK;
  if (status == PCSIM_OK && folder) status = pcsim_path_join(folder, "checkpoint.h5", &state);
  if (status == PCSIM_OK && state && !pcsim_file_exists(state))
    pcsim_tree_problem(s->tree, run, "no run with a state in '%s' (there is no %s)", pcsim_node_text(run),
                       state);
  pcsim_free(&state);
  pcsim_free(&folder);
  if (status == PCSIM_OK) status = pcsim_tree_status(s->tree);
  return pcsim_status_agree(s->c->comm, status);
}

/* Name of the unknown i of the session's problem, NULL past the last: those of a flow come first. */
static const char *unknown_name(const cli_session *s, int i) {
  static const char *const flow[PCSIM_FLOW_NUM_FIELDS] = {"u", "v", "w", "p"};
  if (s->problem && i < PCSIM_FLOW_NUM_FIELDS) return flow[i];
  if (!s->transport) return NULL;
  const pcsim_transport_view *view = pcsim_transport_problem_get(s->transport);
  if (s->problem) i -= PCSIM_FLOW_NUM_FIELDS;
  return i < view->num_unknowns ? view->unknown[i] : NULL;
}

static int unknown_count(const cli_session *s) {
  int n = 0;
  while (unknown_name(s, n)) n++;
  return n;
}

/* Columns first to first + num - 1 of values [n][m], to or from an array [n][num]. */
static void copy_columns(int64_t n, int m, int first, int num, bool back, double *values, double *part) {
  for (int64_t c = 0; c < n; c++) {
    double *at = values + c * m + first;
    memcpy(back ? part + c * num : at, back ? at : part + c * num, (size_t)num * sizeof *values);
  }
}

/* What the case itself starts from, or, `back`, what it shall start from. */
static pcsim_status exchange_start(cli_session *s, bool back, double *values) {
  const int64_t n = pcsim_mesh_get(s->mesh)->num_cells;
  const int m = unknown_count(s), flow = s->problem ? PCSIM_FLOW_NUM_FIELDS : 0;
  double *part = NULL;
  PCSIM_TRY(pcsim_status_agree(s->c->comm, pcsim_alloc((size_t)n * (size_t)m, sizeof *part, &part)));
  for (int k = 0; k < 2; k++) {
    const int first = k ? flow : 0, num = k ? m - flow : flow;
    const size_t bytes = (size_t)n * (size_t)num * sizeof *part;
    if (num == 0) continue;
    if (back) {
      copy_columns(n, m, first, num, true, values, part);
      if (k) pcsim_transport_problem_set_start(s->transport, part);
      else pcsim_flow_problem_set_start(s->problem, part);
    } else if (bytes > 0) {
      memcpy(part,
             k ? pcsim_transport_problem_get(s->transport)->start : pcsim_flow_problem_get(s->problem)->start,
             bytes);
      copy_columns(n, m, first, num, false, values, part);
    }
  }
  pcsim_free(&part);
  return PCSIM_OK;
}

/* Buffers of one field on both meshes. */
typedef struct {
  double *value, *gradient, *out;
} buffers;

static pcsim_status make_buffers(int64_t from, int64_t to, buffers *b) {
  PCSIM_TRY(pcsim_alloc((size_t)from, sizeof(double), &b->value));
  PCSIM_TRY(pcsim_alloc((size_t)from, 3 * sizeof(double), &b->gradient));
  return pcsim_alloc((size_t)to, sizeof(double), &b->out);
}

static void free_buffers(buffers *b) {
  pcsim_free(&b->value);
  pcsim_free(&b->gradient);
  pcsim_free(&b->out);
}

static pcsim_status carry(const pcsim_transfer *transfer, const pcsim_scalar *f, int64_t n, buffers *b) {
  for (int64_t c = 0; c < n; c++) {
    b->value[c] = f->value[f->stride * c];
    memcpy(b->gradient + 3 * c, f->gradient + 3 * f->stride * c, 3 * sizeof *b->gradient);
  }
  return pcsim_transfer_apply(transfer, b->value, b->gradient, b->out);
}

static const pcsim_scalar *find_field(const pcsim_fields *fields, const char *name) {
  for (int i = 0; i < fields->num; i++)
    if (!strcmp(fields->scalar[i].name, name)) return &fields->scalar[i];
  return NULL;
}

/* `taken` lists what was found. */
static pcsim_status take_fields(cli_session *s, const pcsim_fields *fields, const pcsim_transfer *transfer,
                                double *values, char *taken, size_t size) {
  const int64_t from = pcsim_mesh_get(fields->mesh)->num_cells, to = pcsim_mesh_get(s->mesh)->num_cells;
  const int m = unknown_count(s);
  buffers b = {0};
  pcsim_status status = pcsim_status_agree(s->c->comm, make_buffers(from, to, &b));
  taken[0] = '\0';
  for (int i = 0; i < m && status == PCSIM_OK; i++) {
    const pcsim_scalar *f = find_field(fields, unknown_name(s, i));
    if (!f) continue;
    status = carry(transfer, f, from, &b);
    for (int64_t c = 0; c < to && status == PCSIM_OK; c++) values[c * m + i] = b.out[c];
    const size_t used = strlen(taken);
    snprintf(taken + used, size - used, "%s%s", used ? ", " : "", f->name);
  }
  free_buffers(&b);
  return status;
}

static pcsim_status no_field(const pcsim_fields *fields, const char *folder) {
  char names[256] = "";
  for (int i = 0; i < fields->num; i++) {
    const size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", fields->scalar[i].name);
  }
  PCSIM_FAIL(PCSIM_ERR_CASE, "the run in %s has none of the unknowns of this case; it has: %s", folder,
             names);
}

/* Of a steady solve the solver asks for them; a run through time begins at its problem's start. */
static pcsim_status use_values(cli_session *s, double **values) {
  if (s->time.given) return exchange_start(s, true, *values);
  s->start_values = *values;
  *values = NULL;
  return PCSIM_OK;
}

static pcsim_status fill(cli_session *s, cli_session *other, const char *folder) {
  const size_t size = (size_t)pcsim_mesh_get(s->mesh)->num_cells * (size_t)unknown_count(s);
  pcsim_transfer *transfer = NULL;
  pcsim_fields fields;
  double *values = NULL;
  char taken[256];
  PCSIM_TRY(cli_solver_fields(other, &fields));
  pcsim_status status = pcsim_alloc(size, sizeof *values, &values);
  PCSIM_GOTO(pcsim_status_agree(s->c->comm, status), status, done);
  PCSIM_GOTO(exchange_start(s, false, values), status, done);
  PCSIM_GOTO(pcsim_transfer_create(other->mesh, s->mesh, &transfer), status, done);
  PCSIM_GOTO(take_fields(s, &fields, transfer, values, taken, sizeof taken), status, done);
  if (!taken[0]) PCSIM_GOTO(no_field(&fields, folder), status, done);
  PCSIM_GOTO(use_values(s, &values), status, done);
  pcsim_log(PCSIM_LOG_INFO, "start: %s of %s, %lld cells", taken, folder,
            (long long)pcsim_mesh_get(other->mesh)->num_cells_global);
  if (pcsim_transfer_covered(transfer) < 0.5)
    pcsim_log(PCSIM_LOG_WARNING,
              "the mesh of %s does not cover this one: some cells take values from beside it", folder);
done:
  pcsim_transfer_destroy(&transfer);
  pcsim_free(&values);
  return status;
}

pcsim_status cli_start_from(cli_session *s, const char *folder) {
  cli_session other;
  cli_log_mute(true);
  pcsim_status status = cli_session_open_run(s->c, folder, &other);
  cli_log_mute(false);
  if (status == PCSIM_OK) status = fill(s, &other, folder);
  cli_session_close(&other);
  return status;
}

pcsim_status cli_start_potential(cli_session *s) {
  const size_t n = (size_t)pcsim_mesh_get(s->mesh)->num_cells, m = (size_t)unknown_count(s);
  double *values = NULL, *flow = NULL;
  pcsim_status status = pcsim_alloc(m * n, sizeof *values, &values);
  if (status == PCSIM_OK) status = pcsim_alloc(PCSIM_FLOW_NUM_FIELDS * n, sizeof *flow, &flow);
  PCSIM_GOTO(pcsim_status_agree(s->c->comm, status), status, done);
  PCSIM_GOTO(exchange_start(s, false, values), status, done);
  PCSIM_GOTO(pcsim_flow_potential(s->mesh, s->problem, flow), status, done);
  copy_columns((int64_t)n, (int)m, 0, PCSIM_FLOW_NUM_FIELDS, false, values, flow);
  PCSIM_GOTO(use_values(s, &values), status, done);
  pcsim_log(PCSIM_LOG_INFO, "start: potential flow");
done:
  pcsim_free(&values), pcsim_free(&flow);
  return status;
}
