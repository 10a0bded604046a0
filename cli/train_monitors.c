/* SPDX-License-Identifier: BSD-2-Clause */
/** @file train_monitors.c  `monitors:` of a training: forces, flow rates, integrals and means of the trained
 * unknowns, at given times and inputs. */
#include "train.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUM(a) (sizeof(a) / sizeof *(a))
/* Points on each piece of the boundary and inside, at the end and on the way. */
enum { MOST = 64, TEXTS = 6, BOUNDARY_POINTS = 4096, INNER_POINTS = 65536, LOOK_POINTS = 512 };
enum { TEXT = 2000 };

typedef struct monitor monitor;
typedef struct {
  pcsim_training_kind about;
  bool flow; /* of a flow alone */
  /* Integrands, and how many; false after a problem. */
  int (*write)(pcsim_tree *tree, const pcsim_training_view *v, monitor *m);
  /* Quantities of one place from its integrals [num_texts]. */
  int num_names;
  const char *name[4];
  void (*finish)(const monitor *m, const double *integrals, double *quantities);
} kind;

struct monitor {
  const kind *kind;
  const char *name; /* borrowed from the tree */
  pcsim_node *node;
  bool *on; /* [num_pieces]; NULL: inside */
  int num_at;
  double *at; /* [num_at][num_coordinates] */
  char text[TEXTS][TEXT];
  double drag[3], lift[3], scale;
  pcsim_training_integral *integral;
  int num_texts, num_quantities, first_quantity;
};

struct cli_train_monitors {
  int num, num_quantities;
  monitor *monitor;         /* [num] */
  pcsim_quantity *quantity; /* [num_quantities] */
};

/* ------------------------------------------------------------------------------- kinds */

#define AT_KEY                                                                                               \
  {                                                                                                          \
    "at", PCSIM_KEY_MAPPING, "", NULL, "",                                                                   \
        "time and inputs, a number or several: {t: 0.5, Re: [10, 20, 40]}; all that the network has", 0, 0   \
  }

static const pcsim_key forces_keys[] = {
    {"kind", PCSIM_KEY_TEXT, "", NULL, "", "forces", 0, 0},
    {"on", PCSIM_KEY_NAMES, NULL, NULL, "", "boundaries, names or patterns", 0, 0},
    AT_KEY,
    {"density", PCSIM_KEY_NUMBER, "1", NULL, "kg/m^3", "reference density of the coefficients", 1e-300,
     1e300},
    {"velocity", PCSIM_KEY_NUMBER, NULL, NULL, "m/s", "reference speed of the coefficients", 1e-300, 1e300},
    {"area", PCSIM_KEY_NUMBER, NULL, NULL, "m^2", "reference area of the coefficients (in 2D a length)",
     1e-300, 1e300},
    {"drag", PCSIM_KEY_NUMBERS, "", NULL, "", "direction of cd; along x if not given", 0, 0},
    {"lift", PCSIM_KEY_NUMBERS, "", NULL, "", "direction of cl; along y if not given", 0, 0},
};
static const pcsim_key flow_rate_keys[] = {
    {"kind", PCSIM_KEY_TEXT, "", NULL, "", "flow-rate", 0, 0},
    {"on", PCSIM_KEY_NAMES, NULL, NULL, "", "boundaries, names or patterns", 0, 0},
    AT_KEY,
};
static const pcsim_key integral_keys[] = {
    {"kind", PCSIM_KEY_TEXT, "", NULL, "", "integral", 0, 0},
    {"of", PCSIM_KEY_EXPRESSION, NULL, NULL, "",
     "unknowns, their first derivatives, coordinates; on boundaries also nx, dn(u)", 0, 0},
    {"on", PCSIM_KEY_NAMES, "", NULL, "", "boundaries, names or patterns; none: the domain", 0, 0},
    AT_KEY,
};

static const char *const velocity[] = {"u", "v", "w"};

static void read_direction(pcsim_tree *tree, const pcsim_training_view *v, const monitor *m, const char *key,
                           int axis, double direction[3]) {
  int n = 0;
  double length = 0;
  if (!pcsim_node_get(m->node, key) || pcsim_node_size(pcsim_node_get(m->node, key)) == 0) {
    direction[axis] = 1;
    return;
  }
  if (!pcsim_node_numbers(tree, m->node, key, direction, 3, &n)) return;
  for (int i = 0; i < n; i++) length += direction[i] * direction[i];
  if (n != v->num_space || !(length > 0))
    pcsim_tree_problem(tree, pcsim_node_get(m->node, key), "`%s` needs %d components, not all zero", key,
                       v->num_space);
  for (int i = 0; i < n; i++) direction[i] /= sqrt(length);
}

/* Force of the fluid on the boundary: pressure along the normal out of the domain, and friction. */
static int write_forces(pcsim_tree *tree, const pcsim_training_view *v, monitor *m) {
  static const char *const axis[] = {"nx", "ny", "nz"};
  const pcsim_node *viscosity = pcsim_node_get(pcsim_node_get(pcsim_tree_root(tree), "physics"), "viscosity");
  double density = 1, speed = 1, area = 1;
  pcsim_node_number(tree, m->node, "density", &density);
  pcsim_node_number(tree, m->node, "velocity", &speed);
  pcsim_node_number(tree, m->node, "area", &area);
  m->scale = 0.5 * density * speed * speed * area;
  read_direction(tree, v, m, "drag", 0, m->drag);
  read_direction(tree, v, m, "lift", 1, m->lift);
  for (int i = 0; i < v->num_space; i++) {
    int used = snprintf(m->text[i], TEXT, "p*%s - (%s)*(", axis[i], pcsim_node_text(viscosity));
    for (int k = 0; k < v->num_space && used < TEXT; k++)
      used += snprintf(m->text[i] + used, (size_t)(TEXT - used), "%s(%s_%s + %s_%s)*%s", k ? " + " : "",
                       velocity[i], v->coordinate[k], velocity[k], v->coordinate[i], axis[k]);
    if (used < TEXT) used += snprintf(m->text[i] + used, (size_t)(TEXT - used), ")");
    if (used >= TEXT) pcsim_tree_problem(tree, viscosity, "this viscosity is too long for forces");
  }
  return v->num_space;
}

static void finish_forces(const monitor *m, const double *force, double *quantities) {
  quantities[0] = quantities[1] = 0;
  for (int i = 0; i < m->num_texts; i++) {
    quantities[0] += m->drag[i] * force[i] / m->scale;
    quantities[1] += m->lift[i] * force[i] / m->scale;
  }
  quantities[2] = force[0], quantities[3] = force[1];
}

static int write_flow_rate(pcsim_tree *tree, const pcsim_training_view *v, monitor *m) {
  (void)tree;
  snprintf(m->text[0], TEXT, "u*nx + v*ny%s", v->num_space == 3 ? " + w*nz" : "");
  return 1;
}

static int write_integral(pcsim_tree *tree, const pcsim_training_view *v, monitor *m) {
  const pcsim_node *of = pcsim_node_get(m->node, "of");
  (void)v;
  if (snprintf(m->text[0], TEXT, "%s", pcsim_node_text(of)) >= TEXT)
    pcsim_tree_problem(tree, of, "this expression is too long");
  return 1;
}

static void finish_integral(const monitor *m, const double *integrals, double *quantities) {
  (void)m;
  quantities[0] = integrals[0];
}

static const kind kinds[] = {
    {{"forces", "force of the fluid on boundaries, with its coefficients", forces_keys, NUM(forces_keys)},
     true,
     write_forces,
     4,
     {".cd", ".cl", ".force.x", ".force.y"},
     finish_forces},
    {{"flow-rate", "volume flow out of the domain through boundaries", flow_rate_keys, NUM(flow_rate_keys)},
     true,
     write_flow_rate,
     1,
     {""},
     finish_integral},
    {{"integral", "integral of an expression over boundaries or the domain", integral_keys,
      NUM(integral_keys)},
     false,
     write_integral,
     1,
     {""},
     finish_integral},
};

bool cli_train_monitor_kind(size_t i, pcsim_training_kind *about) {
  if (i < NUM(kinds)) *about = kinds[i].about;
  return i < NUM(kinds);
}

/* ----------------------------------------------------------------------------- reading */

static const kind *find_kind(pcsim_tree *tree, const pcsim_node *node, const char *name) {
  const pcsim_node *named = pcsim_node_get(node, "kind");
  const char *wanted = named ? pcsim_node_text(named) : name, *names[NUM(kinds)];
  for (size_t i = 0; i < NUM(kinds); i++) {
    names[i] = kinds[i].about.name;
    if (!strcmp(wanted, names[i])) return &kinds[i];
  }
  const char *near = pcsim_nearest(wanted, names, NUM(kinds));
  pcsim_tree_problem(
      tree, named ? named : node,
      "a training has no monitor of kind `%.64s`%s%s%s; expected forces, flow-rate or integral", wanted,
      near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
  return NULL;
}

static pcsim_status read_on(pcsim_tree *tree, const pcsim_training_view *v, monitor *m) {
  const pcsim_node *on = pcsim_node_get(m->node, "on");
  const bool several = on && pcsim_node_get_kind(on) == PCSIM_NODE_SEQUENCE;
  if (!on || (!several && !*pcsim_node_text(on))) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)v->num_pieces, sizeof *m->on, &m->on));
  for (int64_t i = 0; i < (several ? pcsim_node_size(on) : 1); i++) {
    const pcsim_node *at = several ? pcsim_node_child(on, i) : on;
    bool found = false;
    for (int k = 0; k < v->num_pieces; k++)
      if (fnmatch(pcsim_node_text(at), v->piece[k], 0) == 0) m->on[k] = found = true;
    const char *near = pcsim_nearest(pcsim_node_text(at), v->piece, (size_t)v->num_pieces);
    if (!found)
      pcsim_tree_problem(tree, at, "no boundary `%.64s`%s%s%s", pcsim_node_text(at),
                         near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
  }
  return PCSIM_OK;
}

/* Values of coordinate c at all places: one number for all of them, or one each. */
static void read_coordinate(pcsim_tree *tree, const pcsim_training_view *v, monitor *m, const pcsim_node *at,
                            int c) {
  double numbers[MOST];
  int n = 1;
  const pcsim_node *node = pcsim_node_get(at, v->coordinate[c]);
  if (!node) {
    pcsim_tree_problem(tree, m->node, "`%s` needs `at: {%s: ..}`, which the network takes", m->name,
                       v->coordinate[c]);
    return;
  }
  const bool read = pcsim_node_get_kind(node) == PCSIM_NODE_SEQUENCE
                        ? pcsim_node_numbers(tree, at, v->coordinate[c], numbers, MOST, &n)
                        : pcsim_node_number(tree, at, v->coordinate[c], numbers);
  if (!read) return;
  if (n != 1 && n != m->num_at) {
    pcsim_tree_problem(tree, node, "%d values of `%s` for %d places", n, v->coordinate[c], m->num_at);
    return;
  }
  for (int i = 0; i < m->num_at; i++) {
    const double x = numbers[n == 1 ? 0 : i];
    m->at[i * v->num_coordinates + c] = x;
    if (x >= v->range[c][0] && x <= v->range[c][1]) continue;
    pcsim_tree_problem(tree, node, "`%s` is %g, outside of what the network is trained for, %g to %g",
                       v->coordinate[c], x, v->range[c][0], v->range[c][1]);
    return;
  }
}

static pcsim_status read_at(pcsim_tree *tree, const pcsim_training_view *v, monitor *m) {
  const pcsim_node *at = pcsim_node_get(m->node, "at");
  m->num_at = 1;
  for (int64_t i = 0; i < pcsim_node_size(at); i++) {
    const pcsim_node *value = pcsim_node_child(at, i);
    const int64_t n = pcsim_node_get_kind(value) == PCSIM_NODE_SEQUENCE ? pcsim_node_size(value) : 1;
    bool known = false;
    for (int c = v->num_space; c < v->num_coordinates; c++)
      known = known || !strcmp(v->coordinate[c], pcsim_node_key(at, i));
    if (!known)
      pcsim_tree_problem(tree, pcsim_node_key_node(at, i), "`%.64s` is neither the time nor an input",
                         pcsim_node_key(at, i));
    if (n < 1 || n > MOST) pcsim_tree_problem(tree, value, "expected 1 to %d values", MOST);
    else if (n > m->num_at) m->num_at = (int)n;
  }
  PCSIM_TRY(pcsim_alloc((size_t)(m->num_at * v->num_coordinates), sizeof *m->at, &m->at));
  for (int c = v->num_space; c < v->num_coordinates; c++) read_coordinate(tree, v, m, at, c);
  return PCSIM_OK;
}

static pcsim_status name_quantities(const pcsim_training_view *v, cli_train_monitors *all, monitor *m) {
  const int names = m->kind->num_names;
  m->num_quantities = names * m->num_at, m->first_quantity = all->num_quantities;
  all->num_quantities += m->num_quantities;
  PCSIM_TRY(pcsim_realloc((size_t)all->num_quantities, sizeof *all->quantity, &all->quantity));
  for (int i = 0; i < m->num_quantities; i++) {
    pcsim_quantity *q = &all->quantity[m->first_quantity + i];
    char place[64] = "";
    size_t used = 0;
    for (int c = v->num_space; m->num_at > 1 && c < v->num_coordinates && used < sizeof place; c++)
      used += (size_t)snprintf(place + used, sizeof place - used, "%s%s=%g", used ? ", " : "(",
                               v->coordinate[c], m->at[i / names * v->num_coordinates + c]);
    snprintf(q->name, sizeof q->name, "%.24s%s%.60s%s", m->name, m->kind->name[i % names], place,
             used ? ")" : "");
    snprintf(q->unit, sizeof q->unit, "1");
    q->value = NAN;
  }
  return PCSIM_OK;
}

/* Names are cut, numbers in them are rounded: what is left must tell quantities apart. */
static void check_names(pcsim_tree *tree, const cli_train_monitors *all, const monitor *m) {
  for (int i = m->first_quantity; i < all->num_quantities; i++)
    for (int k = 0; k < i; k++) {
      if (strcmp(all->quantity[i].name, all->quantity[k].name) != 0) continue;
      pcsim_tree_problem(tree, m->node,
                         "two quantities are called `%s`: give monitors names that differ in their first 24 "
                         "letters, and places that differ in six digits",
                         all->quantity[i].name);
      return;
    }
}

static pcsim_status read_monitor(pcsim_tree *tree, pcsim_training *t, cli_train_monitors *all, monitor *m) {
  const pcsim_training_view *v = pcsim_training_get(t);
  const size_t before = pcsim_tree_num_problems(tree);
  char where[96];
  snprintf(where, sizeof where, "monitors.%.64s", m->name);
  if (!(m->kind = find_kind(tree, m->node, m->name))) return PCSIM_OK;
  pcsim_node_check(tree, m->node, m->kind->about.keys, m->kind->about.num_keys, where);
  if (m->kind->flow && !pcsim_node_get(pcsim_node_get(pcsim_tree_root(tree), "physics"), "model"))
    pcsim_tree_problem(tree, m->node, "`%s` is of a flow (physics: {model: navier-stokes})",
                       m->kind->about.name);
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  PCSIM_TRY(read_on(tree, v, m));
  PCSIM_TRY(read_at(tree, v, m));
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  m->num_texts = m->kind->write(tree, v, m);
  const char *list[TEXTS];
  for (int i = 0; i < m->num_texts; i++) list[i] = m->text[i];
  if (pcsim_tree_num_problems(tree) != before) return PCSIM_OK;
  PCSIM_TRY(pcsim_training_integral_create(t,
                                           &(pcsim_training_integrand){.node = m->node,
                                                                       .text = list,
                                                                       .num_texts = m->num_texts,
                                                                       .on = m->on,
                                                                       .at = m->at,
                                                                       .num_at = m->num_at},
                                           &m->integral));
  if (!m->integral) return PCSIM_OK;
  PCSIM_TRY(name_quantities(v, all, m));
  check_names(tree, all, m);
  return PCSIM_OK;
}

void cli_train_monitors_destroy(cli_train_monitors **monitors) {
  cli_train_monitors *all = *monitors;
  if (!all) return;
  for (int i = 0; i < all->num; i++) {
    monitor *m = &all->monitor[i];
    pcsim_training_integral_destroy(&m->integral);
    pcsim_free(&m->on), pcsim_free(&m->at);
  }
  pcsim_free(&all->monitor), pcsim_free(&all->quantity);
  pcsim_free(monitors);
}

pcsim_status cli_train_monitors_read(pcsim_tree *tree, pcsim_training *training,
                                     cli_train_monitors **monitors) {
  const pcsim_node *node = pcsim_node_get(pcsim_tree_root(tree), "monitors");
  cli_train_monitors *all = NULL;
  *monitors = NULL;
  if (!node || !pcsim_node_size(node)) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc(1, sizeof *all, &all));
  *monitors = all;
  PCSIM_TRY(pcsim_alloc((size_t)pcsim_node_size(node), sizeof *all->monitor, &all->monitor));
  for (int64_t i = 0; i < pcsim_node_size(node); i++) {
    const char *name = pcsim_node_key(node, i);
    pcsim_node *child = pcsim_node_get(node, name);
    if (pcsim_node_get_kind(child) != PCSIM_NODE_MAPPING) {
      pcsim_tree_problem(tree, child, "monitor `%s` must be a mapping, e.g. {kind: forces, on: cylinder}",
                         name);
      continue;
    }
    monitor *m = &all->monitor[all->num++];
    m->name = name, m->node = child;
    PCSIM_TRY(read_monitor(tree, training, all, m));
  }
  return PCSIM_OK;
}

int cli_train_monitors_quantities(const cli_train_monitors *monitors, const pcsim_quantity **quantities) {
  *quantities = monitors ? monitors->quantity : NULL;
  return monitors ? monitors->num_quantities : 0;
}

/* -------------------------------------------------------------------------- evaluating */

pcsim_status cli_train_monitors_evaluate(cli_train_monitors *all, bool whole) {
  for (int i = 0; all && i < all->num; i++) {
    monitor *m = &all->monitor[i];
    double values[MOST * TEXTS], quantities[4];
    const int64_t n = !whole ? LOOK_POINTS : m->on ? BOUNDARY_POINTS : INNER_POINTS;
    PCSIM_TRY(pcsim_training_integral_evaluate(m->integral, n, values));
    for (int k = 0; k < m->num_at; k++) {
      m->kind->finish(m, values + k * m->num_texts, quantities);
      for (int q = 0; q < m->kind->num_names; q++)
        all->quantity[m->first_quantity + k * m->kind->num_names + q].value = quantities[q];
    }
  }
  return PCSIM_OK;
}
