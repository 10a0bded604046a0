/* SPDX-License-Identifier: BSD-2-Clause */
/** @file cmd_explain.c  pcsim explain EXPR or CASE: what expressions and typed equations become, before and
 * after the compiler, with counts. */
#include "cli.h"

#include <string.h>

enum { MAX_NAMES = 64 };

/** Names separated by commas; `text` is cut up. */
typedef struct {
  char *text;
  const char *names[MAX_NAMES];
  int n;
} name_list;

static pcsim_status split(const char *option, const char *given, name_list *list) {
  PCSIM_TRY(pcsim_strdup(given, &list->text));
  char *save = NULL;
  for (char *name = strtok_r(list->text, ", ", &save); name; name = strtok_r(NULL, ", ", &save)) {
    PCSIM_CHECK(list->n < MAX_NAMES, PCSIM_ERR_CASE, "pcsim explain: %s has more than %d names", option,
                MAX_NAMES);
    list->names[list->n++] = name;
  }
  return PCSIM_OK;
}

/** What stands before a program: its counts. */
static void print_cost(const char *title, const pcsim_program *program) {
  pcsim_program_cost cost = pcsim_program_count(program);
  printf("%s: %lld values, %lld temporaries; a point: %.6g operations, %.6g bytes\n", title,
         (long long)cost.nodes, (long long)cost.temporaries, cost.operations, cost.bytes);
}

static pcsim_status print_one(const char *title, const pcsim_program *program) {
  char *text = NULL;
  PCSIM_TRY(pcsim_program_print(program, &text));
  print_cost(title, program);
  printf("%s", text);
  pcsim_free(&text);
  return PCSIM_OK;
}

/** The lowered program, then the simplified one where it is another. Rank 0. */
static pcsim_status print_both(const pcsim_program *lowered, const pcsim_program *simplified) {
  char *before = NULL, *after = NULL;
  pcsim_status status;
  PCSIM_GOTO(pcsim_program_print(lowered, &before), status, done);
  PCSIM_GOTO(pcsim_program_print(simplified, &after), status, done);
  print_cost("lowered", lowered);
  printf("%s\n", before);
  if (!strcmp(before, after)) {
    printf("simplified: the same\n");
  } else {
    print_cost("simplified", simplified);
    printf("%s", after);
  }
done:
  pcsim_free(&before);
  pcsim_free(&after);
  return status;
}

/** The place is shown under the expression, as the case's line would be. */
static pcsim_status explain_fault(pcsim_status status, const char *text, int which, size_t offset) {
  char reason[1024];
  if (status != PCSIM_ERR_CASE) return status;
  snprintf(reason, sizeof reason, "%s", pcsim_error_message());
  if (which < 0) PCSIM_FAIL(status, "pcsim explain: %s", reason);
  PCSIM_FAIL(status, "%s:1:%zu: %s", text, offset + 1, reason);
}

static pcsim_status explain(cli *c, const char *const *texts, int n, const pcsim_lowering *names) {
  pcsim_program *lowered = NULL, *simplified = NULL;
  int which = 0;
  size_t offset = 0;
  pcsim_status status = pcsim_lower(texts, n, names, &lowered, &which, &offset);
  if (status != PCSIM_OK) return explain_fault(status, which >= 0 ? texts[which] : "", which, offset);
  PCSIM_GOTO(pcsim_program_copy(lowered, &simplified), status, done);
  PCSIM_GOTO(pcsim_program_simplify(simplified), status, done);
  if (c->rank == 0) status = print_both(lowered, simplified);
done:
  pcsim_program_destroy(&lowered);
  pcsim_program_destroy(&simplified);
  return status;
}

/* --------------------------------------------------------------- of a case */

static const char *const kinds[] = {
    [PCSIM_TRANSPORT_VALUE] = "value", [PCSIM_TRANSPORT_FLUX] = "flux", [PCSIM_TRANSPORT_FREE] = "free"};

static pcsim_status print_case(const pcsim_transport_view *view) {
  for (int i = 0; i < view->num_unknowns; i++) {
    const char *const *written = view->written + 3 * (size_t)i;
    printf("equation of %s\n  under dt:   %s\n  under div:  %s\n  the rest:   %s\n", view->unknown[i],
           *written[0] ? written[0] : "nothing", *written[1] ? written[1] : "nothing",
           *written[2] ? written[2] : "nothing");
  }
  printf("\nterms: rows of accumulation, flux, source\n");
  PCSIM_TRY(print_both(view->lowered, view->terms));
  for (int k = 0; k < view->num_conditions; k++) {
    const pcsim_transport_condition *condition = &view->condition[k];
    printf("\nboundary %s:", condition->name);
    for (int i = 0; i < view->num_unknowns; i++)
      printf(" %s %s%s", view->unknown[i], kinds[condition->kind[i]],
             i + 1 < view->num_unknowns ? "," : "\n");
    PCSIM_TRY(print_both(condition->lowered, condition->program));
  }
  if (!view->force) return PCSIM_OK;
  printf("\nforce on the flow\n");
  return print_one("simplified", view->force);
}

static pcsim_status print_text(void *context, const char *title, const char *text,
                               const pcsim_program *lowered) {
  pcsim_program *simplified = NULL;
  (void)context;
  PCSIM_TRY(pcsim_program_copy(lowered, &simplified));
  pcsim_status status = pcsim_program_simplify(simplified);
  printf("%s: %s\n", title, text);
  if (status == PCSIM_OK) status = print_both(lowered, simplified);
  printf("\n");
  pcsim_program_destroy(&simplified);
  return status;
}

/** Rank 0: a training is of one process. */
static pcsim_status explain_training(const char *path) {
  pcsim_tree *tree = NULL;
  pcsim_status status;
  PCSIM_GOTO(pcsim_tree_read(path, &tree), status, done);
  PCSIM_GOTO(pcsim_training_explain(tree, print_text, NULL), status, done);
  status = pcsim_tree_status(tree);
done:
  pcsim_tree_destroy(&tree);
  return status;
}

static pcsim_status is_training(const char *path, bool *given) {
  pcsim_tree *tree = NULL;
  PCSIM_TRY(pcsim_tree_read(path, &tree));
  *given = pcsim_training_given(tree);
  pcsim_tree_destroy(&tree);
  return PCSIM_OK;
}

/** The mesh is made in a temporary folder: it decides how many components a vector has. */
static pcsim_status explain_case(cli_session *s, const char *path) {
  char *folder = NULL, raw[4200] = "";
  cli *c = s->c;
  bool training = false;
  PCSIM_TRY(pcsim_status_agree(c->comm, is_training(path, &training)));
  if (training) return pcsim_status_agree(c->comm, c->rank == 0 ? explain_training(path) : PCSIM_OK);
  PCSIM_TRY(cli_session_read(c, path, NULL, s));
  PCSIM_CHECK(pcsim_transport_given(s->tree) || pcsim_joined_given(s->tree), PCSIM_ERR_CASE,
              "pcsim explain: %s has no typed equations (physics: {unknowns: ..., equations: ...})", path);
  pcsim_status status = c->rank == 0 ? pcsim_temporary_make(true, &folder) : PCSIM_OK;
  PCSIM_GOTO(pcsim_status_agree(c->comm, status), status, done);
  if (folder) snprintf(raw, sizeof raw, "%s/mesh.raw", folder);
  PCSIM_GOTO(cli_session_mesh(s, 1, raw, false, NULL), status, done);
  PCSIM_GOTO(cli_session_problem(s), status, done);
  if (c->rank == 0) status = print_case(pcsim_transport_problem_get(s->transport));
done:
  cli_temporary_remove(&folder);
  return status;
}

static bool is_case(const char *text) {
  size_t n = strlen(text);
  return (n > 5 && !strcmp(text + n - 5, ".yaml")) || (n > 4 && !strcmp(text + n - 4, ".yml"));
}

pcsim_status cmd_explain(cli *c, int argc, char **argv) {
  const char *unknowns = "u,v,w,p,T", *coordinates = "x,y,z,t", *parameters = "", *texts[MAX_NAMES];
  int n;
  const cli_option options[] = {{"--unknowns", NULL, CLI_TEXT, &unknowns},
                                {"--coordinates", NULL, CLI_TEXT, &coordinates},
                                {"--parameters", NULL, CLI_TEXT, &parameters}};
  PCSIM_TRY(cli_options_read("explain", argc, argv, options, sizeof options / sizeof *options, "EXPR", 1,
                             MAX_NAMES, texts, &n));
  if (n == 1 && is_case(texts[0])) {
    cli_session session = {.c = c};
    pcsim_status ended = explain_case(&session, texts[0]);
    cli_session_close(&session);
    return ended;
  }
  name_list lists[3] = {{0}, {0}, {0}};
  pcsim_status status;
  PCSIM_GOTO(split("--coordinates", coordinates, &lists[0]), status, done);
  PCSIM_GOTO(split("--unknowns", unknowns, &lists[1]), status, done);
  PCSIM_GOTO(split("--parameters", parameters, &lists[2]), status, done);
  const pcsim_lowering names = {.num_coordinates = lists[0].n,
                                .coordinates = lists[0].names,
                                .num_unknowns = lists[1].n,
                                .unknowns = lists[1].names,
                                .num_parameters = lists[2].n,
                                .parameters = lists[2].names};
  status = explain(c, texts, n, &names);
done:
  for (int i = 0; i < 3; i++) pcsim_free(&lists[i].text);
  return status;
}
