/* SPDX-License-Identifier: BSD-2-Clause */
/** @file results.c  What a run leaves: fields, surface, pictures, report and, last of all, the summary. */
#include "cli.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { MAX_UNKNOWN_PICTURES = 8, MAX_PICTURES = MAX_UNKNOWN_PICTURES + 4 };

/* ------------------------------------------------------------ field files */

/* Paths in the folder, made once. */
typedef struct {
  char fields[4200], series[4200], surface[4200], summary[4200], report[4200];
} paths;

static void make_paths(const char *folder, paths *p) {
  snprintf(p->fields, sizeof p->fields, "%s/fields.hdf", folder);
  snprintf(p->series, sizeof p->series, "%s/fields.hdf.series", folder);
  snprintf(p->surface, sizeof p->surface, "%s/surface.hdf", folder);
  snprintf(p->summary, sizeof p->summary, "%s/summary.json", folder);
  snprintf(p->report, sizeof p->report, "%s/report.html", folder);
}

/* The series names the files of the first `n` times, and fields.hdf where `last` is later. Rank 0. */
static pcsim_status write_series(const cli_session *s, const char *path, int64_t n, const double *last) {
  enum { NAME = 32 };
  char *text = NULL;
  const char **names = NULL;
  double *times = NULL;
  pcsim_status status = PCSIM_OK;
  const size_t room = (size_t)n + 1;
  PCSIM_GOTO(pcsim_alloc(room, NAME, &text), status, done);
  PCSIM_GOTO(pcsim_alloc(room, sizeof *names, &names), status, done);
  PCSIM_GOTO(pcsim_alloc(room, sizeof *times, &times), status, done);
  for (int64_t i = 0; i < n; i++) {
    snprintf(text + i * NAME, NAME, "fields-%05lld.hdf", (long long)i);
    names[i] = text + i * NAME, times[i] = s->output.times[i];
  }
  if (last && (n == 0 || *last > times[n - 1])) names[n] = "fields.hdf", times[n++] = *last;
  status = pcsim_write_series(path, names, times, (int)n);
done:
  pcsim_free(&text), pcsim_free(&names), pcsim_free(&times);
  return status;
}

pcsim_status cli_results_snapshot(const cli_session *s, const pcsim_fields *f, const char *folder,
                                  int64_t number) {
  char path[4200], series[4200];
  bool written;
  snprintf(path, sizeof path, "%s/fields-%05lld.hdf", folder, (long long)number);
  snprintf(series, sizeof series, "%s/fields.hdf.series", folder);
  PCSIM_TRY(cli_fields_write(s, f, path, &written));
  if (!written) return PCSIM_OK;
  return pcsim_status_agree(s->c->comm,
                            s->c->rank == 0 ? write_series(s, series, number + 1, NULL) : PCSIM_OK);
}

static pcsim_status write_files(const cli_session *s, const pcsim_fields *f, double time, const paths *p) {
  int64_t reached = 0;
  while (reached < s->output.num_times && s->output.times[reached] <= time) reached++;
  bool written;
  PCSIM_TRY(cli_fields_write(s, f, p->fields, &written));
  if (written) {
    pcsim_status status = s->c->rank == 0 ? write_series(s, p->series, reached, &time) : PCSIM_OK;
    PCSIM_TRY(pcsim_status_agree(s->c->comm, status));
  }
  return cli_surface_write(s, f, p->surface);
}

/* --------------------------------------------------------------- pictures */

typedef struct {
  int count;
  pcsim_picture *picture[MAX_PICTURES];
  const char *caption[MAX_PICTURES];
  char text[MAX_PICTURES][128]; /* captions made here */
} album;

static void album_free(album *a) {
  for (int i = 0; i < a->count; i++) pcsim_picture_destroy(&a->picture[i]);
  a->count = 0;
}

static pcsim_status save_picture(const pcsim_picture *picture, const char *folder, const char *name) {
  char path[4200];
  uint8_t *png = NULL;
  size_t size;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  PCSIM_TRY(pcsim_picture_png(picture, &png, &size));
  pcsim_status status = pcsim_file_write(path, png, size);
  pcsim_free(&png);
  return status;
}

pcsim_status cli_picture(const cli_session *s, const double *values, const double *gradient,
                         const pcsim_picture_options *options, const char *folder, const char *name,
                         pcsim_picture **picture) {
  PCSIM_TRY(pcsim_picture_field(s->mesh, values, gradient, options, picture));
  return pcsim_status_agree(s->c->comm, s->c->rank == 0 ? save_picture(*picture, folder, name) : PCSIM_OK);
}

static pcsim_status add_picture(const cli_session *s, album *a, const double *values, const double *gradient,
                                const pcsim_picture_options *options, const char *folder, const char *name,
                                const char *caption) {
  a->caption[a->count] = caption;
  return cli_picture(s, values, gradient, options, folder, name, &a->picture[a->count++]);
}

static double *speed_of(const pcsim_flow_fields *f, int64_t n, double *speed, double *gradient) {
  /* d|u|/dx_j = u_i du_i/dx_j / |u|; gradient is [n][3] */
  for (int64_t c = 0; c < n; c++) {
    const double *u = f->velocity + 3 * c, *g = f->velocity_gradient + 9 * c;
    speed[c] = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    for (int j = 0; j < 3; j++)
      gradient[3 * c + j] = speed[c] > 0 ? (u[0] * g[j] + u[1] * g[3 + j] + u[2] * g[6 + j]) / speed[c] : 0;
  }
  return speed;
}

/* Speed and pressure of a flow. */
static pcsim_status flow_pictures(const cli_session *s, const pcsim_flow_fields *f, const char *folder,
                                  album *a) {
  const pcsim_mesh_view *view = pcsim_mesh_get(s->mesh);
  bool plane = view->dim == 3;
  size_t n = (size_t)(view->num_cells + view->num_ghosts);
  double *work = NULL;
  PCSIM_TRY(pcsim_status_agree(s->c->comm, pcsim_alloc(n, 4 * sizeof *work, &work)));
  double *gradient = work + n, *speed = speed_of(f, (int64_t)n, work, gradient);
  pcsim_status status = PCSIM_OK;
  pcsim_picture_options options = {.title = "speed (m/s)", .width = 1200};
  PCSIM_GOTO(add_picture(s, a, speed, gradient, &options, folder, "speed.png",
                         plane ? "Speed in the plane through the middle" : "Speed"),
             status, done);
  options.title = "pressure (Pa)";
  PCSIM_GOTO(add_picture(s, a, f->pressure, f->pressure_gradient, &options, folder, "pressure.png",
                         plane ? "Pressure in the plane through the middle" : "Pressure"),
             status, done);
done:
  pcsim_free(&work);
  return status;
}

/* One of each unknown, behind a flow's fields; of many the first. */
static pcsim_status typed_pictures(const cli_session *s, const pcsim_fields *f, const char *folder,
                                   album *a) {
  const bool plane = pcsim_mesh_get(s->mesh)->dim == 3;
  const int first = f->flow ? PCSIM_FLOW_NUM_FIELDS : 0;
  for (int i = first; i < f->num && i < first + MAX_UNKNOWN_PICTURES; i++) {
    const pcsim_scalar *u = &f->scalar[i];
    char name[128];
    snprintf(name, sizeof name, "%s.png", u->name);
    snprintf(a->text[a->count], sizeof a->text[0], "%s%s", u->name,
             plane ? " in the plane through the middle" : "");
    const pcsim_picture_options options = {.title = u->name, .width = 1200};
    PCSIM_TRY(add_picture(s, a, u->value, u->gradient, &options, folder, name, a->text[a->count]));
  }
  return PCSIM_OK;
}

static pcsim_status make_pictures(const cli_session *s, const pcsim_fields *f, const char *folder, album *a) {
  if (f->flow) PCSIM_TRY(flow_pictures(s, f->flow, folder, a));
  PCSIM_TRY(typed_pictures(s, f, folder, a));
  pcsim_picture_options options = {.title = "mesh", .width = 1200, .edges = true};
  PCSIM_TRY(add_picture(s, a, NULL, NULL, &options, folder, "mesh.png", "Mesh"));
  const char *caption = cli_zoom(s->mesh, options.window);
  options.title = "mesh, smallest cells";
  return caption ? add_picture(s, a, NULL, NULL, &options, folder, "mesh-zoom.png", caption) : PCSIM_OK;
}

/* ------------------------------------------------------ report and summary */

static void fill_report(const cli_session *s, const cli_outcome *o, const album *a, const char *title,
                        pcsim_report *r) {
  const pcsim_solve_result *result = &o->result;
  *r = (pcsim_report){.title = title,
                      .status = o->status,
                      .reason = result->reason,
                      .version = PCSIM_VERSION,
                      .case_text = s->full_text ? s->full_text : s->text,
                      .machine = o->machine,
                      .wall_seconds = o->wall_seconds,
                      .cpu_seconds = o->cpu_seconds,
                      .solve_seconds = result->seconds,
                      .ranks = o->ranks,
                      .cells = s->quality.num_cells,
                      .iterations = result->steps,
                      .linear_iterations = result->linear_iterations,
                      .residual = result->residual,
                      .memory_peak = o->memory_peak,
                      .history = o->history,
                      .quality = &s->quality,
                      .pictures = (const pcsim_picture *const *)a->picture,
                      .captions = a->caption,
                      .num_pictures = a->count,
                      .study = o->study};
  r->num_quantities = pcsim_monitors_quantities(s->monitors, &r->quantities);
  r->num_curves = pcsim_monitors_curves(s->monitors, &r->curves);
  if (s->references) r->num_comparisons = pcsim_references_get(s->references, &r->comparisons);
}

pcsim_status cli_results_write(cli_session *s, const cli_outcome *outcome, const pcsim_fields *fields,
                               const char *folder, cli_results_wanted wanted) {
  album pictures = {0};
  paths p;
  pcsim_status status = PCSIM_OK;
  make_paths(folder, &p);
  if (wanted.files) PCSIM_GOTO(write_files(s, fields, outcome->result.time, &p), status, done);
  if (wanted.pictures) PCSIM_GOTO(make_pictures(s, fields, folder, &pictures), status, done);
  if (s->c->rank == 0) {
    const char *title = "";
    pcsim_report report;
    pcsim_node_string(s->tree, pcsim_tree_root(s->tree), "title", &title);
    fill_report(s, outcome, &pictures, title, &report);
    if (wanted.report) status = pcsim_report_write(&report, p.report);
    /* The summary marks the folder as finished: nothing is written after it. */
    if (status == PCSIM_OK && wanted.summary) status = pcsim_summary_write(&report, p.summary);
  }
  status = pcsim_status_agree(s->c->comm, status);
done:
  album_free(&pictures);
  return status;
}

/* ---------------------------------------------------------------- summary */

pcsim_status cli_summary_read(const char *folder, pcsim_report **summary) {
  char path[4200];
  snprintf(path, sizeof path, "%s/summary.json", folder);
  PCSIM_CHECK(pcsim_file_exists(path), PCSIM_ERR_CASE,
              "%s: no summary.json in it; expected the folder of a finished run", folder);
  return pcsim_summary_read(path, summary);
}

int cli_summary_exit_code(const pcsim_report *summary) {
  if (strcmp(summary->status, "converged") != 0 && strcmp(summary->status, "completed") != 0)
    return CLI_NOT_CONVERGED;
  for (int i = 0; i < summary->num_comparisons; i++)
    if (!summary->comparisons[i].met) return CLI_MISSED;
  return CLI_DONE;
}

void cli_machine(int ranks, char text[256]) {
  char line[512], model[160] = "unknown processor";
  FILE *file = fopen("/proc/cpuinfo", "r");
  while (file && fgets(line, sizeof line, file)) {
    const char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || !colon) continue;
    snprintf(model, sizeof model, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    break;
  }
  if (file) fclose(file);
  snprintf(text, 256, "%s, %ld cores, %d rank%s", model, sysconf(_SC_NPROCESSORS_ONLN), ranks,
           ranks > 1 ? "s" : "");
}
