/* SPDX-License-Identifier: BSD-2-Clause */
/* Several networks one after the other: slabs of time, stages. */
#include "train.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------- which parts */

static void set_span(const train_case *from, int slabs, train_part *part) {
  const domain_view *d = from->problem.domain;
  if (d->time < 0) return;
  const double *range = d->range[d->time], length = range[1] - range[0];
  for (int side = 0; side < 2; side++) part->time[side] = range[0] + length * (part->slab + side) / slabs;
  if (part->slab + 1 == slabs) part->time[1] = range[1];
}

void train_first(const train_case *from, int slabs, train_part *part) {
  *part = (train_part){.prefix = "net_", .magnitude = 1};
  set_span(from, slabs, part);
}

const char *train_not_parted(const train_case *from) {
  const problem *p = &from->problem;
  const int t = p->domain->time;
  if (t < 0) return "the domain has no coordinate t";
  if (from->regions) return "regions have a network each";
  if (from->asked.stream) return "velocities are those of a stream function";
  if (p->num_unknowns > p->num_solved) return "coefficients are to be found";
  if (data_get(from->data, 0)) return "values are given at points";
  bool evolves = false;
  for (int u = 0; p->order && u < p->num_unknowns; u++) {
    evolves = evolves || p->order[u][t] > 0;
    if (p->order[u][t] > 2) return "the equations have a derivative by time of more than second order";
  }
  return evolves ? NULL : "the equations have no derivative by time";
}

void train_check_parts(pcsim_training *t) {
  const char *why = train_not_parted(t->from);
  choice *c = &t->from->asked;
  if (why && c->slabs > 1) {
    const pcsim_node *train = pcsim_node_get(pcsim_tree_root(t->from->tree), "train");
    pcsim_tree_problem(t->from->tree, pcsim_node_get(train, "slabs"), "`slabs` part the time, but %s", why);
  }
  if (why) c->slabs = 1;
  t->choice = *c;
}

bool train_more_slabs(const pcsim_training *t) { return t->part.slab + 1 < t->choice.slabs; }

/* Slabs that are not done. */
static int num_left(const pcsim_training *t) {
  return t->choice.slabs > t->part.slab ? t->choice.slabs - t->part.slab : 1;
}
int64_t train_last_step(const pcsim_training *t) {
  return t->part.slab_step + (t->from->options.steps - t->part.slab_step) / num_left(t);
}
double train_last_second(const pcsim_training *t) {
  return t->part.slab_seconds + (t->from->options.seconds - t->part.slab_seconds) / num_left(t);
}

double train_mean_held_out(const pcsim_training *t) {
  double sum = 0;
  int n = 0;
  for (int i = 0; i < t->num_finished; i++)
    if (t->finished[i].fields) sum += t->finished[i].held_out, n++;
  return (sum + t->best_held_out) / (n + 1);
}

/* ------------------------------------------------------------------ what is kept of one */

train_measure *train_find_measure(const pcsim_training *t, const char *name) {
  for (int i = 0; i < t->num_measures; i++)
    if (!strcmp(t->measure[i].name, name)) return &t->measure[i];
  return NULL;
}

/* Residuals of the part's best state at fresh points. */
static pcsim_status measure(pcsim_training *t) {
  const double length = t->part.time[1] - t->part.time[0];
  for (int g = 0; g < t->num_groups; g++) {
    double squares;
    PCSIM_TRY(train_fresh_squares(t, g, &squares));
    train_measure *m = train_find_measure(t, t->group[g].name);
    if (!m) {
      PCSIM_TRY(pcsim_realloc((size_t)t->num_measures + 1, sizeof *t->measure, &t->measure));
      m = &t->measure[t->num_measures++];
      *m = (train_measure){.squares = 0};
      snprintf(m->name, sizeof m->name, "%s", t->group[g].name);
    }
    m->squares += length * squares, m->length += length;
  }
  return PCSIM_OK;
}

/* The part's unknowns and, where their second derivatives by time are in the equations, "NAME_t". */
static pcsim_status hand_over(const pcsim_training *t, const pcsim_program *fields, pcsim_program **start) {
  const problem *q = &t->from->problem;
  const int n = q->domain->num_coordinates;
  int orders[DOMAIN_MAX] = {0};
  pcsim_program *with = NULL, *p = NULL;
  pcsim_status status;
  orders[q->domain->time] = 1;
  PCSIM_GOTO(pcsim_transform_partials(fields, "coordinates", orders, 1, &with), status, done);
  PCSIM_GOTO(pcsim_program_create(&p), status, done);
  const pcsim_space space = pcsim_build_space(p, "points");
  const pcsim_argument at = {"coordinates", pcsim_build_input(p, "coordinates", space, n)};
  for (int u = 0; u < q->num_unknowns; u++)
    for (int rate = 0; rate < q->order[u][q->domain->time]; rate++) {
      char from[160], to[160];
      const char *output = from;
      pcsim_value value;
      snprintf(from, sizeof from, "%s%s", q->unknown[u], rate ? "_p_0" : "");
      snprintf(to, sizeof to, "%s%s", q->unknown[u], rate ? "_t" : "");
      pcsim_build_part(p, with, space, &at, 1, &output, 1, &value);
      pcsim_build_output(p, to, value);
    }
  PCSIM_GOTO(pcsim_program_simplify(p), status, done);
  *start = p, p = NULL;
done:
  pcsim_program_destroy(&with);
  pcsim_program_destroy(&p);
  return status;
}

static pcsim_status keep(pcsim_training *t, train_kind next) {
  PCSIM_TRY(pcsim_realloc((size_t)t->num_finished + 1, sizeof *t->finished, &t->finished));
  train_finished *f = &t->finished[t->num_finished];
  pcsim_program *fields = NULL;
  *f = (train_finished){.next = next,
                        .num_parameters = t->num_parameters,
                        .held_out = t->best_held_out,
                        .step = t->step,
                        .seconds = t->seconds};
  memcpy(f->time, t->part.time, sizeof f->time);
  t->num_finished++;
  PCSIM_TRY(pcsim_alloc((size_t)f->num_parameters, sizeof *f->theta, &f->theta));
  memcpy(f->theta, t->best, (size_t)f->num_parameters * sizeof *f->theta);
  PCSIM_TRY(train_part_model(t, &fields));
  pcsim_program_destroy(&t->base);
  if (next == TRAIN_STAGE) {
    t->base = fields;
    return PCSIM_OK;
  }
  f->fields = fields;
  pcsim_program_destroy(&t->start);
  PCSIM_TRY(hand_over(t, fields, &t->start));
  return measure(t);
}

void train_forget(pcsim_training *t) {
  for (int i = 0; i < t->num_finished; i++) {
    train_finished *f = &t->finished[i];
    pcsim_free(&f->theta);
    pcsim_program_destroy(&f->fields);
    pcsim_executor_destroy(&f->values);
    pcsim_executor_destroy(&f->gradients);
  }
  pcsim_free(&t->finished), pcsim_free(&t->measure);
  pcsim_program_destroy(&t->start);
  pcsim_program_destroy(&t->base);
  pcsim_free(&t->points);
  t->num_finished = t->num_measures = t->num_points = 0;
}

/* -------------------------------------------------------------------------- the next one */

/* A stage has the points of the network that it corrects, those that were added where residuals were large
 * among them: fewer would be overfitted, and its best state judged by fewer that it does not see. */
static pcsim_status keep_points(pcsim_training *t) {
  const double *points;
  const int64_t n = groups_get_points(t->groups, 0, &points),
                numbers = n * t->from->problem.domain->num_coordinates;
  PCSIM_TRY(pcsim_realloc((size_t)numbers, sizeof *t->points, &t->points));
  memcpy(t->points, points, (size_t)numbers * sizeof *points);
  t->num_points = n;
  return PCSIM_OK;
}

pcsim_status train_next(pcsim_training *t, train_kind kind) {
  train_part *part = &t->part;
  const int slabs = t->choice.slabs;
  const network_options before = t->choice.network;
  PCSIM_TRY(keep(t, kind));
  t->num_points = 0;
  if (kind == TRAIN_STAGE) PCSIM_TRY(keep_points(t));
  train_release(t);
  part->number++;
  part->slab += kind == TRAIN_SLAB;
  part->stage = kind == TRAIN_SLAB ? 0 : part->stage + 1;
  part->start = t->start, part->base = t->base;
  part->step = t->step, part->seconds = t->seconds;
  if (kind == TRAIN_SLAB) part->slab_step = t->step, part->slab_seconds = t->seconds;
  part->magnitude = 1;
  set_span(t->from, slabs, part);
  snprintf(part->prefix, sizeof part->prefix, "net%d_", part->number + 1);
  t->stalls = 0;
  t->watched_step = 0;
  t->choice = t->from->asked;
  t->choice.slabs = slabs;
  if (kind == TRAIN_SLAB)
    pcsim_log(PCSIM_LOG_INFO, "slab %d of %d: t = %.6g to %.6g", part->slab + 1, slabs, part->time[0],
              part->time[1]);
  else pcsim_log(PCSIM_LOG_INFO, "stage %d: a network that corrects the one before", part->stage + 1);
  PCSIM_TRY(train_choose(t, &before));
  PCSIM_TRY(train_build(t, true));
  PCSIM_CHECK(t->optimizer, PCSIM_ERR_INTERNAL,
              "a part of a training that could be made once cannot be again");
  train_fill_view(t);
  return PCSIM_OK;
}

/* ------------------------------------------------------------------------------ as a whole */

/* Where `t < time`, value `before`, else `after`. */
static pcsim_value before_or_after(pcsim_program *p, pcsim_value t, double time, pcsim_value before,
                                   pcsim_value after) {
  const pcsim_value list[3] = {pcsim_build_binary(p, PCSIM_OP_LT, t, pcsim_build_constant(p, time)), before,
                               after};
  return pcsim_build_op(p, PCSIM_OP_WHERE, list, 3);
}

/* Unknown u of one slab, its mean taken away where it has no level. */
static pcsim_value of_slab(const pcsim_training *t, pcsim_program *p, pcsim_space space,
                           const pcsim_program *fields, const train_level *level, const pcsim_argument *at,
                           int u) {
  pcsim_value value;
  pcsim_build_part(p, fields, space, at, 1, &(const char *){t->from->problem.unknown[u]}, 1, &value);
  if (!t->from->gauge[u]) return value;
  return pcsim_build_binary(p, PCSIM_OP_SUB, value, pcsim_build_constant(p, level->mean[u]));
}

pcsim_status pcsim_training_model(pcsim_training *t, pcsim_program **model) {
  const problem *q = &t->from->problem;
  pcsim_program *last = NULL, *p = NULL;
  pcsim_status status;
  PCSIM_GOTO(train_find_levels(t), status, done);
  PCSIM_GOTO(train_part_model(t, &last), status, done);
  PCSIM_GOTO(pcsim_program_create(&p), status, done);
  const pcsim_space space = pcsim_build_space(p, "points");
  const pcsim_value x = pcsim_build_input(p, "coordinates", space, q->domain->num_coordinates);
  const pcsim_argument at = {"coordinates", x};
  for (int u = 0; u < q->num_unknowns; u++) {
    pcsim_value value = of_slab(t, p, space, last, &t->level, &at, u);
    for (int i = t->num_finished - 1; i >= 0; i--) {
      const train_finished *f = &t->finished[i];
      if (!f->fields) continue;
      const pcsim_value earlier = of_slab(t, p, space, f->fields, &f->level, &at, u);
      value = before_or_after(p, pcsim_build_slice(p, x, q->domain->time, 1), f->time[1], earlier, value);
    }
    pcsim_build_output(p, q->unknown[u], value);
  }
  PCSIM_GOTO(pcsim_program_simplify(p), status, done);
  *model = p, p = NULL;
done:
  pcsim_program_destroy(&last);
  pcsim_program_destroy(&p);
  return status;
}
