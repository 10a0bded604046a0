/* SPDX-License-Identifier: BSD-2-Clause */
#include "bends.h"

#include "ansatz.h"
#include "sample.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POINTS = 1024, LINES = 128 /* looked at in all */, OF_ONE = 4 /* for a switch */, HALVINGS = 52 };
static const double tolerance = 1e-6, beside = 1e-9; /* relative to the largest value, to a line's length */

/* What a program gives at points, column by column of its outputs. */
typedef struct {
  pcsim_executor *run;
  int columns;
  bool varies; /* with the coordinates */
  int num_outputs;
  const char *output[DOMAIN_MAX * 8];
  int rows[DOMAIN_MAX * 8];
} sampler;

static pcsim_status make_sampler(const pcsim_program *program, sampler *s) {
  const char *name;
  bool used;
  int rows;
  *s = (sampler){0};
  for (int i = 0; (name = pcsim_program_input(program, i, NULL, &used)); i++)
    s->varies = s->varies || (used && !strcmp(name, "coordinates"));
  for (int i = 0; i < DOMAIN_MAX * 8 && (name = pcsim_program_output(program, i, &rows)); i++) {
    s->output[s->num_outputs] = name, s->rows[s->num_outputs++] = rows;
    s->columns += rows;
  }
  return pcsim_executor_create(program, NULL, &s->run);
}

/* out [columns][n], an output after the other: [n][rows] each. */
static pcsim_status sample(sampler *s, int64_t n, const double *points, double *out) {
  PCSIM_TRY(pcsim_executor_points(s->run, "points", n));
  PCSIM_TRY(pcsim_executor_bind(s->run, "coordinates", points));
  for (int i = 0; i < s->num_outputs; i++) {
    PCSIM_TRY(pcsim_executor_bind_output(s->run, s->output[i], out));
    out += n * s->rows[i];
  }
  return pcsim_executor_run(s->run, false);
}

/* ----------------------------------------------------------------------- derivatives */

/* The output and its derivatives below order[i] by coordinate i. */
static pcsim_status add_derivatives(const pcsim_program *program, const char *output, const int *order, int n,
                                    pcsim_program **out) {
  int orders[DOMAIN_MAX * 8][DOMAIN_MAX] = {{0}}, num = 0, *flat = NULL;
  pcsim_program *alone = NULL;
  *out = NULL;
  for (int i = 0; i < n; i++)
    for (int k = 1; k < order[i] && num < DOMAIN_MAX * 7; k++) orders[num++][i] = k;
  PCSIM_TRY(pcsim_program_copy(program, &alone));
  pcsim_status status = pcsim_program_keep(alone, &output, 1);
  if (status == PCSIM_OK && num) status = pcsim_alloc((size_t)(num * n), sizeof *flat, &flat);
  for (int i = 0; status == PCSIM_OK && i < num * n; i++) flat[i] = orders[i / n][i % n];
  if (status == PCSIM_OK && num) status = pcsim_transform_partials(alone, "coordinates", flat, num, out);
  else if (status == PCSIM_OK) *out = alone, alone = NULL;
  pcsim_free(&flat);
  pcsim_program_destroy(&alone);
  return status;
}

/* ------------------------------------------------------------------------- one line */

typedef struct {
  const domain *d;
  int width;
  sampler switches, values;
  double *points;  /* [POINTS][width] */
  double *state;   /* switches at the points */
  double *largest; /* [columns of values] */
  int num_lines;
  int column[LINES];  /* which switch */
  double *low, *high; /* [LINES][width] between which it changes */
} finder;

static void take_lines(finder *f) {
  for (int j = 0; j < f->switches.columns; j++) {
    int taken = 0;
    for (int i = 0; i + 1 < POINTS && taken < OF_ONE && f->num_lines < LINES; i++) {
      const double *s = f->state + j; /* one output of many rows */
      if (s[i * f->switches.columns] == s[(i + 1) * f->switches.columns]) continue;
      const size_t at = (size_t)f->num_lines * (size_t)f->width, bytes = (size_t)f->width * sizeof *f->low;
      memcpy(f->low + at, f->points + i * f->width, bytes);
      memcpy(f->high + at, f->points + (i + 1) * f->width, bytes);
      f->column[f->num_lines++] = j;
      taken++;
    }
  }
}

/* Halves the lines until the switch changes between neighbouring numbers. */
static pcsim_status halve(finder *f, double *middle, double *state, double *at_low) {
  const int columns = f->switches.columns, n = f->num_lines;
  PCSIM_TRY(sample(&f->switches, n, f->low, at_low));
  for (int step = 0; step < HALVINGS; step++) {
    for (int i = 0; i < n * f->width; i++) middle[i] = 0.5 * (f->low[i] + f->high[i]);
    PCSIM_TRY(sample(&f->switches, n, middle, state));
    for (int i = 0; i < n; i++) {
      const int at = i * columns + f->column[i];
      double *end = state[at] == at_low[at] ? f->low : f->high;
      memcpy(end + i * f->width, middle + i * f->width, (size_t)f->width * sizeof *end);
    }
  }
  return PCSIM_OK;
}

/* Do values differ that should not? Of an output of one row: [columns][n]. */
static bool differ(const finder *f, int n, int i, const double *one, const double *other) {
  for (int c = 0; c < f->values.columns; c++) {
    const double a = one[c * n + i], b = other[c * n + i];
    if (isfinite(a) && isfinite(b) && fabs(a - b) > tolerance * f->largest[c]) return true;
  }
  return false;
}

/* Compares both sides of every place of change. */
static pcsim_status compare_sides(finder *f, bool *found, double *place) {
  const int n = f->num_lines, width = f->width;
  const size_t sides = (size_t)n * (size_t)width, values = (size_t)n * (size_t)f->values.columns,
               states = (size_t)n * (size_t)f->switches.columns;
  double *room = NULL;
  PCSIM_TRY(pcsim_alloc(4 * sides + 2 * values + 2 * states, sizeof *room, &room));
  double *step = room, *middle = step + sides, *one = middle + sides, *other = one + sides,
         *of_one = other + sides, *of_other = of_one + values, *state = of_other + values,
         *at_low = state + states;
  pcsim_status status = PCSIM_OK;
  for (size_t i = 0; i < sides; i++) step[i] = beside * (f->high[i] - f->low[i]);
  PCSIM_GOTO(halve(f, middle, state, at_low), status, done);
  for (size_t i = 0; i < sides; i++) one[i] = f->low[i] - step[i], other[i] = f->high[i] + step[i];
  PCSIM_GOTO(sample(&f->values, n, one, of_one), status, done);
  PCSIM_GOTO(sample(&f->values, n, other, of_other), status, done);
  for (int i = 0; i < n && !*found; i++) {
    const double *x = f->low + i * width;
    *found = domain_inside(f->d, x) && differ(f, n, i, of_one, of_other);
    if (*found) memcpy(place, x, (size_t)width * sizeof *place);
  }
done:
  pcsim_free(&room);
  return status;
}

/* Compares both ends of a period. */
static pcsim_status compare_ends(finder *f, const double *range, int coordinate, bool *found, double *place) {
  const int width = f->width;
  double *room = NULL;
  const size_t values = (size_t)POINTS * (size_t)f->values.columns;
  PCSIM_TRY(pcsim_alloc(2 * values + (size_t)(POINTS * width), sizeof *room, &room));
  double *end[2] = {room, room + values}, *points = room + 2 * values;
  pcsim_status status = PCSIM_OK;
  memcpy(points, f->points, (size_t)(POINTS * width) * sizeof *points);
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < POINTS; i++) points[i * width + coordinate] = range[k];
    PCSIM_GOTO(sample(&f->values, POINTS, points, end[k]), status, done);
  }
  for (int i = 0; i < POINTS && !*found; i++) {
    *found = differ(f, POINTS, i, end[0], end[1]);
    if (*found) memcpy(place, points + i * width, (size_t)width * sizeof *place);
  }
done:
  pcsim_free(&room);
  return status;
}

/* ------------------------------------------------------------------------- the whole */

static pcsim_status prepare(finder *f) {
  const size_t values = (size_t)(POINTS * f->values.columns);
  double *at = NULL;
  PCSIM_TRY(pcsim_alloc((size_t)(POINTS * f->width), sizeof *f->points, &f->points));
  PCSIM_TRY(pcsim_alloc((size_t)f->values.columns, sizeof *f->largest, &f->largest));
  PCSIM_TRY(domain_draw_inside(f->d, 0, sample_draw(SAMPLE_FRESH, 1), POINTS, f->points));
  PCSIM_TRY(pcsim_alloc(values, sizeof *at, &at));
  const pcsim_status status = sample(&f->values, POINTS, f->points, at);
  for (size_t i = 0; i < values; i++)
    if (isfinite(at[i])) f->largest[i / POINTS] = fmax(f->largest[i / POINTS], fabs(at[i]));
  pcsim_free(&at);
  return status;
}

static pcsim_status between_points(finder *f, const pcsim_program *switches, bool *found, double *place) {
  PCSIM_TRY(make_sampler(switches, &f->switches));
  if (!f->switches.varies) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)(POINTS * f->switches.columns), sizeof *f->state, &f->state));
  PCSIM_TRY(pcsim_alloc((size_t)(LINES * f->width), sizeof *f->low, &f->low));
  PCSIM_TRY(pcsim_alloc((size_t)(LINES * f->width), sizeof *f->high, &f->high));
  PCSIM_TRY(sample(&f->switches, POINTS, f->points, f->state));
  take_lines(f);
  return f->num_lines ? compare_sides(f, found, place) : PCSIM_OK;
}

static bool any(const int *order, int n) {
  for (int i = 0; i < n; i++)
    if (order[i] > 0) return true;
  return false;
}

pcsim_status bends_find(const problem *p, const domain *d, const pcsim_program *program, const char *output,
                        const int *order, bool ends, bool *found, double *place) {
  const domain_view *v = p->domain;
  finder f = {.d = d, .width = v->num_coordinates};
  pcsim_program *derived = NULL, *switches = NULL;
  pcsim_status status = PCSIM_OK;
  *found = false;
  if (!any(order, v->num_coordinates)) return PCSIM_OK;
  PCSIM_GOTO(pcsim_program_switches(program, output, &switches), status, done);
  if (!switches && !(ends && p->num_periods)) goto done;
  PCSIM_GOTO(add_derivatives(program, output, order, v->num_coordinates, &derived), status, done);
  PCSIM_GOTO(make_sampler(derived, &f.values), status, done);
  if (!f.values.varies) goto done;
  PCSIM_GOTO(prepare(&f), status, done);
  if (switches) PCSIM_GOTO(between_points(&f, switches, found, place), status, done);
  for (int i = 0; ends && i < p->num_periods && !*found; i++) {
    const int k = p->period[i].coordinate;
    if (order[k] > 0) PCSIM_GOTO(compare_ends(&f, v->range[k], k, found, place), status, done);
  }
done:
  pcsim_executor_destroy(&f.switches.run);
  pcsim_executor_destroy(&f.values.run);
  pcsim_free(&f.points), pcsim_free(&f.state), pcsim_free(&f.largest), pcsim_free(&f.low),
      pcsim_free(&f.high);
  pcsim_program_destroy(&derived);
  pcsim_program_destroy(&switches);
  return status;
}

/* -------------------------------------------------------------------- what follows from it */

static void place_text(const domain_view *v, const double *place, char *text, size_t size) {
  size_t used = 0;
  for (int i = 0; i < v->num_coordinates && used < size; i++)
    used +=
        (size_t)snprintf(text + used, size - used, "%s%s = %.4g", i ? ", " : "", v->coordinate[i], place[i]);
}

static bool is_held(const problem_condition *c) {
  return c->exact && (c->place == PLACE_PIECES || c->place == PLACE_START) && c->kind != CONDITION_RESIDUAL;
}

static pcsim_status release(const domain *d, const problem *p, int condition, bool seams, bool *found) {
  const problem_condition *c = &p->condition[condition];
  const problem_text *text = &c->text;
  double place[DOMAIN_MAX];
  char where[400];
  pcsim_program *value = NULL;
  bool carried = false;
  *found = false;
  if (!is_held(c) || !p->order) return PCSIM_OK;
  if (seams && c->place == PLACE_START && c->kind == CONDITION_VALUE)
    PCSIM_TRY(ansatz_carries_seam(p, c->unknown, &carried));
  PCSIM_TRY(problem_lower(p, &text, 1, &value));
  if (!value) return PCSIM_OK;
  const pcsim_status status = bends_find(p, d, value, "0", p->order[c->unknown], !carried, found, place);
  pcsim_program_destroy(&value);
  if (status != PCSIM_OK || !*found) return status;
  place_text(p->domain, place, where, sizeof where);
  pcsim_log(PCSIM_LOG_INFO,
            "`%s` of %s is penalised: what is given is not as smooth as the equations ask near %s", c->name,
            p->unknown[c->unknown], where);
  return PCSIM_OK;
}

pcsim_status bends_release(const domain *d, problem *all, int n, problem *whole, bool seams) {
  for (int i = 0; i < whole->num_conditions; i++) {
    bool found = false;
    for (int k = 0; k < n && !found; k++) PCSIM_TRY(release(d, &all[k], i, seams, &found));
    for (int k = 0; k < n && found; k++) all[k].condition[i].exact = false;
    if (found) whole->condition[i].exact = false;
  }
  return PCSIM_OK;
}

/* ------------------------------------------------------------------------------ fluxes */

/* The flux along a coordinate as a function of place: unknowns and their derivatives are 1. */
static pcsim_status flux_along(const problem *p, const pcsim_program *lowered, int along,
                               pcsim_program **out) {
  enum { INPUTS = 512 };
  const char *const output = "0", *name;
  pcsim_argument argument[INPUTS];
  pcsim_value value;
  char normal[80];
  int num = 0, rows;
  pcsim_program *flux = NULL;
  PCSIM_TRY(pcsim_program_create(&flux));
  const pcsim_space space = pcsim_build_space(flux, "points");
  snprintf(normal, sizeof normal, "n.%s", p->domain->coordinate[along]);
  for (int i = 0; num < INPUTS && (name = pcsim_program_input(lowered, i, &rows, NULL)); i++) {
    const bool is_place = !strcmp(name, "coordinates");
    const double number = strncmp(name, "n.", 2) != 0 || !strcmp(name, normal);
    argument[num++] = (pcsim_argument){name, is_place ? pcsim_build_input(flux, name, space, rows)
                                                      : pcsim_build_constant(flux, number)};
  }
  pcsim_build_part(flux, lowered, space, argument, num, &output, 1, &value);
  pcsim_build_output(flux, output, value);
  const pcsim_status status = pcsim_program_status(flux);
  if (status == PCSIM_OK) *out = flux;
  else pcsim_program_destroy(&flux);
  return status;
}

static pcsim_status check_flux(const domain *d, const problem *p, int equation,
                               const pcsim_program *lowered) {
  const domain_view *v = p->domain;
  double place[DOMAIN_MAX];
  char where[400];
  bool found = false;
  for (int i = 0; i < v->num_space && !found; i++) {
    int order[DOMAIN_MAX] = {0};
    pcsim_program *flux = NULL;
    order[i] = 1;
    PCSIM_TRY(flux_along(p, lowered, i, &flux));
    const pcsim_status status = bends_find(p, d, flux, "0", order, true, &found, place);
    pcsim_program_destroy(&flux);
    PCSIM_TRY(status);
  }
  if (!found) return PCSIM_OK;
  place_text(v, place, where, sizeof where);
  pcsim_tree_problem(
      p->tree, p->equation[equation].node,
      "a coefficient inside `div` or `lap` jumps near %s, where points do not see the flux; give "
      "`domain: {regions: {NAME: CONDITION}}` and the coefficient by region",
      where);
  return PCSIM_OK;
}

pcsim_status bends_fluxes(const domain *d, const problem *p) {
  for (int e = 0; e < p->num_equations; e++) {
    char *text = NULL;
    pcsim_program *lowered = NULL;
    PCSIM_TRY(text_flux(p->equation[e].text, p->domain->coordinate, p->domain->num_space, &text));
    if (!text) continue;
    const problem_text flux = {.text = text, .node = p->equation[e].node}, *list = &flux;
    pcsim_status status = problem_lower(p, &list, 1, &lowered);
    if (status == PCSIM_OK && lowered) status = check_flux(d, p, e, lowered);
    pcsim_program_destroy(&lowered);
    pcsim_free(&text);
    PCSIM_TRY(status);
  }
  return PCSIM_OK;
}
