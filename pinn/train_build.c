/* SPDX-License-Identifier: BSD-2-Clause */
/* A training made from a case, and anew from another choice. */
#include "bends.h"
#include "train.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void train_release(pcsim_training *t) {
  if (t->optimizer) t->kind->destroy(&t->optimizer);
  groups_destroy(&t->groups);
  groups_parameters_clear(&t->parameters);
  ansatz_clear(&t->ansatz);
  for (int i = 0; t->in && i < train_num_regions(t->from); i++) ansatz_clear(&t->in[i]);
  pcsim_free(&t->in);
  pcsim_executor_destroy(&t->values);
  pcsim_executor_destroy(&t->gradients);
  for (int g = 0; g < t->num_groups; g++) pcsim_free(&t->group[g].held);
  pcsim_free(&t->group);
  pcsim_free(&t->theta);
  pcsim_free(&t->best);
  t->num_groups = 0;
}

static void case_destroy(train_case **from) {
  if (!*from) return;
  for (int i = 0; (*from)->in && i < train_num_regions(*from); i++) problem_clear(&(*from)->in[i]);
  pcsim_free(&(*from)->in);
  problem_clear(&(*from)->problem);
  regions_destroy(&(*from)->regions);
  data_destroy(&(*from)->data);
  domain_destroy(&(*from)->domain);
  pcsim_free(&(*from)->chosen);
  pcsim_free(from);
}

void pcsim_training_destroy(pcsim_training **training) {
  if (!*training) return;
  train_release(*training);
  train_forget(*training);
  case_destroy(&(*training)->from);
  pcsim_free(training);
}

/* A network for each region, and the whole of them. */
static pcsim_status make_regions(pcsim_training *t, ansatz_options *options) {
  const int num = train_num_regions(t->from);
  PCSIM_TRY(pcsim_alloc((size_t)num, sizeof *t->in, &t->in));
  const uint64_t stream = options->options.stream;
  options->shared = options->prefix;
  for (int i = 0; i < num; i++) {
    char prefix[32];
    snprintf(prefix, sizeof prefix, "%s%d_", options->shared, i);
    options->prefix = prefix;
    options->options.stream = stream + (uint64_t)i * 2 * PROBLEM_MAX;
    options->range = regions_get(t->from->regions)->range[i];
    PCSIM_TRY(ansatz_build(&t->from->in[i], t->from->domain, options, &t->in[i]));
    if (!t->in[i].fields) return PCSIM_OK;
  }
  return train_join_regions(t);
}

static void log_seams(const pcsim_training *t) {
  const problem *p = &t->from->problem;
  for (int u = 0; u < p->num_solved && t->ansatz.seam; u++) {
    const ansatz_seam *s = &t->ansatz.seam[u];
    if (s->images)
      pcsim_log(
          PCSIM_LOG_INFO,
          "start of %s: where the period of %s ends it jumps by %.3g and its slope by %.3g, which is carried "
          "by the heat equation with D = %.3g (`network: {seam: false}`: not)",
          p->unknown[u], p->domain->coordinate[0], s->jump[0], s->jump[1], s->diffusion);
  }
}

static void log_walls(const pcsim_training *t) {
  const problem *p = &t->from->problem;
  const ansatz_walls *w = &t->ansatz.walls;
  for (int side = 0; side < 2; side++)
    if (w->rate[side] != 0)
      pcsim_log(PCSIM_LOG_INFO,
                "start of %s: at %s = %.6g its rate by the equation differs by %.3g from that of the value "
                "given there, "
                "which is carried on with D = %.3g (`network: {wall-rates: false}`: not)",
                p->unknown[0], p->domain->coordinate[0], p->domain->range[0][side], w->rate[side],
                w->diffusion);
}

static pcsim_status make_ansatz(pcsim_training *t, bool quiet) {
  ansatz_options options = {
      .network = network_find(t->choice.network.kind),
      .options = t->choice.network,
      .polar = t->from->options.polar,
      .seam = t->from->options.seam,
      .wall_layers = t->from->options.wall_layers,
      .wall_rates = t->from->options.wall_rates,
      .prefix = t->part.prefix,
      .time = {t->part.time[0], t->part.time[1]},
      .start = t->part.start,
      .base = t->part.base,
  };
  char *text = NULL;
  for (int u = 0; u < PROBLEM_MAX; u++) options.magnitude[u] = t->part.magnitude;
  options.options.stream += (uint64_t)t->part.number << 32; /* each part has a start of its own */
  options.stream = t->choice.stream;
  if (train_num_regions(t->from)) PCSIM_TRY(make_regions(t, &options));
  else PCSIM_TRY(ansatz_build(&t->from->problem, t->from->domain, &options, &t->ansatz));
  for (int built = 1; built >= 0 && t->ansatz.fields && !quiet; built--) {
    PCSIM_TRY(ansatz_names(&t->from->problem, &t->ansatz, built, &text));
    pcsim_log(PCSIM_LOG_INFO, "%s: %s", built ? "built in" : "penalised", *text ? text : "nothing");
    pcsim_free(&text);
  }
  if (!quiet) log_seams(t), log_walls(t);
  if (!quiet && t->ansatz.fields) {
    PCSIM_TRY(ansatz_layer_names(&t->from->problem, &t->ansatz, &text));
    if (*text)
      pcsim_log(PCSIM_LOG_INFO, "layers where walls contradict the start, built in and inputs: %s", text);
    pcsim_free(&text);
  }
  return PCSIM_OK;
}

static pcsim_status make_state(pcsim_training *t, bool quiet) {
  const size_t n = (size_t)t->num_parameters;
  objective *o = groups_objective(t->groups);
  PCSIM_TRY(pcsim_alloc(n, sizeof *t->theta, &t->theta));
  PCSIM_TRY(pcsim_alloc(n, sizeof *t->best, &t->best));
  memcpy(t->theta, t->parameters.start, n * sizeof *t->theta);
  memcpy(t->best, t->theta, n * sizeof *t->best);
  t->level.known = false;
  if (t->num_points) PCSIM_TRY(train_take_points(t, t->num_points, t->points));
  else PCSIM_TRY(train_draw(t, NULL));
  if (t->part.slab && !t->part.stage) PCSIM_TRY(train_grow(t, choose_more_points(t->group[0].n)));
  PCSIM_TRY(train_balance(t, quiet));
  PCSIM_TRY(train_held_out(t, t->theta, &t->held_out));
  t->best_held_out = t->held_out;
  if (!t->part.stage) t->first_loss = t->held_out;
  PCSIM_TRY(o->loss(o, t->theta, &t->loss, NULL));
  t->best_loss = t->loss;
  if (t->part.base) { /* numbers of 0 give no correction: what is kept is never worse than before */
    memset(t->best, 0, n * sizeof *t->best);
    PCSIM_TRY(train_judge_best(t));
  }
  t->kind = optimizer_find(t->choice.optimizer);
  if (t->kind == t->from->options.optimizer)
    memcpy(t->option, t->from->options.optimizer_option, sizeof t->option);
  else optimizer_defaults(t->kind, t->option);
  return t->kind->create(t->num_parameters, t->option, t->from->options.threads, &t->optimizer);
}

static pcsim_status assemble(pcsim_training *t, bool quiet) {
  const size_t before = pcsim_tree_num_problems(t->from->tree);
  PCSIM_TRY(make_ansatz(t, quiet));
  if (!t->ansatz.fields) return PCSIM_OK;
  PCSIM_TRY(groups_parameters_of(t->ansatz.fields, t->part.prefix, &t->parameters));
  t->num_parameters = t->parameters.first[t->parameters.num];
  PCSIM_TRY(groups_create(&t->parameters, t->from->options.threads, &t->groups));
  PCSIM_TRY(train_make_groups(t));
  if (pcsim_tree_num_problems(t->from->tree) != before) return PCSIM_OK;
  return make_state(t, quiet);
}

/* Root mean squares of the interior's residuals without the network, and of what it adds to them. */
static pcsim_status probe(pcsim_training *t, double *without, double *added) {
  enum { POINTS = 1024 };
  const int rows = groups_rows(t->groups, 0);
  const size_t n = (size_t)POINTS * (size_t)rows;
  double *room = NULL;
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc(2 * n + (size_t)t->num_parameters, sizeof *room, &room), status, done);
  const uint64_t draw = sample_draw(SAMPLE_HELD_OUT, 1);
  double *zeros = room, *with = room + t->num_parameters, *base = with + n;
  PCSIM_GOTO(train_residuals(t, 0, t->theta, draw, POINTS, with), status, done);
  PCSIM_GOTO(train_residuals(t, 0, zeros, draw, POINTS, base), status,
             done); /* a last layer of zeros gives 0 */
  *without = *added = 0;
  for (size_t i = 0; i < n; i++)
    *without += base[i] * base[i], *added += (with[i] - base[i]) * (with[i] - base[i]);
  *without = sqrt(*without / POINTS), *added = sqrt(*added / POINTS);
done:
  pcsim_free(&room);
  return status;
}

/* A correction is as large as that which changes the residuals by as much as they are. */
static pcsim_status set_magnitude(pcsim_training *t) {
  const double small = 1e-3; /* so that squares of the correction do not count */
  double without = 0, added = 0;
  t->part.magnitude = small;
  pcsim_status status = assemble(t, true);
  if (status == PCSIM_OK && t->optimizer) status = probe(t, &without, &added);
  train_release(t);
  if (without > 0 && added > 0) t->part.magnitude = small * without / added;
  return status;
}

pcsim_status train_build(pcsim_training *t, bool quiet) {
  if (t->part.base) PCSIM_TRY(set_magnitude(t));
  return assemble(t, quiet);
}

/* Distinct names of groups: those of slabs that are done, then others of now. */
static int count_groups(const pcsim_training *t) {
  int n = t->num_measures;
  for (int g = 0; g < t->num_groups; g++) n += !train_find_measure(t, t->group[g].name);
  return n;
}

void train_fill_view(pcsim_training *t) {
  const problem *p = &t->from->problem;
  int64_t parameters = t->num_parameters;
  for (int i = 0; i < t->num_finished; i++) parameters += t->finished[i].num_parameters;
  for (int u = p->num_solved; u < p->num_unknowns; u++)
    t->from->number[u] = !p->coefficient[u - p->num_solved].num_of;
  const domain_view *d = t->from->problem.domain;
  t->view = (pcsim_training_view){.num_coordinates = d->num_coordinates,
                                  .num_space = d->num_space,
                                  .time = d->time,
                                  .coordinate = d->coordinate,
                                  .range = d->range,
                                  .num_unknowns = t->from->problem.num_unknowns,
                                  .unknown = (const char *const *)t->from->problem.unknown,
                                  .num_solved = t->from->problem.num_solved,
                                  .number = t->from->number,
                                  .gauge = t->from->gauge,
                                  .num_pieces = d->num_pieces,
                                  .piece = d->piece,
                                  .flow = problem_is_flow(p),
                                  .network = t->choice.network.kind,
                                  .optimizer = t->kind->name,
                                  .num_parameters = parameters,
                                  .slab = t->part.slab,
                                  .num_slabs = t->choice.slabs,
                                  .stage = t->part.stage,
                                  .seed = t->from->options.seed,
                                  .budget_seconds = t->from->options.seconds,
                                  .budget_steps = t->from->options.steps,
                                  .num_groups = count_groups(t)};
}

/* A stream function makes velocities of a plane flow: where the case asks for it, or leaves it open and it is
 * worth while. */
static pcsim_status choose_stream(pcsim_training *t) {
  const problem *p = &t->from->problem;
  if (!t->from->options.fixed_stream && !t->from->regions)
    PCSIM_TRY(ansatz_closed(p, t->from->domain, &t->choice.stream));
  const pcsim_node *network = pcsim_node_get(pcsim_tree_root(t->from->tree), "network");
  if (t->choice.stream && !(problem_is_flow(p) && p->domain->num_space == 2))
    pcsim_tree_problem(t->from->tree, pcsim_node_get(network, "divergence-free"),
                       "a stream function is there for `model: navier-stokes` in two coordinates of space");
  else if (t->choice.stream) pcsim_log(PCSIM_LOG_INFO, "velocities from a stream function");
  return PCSIM_OK;
}

/* What is measured is made of unknowns. */
static pcsim_status check_data(const train_case *from) {
  const data_view *d;
  for (int i = 0; (d = data_get(from->data, i)); i++)
    for (int k = 0; k < d->num_fits; k++) {
      problem_text text = {.node = d->fit_node[k]};
      pcsim_program *lowered = NULL;
      PCSIM_TRY(pcsim_strdup(d->fit[k], &text.text));
      const problem_text *list = &text;
      pcsim_status status = problem_lower(&from->problem, &list, 1, &lowered);
      pcsim_program_destroy(&lowered);
      text_clear(&text);
      PCSIM_TRY(status);
    }
  return PCSIM_OK;
}

/* Where the network sees singular corners by the logarithm of the distance, points are denser there. */
static pcsim_status find_corners(pcsim_training *t) {
  train_case *from = t->from;
  corners *c = &from->corners;
  if (!t->choice.stream || !from->options.polar || from->regions || !(from->options.corner_points > 0))
    return PCSIM_OK;
  PCSIM_TRY(ansatz_corners(&from->problem, from->domain, c));
  c->share = from->options.corner_points;
  corners_measure(from->domain, c);
  for (int i = 0; i < c->num; i++)
    pcsim_log(PCSIM_LOG_INFO, "corner (%g, %g), where the pressure is infinite: %.0f %% of the points",
              c->corner[i].at[0], c->corner[i].at[1], 100 * c->share / c->num);
  return PCSIM_OK;
}

static void name_columns(train_case *from) {
  const domain_view *d = from->problem.domain;
  for (int i = 0; i < d->num_space; i++) {
    snprintf(from->normal_name[i], sizeof from->normal_name[i], "n.%s", d->coordinate[i]);
    from->normal[i] = from->normal_name[i];
  }
  from->normal[d->num_space] = "root of weight";
  for (int i = 0; i < GROUPS_ROWS_MAX; i++) {
    snprintf(from->data_text[i], sizeof from->data_text[i], "data_%d", i);
    from->data_name[i] = from->data_text[i];
  }
}

/* What is built in, and fluxes, are as smooth as points need them. */
static pcsim_status check_smoothness(train_case *from) {
  const int num = train_num_regions(from), n = num ? num : 1;
  problem *all = num ? from->in : &from->problem;
  PCSIM_TRY(bends_release(from->domain, all, n, &from->problem, from->options.seam));
  for (int i = 0; i < n; i++) PCSIM_TRY(bends_fluxes(from->domain, &all[i]));
  return PCSIM_OK;
}

static pcsim_status create(pcsim_tree *tree, pcsim_training *t) {
  const size_t before = pcsim_tree_num_problems(tree);
  PCSIM_TRY(pcsim_alloc(1, sizeof *t->from, &t->from));
  t->from->tree = tree;
  train_read_options(tree, &t->from->options, &t->choice);
  PCSIM_TRY(domain_read(tree, &t->from->domain));
  if (!t->from->domain) return PCSIM_OK;
  PCSIM_TRY(regions_read(tree, t->from->domain, &t->from->regions));
  if (regions_node(tree) && !t->from->regions) return PCSIM_OK;
  PCSIM_TRY(problem_read(tree, domain_get(t->from->domain), t->from->regions, -1, &t->from->problem));
  PCSIM_TRY(choose_stream(t));
  PCSIM_TRY(find_corners(t));
  PCSIM_TRY(data_read(tree, t->from->domain, &t->from->data));
  PCSIM_TRY(check_data(t->from));
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  PCSIM_TRY(train_read_regions(t->from));
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  PCSIM_TRY(train_find_gauges(t->from));
  PCSIM_TRY(check_smoothness(t->from));
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  name_columns(t->from);
  t->from->asked = t->choice;
  train_first(t->from, 1, &t->part);
  train_check_parts(t);
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  PCSIM_TRY(train_choose(t, NULL)); /* without trials: enough to check the case */
  train_first(t->from, t->choice.slabs, &t->part);
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  PCSIM_TRY(train_build(t, true));
  if (t->optimizer) train_fill_view(t);
  return PCSIM_OK;
}

pcsim_status pcsim_training_read(pcsim_tree *tree, pcsim_training **training) {
  const size_t before = pcsim_tree_num_problems(tree);
  pcsim_training *t = NULL;
  *training = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *t, &t));
  pcsim_status status = create(tree, t);
  if (status != PCSIM_OK || pcsim_tree_num_problems(tree) != before) pcsim_training_destroy(&t);
  *training = t;
  return status;
}

const pcsim_training_view *pcsim_training_get(pcsim_training *t) {
  t->view.num_points = 0;
  for (int g = 0; g < t->num_groups; g++) t->view.num_points += t->group[g].n;
  return &t->view;
}
int64_t pcsim_training_at(const pcsim_training *t) { return t->step; }
