/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of residuals of a training. */
#include "train.h"

#include <stdio.h>
#include <string.h>

_Static_assert((int)DATA_FITS_MAX <= (int)GROUPS_ROWS_MAX, "a file of measured values is one group");

/* Quadrature by Sobol's sequence: a power of two. */
enum { INTEGRAL_POINTS = 4096 };

/* Residual of a condition that is not built in. */
static pcsim_status residual_text(const problem *p, const problem_condition *c, problem_text *text) {
  *text = (problem_text){.node = c->text.node};
  if (c->kind == CONDITION_RESIDUAL) return pcsim_strdup(c->text.text, &text->text);
  const char *u = p->unknown[c->unknown];
  if (c->kind == CONDITION_VALUE) return text_format(&text->text, "%s - (%s)", u, c->text.text);
  return text_format(&text->text, "dt(%s) - (%s)", u, c->text.text);
}

bool train_is_integral(const train_group *g) {
  return g->kind == TRAIN_CONDITION && g->condition->place == PLACE_INTEGRAL;
}

bool train_has_corners(const pcsim_training *t, const train_group *g) {
  return t->from->corners.num &&
         (g->kind == TRAIN_INTERIOR || (g->kind == TRAIN_CONDITION && g->condition->place == PLACE_PIECES));
}

/* `like` says what the group is; its name is `name`, with that of its region. */
static pcsim_status add_program(pcsim_training *t, const char *name, const train_group *like,
                                const pcsim_program *residual, int rows) {
  char whole[200];
  const bool named = like->region >= 0 && like->kind != TRAIN_INTERFACE;
  snprintf(whole, sizeof whole, "%s%s%s", name, named ? "." : "",
           named ? regions_get(t->from->regions)->name[like->region] : "");
  PCSIM_TRY(pcsim_realloc((size_t)t->num_groups + 1, sizeof *t->group, &t->group));
  PCSIM_TRY(
      groups_add(t->groups, whole, residual, rows, like->kind == TRAIN_MEASURED,
                 train_has_corners(t, like) ? t->from->normal[t->from->problem.domain->num_space] : NULL));
  t->group[t->num_groups] = *like;
  if (train_is_integral(like)) groups_mean(t->groups, t->num_groups);
  t->group[t->num_groups].name = groups_name(t->groups, t->num_groups);
  t->num_groups++;
  return PCSIM_OK;
}

/* Lower texts [n], put in the network of the region, add the group. */
pcsim_status train_add_group(pcsim_training *t, const char *name, const train_group *like,
                             const problem_text *const *texts, int n) {
  const problem *p = train_problem(t, like->region);
  pcsim_program *lowered = NULL, *composed = NULL;
  pcsim_status status;
  PCSIM_GOTO(problem_lower(p, texts, n, &lowered), status, done);
  if (!lowered) goto done;
  PCSIM_GOTO(pcsim_lower_compose(lowered, &p->names, train_ansatz(t, like->region)->fields, &composed),
             status, done);
  status = add_program(t, name, like, composed, n);
done:
  pcsim_program_destroy(&lowered);
  pcsim_program_destroy(&composed);
  return status;
}

/* Share of the place of a condition that belongs to a region. */
static double share_of(const pcsim_training *t, const problem_condition *c, int region) {
  const domain_view *d = t->from->problem.domain;
  double own = 0, all = 0;
  if (region < 0) return 1;
  if (c->place == PLACE_START) return regions_get(t->from->regions)->volume[region] / d->volume;
  for (int k = 0; k < d->num_pieces; k++) {
    if (!c->piece[k]) continue;
    all += d->area[k], own += d->area[k] * regions_share(t->from->regions, region, k);
  }
  return all > 0 ? own / all : 0;
}

/* All conditions of the entry of condition `first` that are not built in, where they hold in a region. */
static pcsim_status add_entry(pcsim_training *t, int first, int region) {
  const problem *p = train_problem(t, region);
  const problem_condition *c = &p->condition[first];
  const double share = share_of(t, c, region);
  problem_text text[GROUPS_ROWS_MAX];
  const problem_text *list[GROUPS_ROWS_MAX] = {NULL};
  int n = 0;
  pcsim_status status = PCSIM_OK;
  if (!(share > 0)) return PCSIM_OK;
  for (int i = first; i < p->num_conditions && status == PCSIM_OK; i++) {
    if (t->ansatz.built[i] || p->condition[i].entry != c->entry) continue;
    if (n == GROUPS_ROWS_MAX) {
      pcsim_tree_problem(t->from->tree, p->condition[i].text.node, "more than %d conditions on one place", n);
      break;
    }
    status = residual_text(p, &p->condition[i], &text[n]);
    if (status == PCSIM_OK) list[n] = &text[n], n++;
  }
  const int time = p->domain->time;
  const bool elsewhere = c->place == PLACE_FIXED && time >= 0 && c->fixed[time] &&
                         (c->at[time] < t->part.time[0] || c->at[time] > t->part.time[1]);
  int64_t points = t->from->options.on > 0 ? t->from->options.on : t->choice.points / 4 + 1;
  points = (int64_t)(share * (double)points) + 1;
  if (c->place == PLACE_FIXED) { /* a point alone is one point */
    bool all = true;
    for (int i = 0; i < p->domain->num_coordinates; i++) all = all && c->fixed[i];
    if (all) points = 1;
  }
  if (c->place == PLACE_INTEGRAL) points = INTEGRAL_POINTS;
  const train_group like = {.kind = TRAIN_CONDITION, .region = region, .condition = c, .n = points};
  if (status == PCSIM_OK && !elsewhere) status = train_add_group(t, c->name, &like, list, n);
  for (int i = 0; i < n; i++) text_clear(&text[i]);
  return status;
}

static pcsim_status add_data(pcsim_training *t, const data_view *d) {
  const train_group like = {.kind = TRAIN_MEASURED, .region = -1, .measured = d, .n = d->num_points};
  problem_text text[GROUPS_ROWS_MAX];
  const problem_text *list[GROUPS_ROWS_MAX] = {NULL};
  int n = 0;
  pcsim_status status = PCSIM_OK;
  for (; n < d->num_fits && status == PCSIM_OK; n++) {
    text[n] = (problem_text){.node = d->fit_node[n]};
    status = pcsim_strdup(d->fit[n], &text[n].text);
    list[n] = &text[n];
  }
  if (status == PCSIM_OK) status = train_add_group(t, d->name, &like, list, n);
  for (int i = 0; i < n; i++) text_clear(&text[i]);
  return status;
}

static pcsim_status add_interior(pcsim_training *t, int region) {
  const problem *p = train_problem(t, region);
  const problem_text *texts[PROBLEM_MAX];
  const train_group like = {.kind = TRAIN_INTERIOR, .region = region, .n = t->choice.points};
  int n = 0;
  for (int i = 0; i < p->num_equations; i++)
    if (!(t->choice.stream && i == p->domain->num_space)) /* continuity, which holds */
      texts[n++] = &p->equation[i];
  return train_add_group(t, "interior", &like, texts, n);
}

static pcsim_status add_interface(pcsim_training *t, int i) {
  const regions_view *r = regions_get(t->from->regions);
  const train_group like = {.kind = TRAIN_INTERFACE,
                            .region = r->interface[i].inner,
                            .interface = i,
                            .n = t->choice.points / 4 + 1};
  char name[160];
  pcsim_program *jump = NULL;
  int rows;
  snprintf(name, sizeof name, "interface.%.64s.%.64s", r->name[r->interface[i].inner],
           r->name[r->interface[i].outer]);
  PCSIM_TRY(train_jump(t, i, &jump, &rows));
  pcsim_status status = jump ? add_program(t, name, &like, jump, rows) : PCSIM_OK;
  pcsim_program_destroy(&jump);
  return status;
}

/* Interiors come first, so that what is drawn for them is known by their numbers. */
pcsim_status train_make_groups(pcsim_training *t) {
  const problem *p = &t->from->problem;
  const int num = train_num_regions(t->from);
  int done = -1;
  for (int r = num ? 0 : -1; r < num; r++) PCSIM_TRY(add_interior(t, r));
  for (int i = 0; i < p->num_conditions; i++) {
    if (t->ansatz.built[i] || p->condition[i].entry <= done) continue;
    done = p->condition[i].entry;
    const bool by_region =
        num && p->condition[i].place != PLACE_FIXED && p->condition[i].place != PLACE_INTEGRAL;
    for (int r = by_region ? 0 : -1; r < (by_region ? num : 0); r++) PCSIM_TRY(add_entry(t, i, r));
  }
  for (int i = 0; num && i < regions_get(t->from->regions)->num_interfaces; i++)
    PCSIM_TRY(add_interface(t, i));
  for (int i = 0; data_get(t->from->data, i); i++) PCSIM_TRY(add_data(t, data_get(t->from->data, i)));
  return train_add_priors(t);
}
