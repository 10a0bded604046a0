/* SPDX-License-Identifier: BSD-2-Clause */
/** @file session.c  A case and what is made of it: tree, mesh, problem, monitors, solver. */
#include "train.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Keys of the format whose features this version does not have: told apart from misspelt ones. */
static const char *const unavailable[] = {"domain", "conditions", "interfaces", "data",
                                          "adapt",  "surrogate",  "insitu"};
enum { NUM_UNAVAILABLE = sizeof unavailable / sizeof *unavailable };

const pcsim_key cli_case_keys[] = {
    {"pcsim", PCSIM_KEY_INTEGER, NULL, NULL, "", "version of the case format: 1", 1, 1},
    {"title", PCSIM_KEY_TEXT, "", NULL, "", "one line for reports and pictures", 0, 0},
    {"extends", PCSIM_KEY_TEXT, "", NULL, "", "another case file that this one overrides", 0, 0},
    {"parameters", PCSIM_KEY_MAPPING, "", NULL, "", "names with numbers or expressions of earlier names", 0,
     0},
    {"mesh", PCSIM_KEY_MAPPING, NULL, NULL, "", "a shape with its sizes, or a file", 0, 0},
    {"physics", PCSIM_KEY_MAPPING, NULL, NULL, "", "model and its coefficients", 0, 0},
    {"boundaries", PCSIM_KEY_MAPPING, NULL, NULL, "",
     "one condition for each boundary of the mesh, by its name or by the one pattern that fits it", 0, 0},
    {"initial", PCSIM_KEY_MAPPING, "", NULL, "", "expressions to start from", 0, 0},
    {"solve", PCSIM_KEY_MAPPING, "", NULL, "", "solver and its tolerances", 0, 0},
    {"monitors", PCSIM_KEY_MAPPING, "", NULL, "", "quantities to follow: forces, probes, flow rates, ...", 0,
     0},
    {"output", PCSIM_KEY_MAPPING, "", NULL, "", "what the run folder gets", 0, 0},
    {"reference", PCSIM_KEY_MAPPING, "", NULL, "", "known values, curves or fields to compare with", 0, 0},
    {"study", PCSIM_KEY_MAPPING, "", NULL, "",
     "repeat the case on finer and finer meshes, or with shorter time steps", 0, 0},
};
const size_t cli_num_case_keys = sizeof cli_case_keys / sizeof *cli_case_keys;

const pcsim_key cli_training_case_keys[] = {
    {"pcsim", PCSIM_KEY_INTEGER, NULL, NULL, "", "version of the case format: 1", 1, 1},
    {"title", PCSIM_KEY_TEXT, "", NULL, "", "one line for reports and pictures", 0, 0},
    {"extends", PCSIM_KEY_TEXT, "", NULL, "", "another case file that this one overrides", 0, 0},
    {"parameters", PCSIM_KEY_MAPPING, "", NULL, "", "names with numbers or expressions of earlier names", 0,
     0},
    {"domain", PCSIM_KEY_MAPPING, "", NULL, "", "box, ball, and pieces added to them or taken away", 0, 0},
    {"mesh", PCSIM_KEY_MAPPING, "", NULL, "", "a shape, taken exactly", 0, 0},
    {"physics", PCSIM_KEY_MAPPING, NULL, NULL, "", "unknowns and equations, or a model", 0, 0},
    {"boundaries", PCSIM_KEY_MAPPING, "", NULL, "",
     "conditions for each boundary of the domain, by its name or by the first pattern that fits it", 0, 0},
    {"initial", PCSIM_KEY_MAPPING, "", NULL, "", "values and rates at the start of time", 0, 0},
    {"conditions", PCSIM_KEY_SEQUENCE, "", NULL, "", "conditions at other places", 0, 0},
    {"unknown", PCSIM_KEY_MAPPING, "", NULL, "",
     "coefficients to be found: {k: {start: 1, range: [0.1, 10]}}", 0, 0},
    {"data", PCSIM_KEY_MAPPING, "", NULL, "", "measured values: {probe: {file: p.csv, fits: {u: measured}}}",
     0, 0},
    {"inputs", PCSIM_KEY_MAPPING, "", NULL, "", "parameters that the network takes, with their ranges", 0, 0},
    {"network", PCSIM_KEY_MAPPING, "", NULL, "", "what the unknowns are made of", 0, 0},
    {"train", PCSIM_KEY_MAPPING, NULL, NULL, "", "budget, seed, and what is not to be chosen", 0, 0},
    {"monitors", PCSIM_KEY_MAPPING, "", NULL, "",
     "quantities to follow: forces, flow-rate, integral, at times and inputs", 0, 0},
    {"output", PCSIM_KEY_MAPPING, "", NULL, "", "what the run folder gets", 0, 0},
    {"reference", PCSIM_KEY_MAPPING, "", NULL, "", "known fields and quantities to compare with", 0, 0},
};
const size_t cli_num_training_case_keys = sizeof cli_training_case_keys / sizeof *cli_training_case_keys;

const pcsim_key cli_study_keys[] = {
    {"kind", PCSIM_KEY_CHOICE, "meshes", "meshes|steps", "",
     "what is varied: sizes of the mesh, or solve.time.step on one mesh", 0, 0},
    {"count", PCSIM_KEY_INTEGER, "3", NULL, "", "number of runs; the last has the case's own sizes or step",
     2, 8},
    {"ratio", PCSIM_KEY_NUMBER, "2", NULL, "1", "of successive sizes or steps", 1.1, 10},
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

static void read_study(pcsim_tree *tree, const pcsim_mesh_spec *spec, const pcsim_time *time,
                       cli_study *study) {
  const char *kind = "meshes";
  *study = (cli_study){0};
  pcsim_node *node = pcsim_node_get(pcsim_tree_root(tree), "study");
  if (!node || pcsim_node_get_kind(node) != PCSIM_NODE_MAPPING) return;
  pcsim_node_check(tree, node, cli_study_keys, cli_num_study_keys, "study");
  pcsim_node_integer(tree, node, "count", &study->count);
  pcsim_node_number(tree, node, "ratio", &study->ratio);
  pcsim_node_string(tree, node, "kind", &kind);
  study->of_steps = !strcmp(kind, "steps");
  if (study->of_steps && !(time->step > 0))
    pcsim_tree_problem(tree, node,
                       "a study of time steps needs `solve: {time: {step: ..}}`, which it varies");
  if (!study->of_steps && spec && pcsim_mesh_spec_is_file(spec))
    pcsim_tree_problem(tree, node,
                       "a study of meshes needs a shape under 'mesh', which can be made coarser; a mesh "
                       "file cannot");
}

/* `output:` of a training: pictures, and how often a checkpoint is taken. */
static void read_training_output(cli_session *s) {
  static const pcsim_key keys[] = {{"pictures", PCSIM_KEY_BOOL, "true", NULL, "", "of the unknowns", 0, 0},
                                   {"checkpoint", PCSIM_KEY_ANY, "auto", NULL, "",
                                    "looks between checkpoints, or auto: every few seconds", 0, 0}};
  pcsim_node *node = pcsim_node_mapping(s->tree, pcsim_tree_root(s->tree), "output");
  s->output = (cli_output){.pictures = true};
  if (!node) return;
  pcsim_node_check(s->tree, node, keys, sizeof keys / sizeof *keys, "output");
  pcsim_node_bool(s->tree, node, "pictures", &s->output.pictures);
  const pcsim_node *every = pcsim_node_get(node, "checkpoint");
  if (every && strcmp(pcsim_node_text(every), "auto") != 0)
    pcsim_node_integer(s->tree, node, "checkpoint", &s->output.checkpoint);
}

static pcsim_status read_training(cli_session *s) {
  pcsim_node *root = pcsim_tree_root(s->tree);
  const pcsim_node *solve = pcsim_node_get(root, "solve");
  if (solve)
    pcsim_tree_problem(s->tree, solve,
                       "`solve` selects the solver, `network` and `train` a network; keep one");
  else pcsim_node_check(s->tree, root, cli_training_case_keys, cli_num_training_case_keys, "the case");
  PCSIM_TRY(pcsim_tree_status(s->tree));
  if (s->c->ranks > 1)
    pcsim_tree_problem(
        s->tree, pcsim_node_get(root, "train"),
        "a network is trained by one process; `train: {threads: N}` says on how many processors");
  read_training_output(s);
  PCSIM_TRY(pcsim_training_read(s->tree, &s->training));
  if (s->training) PCSIM_TRY(cli_train_monitors_read(s->tree, s->training, &s->train_monitors));
  if (s->training)
    PCSIM_TRY(cli_train_references_read(s->tree, s->training, s->train_monitors, &s->train_references));
  PCSIM_TRY(pcsim_tree_status(s->tree));
  PCSIM_TRY(pcsim_tree_write(s->tree, &s->text));
  cli_hash(s->text, strlen(s->text), NULL, 0, s->case_hash);
  return PCSIM_OK;
}

static pcsim_status read_case(const char *path, const cli_list *sets, cli_session *s) {
  PCSIM_TRY(pcsim_tree_read(path, &s->tree));
  for (int i = 0; sets && i < sets->count; i++) PCSIM_TRY(pcsim_tree_set(s->tree, sets->item[i]));
  if (pcsim_training_given(s->tree)) return read_training(s);
  check_top(s->tree);
  /* The modules look for their sections themselves; with a wrong frame they would only repeat the complaint.
   */
  PCSIM_TRY(pcsim_tree_status(s->tree));
  PCSIM_TRY(pcsim_mesh_spec_read(s->tree, &s->spec));
  pcsim_motion_check(s->tree);
  const bool joined = pcsim_joined_given(s->tree);
  if (joined || pcsim_transport_given(s->tree)) pcsim_transport_problem_check(s->tree);
  if (joined || !pcsim_transport_given(s->tree)) pcsim_flow_problem_check(s->tree);
  cli_solver_read(s);
  cli_output_read(s->tree, &s->output);
  read_study(s->tree, s->spec, &s->time, &s->study);
  pcsim_start_read(s->tree, &s->start);
  PCSIM_TRY(pcsim_tree_status(s->tree));
  PCSIM_TRY(pcsim_tree_write(s->tree, &s->text));
  cli_hash(s->text, strlen(s->text), NULL, 0, s->case_hash);
  return PCSIM_OK;
}

static pcsim_status refuse_network(const char *path, const char *why) {
  pcsim_tree *tree = NULL;
  PCSIM_TRY(pcsim_tree_read(path, &tree));
  const bool given = pcsim_training_given(tree);
  pcsim_tree_destroy(&tree);
  PCSIM_CHECK(!given, PCSIM_ERR_CASE, "%s trains a network: %s", path, why);
  return PCSIM_OK;
}

pcsim_status cli_refuse_network(cli *c, const char *path, const char *why) {
  return pcsim_status_agree(c->comm, refuse_network(path, why));
}

pcsim_status cli_session_read(cli *c, const char *path, const cli_list *sets, cli_session *session) {
  *session = (cli_session){.c = c, .step_factor = 1};
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
  status = s->c->rank == 0 ? pcsim_motion_apply(s->tree, raw) : PCSIM_OK;
  PCSIM_GOTO(pcsim_status_agree(s->c->comm, status), status, done);
  if (msh && pcsim_motion_given(s->tree))
    pcsim_log(PCSIM_LOG_WARNING, "%s holds the mesh before its boundaries are moved", msh);
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

static pcsim_status read_problem(cli_session *s) {
  if (pcsim_joined_given(s->tree))
    return pcsim_joined_problem_read(s->tree, s->mesh, &s->problem, &s->transport);
  return pcsim_transport_given(s->tree) ? pcsim_transport_problem_read(s->tree, s->mesh, &s->transport)
                                        : pcsim_flow_problem_read(s->tree, s->mesh, &s->problem);
}

pcsim_status cli_session_problem(cli_session *s) {
  pcsim_status status = read_problem(s);
  if (status == PCSIM_OK && (s->problem || s->transport))
    status = pcsim_monitors_read(
        s->tree, s->mesh, s->transport ? pcsim_transport_problem_get(s->transport) : NULL, &s->monitors);
  if (status == PCSIM_OK && s->monitors && s->time.given)
    status = pcsim_monitors_announce_statistics(s->monitors);
  if (status == PCSIM_OK && s->monitors) status = cli_sensitivities_read(s);
  if (status == PCSIM_OK && s->monitors) status = announce_study(s);
  if (status == PCSIM_OK && s->monitors) status = pcsim_references_read(s->tree, s->monitors, &s->references);
  /* Problems in the tree outrank the status that came with them: they hold every place. */
  pcsim_status problems = pcsim_tree_num_problems(s->tree) ? pcsim_tree_status(s->tree) : status;
  return pcsim_status_agree(s->c->comm, problems);
}

/* --------------------------------------------------------------- the end */

void cli_session_drop_mesh(cli_session *s) {
  cli_solver_destroy(s);
  cli_sensitivities_free(&s->sensitivities);
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
  cli_train_references_destroy(&s->train_references);
  cli_train_monitors_destroy(&s->train_monitors);
  pcsim_training_destroy(&s->training);
  pcsim_mesh_spec_destroy(&s->spec);
  pcsim_free(&s->output.times);
  pcsim_free(&s->text);
  pcsim_free(&s->full_text);
  pcsim_tree_destroy(&s->tree);
  *s = (cli_session){0};
}
