/* SPDX-License-Identifier: BSD-2-Clause */
/** @file cli.h  Private header of the command line: commands, options, log, session, results. */
#ifndef PCSIM_CLI_H
#define PCSIM_CLI_H

#include <pcsim.h>
#include <stdio.h>

#ifndef PCSIM_VERSION
#define PCSIM_VERSION "unknown"
#endif

/** Exit codes that no status stands for. */
enum { CLI_DONE = 0, CLI_MISSED = 1, CLI_CALL = 2, CLI_NOT_CONVERGED = 3 };

/* -------------------------------------------------------------- commands */

/** What a command gets: its arguments without "pcsim NAME", and the place of its exit code. */
typedef struct {
  MPI_Comm comm;
  int rank, ranks;
  bool piped;    /**< mpirun gives the ranks a terminal of its own: lines only, no progress line */
  int exit_code; /**< of a call that succeeded; a failing status has its own */
} cli;

/** Runs on every rank. A failure is returned, not printed: main agrees on it and prints it once. */
typedef pcsim_status (*cli_function)(cli *c, int argc, char **argv);
typedef struct {
  const char *name;
  cli_function function;
  const char *usage; /**< arguments, as help shows them */
  const char *help;
} cli_command;
/** The command table; `*n` gets its length. */
const cli_command *cli_commands(size_t *n);

pcsim_status cmd_run(cli *c, int argc, char **argv);
pcsim_status cmd_check(cli *c, int argc, char **argv);
pcsim_status cmd_new(cli *c, int argc, char **argv);
pcsim_status cmd_list(cli *c, int argc, char **argv);
pcsim_status cmd_mesh(cli *c, int argc, char **argv);
pcsim_status cmd_explain(cli *c, int argc, char **argv);
pcsim_status cmd_sample(cli *c, int argc, char **argv);
pcsim_status cmd_compare(cli *c, int argc, char **argv);
pcsim_status cmd_report(cli *c, int argc, char **argv);
pcsim_status cmd_doctor(cli *c, int argc, char **argv);
pcsim_status cmd_help(cli *c, int argc, char **argv);
pcsim_status cmd_version(cli *c, int argc, char **argv);

/** A starter case of `pcsim new`. */
typedef struct {
  const char *name, *help, *text;
} cli_starter;
const cli_starter *cli_starters(size_t *n);

/* --------------------------------------------------------------- options */

typedef enum {
  CLI_FLAG,   /**< target: bool */
  CLI_TEXT,   /**< target: const char * (borrowed from argv) */
  CLI_NUMBER, /**< target: int64_t, at least 0 */
  CLI_LIST    /**< target: cli_list */
} cli_option_kind;
typedef struct {
  int count;
  const char *item[64];
} cli_list;
typedef struct {
  const char *name;   /**< "--force" */
  const char *letter; /**< "-f" or NULL */
  cli_option_kind kind;
  void *target;
} cli_option;
/** Sort the arguments of `command` into options and words. Between `least` and `most` words are expected;
 *  `what` names them in messages ("CASE"). Errors: ERR_CASE with the nearest valid option. */
pcsim_status cli_options_read(const char *command, int argc, char **argv, const cli_option *options, size_t n,
                              const char *what, int least, int most, const char **words, int *num_words);

/* ------------------------------------------------------------------- log */

typedef enum { CLI_LOG_QUIET, CLI_LOG_LINES } cli_log_mode;
/** Install the sink on this rank. QUIET: only warnings are shown (on standard error). */
void cli_log_start(const cli *c, cli_log_mode mode);
/** Copy every line to `path` (appended to) until cli_log_close. Rank 0. */
pcsim_status cli_log_open(const char *path);
void cli_log_close(void);
/** While muted only warnings and errors pass. */
void cli_log_mute(bool muted);
/** End a progress line on the terminal so that other output starts on its own line. */
void cli_log_break(void);
/** Print a failure's messages on standard error, and its trace where it is an internal error. */
void cli_print_failure(pcsim_status status);

/* --------------------------------------------------------------- signals */

/** Remember SIGINT and SIGTERM instead of dying; the second one kills. */
void cli_signals_catch(void);
/** Signal number that arrived on any rank, or 0. Collective. */
int cli_signals_any(MPI_Comm comm);

/* --------------------------------------------------------------- session */

enum { OUTPUT_UNKNOWNS = 64 };
/** `output:` of a case, which the command line owns. */
typedef struct {
  bool velocity, pressure, vorticity; /**< fields of a flow to write */
  bool unknowns[OUTPUT_UNKNOWNS];     /**< of typed equations, in their order */
  int64_t checkpoint;                 /**< steps between checkpoints; 0: by time (a few seconds) */
  bool pictures;
  int64_t num_times;
  double *times; /**< [num_times] ascending, to write the fields at; those after the start are stops */
} cli_output;
/** `study:` of a case. */
typedef struct {
  int64_t count; /**< meshes or time steps; 0: no study */
  double ratio;  /**< of successive sizes */
  bool of_steps; /**< the time step is varied, not the mesh */
} cli_study;

enum { MAX_SENSITIVITIES = 32 };
/** `solve: {gradient: .., estimate: ..}`: what an adjoint is solved for. */
typedef struct {
  int num;
  const char *quantity[MAX_SENSITIVITIES]; /**< borrowed from the tree */
  bool gradient[MAX_SENSITIVITIES], estimate[MAX_SENSITIVITIES];
  double *indicator[MAX_SENSITIVITIES]; /**< [num_cells] where the error comes from; NULL: not estimated */
} cli_sensitivities;

/** A case with all that is made of it, in the order in which it is made. */
typedef struct {
  cli *c;
  pcsim_tree *tree;
  pcsim_mesh_spec *spec;
  pcsim_flow_options flow_options;           /**< of a flow */
  pcsim_transport_options transport_options; /**< of typed equations */
  pcsim_time time;                           /**< of either */
  double tolerance;
  cli_output output;
  cli_study study;
  double step_factor;       /**< times the case's time step: what a study of steps makes of it */
  pcsim_start start;        /**< of `initial:`, beside its expressions */
  const char *start_folder; /**< run that the solve starts from, NULL: none; borrowed */
  double *start_values;     /**< what a steady solve takes from it, in place of the case's own start */
  char *text;               /**< the case as completed before there is a mesh */
  char case_hash[65];       /**< of that text */
  char *full_text;          /**< with everything that the mesh has completed; rank 0 of a run, else NULL */
  pcsim_mesh *mesh;
  char hash[65]; /**< of case_hash and the raw mesh: what a checkpoint is bound to */
  char *notes;   /**< what the mesh reader changed; rank 0, else "" */
  pcsim_mesh_quality quality;
  pcsim_flow_problem *problem;
  pcsim_transport_problem *transport; /**< of typed equations; with `problem` where they join a flow */
  pcsim_monitors *monitors;
  pcsim_references *references;
  cli_sensitivities sensitivities;
  pcsim_flow_solver *flow_solver;
  pcsim_transport_solver *transport_solver; /**< of `transport` */
  pcsim_joined_solver *joined_solver;       /**< of both together */
  pcsim_flow_fields flow_fields;            /**< what the list of fields is over */
  pcsim_scalar *scalar;
  pcsim_training *training; /**< of a case with a network: nothing of the above but tree, output,
                               text, hash */
  struct cli_train_monitors *train_monitors;     /**< NULL: none */
  struct cli_train_references *train_references; /**< NULL: none */
} cli_session;

extern const pcsim_key cli_case_keys[];
extern const size_t cli_num_case_keys;
/** Top level of a case with a network. */
extern const pcsim_key cli_training_case_keys[];
extern const size_t cli_num_training_case_keys;
extern const pcsim_key cli_output_keys[];
extern const size_t cli_num_output_keys;
extern const pcsim_key cli_study_keys[];
extern const size_t cli_num_study_keys;

/** Read `output:`; problems go to the tree. `times` is the caller's to free. (output.c) */
void cli_output_read(pcsim_tree *tree, cli_output *output);
/** Fail, with `why` behind the reason, where the case trains a network: before it is read as a whole, which
 *  would begin with trials of it. Collective. Errors: ERR_CASE. */
pcsim_status cli_refuse_network(cli *c, const char *path, const char *why);
/** Read, complete and check everything that needs no mesh. Collective; on failure call cli_session_close. */
pcsim_status cli_session_read(cli *c, const char *path, const cli_list *sets, cli_session *session);
/** Make the raw mesh at `path` on rank 0 (factor times the case's sizes) unless `keep` and it is there and
 * whole; read it, distribute it, take its quality. `msh`: also a Gmsh file, or NULL. Collective. */
pcsim_status cli_session_mesh(cli_session *session, double factor, const char *path, bool keep,
                              const char *msh);
/** Problem, monitors and references on the mesh. Collective. */
pcsim_status cli_session_problem(cli_session *session);
/** Quantities that no last state holds, from the summary of the run: statistics over time, orders of a study.
 */
pcsim_status cli_session_restore(cli_session *session, const pcsim_report *summary);
/** Unit of a quantity, "" if there is none of that name; borrowed until the next quantity is added. */
const char *cli_unit(const pcsim_monitors *monitors, const char *quantity);
/** The case with everything that the mesh has completed, file names made absolute; caller frees. Rank 0. */
pcsim_status cli_session_text(const cli_session *session, char **text);
/** Forget what belongs to the mesh (to go on with another), or everything. NULL-safe. */
void cli_session_drop_mesh(cli_session *session);
void cli_session_close(cli_session *session);
/** Open a run folder as a session with its mesh, problem and last state in a solver. Collective. */
pcsim_status cli_session_open_run(cli *c, const char *folder, cli_session *session);

/* ----------------------------------------------------------------- start */

/** The run that `initial:` names is there; problems go to the tree. Collective. */
pcsim_status cli_start_check(cli_session *session);
/** The unknowns that a run in `folder` has, by name, become the start: of the problem in a run through time,
 * of the solver that is made next in a steady one, so that its tolerance stays relative to the case's own
 * start. Collective. Errors: ERR_CASE (no unknown in common, another dimension), ERR_IO. */
pcsim_status cli_start_from(cli_session *session, const char *folder);
/** The same with potential flow. Collective. */
pcsim_status cli_start_potential(cli_session *session);

/* ---------------------------------------------------------------- solver */

/** Read `solve:`; problems go to the tree. */
void cli_solver_read(cli_session *session);
/** The solver of the session's problem; `steps` limits them, -1: the case does. What follows stands for the
 *  function of the same name of pcsim_flow_solver or pcsim_transport_solver. */
pcsim_status cli_solver_create(cli_session *session, int64_t steps);
void cli_solver_destroy(cli_session *session);
pcsim_status cli_solver_run(cli_session *session, pcsim_solve_observer observer, void *context,
                            pcsim_solve_result *result);
pcsim_status cli_solver_fields(cli_session *session, pcsim_fields *fields);
int cli_solver_width(const cli_session *session);
int64_t cli_solver_step(const cli_session *session);
pcsim_status cli_solver_get_state(const cli_session *session, double *unknowns,
                                  double scalars[PCSIM_NUM_STATE_SCALARS]);
pcsim_status cli_solver_set_state(cli_session *session, const double *unknowns,
                                  const double scalars[PCSIM_NUM_STATE_SCALARS]);

/* --------------------------------------------------------- sensitivities */

/** Which quantities, checked; the numbers that will come become quantities (NaN). Problems go to the tree. */
pcsim_status cli_sensitivities_read(cli_session *session);
/** After the march has converged: adjoints, gradients `gradient.Q.P`, errors `estimate.Q`, corrected values
 *  `corrected.Q`, indicators. The raw mesh is in `folder`; the monitors have been evaluated for `fields`.
 *  Collective. */
pcsim_status cli_sensitivities_find(cli_session *session, const char *folder, const pcsim_fields *fields);
void cli_sensitivities_free(cli_sensitivities *sensitivities);

/* ------------------------------------------------------------ run folder */

typedef struct {
  bool force, resume;
} cli_folder_rules;
typedef enum {
  CLI_FOLDER_FRESH,      /**< nothing of a run in it */
  CLI_FOLDER_UNFINISHED, /**< to be continued */
  CLI_FOLDER_FINISHED    /**< asked to resume what is finished: nothing to do */
} cli_folder_state;
/** Apply the rules of the run folder and make it ready. Rank 0 only. `text` is the completed case; a resumed
 *  run must have the same. Errors: ERR_CASE (may not be touched; case differs), ERR_IO. */
pcsim_status cli_folder_prepare(const char *folder, const cli_folder_rules *rules, const char *text,
                                cli_folder_state *state);
/** A folder that the user named is made where its parent stands; only `runs` is made along with it. Rank 0.
 *  Errors: ERR_IO. */
pcsim_status cli_folder_parent(const char *folder);
/** Default folder "runs/<case name>" of a case file; caller frees. */
pcsim_status cli_folder_default(const char *case_path, char **folder);
/** Write `text`, the case completed by now, as case.yaml; `first` is the completed text before there was a
 * mesh, which later runs compare theirs with. Rank 0. */
pcsim_status cli_folder_write_case(const char *folder, const char *first, const char *text);
/** Hash of the case that the run in a folder began with. Errors: ERR_CASE if it is not a run folder. */
pcsim_status cli_folder_hash(const char *folder, char hash[65]);
/** Remove a folder of pcsim_temporary_make and the files in it, for meshes that nobody keeps. Rank 0. */
void cli_temporary_remove(char **folder);
/** SHA-256 of two pieces in hexadecimal. */
void cli_hash(const void *a, size_t na, const void *b, size_t nb, char hex[65]);

/* --------------------------------------------------------------- results */

/** summary.json of a run folder; caller frees with pcsim_summary_free. Local. */
pcsim_status cli_summary_read(const char *folder, pcsim_report **summary);
/** Exit code that the run ended with. */
int cli_summary_exit_code(const pcsim_report *summary);

/** A solve that ended, with what the report needs beside the fields. */
typedef struct {
  pcsim_solve_result result;
  const char *status;               /**< as summary.json has it; NULL: stopped by a signal, to be resumed */
  double wall_seconds, cpu_seconds; /**< earlier parts of a resumed run included; CPU summed over ranks */
  size_t memory_peak;               /**< summed over ranks */
  int ranks;
  char machine[256];
  pcsim_history *history; /**< rank 0, else NULL */
  const pcsim_study *study;
} cli_outcome;
void cli_outcome_free(cli_outcome *outcome);
/** Word for summary.json. */
const char *cli_outcome_name(pcsim_outcome outcome);

/** Field files (fields.c): of the cells as the case asks for; of boundaries, for a flow its walls. Nothing is
 *  written where nothing is wanted; `*written` says so. Collective. */
pcsim_status cli_fields_write(const cli_session *session, const pcsim_fields *fields, const char *path,
                              bool *written);
pcsim_status cli_surface_write(const cli_session *session, const pcsim_fields *fields, const char *path);

/** Fields at one time of output.times: a file of its own, and the series of all so far. Collective. */
pcsim_status cli_results_snapshot(const cli_session *session, const pcsim_fields *fields, const char *folder,
                                  int64_t number) PCSIM_NODISCARD;

typedef struct {
  bool files, report, summary, pictures;
} cli_results_wanted;
/** Field files, pictures, report and, last, the summary. Collective. */
pcsim_status cli_results_write(cli_session *session, const cli_outcome *outcome, const pcsim_fields *fields,
                               const char *folder, cli_results_wanted wanted);
/** Draw cell values (NULL: the mesh alone) and save them as folder/name. Collective; rank 0 gets the picture.
 */
pcsim_status cli_picture(const cli_session *session, const double *values, const double *gradient,
                         const pcsim_picture_options *options, const char *folder, const char *name,
                         pcsim_picture **picture);
/** Window of a second picture of a mesh whose smallest cells cannot be told apart in the first. Returns its
 *  caption, the same on every rank, or NULL if one picture shows enough. Collective. */
const char *cli_zoom(const pcsim_mesh *mesh, double window[4]);
/** Processor, cores and ranks of this machine in words. */
void cli_machine(int ranks, char text[256]);

/* ------------------------------------------------------------- pipeline */

/** A call of `pcsim run`. */
typedef struct {
  const char *case_path, *folder; /**< folder NULL: the default */
  cli_list sets;
  cli_folder_rules rules;
  int64_t steps; /**< limit; -1: the case's */
} cli_run;
pcsim_status cli_pipeline(cli *c, const cli_run *run);

/** A part of the pipeline: one solve in one folder. */
typedef struct {
  const char *folder;
  double factor; /**< times the case's mesh sizes */
  bool resume;   /**< go on from the folder's checkpoint where there is one */
  int64_t steps; /**< limit; -1: the case's */
} cli_part;
/** Mesh, problem, solver, march. `outcome` is to be freed also after a failure; `*fields` holds the last
 * state. Collective. */
pcsim_status cli_solve(cli_session *session, const cli_part *part, cli_outcome *outcome,
                       pcsim_fields *fields);

/** Train the session's network in a folder, write everything, set the exit code. (train.c) */
pcsim_status cli_train(cli_session *session, const cli_part *part);

/** Rows of a study as they come, and what follows from them. */
typedef struct {
  pcsim_study view;
  int capacity; /**< meshes */
  int64_t *cells;
  double *sizes, *values, *order, *extrapolated, *uncertainty;
  char (*names)[96];
} cli_study_table;
/** Add the next finer run of `count`. The first one's quantities are the columns. */
pcsim_status cli_study_add(cli_study_table *table, int count, int64_t cells, const pcsim_quantity *quantities,
                           int n);
/** Orders, extrapolated values and uncertainties over meshes. `volume` of the domain, in `dim` dimensions. */
void cli_study_finish(cli_study_table *table, double volume, int dim);
/** The same over time steps on one mesh, the last of them `step`, each before `ratio` times as long. */
void cli_study_finish_steps(cli_study_table *table, double step, double ratio);
void cli_study_free(cli_study_table *table);

#endif
