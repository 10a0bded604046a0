/* SPDX-License-Identifier: BSD-2-Clause */
/** @file train.h  Private: what a training is made of. */
#ifndef PCSIM_PINN_TRAIN_H
#define PCSIM_PINN_TRAIN_H

#include "ansatz.h"
#include "choose.h"
#include "data.h"
#include "groups.h"
#include "optimizer.h"
#include "sample.h"

#include <pcsim/pinn.h>

enum { TRAIN_OPTIONS = 32 /**< of an optimiser */ };

/** Where the residuals of one group hold. */
typedef enum {
  TRAIN_INTERIOR,
  TRAIN_CONDITION, /**< the conditions of an entry of the case that are not built in */
  TRAIN_INTERFACE, /**< between two regions: values and fluxes are continuous */
  TRAIN_MEASURED,  /**< values at points that stay */
  TRAIN_SMOOTHNESS /**< inside: second derivatives of a field that is to be found */
} train_place;
typedef struct {
  const char *name; /**< "interior", or that of the case's entry, with that of a region; borrowed */
  train_place kind;
  int region;                         /**< -1: the whole domain */
  const problem_condition *condition; /**< the first one */
  int interface;                      /**< number of it */
  const data_view *measured;
  int64_t n; /**< points at training */
  int64_t num_held;
  double *held; /**< [num_held] as many that training does not see: their coordinates, columns, and room for
                   their residuals; made when first needed, owned */
} train_group;

/** `train:` as the case has it. */
typedef struct {
  double seconds; /**< budget, 0: in steps */
  int64_t steps;  /**< budget, 0: in seconds */
  double target;  /**< root of the held-out loss to stop at, 0: none */
  uint64_t seed;
  int threads;
  int64_t look;                    /**< steps between looks */
  int stages;                      /**< networks at most on a span of time */
  int64_t on;                      /**< points of each place of conditions that are not built in */
  const optimizer_kind *optimizer; /**< NULL: to be chosen */
  double optimizer_option[TRAIN_OPTIONS];
  bool fixed_stream;                /**< the case says whether there is a stream function */
  bool polar;                       /**< coordinates about balls taken away */
  bool wall_rates;                  /**< what walls make of starts that do not fit, too */
  bool seam;                        /**< starts that jump or bend where their period ends are carried on */
  double corner_points;             /**< share of the points at singular corners */
  bool wall_layers;                 /**< layers of walls that contradict the start */
  bool fixed_network, fixed_points; /**< the case says so */
} train_options;

/** One of the networks that a solution is made of, one after the other: on a span of time that begins where
 * the last one ends (a slab), or as a correction of the last one on the same span (a stage). */
typedef struct {
  int number, slab, stage;           /**< from 0; the stage within its slab */
  double time[2];                    /**< its span; both 0 in a steady problem */
  char prefix[16];                   /**< of its parameters */
  const pcsim_program *start, *base; /**< as `ansatz_options` has them; borrowed from the training */
  double magnitude;                  /**< of what the network gives */
  int64_t step, slab_step;           /**< at its begin, at that of its slab */
  double seconds, slab_seconds;
} train_part;

typedef enum { TRAIN_SLAB, TRAIN_STAGE } train_kind;

/** Means over a span of time of the unknowns that only their derivatives fix. */
typedef struct {
  bool known;
  double mean[PROBLEM_MAX]; /**< 0 of the others */
} train_level;

/** A part that is done. */
typedef struct {
  train_kind next; /**< what came after it */
  int64_t num_parameters;
  double *theta, held_out;
  int64_t step; /**< at its end */
  double seconds;
  pcsim_program *fields; /**< of the last stage of a slab, with its numbers; else NULL */
  double time[2];
  pcsim_executor *values, *gradients; /**< of `fields`, made when first needed */
  train_level level;
} train_finished;

/** Squares of a group's residuals at fresh points, over the time of the slabs that are done. */
typedef struct {
  char name[96];
  double squares, length;
} train_measure;

/** What all trainings of a case share. */
typedef struct {
  pcsim_tree *tree; /**< borrowed */
  domain *domain;
  regions *regions;                    /**< NULL: none */
  problem problem;                     /**< of the whole domain */
  problem *in;                         /**< [number of regions] of each; NULL: none; owned */
  data *data;                          /**< NULL: none */
  corners corners;                     /**< to which points are denser */
  char normal_name[DOMAIN_MAX][80];    /**< [num_space] inputs "n.x", ... */
  const char *normal[DOMAIN_MAX + 1];  /**< and the root of a point's weight */
  char data_text[GROUPS_ROWS_MAX][12]; /**< columns of measured values: "data_0", ... */
  const char *data_name[GROUPS_ROWS_MAX];
  bool number[PROBLEM_MAX]; /**< [num_unknowns] coefficients that are numbers */
  bool gauge[PROBLEM_MAX];  /**< [num_unknowns] fixed by derivatives by space alone */
  train_options options;
  choice asked; /**< what the case says of the choice */
  bool tries;   /**< what it leaves open is chosen by trials */
  int num_chosen;
  choice *chosen; /**< [num_chosen] by number of the part */
} train_case;

struct pcsim_training {
  train_case *from; /**< owned, but by a trial */
  choice choice;
  train_part part;
  pcsim_program *start, *base; /**< owned: what `part` borrows */
  double *points;              /**< [num_points][num_coordinates] a stage begins with, inside; owned */
  int64_t num_points;          /**< 0: it draws its own */
  int num_finished;
  train_finished *finished; /**< [num_finished], in their order */
  int num_measures;
  train_measure *measure; /**< [num_measures] */
  const optimizer_kind *kind;
  double option[TRAIN_OPTIONS]; /**< of the optimiser */
  pcsim_training_view view;
  ansatz ansatz; /**< of the whole domain */
  ansatz *in;    /**< [number of regions] of each; NULL: none */
  groups_parameters parameters;
  groups *groups;
  int num_groups;
  train_group *group; /**< [num_groups], numbered as in `groups` */
  int64_t num_parameters;
  optimizer *optimizer;
  double *theta, *best; /**< [num_parameters]: now; with the least held-out loss */
  int64_t step;         /**< steps done */
  int64_t draw;         /**< draws of points done */
  int64_t stalls;       /**< times in a row that no step was found */
  double first_loss;    /**< held-out, before the first step of the slab */
  double loss, held_out, best_loss, best_held_out;
  double noise_unit;    /**< weight of a measured value times its variance; 0: none */
  int64_t watched_step; /**< steps of the part when its progress was last looked at; 0: not yet */
  double watched_loss;  /**< its best held-out loss then */
  double seconds;       /**< of earlier parts */
  pcsim_executor *values, *gradients; /**< of the fields, made when first needed */
  train_level level;                  /**< of `best`; not known after it has changed */
};

/* ---- train_build.c */

/** Ansatz, groups, points, weights, optimiser for t->choice, at step 0. Problems go to the tree;
 * `t->optimizer` is NULL then. `quiet`: nothing goes to the log. */
pcsim_status train_build(pcsim_training *t, bool quiet) PCSIM_NODISCARD;
/** Free what train_build made. */
void train_release(pcsim_training *t);

/** What others see of it, anew. */
void train_fill_view(pcsim_training *t);

/* ---- train_parts.c */

/** The first part of `slabs`. */
void train_first(const train_case *from, int slabs, train_part *part);
/** The part that t trains is done: its best state is kept, the next part made, chosen and built. */
pcsim_status train_next(pcsim_training *t, train_kind kind) PCSIM_NODISCARD;
/** Free what train_next keeps. */
void train_forget(pcsim_training *t);
/** Is there a slab after this one? */
bool train_more_slabs(const pcsim_training *t);
/** Step, second at which the part is to end, so that all slabs have the same share of what is left. */
int64_t train_last_step(const pcsim_training *t);
double train_last_second(const pcsim_training *t);
/** Held-out loss of the best states, the mean over time. */
double train_mean_held_out(const pcsim_training *t);
/** The part's unknowns with the numbers of its best state; caller destroys. */
pcsim_status train_part_model(const pcsim_training *t, pcsim_program **model) PCSIM_NODISCARD;
/** NULL: no slab that is done has a group of this name. */
train_measure *train_find_measure(const pcsim_training *t, const char *name);
/** Why the case's time cannot be parted; NULL: it can. */
const char *train_not_parted(const train_case *from);
/** What the case asks for and cannot be parted is a problem of the tree; what it leaves open is one slab
 * then. */
void train_check_parts(pcsim_training *t);

/* ---- train.c */

/** What is due at this step (points drawn anew, more points), then a step of the optimiser. */
pcsim_status train_step(pcsim_training *t, optimizer_report *report) PCSIM_NODISCARD;

/* ---- train_noise.c */

/** Smoothness of fields that are to be found, as groups; nothing without data. */
pcsim_status train_add_priors(pcsim_training *t) PCSIM_NODISCARD;
/** Weights [rows] of measured values with noise and of smoothness; `*known` false: of neither. */
pcsim_status train_noise_weights(pcsim_training *t, int group, double *weights, bool *known) PCSIM_NODISCARD;
/** Are measured values fitted to within their noise? False where none are weighed by it. */
pcsim_status train_is_noise(pcsim_training *t, bool *noise) PCSIM_NODISCARD;
/** Noise and smoothness by the evidence, at steps where that is due. */
pcsim_status train_reweigh(pcsim_training *t) PCSIM_NODISCARD;

/* ---- train_read.c */

extern const pcsim_key network_keys[], train_keys[];
extern const size_t num_network_keys, num_train_keys;
/** `network:` and `train:` into options and the choice; problems go to the tree. */
void train_read_options(pcsim_tree *tree, train_options *options, choice *c);

/* ---- train_choose.c */

/** What the case leaves open, with what was chosen for the network before (NULL: none); the sentence that
 * says why goes to the log. */
pcsim_status train_choose(pcsim_training *t, const network_options *before) PCSIM_NODISCARD;
/** The first part at its begin, as it was chosen, or chosen now. */
pcsim_status train_restart(pcsim_training *t) PCSIM_NODISCARD;
enum {
  TRAIN_CHOICE =
      11 + NETWORK_LAYERS + NETWORK_INPUTS + NETWORK_COORDINATES * (1 + NETWORK_WAVES) /**< numbers of one */
};
/** A choice as numbers [TRAIN_CHOICE], and back with what the case asks for. False: they are none. */
void train_choice_write(const choice *c, double *numbers);
bool train_choice_read(const double *numbers, const choice *asked, choice *c);

/* ---- train_level.c */

/** Unknowns of which only derivatives by space are in equations, conditions and data: a function of time and
 * inputs may be added to them. */
pcsim_status train_find_gauges(train_case *from) PCSIM_NODISCARD;
bool train_has_gauge(const train_case *from);
/** Points [n][num_coordinates] for the means of a span of time. */
pcsim_status train_level_points(const pcsim_training *t, const double *span, int64_t n,
                                double *points) PCSIM_NODISCARD;
/** From values [n][num_unknowns] there. */
void train_level_take(const train_case *from, int64_t n, const double *values, train_level *level);

/* ---- trained.c */

/** The levels of all slabs, as far as they are not known. */
pcsim_status train_find_levels(pcsim_training *t) PCSIM_NODISCARD;

/* ---- train_waves.c */

/** Waves of what the case gives over the part's span of time: `num_waves` and `wave` by coordinate, none for
 *  those with a period. */
pcsim_status train_find_waves(const pcsim_training *t, network_options *n) PCSIM_NODISCARD;

/* ---- train_regions.c */

/** How many regions have a network of their own; 0: the domain has one. */
int train_num_regions(const train_case *from);
/** What holds in a region, -1: the whole domain. */
const problem *train_problem(const pcsim_training *t, int region);
const ansatz *train_ansatz(const pcsim_training *t, int region);
/** Problems of all regions, behind that of the whole; problems of the case go to the tree. */
pcsim_status train_read_regions(train_case *from) PCSIM_NODISCARD;
/** The ansatz of the whole domain from those of its regions. */
pcsim_status train_join_regions(pcsim_training *t) PCSIM_NODISCARD;
/** What jumps across an interface: outputs "0" .. "rows - 1" of coordinates and normals; NULL with a problem
 * in the tree. Caller destroys. */
pcsim_status train_jump(const pcsim_training *t, int interface, pcsim_program **program,
                        int *rows) PCSIM_NODISCARD;

/** Is a row of these a flux, not a value? */
bool train_is_flux(const pcsim_training *t, int row);

/* ---- train_groups.c */

/** One more group: texts [n] lowered, with the network of the region put in; `like` says what it is. */
pcsim_status train_add_group(pcsim_training *t, const char *name, const train_group *like,
                             const problem_text *const *texts, int n) PCSIM_NODISCARD;
/** Is it the mean that counts? Its points are a quadrature, the same for all purposes. */
bool train_is_integral(const train_group *g);
/** Are its points denser at corners, its rows multiplied by the roots of their weights? */
bool train_has_corners(const pcsim_training *t, const train_group *g);
/** The groups and their residual programs. */
pcsim_status train_make_groups(pcsim_training *t) PCSIM_NODISCARD;

/* ---- train_points.c */

/** Points of all groups for draw t->draw, as many as each group wants; those of interiors, one group after
 * the other, are `interior` [n][num_coordinates] where that is not NULL. */
pcsim_status train_draw(pcsim_training *t, const double *interior) PCSIM_NODISCARD;
/** More points: those of the interior stay, new ones lie where the residuals of t->theta are large. */
pcsim_status train_grow(pcsim_training *t, int64_t points) PCSIM_NODISCARD;
/** The points of the interior, n of them, and as many more or fewer of the other groups as that makes: those
 * of a training with one interior. */
pcsim_status train_take_points(pcsim_training *t, int64_t n, const double *points) PCSIM_NODISCARD;
/** n points of a group, and its columns [n][train_num_columns]: normals and, where points are denser at
 * corners, the root of their weights, or measured values. Of measured values there are as many as there are.
 */
pcsim_status train_points(const pcsim_training *t, int group, uint64_t draw, int64_t n, double *points,
                          double *columns) PCSIM_NODISCARD;
int train_num_columns(const pcsim_training *t, int group);
/** Points [n] drawn from all of the time come into a span of it. */
void train_into_span(const pcsim_training *t, const double *span, int64_t n, double *points);
/** Residuals [n][rows] of a group at points of a draw. */
pcsim_status train_residuals(pcsim_training *t, int group, const double *theta, uint64_t draw, int64_t n,
                             double *residuals) PCSIM_NODISCARD;
/** Mean square of a group's residuals (its rows added up) by the best state, at fresh points. */
pcsim_status train_fresh_squares(pcsim_training *t, int group, double *squares) PCSIM_NODISCARD;
/** Loss at points that training does not see. */
pcsim_status train_held_out(pcsim_training *t, const double *theta, double *loss) PCSIM_NODISCARD;
/** Losses of the best state, after points or weights have changed. */
pcsim_status train_judge_best(pcsim_training *t) PCSIM_NODISCARD;
/** Weights that balance the groups, into the groups and (not `quiet`) the log. */
pcsim_status train_balance(pcsim_training *t, bool quiet) PCSIM_NODISCARD;
/** Where the first residual that is no number stands, into `text`; false: nowhere. */
bool train_find_bad(pcsim_training *t, const double *theta, char *text, size_t size);

#endif
