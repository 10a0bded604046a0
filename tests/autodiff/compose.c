/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs put into one another: residuals of exact solutions vanish, those of a network are what its
 * derivatives make of them one by one, the gradient is that of differences, and what does not fit is refused.
 */
#include "interpret.h"

static const char *const coordinates[] = {"x", "y", "t"}, *const unknowns[] = {"u", "v"};
static const pcsim_lowering names = {3, coordinates, 2, unknowns, 0, NULL, NULL, 0, NULL, 0};
enum { POINTS = 5 };
static const double points[POINTS][3] = {
    {0.3, -0.4, 0.7}, {1.1, 0.2, 0}, {-0.6, 0.9, 0.4}, {0, 0, 0}, {2, -1, 0.1}};
static const double normals[POINTS] = {0.6, 1, 0, -0.8, 0.28};

static pcsim_program *lower(const char *const *texts, int n) {
  pcsim_program *p;
  pcsim_status status = pcsim_lower(texts, n, &names, &p, NULL, NULL);
  if (status != PCSIM_OK) fail_msg("%s", pcsim_error_message());
  return p;
}

/** The first `n` outputs of `p`, renamed: a program of fields. */
static pcsim_program *fields_of(const char *const *texts, int n) {
  pcsim_program *p = lower(texts, n);
  for (int i = 0; i < n; i++) {
    pcsim_free(&p->outputs[i].name);
    assert_ok(pcsim_strdup(unknowns[i], &p->outputs[i].name));
  }
  return p;
}

static double worst_of(const pcsim_program *p, const char *output) {
  interpreter it;
  double worst = 0;
  interpret_begin(&it, p);
  interpret_points(&it, "points", POINTS);
  interpret_bind(&it, "coordinates", points[0]);
  interpret_run(&it);
  const double *values = interpret_output(&it, output);
  for (int i = 0; i < POINTS; i++) {
    assert_true(isfinite(values[i]));
    worst = fmax(worst, fabs(values[i]));
  }
  interpret_end(&it);
  return worst;
}

/** Exact solutions: heat, a travelling wave, Burgers' rarefaction, the Taylor-Green vortex without its
 * pressure. */
static void test_exact(void **state) {
  (void)state;
  static const struct {
    const char *u, *v, *equation;
  } cases[] = {
      {"exp(-2*t)*sin(x)*cos(y)", "0", "u_t - lap(u)"},
      {"tanh(x - 0.5*y - t)", "0", "u_tt - u_xx"},
      {"x/(1 + t)", "0", "dt(u) + div(u^2/2, 0)"},
      {"-cos(x)*sin(y)*exp(-2*t)", "sin(x)*cos(y)*exp(-2*t)", "div(u, v) + u_t - lap(u) + v_t - lap(v)"},
      {"exp(x)*cos(y)", "0", "lap(lap(u)) + lap(u)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *const solution[] = {cases[i].u, cases[i].v};
    pcsim_program *equation = lower(&cases[i].equation, 1), *fields = fields_of(solution, 2), *p;
    assert_ok(pcsim_lower_compose(equation, &names, fields, &p));
    assert_close(worst_of(p, "0"), 0, 1e-14);
    pcsim_program_destroy(&p);
    pcsim_program_destroy(&fields);
    pcsim_program_destroy(&equation);
  }
}

/** u and v of a tanh network 3 - 6 - 2. */
static pcsim_program *network(void) {
  pcsim_program *p;
  assert_ok(pcsim_program_create(&p));
  pcsim_value x = pcsim_build_input(p, "coordinates", pcsim_build_space(p, "points"), 3);
  pcsim_value w1 = pcsim_build_parameter(p, "w1", 6, 3), b1 = pcsim_build_parameter(p, "b1", 6, 1);
  pcsim_value w2 = pcsim_build_parameter(p, "w2", 2, 6), b2 = pcsim_build_parameter(p, "b2", 2, 1);
  pcsim_value hidden = pcsim_build_unary(p, PCSIM_OP_TANH, pcsim_build_dense(p, w1, x, b1));
  pcsim_value out = pcsim_build_dense(p, w2, hidden, b2);
  pcsim_build_output(p, "u", pcsim_build_slice(p, out, 0, 1));
  pcsim_build_output(p, "v", pcsim_build_slice(p, out, 1, 1));
  pcsim_build_output(p, "not asked for", hidden);
  assert_ok(pcsim_program_status(p));
  for (int i = 0; i < 18; i++) pcsim_program_parameter(p, "w1", NULL, NULL)[i] = sin(1.7 * i + 0.3);
  for (int i = 0; i < 6; i++) pcsim_program_parameter(p, "b1", NULL, NULL)[i] = 0.4 * cos(2.1 * i);
  for (int i = 0; i < 12; i++) pcsim_program_parameter(p, "w2", NULL, NULL)[i] = cos(0.9 * i - 0.2);
  return p;
}

static const char *const equations[] = {"u_t + u*u_x + v*u_y - 0.1*lap(u)", "u_x + v_y", "dn(u*v) + u_xyt"};
enum { EQUATIONS = 3 };

static void bind_points(interpreter *it) {
  interpret_points(it, "points", POINTS);
  interpret_bind(it, "coordinates", points[0]);
}

/** Derivatives of the network one by one, in the order of `inputs`, put into the lowered program by hand. */
static void test_network(void **state) {
  (void)state;
  pcsim_program *equation = lower(equations, EQUATIONS), *fields = network(), *p, *partials;
  assert_ok(pcsim_lower_compose(equation, &names, fields, &p));
  assert_int_equal(graph_find_output(p, "u"), PCSIM_NO_VALUE);
  interpreter whole, by_hand;
  interpret_begin(&whole, p);
  bind_points(&whole);
  interpret_bind(&whole, "n.x", normals);
  interpret_bind(&whole, "n.y", normals);
  interpret_run(&whole);
  interpret_begin(&by_hand, equation);
  bind_points(&by_hand);
  double(*data)[POINTS] = calloc((size_t)equation->num_names, sizeof *data);
  for (int i = 0; i < equation->num_names; i++) {
    const char *name = equation->names[i];
    char output[32];
    int unknown, orders[3];
    if (!strcmp(name, "coordinates")) continue;
    interpret_bind(&by_hand, name, !strncmp(name, "n.", 2) ? normals : data[i]);
    if (!strncmp(name, "n.", 2)) continue;
    assert_ok(pcsim_lowering_derivative(&names, name, &unknown, orders));
    assert_ok(pcsim_transform_partials(fields, "coordinates", orders, 1, &partials));
    interpreter one;
    interpret_begin(&one, partials);
    bind_points(&one);
    interpret_run(&one);
    snprintf(output, sizeof output, "%s_p_0", unknowns[unknown]);
    memcpy(data[i], interpret_output(&one, output), sizeof data[i]);
    interpret_end(&one);
    pcsim_program_destroy(&partials);
  }
  interpret_run(&by_hand);
  for (int e = 0; e < EQUATIONS; e++) {
    char output[] = {(char)('0' + e), 0};
    const double *a = interpret_output(&whole, output), *b = interpret_output(&by_hand, output);
    for (int i = 0; i < POINTS; i++) assert_close(a[i], b[i], 1e-13 * (1 + fabs(b[i])));
  }
  free(data);
  interpret_end(&whole);
  interpret_end(&by_hand);
  pcsim_program_destroy(&p);
  pcsim_program_destroy(&fields);
  pcsim_program_destroy(&equation);
}

static double loss_of(pcsim_program *p) {
  interpreter it;
  interpret_begin(&it, p);
  bind_points(&it);
  interpret_run(&it);
  double loss = *interpret_output(&it, "loss");
  interpret_end(&it);
  return loss;
}

/** A typed residual, a network, a loss: its gradient by the weights. */
static void test_gradient(void **state) {
  (void)state;
  pcsim_program *equation = lower(equations, 1), *fields = network(), *p, *gradient, *square;
  assert_ok(pcsim_lower_compose(equation, &names, fields, &p));
  assert_ok(pcsim_program_create(&square));
  pcsim_value r = pcsim_build_input(square, "0", pcsim_build_space(square, "points"), 1);
  pcsim_build_output(square, "loss",
                     pcsim_build_mean(square, pcsim_build_binary(square, PCSIM_OP_MUL, r, r)));
  pcsim_program *loss;
  assert_ok(pcsim_program_compose(square, p, &loss));
  const char *const wrt = "w1";
  assert_ok(pcsim_transform_vjp(loss, &wrt, 1, &gradient));
  interpreter it;
  const double one = 1;
  interpret_begin(&it, gradient);
  bind_points(&it);
  interpret_bind(&it, "b_loss", &one);
  interpret_run(&it);
  const double *g = interpret_output(&it, "b_w1");
  double *w = pcsim_program_parameter(loss, "w1", NULL, NULL);
  for (int i = 0; i < 18; i++) {
    const double kept = w[i], h = 1e-5;
    w[i] = kept + h;
    double up = loss_of(loss);
    w[i] = kept - h;
    double down = loss_of(loss);
    w[i] = kept;
    assert_close(g[i], (up - down) / (2 * h), 1e-8 * (1 + fabs(g[i])));
  }
  interpret_end(&it);
  pcsim_program_destroy(&gradient);
  pcsim_program_destroy(&loss);
  pcsim_program_destroy(&square);
  pcsim_program_destroy(&p);
  pcsim_program_destroy(&fields);
  pcsim_program_destroy(&equation);
}

static void expect_refused(const pcsim_program *equation, const pcsim_program *fields, const char *words) {
  pcsim_program *p;
  assert_status(pcsim_lower_compose(equation, &names, fields, &p), PCSIM_ERR_ARG);
  assert_null(p);
  if (!strstr(pcsim_error_message(), words))
    print_error("'%s' is not in: %s\n", words, pcsim_error_message());
  assert_non_null(strstr(pcsim_error_message(), words));
}

static void test_refused(void **state) {
  (void)state;
  const char *const both = "u_x + v_y", *const value = "u";
  pcsim_program *equation = lower(&both, 1), *plain = lower(&value, 1), *fields, *p;
  size_t held = pcsim_memory_used();
  assert_ok(pcsim_program_create(&fields));
  pcsim_space space = pcsim_build_space(fields, "points");
  pcsim_value x = pcsim_build_input(fields, "coordinates", space, 2);
  pcsim_build_output(fields, "u", x);
  expect_refused(equation, fields, "the unknown 'u' is given with 2 rows; expected one");
  pcsim_free(&fields->outputs[0].name);
  assert_ok(pcsim_strdup("U", &fields->outputs[0].name));
  expect_refused(plain, fields,
                 "nothing gives the unknown 'u'; expected an output of this name; did you mean 'U'?");
  pcsim_build_output(fields, "u", pcsim_build_slice(fields, x, 0, 1));
  pcsim_build_output(fields, "v", pcsim_build_slice(fields, x, 1, 1));
  expect_refused(equation, fields, "the unknowns depend on 2 coordinates; the equations on 3");
  expect_refused(plain, fields, "both programs have 'coordinates', with another size or on another space");
  pcsim_program_destroy(&fields);
  assert_ok(pcsim_program_create(&fields));
  space = pcsim_build_space(fields, "cells");
  pcsim_build_output(fields, "u", pcsim_build_input(fields, "a", space, 1));
  expect_refused(plain, fields, "'u' is given with 1 x 1 numbers on cells; expected 1 x 1 on points");
  pcsim_program_destroy(&fields);
  assert_ok(pcsim_program_create(&fields));
  pcsim_build_output(fields, "u", pcsim_build_constant(fields, 3));
  pcsim_build_output(fields, "v", pcsim_build_constant(fields, 3));
  expect_refused(equation, fields, "the unknowns depend on nothing: expected an input 'coordinates'");
  assert_ok(pcsim_lower_compose(plain, &names, fields, &p)); /* spread over the points */
  assert_close(worst_of(p, "0"), 3, 0);
  pcsim_program_destroy(&p);
  pcsim_program_destroy(&fields);
  pcsim_error_clear();
  assert_int_equal(pcsim_memory_used(), held);
  pcsim_program_destroy(&equation);
  pcsim_program_destroy(&plain);
}

/** Maps, spaces and operators of both. */
static void test_maps(void **state) {
  (void)state;
  pcsim_program *programs[2], *p;
  for (int i = 0; i < 2; i++) {
    pcsim_program *q;
    assert_ok(pcsim_program_create(&q));
    programs[i] = q;
    /* The spaces in another order. */
    pcsim_space first = pcsim_build_space(q, i ? "faces" : "cells"),
                second = pcsim_build_space(q, i ? "cells" : "faces");
    pcsim_space cells = i ? second : first, faces = i ? first : second;
    if (i) pcsim_build_sparse_map(q, "gradient", cells, faces, 2);
    pcsim_map owner = pcsim_build_index_map(q, "owner", faces, cells);
    if (i)
      pcsim_build_output(q, "back",
                         pcsim_build_scatter_add(q, owner, pcsim_build_input(q, "flux", faces, 1)));
    else pcsim_build_output(q, "flux", pcsim_build_gather(q, owner, pcsim_build_input(q, "cell", cells, 1)));
  }
  assert_ok(pcsim_program_compose(programs[1], programs[0], &p));
  const int32_t index[] = {0, 1, 1};
  const double cell[] = {2, 5};
  interpreter it;
  interpret_begin(&it, p);
  interpret_points(&it, "cells", 2);
  interpret_points(&it, "faces", 3);
  interpret_bind(&it, "cell", cell);
  interpret_bind_map(&it, "owner", (interpret_map){.index = index});
  interpret_run(&it);
  assert_close(interpret_output(&it, "back")[0], 2, 0);
  assert_close(interpret_output(&it, "back")[1], 10, 0);
  interpret_end(&it);
  pcsim_program_destroy(&p);
  pcsim_program *q = programs[0];
  q->maps[0].width = 1;
  assert_status(pcsim_program_compose(programs[1], q, &p), PCSIM_ERR_ARG);
  assert_non_null(strstr(pcsim_error_message(), "both programs have a map 'owner'"));
  pcsim_program_destroy(&programs[0]);
  pcsim_program_destroy(&programs[1]);
  pcsim_error_clear();
}

/** One law on two spaces of a program, with other arguments on each. */
static void test_part(void **state) {
  (void)state;
  static const char *const law[] = {"u^2 + 3*u_x + x", "7"}, *const both[] = {"0", "1"};
  static const double left[3] = {1, -2, 0.5}, slope[3] = {4, 0, 1}, right[2] = {3, 10}, place[3] = {5, 6, 7};
  pcsim_program *part = lower(law, 2), *p;
  pcsim_value on_faces[2], on_cells[2], x[3];
  assert_ok(pcsim_program_create(&p));
  const pcsim_space faces = pcsim_build_space(p, "faces"), cells = pcsim_build_space(p, "cells");
  const pcsim_value u = pcsim_build_input(p, "left", faces, 1), g = pcsim_build_input(p, "slope", faces, 1);
  for (int i = 0; i < 3; i++) x[i] = pcsim_build_constant(p, place[i]);
  const pcsim_value at = pcsim_build_concat(p, x, 3), v = pcsim_build_input(p, "right", cells, 1);
  pcsim_build_part(p, part, faces,
                   (pcsim_argument[]){{"u", u}, {"u_x", g}, {"coordinates", at}, {"other", v}}, 4, both, 2,
                   on_faces);
  pcsim_build_part(p, part, cells,
                   (pcsim_argument[]){{"u", v}, {"u_x", pcsim_build_constant(p, 2)}, {"coordinates", at}}, 3,
                   both, 2, on_cells);
  pcsim_build_output(p, "faces", on_faces[0]);
  pcsim_build_output(p, "cells", on_cells[0]);
  pcsim_build_output(p, "sevens", on_cells[1]);
  assert_ok(pcsim_program_status(p));
  interpreter it;
  interpret_begin(&it, p);
  interpret_points(&it, "faces", 3);
  interpret_points(&it, "cells", 2);
  interpret_bind(&it, "left", left);
  interpret_bind(&it, "slope", slope);
  interpret_bind(&it, "right", right);
  interpret_run(&it);
  for (int i = 0; i < 3; i++)
    assert_close(interpret_output(&it, "faces")[i], left[i] * left[i] + 3 * slope[i] + 5, 1e-15);
  for (int i = 0; i < 2; i++) {
    assert_close(interpret_output(&it, "cells")[i], right[i] * right[i] + 6 + 5, 1e-15);
    assert_close(interpret_output(&it, "sevens")[i], 7, 0);
  }
  interpret_end(&it);
  pcsim_build_part(p, part, cells, (pcsim_argument[]){{"u", v}, {"coordinates", at}}, 2, both, 2, on_cells);
  assert_int_equal(on_cells[0], PCSIM_NO_VALUE);
  assert_status(pcsim_program_status(p), PCSIM_ERR_ARG);
  assert_non_null(strstr(pcsim_error_message(), "the part needs an argument 'u_x'"));
  pcsim_program_destroy(&p);
  assert_ok(pcsim_program_create(&p));
  pcsim_build_part(p, part, pcsim_build_space(p, "cells"), NULL, 0, (const char *const[]){"2"}, 1, on_cells);
  assert_status(pcsim_program_status(p), PCSIM_ERR_ARG);
  assert_non_null(strstr(pcsim_error_message(), "the part has no output '2'"));
  pcsim_program_destroy(&p);
  pcsim_program_destroy(&part);
  pcsim_error_clear();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exact),   cmocka_unit_test(test_network), cmocka_unit_test(test_gradient),
      cmocka_unit_test(test_refused), cmocka_unit_test(test_maps),    cmocka_unit_test(test_part),
  };
  return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
