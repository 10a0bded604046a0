/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as an equation beside a good one, and as a coefficient when it stands behind a line "%%". What
 * must hold: no crash, no leak, every fault a problem; and what is accepted is lowered, or that has a problem
 * too. */
#include "physics/typed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                                      \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "%s:%d: does not hold: %s\n%s\n", __FILE__, __LINE__, #condition,                      \
              pcsim_error_message());                                                                        \
      abort();                                                                                               \
    }                                                                                                        \
  } while (0)

/* Values at points and meshes are not reached from here. */
#define ABSENT(name, ...)                                                                                    \
  pcsim_status name(__VA_ARGS__) { return PCSIM_ERR_INTERNAL; }
#pragma clang diagnostic ignored "-Wunused-parameter"
ABSENT(pcsim_executor_create, const pcsim_program *p, const pcsim_executor_options *o, pcsim_executor **e)
ABSENT(pcsim_executor_points, pcsim_executor *e, const char *space, int64_t n)
ABSENT(pcsim_executor_bind, pcsim_executor *e, const char *name, const double *data)
ABSENT(pcsim_executor_bind_output, pcsim_executor *e, const char *name, double *data)
ABSENT(pcsim_executor_run, pcsim_executor *e, bool check)
void pcsim_executor_destroy(pcsim_executor **e) { *e = NULL; }
const pcsim_mesh_view *pcsim_mesh_get(const pcsim_mesh *mesh) { return NULL; }

/* Inside of a double-quoted scalar. */
static void quote(char *out, const char *text, size_t size) {
  size_t n = 0;
  for (size_t i = 0; i < size; ++i) {
    unsigned char c = (unsigned char)text[i];
    if (c < 0x20 || c >= 0x7f) c = ' ';
    if (c == '"' || c == '\\') out[n++] = '\\';
    out[n++] = (char)c;
  }
  out[n] = '\0';
}

static pcsim_tree *make_case(const char *text, size_t size) {
  static const char head[] = "parameters: {nu: 0.1, c: 2}\nphysics:\n  unknowns: [u, v]\n"
                             "  coefficients: {k: 1 + x*u, r: {a: 1, b: v}, q: \"";
  static const char middle[] = "\"}\n  equations:\n    - dt(v) - lap(v) + u\n    - \"";
  const char *mark = strstr(text, "\n%%\n");
  size_t first = mark ? (size_t)(mark - text) : size;
  char *all = malloc(2 * size + sizeof head + sizeof middle + 16);
  strcpy(all, head);
  if (mark) quote(all + strlen(all), mark + 4, size - first - 4);
  else strcat(all, "1");
  strcat(all, middle);
  quote(all + strlen(all), text, first);
  strcat(all, "\"\n");
  pcsim_tree *tree = NULL;
  MUST(pcsim_tree_parse(all, strlen(all), "fuzz.yaml", &tree) == PCSIM_OK);
  free(all);
  return tree;
}

static void lower(const typed_names *names, const typed_equation *equation) {
  typed_text flux = {0};
  const typed_text *texts[3] = {&equation->part[PART_ACCUMULATION], &flux, &equation->part[PART_SOURCE]};
  const pcsim_node *node[3] = {equation->node, equation->node, equation->node};
  pcsim_program *program = NULL;
  if (equation->part[PART_FLUX].text)
    typed_text_put(&flux, 0, "dot(%s, vector(1, 0))", equation->part[PART_FLUX].text);
  MUST(typed_program_make(names, texts, node, (typed_output[]){{"a", 1}, {"f", 1}, {"s", 1}}, 3, &program,
                          NULL) == PCSIM_OK);
  MUST(program || pcsim_tree_num_problems(names->tree));
  pcsim_program_destroy(&program);
  typed_text_free(&flux);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t held = pcsim_memory_used();
  int of_region[2] = {0, 1}, num = 0;
  typed_names names;
  typed_equation *equations = NULL;
  char *text = malloc(size + 1);
  memcpy(text, data, size);
  text[size] = '\0';
  pcsim_tree *tree = make_case(text, strlen(text));
  MUST(typed_names_read(tree, 2, &names) == PCSIM_OK);
  names.num_regions = 2;
  for (int i = 0; i < names.num_coefficients; ++i)
    if (names.coefficient[i].jumps) names.coefficient[i].of_region = of_region;
  MUST(typed_equations_read(&names, &num, &equations) == PCSIM_OK);
  MUST(num == 2);
  if (!pcsim_tree_num_problems(tree)) lower(&names, &equations[1]);
  typed_equations_free(num, &equations);
  for (int i = 0; i < names.num_coefficients; ++i) names.coefficient[i].of_region = NULL;
  typed_names_clear(&names);
  pcsim_tree_destroy(&tree);
  free(text);
  pcsim_error_clear();
  MUST(pcsim_memory_used() == held);
  return 0;
}
