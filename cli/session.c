/* SPDX-License-Identifier: BSD-2-Clause */
/** @file session.c  A case and what is made of it: tree, mesh, problem, monitors, solver. */
#include "cli.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Keys of the format whose features this version does not have: told apart from misspelt ones. */
static const char *const unavailable[] = {"domain", "conditions", "interfaces", "network", "train",
                                          "data",   "adapt",      "surrogate",  "insitu"};
enum { NUM_UNAVAILABLE = sizeof unavailable / sizeof *unavailable };

const pcsim_key cli_case_keys[] = {
    {"pcsim", PCSIM_KEY_INTEGER, NULL, NULL, "", "version of the case format: 1", 1, 1},
    {"title", PCSIM_KEY_TEXT, "", NULL, "", "one line for reports and pictures", 0, 0},
    {"extends", PCSIM_KEY_TEXT, "", NULL, "", "another case file that this one overrides", 0, 0},
    {"parameters", PCSIM_KEY_MAPPING, "", NULL, "", "names with numbers or expressions of earlier names", 0,
     0},
    {"mesh", PCSIM_KEY_MAPPING, NULL, NULL, "", "a shape with its sizes, or a file", 0, 0},
    {"physics", PCSIM_KEY_MAPPING, NULL, NULL, "", "model and its coefficients", 0, 0},
    {"boundaries", PCSIM_KEY_MAPPING, NULL, NULL, "", "one condition for each boundary of the mesh", 0, 0},
    {"initial", PCSIM_KEY_MAPPING, "", NULL, "", "expressions to start from", 0, 0},
    {"solve", PCSIM_KEY_MAPPING, "", NULL, "", "solver and its tolerances", 0, 0},
    {"monitors", PCSIM_KEY_MAPPING, "", NULL, "", "quantities to follow: forces, probes, flow rates, ...", 0,
     0},
    {"output", PCSIM_KEY_MAPPING, "", NULL, "", "what the run folder gets", 0, 0},
    {"reference", PCSIM_KEY_MAPPING, "", NULL, "", "known values, curves or fields to compare with", 0, 0},
    {"study", PCSIM_KEY_MAPPING, "", NULL, "", "repeat the case on successively finer meshes", 0, 0},
};
const size_t cli_num_case_keys = sizeof cli_case_keys / sizeof *cli_case_keys;

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

const pcsim_key cli_study_keys[] = {
    {"kind", PCSIM_KEY_CHOICE, "meshes", "meshes", "", "what is varied", 0, 0},
    {"count", PCSIM_KEY_INTEGER, "3", NULL, "", "number of meshes; the finest has the case's own sizes", 2,
     8},
    {"ratio", PCSIM_KEY_NUMBER, "2", NULL, "1", "of the sizes of successive meshes", 1.1, 10},
};
const size_t cli_num_study_keys = sizeof cli_study_keys / sizeof *cli_study_keys;

/* ------------------------------------------------------------- the case */

/* A case for a feature that is missing gets no other message: they would only name what it rightly leaves
 * out.
 */
static void check_top(pcsim_tree *tree) {
  pcsim_node *root = pcsim_tree_root(tree);
  bool refused = false;
  for (int64_t i = 0; i < pcsim_node_size(root); i++)
    for (size_t k = 0; k < NUM_UNAVAILABLE; k++)
      if (!strcmp(pcsim_node_key(root, i), unavailable[k])) {
        pcsim_tree_problem(tree, pcsim_node_key_node(root, i), "'%s' is not available in this version",
                           unavailable[k]);
        refused = true;
      }
  if (!refused) pcsim_node_check(tree, root, cli_case_keys, cli_num_case_keys, "the case");
}

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

static void check_output(pcsim_tree *tree, pcsim_node *node) {
  enum { KEYS = sizeof cli_output_keys / sizeof *cli_output_keys };
  pcsim_key keys[KEYS];
  memcpy(keys, cli_output_keys, sizeof keys);
  for (size_t i = 0; pcsim_transport_given(tree) && i < KEYS; i++)
    if (!strcmp(keys[i].name, "fields")) keys[i].fallback = "";
  pcsim_node_check(tree, node, keys, KEYS, "output");
}

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

static void read_output(pcsim_tree *tree, cli_output *output) {
  *output = (cli_output){.pictures = true};
  pcsim_node *node = pcsim_node_mapping(tree, pcsim_tree_root(tree), "output");
  if (!node) return;
  check_output(tree, node);
  if (pcsim_transport_given(tree)) read_unknowns(tree, node, output);
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

static void read_study(pcsim_tree *tree, const pcsim_mesh_spec *spec, cli_study *study) {
  *study = (cli_study){0};
  pcsim_node *node = pcsim_node_get(pcsim_tree_root(tree), "study");
  if (!node || pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) return;
  pcsim_node_check(tree, node, cli_study_keys, cli_num_study_keys, "study");
  pcsim_node_integer(tree, node, "count", &study->count);
  pcsim_node_number(tree, node, "ratio", &study->ratio);
  if (spec && pcsim_mesh_spec_is_file(spec))
    pcsim_tree_problem(tree, node,
                       "a study of meshes needs a shape under 'mesh', which can be made coarser; a mesh "
                       "file cannot");
}

static pcsim_status read_case(const char *path, const cli_list *sets, cli_session *s) {
  PCSIM_TRY(pcsim_tree_read(path, &s->tree));
  for (int i = 0; sets && i < sets->count; i++) PCSIM_TRY(pcsim_tree_set(s->tree, sets->item[i]));
  check_top(s->tree);
  /* The modules look for their sections themselves; with a wrong frame they would only repeat the complaint.
   */
  PCSIM_TRY(pcsim_tree_status(s->tree));
  PCSIM_TRY(pcsim_mesh_spec_read(s->tree, &s->spec));
  if (pcsim_transport_given(s->tree)) pcsim_transport_problem_check(s->tree);
  else pcsim_flow_problem_check(s->tree);
  cli_solver_read(s);
  read_output(s->tree, &s->output);
  read_study(s->tree, s->spec, &s->study);
  PCSIM_TRY(pcsim_tree_status(s->tree));
  PCSIM_TRY(pcsim_tree_write(s->tree, &s->text));
  cli_hash(s->text, strlen(s->text), NULL, 0, s->case_hash);
  return PCSIM_OK;
}

pcsim_status cli_session_read(cli *c, const char *path, const cli_list *sets, cli_session *session) {
  *session = (cli_session){.c = c};
  return pcsim_status_agree(c->comm, read_case(path, sets, session));
}

/* ------------------------------------------------------------- the mesh */

static pcsim_status make_raw(const cli_session *s, double factor, const char *path, bool keep,
                             const char *msh, pcsim_raw_mesh **raw) {
  if (keep && pcsim_file_exists(path)) {
    if (pcsim_raw_mesh_read(path, raw) == PCSIM_OK) return PCSIM_OK;
    pcsim_log(PCSIM_LOG_WARNING, "the kept mesh cannot be used (%s); it is made again",
              pcsim_error_message());
    pcsim_error_clear();
  }
  pcsim_mesh_spec *spec = s->spec, *coarse = NULL;
  pcsim_status status = PCSIM_OK;
  if (factor != 1) {
    PCSIM_GOTO(pcsim_mesh_spec_read(s->tree, &coarse), status, done);
    PCSIM_GOTO(pcsim_mesh_spec_refine(coarse, factor), status, done);
    spec = coarse;
  }
  PCSIM_GOTO(pcsim_mesh_spec_generate(spec, path, msh), status, done);
  PCSIM_GOTO(pcsim_raw_mesh_read(path, raw), status, done);
done:
  pcsim_mesh_spec_destroy(&coarse);
  return status;
}

/* Binds a checkpoint to case and mesh: the hash of both hashes. */
static pcsim_status hash_all(const char *case_hash, const char *raw_path, char hash[65]) {
  char *bytes = NULL, mesh_hash[65];
  size_t size;
  PCSIM_TRY(pcsim_file_read(raw_path, SIZE_MAX / 4, &bytes, &size));
  cli_hash(bytes, size, NULL, 0, mesh_hash);
  pcsim_free(&bytes);
  cli_hash(case_hash, 64, mesh_hash, 64, hash);
  return PCSIM_OK;
}

/* Names of what the case sets, so that a run's log says what was made. */
static void log_mesh(const cli_session *s) {
  const pcsim_mesh_view *view = pcsim_mesh_get(s->mesh);
  const pcsim_mesh_quality *q = &s->quality;
  char types[256] = "";
  for (int t = 0; t < PCSIM_NUM_CELL_TYPES; t++) {
    if (!q->count[t]) continue;
    size_t used = strlen(types);
    snprintf(types + used, sizeof types - used, "%s%lld %s", used ? ", " : "", (long long)q->count[t],
             pcsim_cell_name((pcsim_cell_type)t));
  }
  pcsim_log(PCSIM_LOG_INFO, "mesh: %lld cells in %dD (%s)", (long long)q->num_cells, view->dim, types);
  pcsim_log(PCSIM_LOG_INFO,
            "mesh quality: non-orthogonality %.1f deg (mean %.1f), skewness %.2f, volume ratio %.1f, aspect "
            "ratio %.1f",
            q->non_orthogonality.max, q->non_orthogonality.mean, q->skewness.max, q->volume_ratio.max,
            q->aspect_ratio.max);
}

/* Behind the place of `node` where a message begins with it already. */
static const char *without_place(const pcsim_node *node, const char *line) {
  char place[1200];
  if (!node) return line;
  int n = snprintf(place, sizeof place, "%s:%d:%d: ", pcsim_node_file(node), pcsim_node_line(node),
                   pcsim_node_column(node));
  bool fits = n > 0 && (size_t)n < sizeof place;
  while (fits && !strncmp(line, place, (size_t)n)) line += n;
  return line;
}

/* What is wrong with a mesh is reported where the case asks for it: at its file or shape, or at `mesh`. */
static pcsim_status placed(cli_session *s, pcsim_status status) {
  if (status != PCSIM_ERR_MESH && status != PCSIM_ERR_CASE) return status;
  const pcsim_node *mesh = pcsim_node_get(pcsim_tree_root(s->tree), "mesh"),
                   *file = pcsim_node_get(mesh, "file");
  if (!file) file = pcsim_node_get(mesh, "shape");
  char *message = NULL;
  PCSIM_TRY(pcsim_strdup(pcsim_error_message(), &message));
  for (const char *line = message; *line;) {
    size_t length = strcspn(line, "\n");
    const char *text = without_place(file, line);
    if (length)
      pcsim_tree_problem(s->tree, file ? file : mesh, "%.*s", (int)(length - (size_t)(text - line)), text);
    line += length + (line[length] == '\n');
  }
  pcsim_free(&message);
  return pcsim_tree_status(s->tree);
}

pcsim_status cli_session_mesh(cli_session *s, double factor, const char *path, bool keep, const char *msh) {
  pcsim_raw_mesh *raw = NULL;
  pcsim_status status = PCSIM_OK;
  cli_session_drop_mesh(s);
  if (s->c->rank == 0) {
    status = make_raw(s, factor, path, keep, msh, &raw);
    if (status == PCSIM_OK) status = hash_all(s->case_hash, path, s->hash);
    if (status == PCSIM_OK) status = pcsim_strdup(raw->notes ? raw->notes : "", &s->notes);
  } else {
    status = pcsim_strdup("", &s->notes);
  }
  PCSIM_GOTO(placed(s, pcsim_status_agree(s->c->comm, status)), status, done);
  MPI_Bcast(s->hash, sizeof s->hash, MPI_CHAR, 0, s->c->comm);
  for (const char *line = s->notes; *line;) {
    size_t length = strcspn(line, "\n");
    if (length) pcsim_log(PCSIM_LOG_INFO, "mesh: %.*s", (int)length, line);
    line += length + (line[length] == '\n');
  }
  PCSIM_GOTO(placed(s, pcsim_mesh_create(s->c->comm, raw, &s->mesh)), status, done);
  pcsim_raw_mesh_destroy(&raw); /* before the peak of what follows */
  PCSIM_GOTO(pcsim_mesh_quality_compute(s->mesh, &s->quality), status, done);
  log_mesh(s);
done:
  pcsim_raw_mesh_destroy(&raw);
  return status;
}

const char *cli_unit(const pcsim_monitors *monitors, const char *quantity) {
  const pcsim_quantity *quantities;
  int n = pcsim_monitors_quantities(monitors, &quantities);
  for (int i = 0; i < n; i++)
    if (!strcmp(quantities[i].name, quantity)) return quantities[i].unit;
  return "";
}

/* What a study adds when its last mesh is done can be named under `reference:` from the start. */
static pcsim_status announce_study(cli_session *s) {
  const pcsim_node *list = pcsim_node_get(pcsim_tree_root(s->tree), "reference");
  if (!s->study.count || !list || pcsim_node_get_kind(list) != PCSIM_NODE_MAPPING) return PCSIM_OK;
  for (int64_t i = 0; i < pcsim_node_size(list); i++) {
    const char *name = pcsim_node_key(list, i);
    char unit[16] = "1";
    if (!strncmp(name, "extrapolated.", 13))
      snprintf(unit, sizeof unit, "%s", cli_unit(s->monitors, name + 13));
    else if (strncmp(name, "order.", 6) != 0) continue;
    PCSIM_TRY(pcsim_monitors_put(s->monitors, name, unit, NAN));
  }
  return PCSIM_OK;
}

pcsim_status cli_session_problem(cli_session *s) {
  bool typed = pcsim_transport_given(s->tree);
  pcsim_status status = typed ? pcsim_transport_problem_read(s->tree, s->mesh, &s->transport)
                              : pcsim_flow_problem_read(s->tree, s->mesh, &s->problem);
  if (status == PCSIM_OK && (s->problem || s->transport))
    status = pcsim_monitors_read(s->tree, s->mesh, typed ? pcsim_transport_problem_get(s->transport) : NULL,
                                 &s->monitors);
  if (status == PCSIM_OK && s->monitors && s->time.given)
    status = pcsim_monitors_announce_statistics(s->monitors);
  if (status == PCSIM_OK && s->monitors) status = announce_study(s);
  if (status == PCSIM_OK && s->monitors) status = pcsim_references_read(s->tree, s->monitors, &s->references);
  /* Problems in the tree outrank the status that came with them: they hold every place. */
  pcsim_status problems = pcsim_tree_num_problems(s->tree) ? pcsim_tree_status(s->tree) : status;
  return pcsim_status_agree(s->c->comm, problems);
}

/* --------------------------------------------------------------- the end */

void cli_session_drop_mesh(cli_session *s) {
  cli_solver_destroy(s);
  pcsim_references_destroy(&s->references);
  pcsim_monitors_destroy(&s->monitors);
  pcsim_flow_problem_destroy(&s->problem);
  pcsim_transport_problem_destroy(&s->transport);
  pcsim_mesh_destroy(&s->mesh);
  pcsim_free(&s->notes);
  s->hash[0] = '\0';
}

void cli_session_close(cli_session *s) {
  if (!s->c) return;
  cli_session_drop_mesh(s);
  pcsim_mesh_spec_destroy(&s->spec);
  pcsim_free(&s->output.times);
  pcsim_free(&s->text);
  pcsim_free(&s->full_text);
  pcsim_tree_destroy(&s->tree);
  *s = (cli_session){0};
}

/* ------------------------------------------------------------ a past run */

static pcsim_status load_state(cli_session *s, const char *folder) {
  const pcsim_mesh_view *view = pcsim_mesh_get(s->mesh);
  pcsim_checkpoint info = {0};
  char *path = NULL;
  double *values = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_GOTO(pcsim_path_join(folder, "checkpoint.h5", &path), status, done);
  PCSIM_GOTO(cli_solver_create(s, -1), status, done);
  info.width = cli_solver_width(s);
  status = pcsim_alloc((size_t)(view->num_cells * info.width), sizeof *values, &values);
  PCSIM_GOTO(pcsim_status_agree(s->c->comm, status), status, done);
  PCSIM_GOTO(pcsim_checkpoint_read(s->mesh, path, &info, values), status, done);
  if (strcmp(info.case_hash, s->hash) != 0)
    PCSIM_GOTO(pcsim_error_set(PCSIM_ERR_IO, __FILE__, __LINE__, __func__,
                               "%s belongs to another case or mesh than the rest of the folder", path),
               status, done);
  PCSIM_GOTO(cli_solver_set_state(s, values, info.scalars), status, done);
done:
  pcsim_free(&values);
  pcsim_free(&path);
  return status;
}

pcsim_status cli_session_open_run(cli *c, const char *folder, cli_session *s) {
  char *path = NULL, *raw = NULL;
  char case_hash[65] = "";
  pcsim_status status = cli_folder_hash(folder, case_hash);
  *s = (cli_session){.c = c};
  PCSIM_GOTO(pcsim_status_agree(c->comm, status), status, done);
  PCSIM_GOTO(pcsim_path_join(folder, "case.yaml", &path), status, done);
  PCSIM_GOTO(pcsim_path_join(folder, "mesh.raw", &raw), status, done);
  PCSIM_GOTO(cli_session_read(c, path, NULL, s), status, done);
  status = PCSIM_OK;
  if (c->rank == 0 && !pcsim_file_exists(raw))
    status = pcsim_error_set(PCSIM_ERR_IO, __FILE__, __LINE__, __func__,
                             "%s: the mesh of the run is missing; run the case again", raw);
  PCSIM_GOTO(pcsim_status_agree(c->comm, status), status, done);
  memcpy(s->case_hash, case_hash, sizeof case_hash); /* of the case before it was completed */
  PCSIM_GOTO(cli_session_mesh(s, 1, raw, true, NULL), status, done);
  PCSIM_GOTO(cli_session_problem(s), status, done);
  PCSIM_GOTO(pcsim_solver_start(c->comm), status, done);
  PCSIM_GOTO(load_state(s, folder), status, done);
done:
  pcsim_free(&path);
  pcsim_free(&raw);
  return status;
}

pcsim_status cli_session_restore(cli_session *s, const pcsim_report *summary) {
  const int followed = pcsim_monitors_num_followed(s->monitors);
  for (int i = 0; i < summary->num_quantities; i++) {
    const pcsim_quantity *q = &summary->quantities[i], *own;
    pcsim_monitors_quantities(s->monitors, &own);
    bool evaluated = !strncmp(q->name, "error.", 6);
    for (int k = 0; k < followed; k++) evaluated = evaluated || !strcmp(own[k].name, q->name);
    if (!evaluated) PCSIM_TRY(pcsim_monitors_put(s->monitors, q->name, q->unit, q->value));
  }
  return PCSIM_OK;
}

/* ---------------------------------------------------- the completed case */

/* Append `text` to the path of keys; a sequence's elements are numbers. */
static pcsim_status longer_path(const char *path, const char *key, int64_t i, char **longer) {
  size_t size = strlen(path) + (key ? strlen(key) : 0) + 32;
  PCSIM_TRY(pcsim_alloc(size, 1, longer));
  if (key) snprintf(*longer, size, "%s%s%s", path, *path ? "." : "", key);
  else snprintf(*longer, size, "%s.%lld", path, (long long)i);
  return PCSIM_OK;
}

static pcsim_status set_file(pcsim_tree *tree, const char *path, const char *file) {
  size_t size = strlen(path) + 2 * strlen(file) + 4, used;
  char *text = NULL;
  PCSIM_TRY(pcsim_alloc(size, 1, &text));
  used = (size_t)snprintf(text, size, "%s=\"", path);
  for (const char *p = file; *p; p++) {
    if (*p == '"' || *p == '\\') text[used++] = '\\';
    text[used++] = *p;
  }
  text[used] = '"';
  pcsim_status status = pcsim_tree_set(tree, text);
  pcsim_free(&text);
  return status;
}

/* Files named relative to the case are named absolutely in a run folder, from where they are read again. */
static pcsim_status make_absolute(pcsim_tree *tree, const pcsim_node *node, const char *path) {
  pcsim_status status = PCSIM_OK;
  for (int64_t i = 0; status == PCSIM_OK && i < pcsim_node_size(node); i++) {
    const pcsim_node *child = pcsim_node_child(node, i);
    const char *key = pcsim_node_key(node, i);
    char *below = NULL, *file = NULL, *whole = NULL;
    PCSIM_TRY(longer_path(path, key, i, &below));
    if (pcsim_node_get_kind(child) != PCSIM_NODE_SCALAR) {
      status = make_absolute(tree, child, below);
    } else if (key && (!strcmp(key, "file") || !strcmp(key, "table")) && pcsim_node_text(child)[0] &&
               pcsim_node_text(child)[0] != '/') {
      status = pcsim_node_path(child, &file);
      if (status == PCSIM_OK) whole = realpath(file, NULL);
      if (whole) status = set_file(tree, below, whole); /* what is missing its reader has told already */
    }
    free(whole);
    pcsim_free(&file);
    pcsim_free(&below);
  }
  return status;
}

pcsim_status cli_session_text(const cli_session *s, char **text) {
  PCSIM_TRY(make_absolute(s->tree, pcsim_tree_root(s->tree), ""));
  return pcsim_tree_write(s->tree, text);
}
