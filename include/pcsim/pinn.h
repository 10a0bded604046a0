/* SPDX-License-Identifier: BSD-2-Clause */
/** @file pinn.h  Networks that are trained until they satisfy the equations and conditions of a case. */
#ifndef PCSIM_PINN_H
#define PCSIM_PINN_H

#include <pcsim/autodiff.h>
#include <pcsim/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Does the case ask for a network (`network:` or `train:`)? */
bool pcsim_training_given(const pcsim_tree *tree);
/** Keys of `network:` and of `train:`; `*n` gets how many. */
const pcsim_key *pcsim_network_keys(size_t *n);
const pcsim_key *pcsim_training_keys(size_t *n);

/** What can be named: a network (`network: {kind: NAME}`) or an optimiser (`train: {optimizer: NAME}`). */
typedef struct {
  const char *name, *help;
  const pcsim_key *keys;
  size_t num_keys;
} pcsim_training_kind;
/** Number i of them; false past the last. */
bool pcsim_network_kind(size_t i, pcsim_training_kind *kind);
bool pcsim_optimizer_kind(size_t i, pcsim_training_kind *kind);

/** A case and the network that is trained for it. It never reads `reference:`, `title:` or the file's name.
 * Local: one process, several threads. */
typedef struct pcsim_training pcsim_training;

/** Read `domain:` or `mesh:`, `inputs:`, `physics:`, `boundaries:`, `initial:`, `conditions:`, `network:` and
 *  `train:`, and make a training of it; what the case leaves open is chosen without trials. Returns OK with
 * `*training` NULL if it found problems: ask pcsim_tree_status. The tree must outlive it. Caller destroys. */
pcsim_status pcsim_training_read(pcsim_tree *tree, pcsim_training **training) PCSIM_NODISCARD;
void pcsim_training_destroy(pcsim_training **training);
/** Choose what the case leaves open by short trials (the log says what and why) and begin anew with it. Their
 * time counts as training. Before the first run of a training that no checkpoint goes on with. */
pcsim_status pcsim_training_choose(pcsim_training *training) PCSIM_NODISCARD;

/** Borrowed; numbers are those of now. */
typedef struct {
  int num_coordinates; /**< space, then time, then inputs */
  int num_space;
  int time;                      /**< place of the time among them, -1: steady */
  const char *const *coordinate; /**< [num_coordinates] */
  const double (*range)[2];      /**< [num_coordinates] */
  bool box;                      /**< the domain fills its ranges */
  int num_unknowns;
  const char *const *unknown; /**< [num_unknowns] */
  int num_solved;             /**< those with equations; the others are coefficients that are found */
  const bool *number;         /**< [num_unknowns] the same everywhere */
  const bool *gauge; /**< [num_unknowns] fixed by derivatives by space alone: compare without the means
                        over space; what is given out has the mean 0 over each slab of time */
  int num_pieces;
  const char *const *piece; /**< [num_pieces] names of the boundary */
  bool flow;                /**< unknowns u, v, (w,) p are those of the built-in flow */
  const char *network, *optimizer;
  int64_t num_parameters, num_points; /**< points of all groups together */
  int slab, num_slabs;                /**< of time: the one that is trained, from 0 */
  int stage;                          /**< networks that the one which is trained corrects */
  uint64_t seed;
  double budget_seconds; /**< 0: counted in steps */
  int64_t budget_steps;  /**< 0: counted in seconds */
  int num_groups;        /**< of residuals: the interior and the conditions that are not built in */
} pcsim_training_view;
const pcsim_training_view *pcsim_training_get(pcsim_training *training);

/** One look at a training; every few steps, at steps that do not depend on time. */
typedef struct {
  int64_t step;
  double loss;     /**< 1/2 of the weighted mean squares, at the points of training */
  double held_out; /**< the same at points that training does not see */
  double best;     /**< least held-out loss so far, that of the state which is kept */
  double gradient; /**< norm */
  double radius;   /**< length of the last step */
  double seconds;  /**< of training so far, earlier parts of a resumed run included */
} pcsim_training_step;
/** Anything but OK stops the training, which returns it. */
typedef pcsim_status (*pcsim_training_observer)(void *context, const pcsim_training_step *step);

typedef enum {
  PCSIM_TRAINING_COMPLETED, /**< budget used, or nothing left to gain */
  PCSIM_TRAINING_STOPPED,   /**< the last step asked for was done, the budget is not used */
  PCSIM_TRAINING_CONVERGED, /**< the residual target was reached */
  PCSIM_TRAINING_STAGNATED, /**< no step lowers the loss, which is still large */
  PCSIM_TRAINING_DIVERGED   /**< the loss is no number */
} pcsim_training_outcome;
typedef struct {
  pcsim_training_outcome outcome;
  char reason[512]; /**< for people; which condition and point where it went wrong */
  int64_t steps;
  double loss, held_out; /**< of the best state, which is the one that is kept */
  double seconds;
} pcsim_training_result;

/** Train from where it stands; `steps` limits the number of the last step, -1: the case does. Bits depend on
 * the case and the step only, not on threads, stops or resumes; a budget of seconds ends it at a step that
 * depends on the machine. */
pcsim_status pcsim_training_run(pcsim_training *training, int64_t steps, pcsim_training_observer observer,
                                void *context, pcsim_training_result *result) PCSIM_NODISCARD;

/** Unknowns [n][num_unknowns] of the best state at points [n][num_coordinates]; `gradients` [n][num_unknowns]
 *  [num_coordinates] or NULL. */
pcsim_status pcsim_training_evaluate(pcsim_training *training, int64_t n, const double *points,
                                     double *values, double *gradients) PCSIM_NODISCARD;
/** Points [n][num_coordinates] spread evenly over the domain; `draw` numbers the draws, which training does
 * not see. */
pcsim_status pcsim_training_points(pcsim_training *training, uint64_t draw, int64_t n,
                                   double *points) PCSIM_NODISCARD;
/** Is the point [num_coordinates] in the domain? */
bool pcsim_training_inside(const pcsim_training *training, const double *point);
/** Integrals of expressions of the unknowns, their first derivatives, the coordinates, the coefficients of
 * the case and, on its boundary, the normal (nx, ny, dn(u)), all of them at one or several values of the time
 * and the inputs. */
typedef struct {
  const pcsim_node *node;  /**< of the case, where problems are told */
  const char *const *text; /**< [num_texts] */
  int num_texts;           /**< 64 at most */
  const bool *on;          /**< [num_pieces] of the boundary; NULL: over the domain */
  const double *at;        /**< [num_at][num_coordinates]; those of space are not read */
  int num_at;
} pcsim_training_integrand;
typedef struct pcsim_training_integral pcsim_training_integral;
/** Copied; borrows the training. `*integral` NULL: problems went to the tree. Caller destroys. */
pcsim_status pcsim_training_integral_create(pcsim_training *training, const pcsim_training_integrand *of,
                                            pcsim_training_integral **integral) PCSIM_NODISCARD;
/** Of the best state, values [num_at][num_texts], from n points of Sobol's sequence on each piece or inside
 * (powers of two are best: on a circle they are the trapezoidal rule's, which converges exponentially). */
pcsim_status pcsim_training_integral_evaluate(pcsim_training_integral *integral, int64_t n,
                                              double *values) PCSIM_NODISCARD;
void pcsim_training_integral_destroy(pcsim_training_integral **integral);
/** Root mean square of a group's residuals (all rows together, unweighted) at fresh points, by the best
 * state;
 * `*name` borrowed. */
pcsim_status pcsim_training_residual(pcsim_training *training, int group, const char **name,
                                     double *norm) PCSIM_NODISCARD;
/** What residuals say about the error of the best state, where the case is one linear coercive equation of
 * second order whose unknown is given on the whole boundary (pinn/bound.h). */
typedef struct {
  bool known;
  double absolute;  /**< root mean square of the error, in the domain (and through time), is no larger */
  double relative;  /**< the same of its share of the exact unknown; INFINITY: not known */
  char reason[300]; /**< for people: what it rests on, or why nothing is known */
} pcsim_training_bound;
pcsim_status pcsim_training_error_bound(pcsim_training *training,
                                        pcsim_training_bound *bound) PCSIM_NODISCARD;
/** The best state as a program: input "coordinates" on space "points", outputs by the names of the unknowns.
 * Caller destroys. */
pcsim_status pcsim_training_model(pcsim_training *training, pcsim_program **model) PCSIM_NODISCARD;

/** An equation or a condition of a case as it is lowered, with names of coefficients written out. */
typedef pcsim_status (*pcsim_training_reader)(void *context, const char *title, const char *text,
                                              const pcsim_program *lowered);
/** Show all of them, without training. Problems go to the tree. Errors: those of the reader. */
pcsim_status pcsim_training_explain(pcsim_tree *tree, pcsim_training_reader reader,
                                    void *context) PCSIM_NODISCARD;

/** What a finished training has left, to be asked without training: its domain and its network. */
typedef struct pcsim_trained pcsim_trained;
typedef struct {
  int num_coordinates;
  const char *const *coordinate; /**< [num_coordinates] space, then time, then inputs */
  const double (*range)[2];      /**< [num_coordinates] */
  int num_unknowns;
  const char *const *unknown; /**< [num_unknowns] */
} pcsim_trained_view;
/** `tree` is the case, of which `domain:` or `mesh:` and `inputs:` are read, `path` the saved program.
 * Returns OK with `*model` NULL if it found problems. Errors: ERR_IO (no such program, one of another case).
 * Caller destroys, before the tree. */
pcsim_status pcsim_trained_open(pcsim_tree *tree, const char *path, pcsim_trained **model) PCSIM_NODISCARD;
const pcsim_trained_view *pcsim_trained_get(const pcsim_trained *model);
/** Values [n][num_unknowns] at points [n][num_coordinates]; NaN outside of the domain and of the ranges of
 * time and inputs. */
pcsim_status pcsim_trained_evaluate(pcsim_trained *model, int64_t n, const double *points,
                                    double *values) PCSIM_NODISCARD;
void pcsim_trained_destroy(pcsim_trained **model);

/** Everything that going on needs, whole or not at all; `hash` is the case's. */
pcsim_status pcsim_training_save(const pcsim_training *training, const char *hash,
                                 const char *path) PCSIM_NODISCARD;
/** Errors: ERR_IO (damaged, foreign), ERR_CASE (of another case). The training is as it was then,
 * with what was chosen then. */
pcsim_status pcsim_training_load(pcsim_training *training, const char *hash,
                                 const char *path) PCSIM_NODISCARD;
/** Step that the training stands at. */
int64_t pcsim_training_at(const pcsim_training *training);

#ifdef __cplusplus
}
#endif
#endif
