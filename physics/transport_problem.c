/* SPDX-License-Identifier: BSD-2-Clause */
/* Typed equations on a mesh: programs, faces of conditions, start, scales, and what makes a set ill-posed. */
#include "flow.h"
#include "typed_case.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct pcsim_transport_problem {
  pcsim_transport_view view;
  const pcsim_mesh *mesh;
  char **unknown;    /* [m] */
  char **written;    /* [3*m] */
  bool *has_time;    /* [m] */
  double *scale;     /* [m] */
  double *region;    /* [num_cells + num_ghosts] */
  int32_t *material; /* the same */
  double *start;     /* [num_cells][m] */
  double *kinks;
  int32_t *patch_of; /* [num_conditions] a patch with faces that it has, for messages; -1 none */
  pcsim_program *terms, *lowered, *initial, *force;
  pcsim_transport_condition *condition;
  pcsim_transport_source *source;
  const char *field[1];
  const double *values[1];
};

static const char *const velocities[3] = {"u", "v", "w"};

/* ----------------------------------------------------------------- programs */

static void put_component(typed_text *t, const typed_text *flux, int dim, int axis) {
  static const char *const unit[2][3] = {{"1, 0", "0, 1", ""}, {"1, 0, 0", "0, 1, 0", "0, 0, 1"}};
  if (!flux->text) return;
  typed_text_put(t, flux->place[0], "dot(");
  for (size_t i = 0; i < flux->used; ++i) typed_text_put(t, flux->place[i], "%c", flux->text[i]);
  typed_text_put(t, flux->place[flux->used - 1], ", vector(%s))", unit[dim - 2][axis]);
}

/* Accumulation, flux by components, source: the texts of the equations row by row. */
static pcsim_status make_terms(const typed_case *c, pcsim_program **program, pcsim_program **lowered) {
  int m = c->names.num_unknowns, dim = c->names.dim, n = (dim + 2) * m;
  const typed_text **texts = NULL;
  const pcsim_node **node = NULL;
  typed_text *component = NULL;
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc((size_t)n, sizeof *texts, &texts), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)n, sizeof *node, &node), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)(dim * m), sizeof *component, &component), status, done);
  for (int i = 0; i < m; ++i) {
    const typed_equation *e = &c->equations[i];
    texts[i] = &e->part[PART_ACCUMULATION];
    texts[(dim + 1) * m + i] = &e->part[PART_SOURCE];
    for (int j = 0; j < dim; ++j) {
      put_component(&component[j * m + i], &e->part[PART_FLUX], dim, j);
      texts[(1 + j) * m + i] = &component[j * m + i];
    }
    for (int k = 0; k < dim + 2; ++k) node[k * m + i] = e->node;
  }
  status = typed_program_make(&c->names, texts, node,
                              (typed_output[]){{"accumulation", m}, {"flux", dim * m}, {"source", m}}, 3,
                              program, lowered);
done:
  for (int i = 0; component && i < dim * m; ++i) typed_text_free(&component[i]);
  pcsim_free(&component);
  pcsim_free(&texts);
  pcsim_free(&node);
  return status;
}

static pcsim_status make_initial(const typed_case *c, pcsim_program **program) {
  int m = c->names.num_unknowns;
  typed_text *text = NULL;
  const typed_text **texts = NULL;
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc((size_t)m, sizeof *text, &text), status, done);
  PCSIM_GOTO(pcsim_alloc((size_t)m, sizeof *texts, &texts), status, done);
  for (int i = 0; i < m; ++i) {
    if (c->initial[i]) typed_text_tree(&text[i], &c->names, pcsim_expr_root(c->initial[i]), LEVEL_ANY);
    texts[i] = &text[i];
  }
  status =
      typed_program_make(&c->names, texts, c->initial_text, (typed_output[]){{"start", m}}, 1, program, NULL);
done:
  for (int i = 0; text && i < m; ++i) typed_text_free(&text[i]);
  pcsim_free(&text);
  pcsim_free(&texts);
  return status;
}

static pcsim_status make_force(const typed_case *c, pcsim_program **program) {
  typed_text text[3] = {{0}};
  const typed_text *texts[3];
  for (int i = 0; i < c->names.dim; ++i) {
    if (c->force[i]) typed_text_tree(&text[i], &c->names, pcsim_expr_root(c->force[i]), LEVEL_ANY);
    texts[i] = &text[i];
  }
  const pcsim_status status = typed_program_make(&c->names, texts, c->force_text,
                                                 (typed_output[]){{"force", c->names.dim}}, 1, program, NULL);
  for (int i = 0; i < 3; ++i) typed_text_free(&text[i]);
  return status;
}

static pcsim_status make_conditions(const typed_case *c, pcsim_transport_problem *p) {
  size_t m = (size_t)c->names.num_unknowns;
  const int num = c->conditions.num - c->conditions.num_periodic;
  p->view.num_conditions = num;
  PCSIM_TRY(pcsim_alloc((size_t)num, sizeof *p->condition, &p->condition));
  PCSIM_TRY(pcsim_alloc((size_t)num, sizeof *p->patch_of, &p->patch_of));
  p->view.condition = p->condition;
  for (int k = 0; k < num; ++k) {
    const typed_condition *given = &c->conditions.condition[k];
    pcsim_transport_condition *made = &p->condition[k];
    pcsim_program *program = NULL, *lowered = NULL;
    char *name = NULL;
    uint8_t *kind = NULL;
    PCSIM_TRY(pcsim_strdup(given->name, &name));
    made->name = name;
    PCSIM_TRY(pcsim_alloc(m, sizeof *kind, &kind));
    memcpy(kind, given->kind, m);
    made->kind = kind;
    PCSIM_TRY(typed_condition_program(&c->names, given, &program, &lowered));
    made->program = program;
    made->lowered = lowered;
  }
  return PCSIM_OK;
}

/* ----------------------------------------------------------------- the mesh */

static pcsim_status place_conditions(const typed_case *c, pcsim_transport_problem *p) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(p->mesh);
  for (int k = 0; k < p->view.num_conditions; ++k) {
    pcsim_transport_condition *made = &p->condition[k];
    int64_t *face = NULL, n = 0;
    p->patch_of[k] = -1;
    for (int pass = 0; pass < 2; ++pass) {
      if (pass) PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *face, &face));
      made->face = face;
      n = 0;
      for (int q = 0; q < mesh->num_patches; ++q) {
        if (c->conditions.of_patch[q] != k) continue;
        if (mesh->patch_size_global[q] > 0) p->patch_of[k] = q;
        for (int64_t f = mesh->patch_start[q]; f < mesh->patch_start[q + 1]; ++f, ++n)
          if (pass) face[n] = f - mesh->num_interior_faces;
      }
    }
    made->num_faces = n;
  }
  return PCSIM_OK;
}

/* Regions with the same coefficients in the fluxes are one material. */
static int material_of(const typed_case *c, uint64_t jumps, int region) {
  for (int other = 0; other < region; ++other) {
    bool same = true;
    for (int k = 0; k < c->names.num_coefficients; ++k) {
      const int *of = c->names.coefficient[k].of_region;
      if (jumps >> k & 1u && of[region] != of[other]) same = false;
    }
    if (same) return other;
  }
  return region;
}

static pcsim_status place_regions(const typed_case *c, pcsim_transport_problem *p) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(p->mesh);
  int64_t n = mesh->num_cells + mesh->num_ghosts;
  uint64_t jumps = 0;
  bool any = false, several = false;
  for (int k = 0; k < c->names.num_coefficients; ++k) any = any || c->names.coefficient[k].jumps;
  for (int i = 0; i < c->num_equations; ++i) jumps |= c->equations[i].flux_jumps;
  if (!any) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *p->region, &p->region));
  for (int64_t i = 0; i < n; ++i) p->region[i] = mesh->cell_region[i];
  p->field[0] = "region";
  p->values[0] = p->region;
  p->view.num_fields = 1;
  p->view.field = p->field;
  p->view.values = p->values;
  for (int r = 1; r < mesh->num_regions; ++r) several = several || material_of(c, jumps, r) > 0;
  if (!several) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *p->material, &p->material));
  for (int64_t i = 0; i < n; ++i) p->material[i] = material_of(c, jumps, mesh->cell_region[i]);
  p->view.material = p->material;
  return PCSIM_OK;
}

static double norm(const double *a) { return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

static void find_length(pcsim_transport_problem *p) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(p->mesh);
  double sum[2] = {0, 0};
  for (int64_t c = 0; c < mesh->num_cells; ++c) sum[0] += mesh->cell_volume[c];
  for (int64_t f = mesh->num_interior_faces; f < mesh->num_faces; ++f)
    sum[1] += norm(mesh->face_area + 3 * f);
  MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, pcsim_mesh_comm(p->mesh));
  p->view.length_scale = sum[1] > 0 ? 2 * mesh->dim * sum[0] / sum[1] : pow(sum[0], 1.0 / mesh->dim);
}

/* ------------------------------------------------------------ values there */

/* Values of programs at points of the mesh, with what is needed to say where one is wrong. */
typedef struct {
  int64_t n;
  double *points; /* [n][4] */
  double *region; /* [n] */
  double *values; /* [n][m] */
} sampling;

static void sampling_free(sampling *s) {
  pcsim_free(&s->points);
  pcsim_free(&s->region);
  pcsim_free(&s->values);
}

static pcsim_status sampling_begin(int64_t n, int m, sampling *s) {
  s->n = n;
  PCSIM_TRY(pcsim_alloc(4 * (size_t)n, sizeof *s->points, &s->points));
  PCSIM_TRY(pcsim_alloc((size_t)n, sizeof *s->region, &s->region));
  return pcsim_alloc((size_t)(n * m), sizeof *s->values, &s->values);
}

/* Report the first point, by x, over all ranks at which unknown i is no finite number. */
static bool report_wrong(pcsim_tree *tree, const pcsim_mesh *mesh, const sampling *s, int m, int i,
                         const pcsim_node *at, const char *what) {
  double place[3] = {INFINITY, 0, 0};
  struct {
    double x;
    int rank;
  } first = {INFINITY, 0};
  MPI_Comm comm = pcsim_mesh_comm(mesh);
  for (int64_t k = 0; k < s->n; ++k)
    if (!isfinite(s->values[k * m + i]) && s->points[4 * k] < place[0])
      memcpy(place, s->points + 4 * k, sizeof place);
  first.x = place[0];
  MPI_Comm_rank(comm, &first.rank);
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm);
  if (!isfinite(first.x)) return false;
  MPI_Bcast(place, 3, MPI_DOUBLE, first.rank, comm);
  pcsim_tree_problem(tree, at, "%s is not a finite number around (%g, %g, %g)", what, place[0], place[1],
                     place[2]);
  return true;
}

/* What the given values and the start add up to. */
typedef struct {
  double *most, *sum, *area; /* [m] */
} extent;

static pcsim_status sample_condition(const typed_case *c, pcsim_transport_problem *p, int k, sampling *s) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(p->mesh);
  const pcsim_transport_condition *condition = &p->condition[k];
  PCSIM_TRY(sampling_begin(condition->num_faces, c->names.num_unknowns, s));
  for (int64_t i = 0; i < s->n; ++i) {
    int64_t f = mesh->num_interior_faces + condition->face[i];
    memcpy(s->points + 4 * i, mesh->face_centre + 3 * f, 3 * sizeof *s->points);
    s->region[i] = mesh->cell_region[mesh->owner[f]];
  }
  return typed_program_values(condition->program, "value", s->n, s->points, s->region, s->values);
}

static pcsim_status add_condition(const typed_case *c, pcsim_transport_problem *p, int k, const extent *e) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(p->mesh);
  const pcsim_transport_condition *condition = &p->condition[k];
  int m = c->names.num_unknowns;
  sampling s = {0};
  pcsim_status status = pcsim_status_agree(pcsim_mesh_comm(p->mesh), sample_condition(c, p, k, &s));
  for (int i = 0; status == PCSIM_OK && i < m; ++i) {
    if (condition->kind[i] != PCSIM_TRANSPORT_VALUE) continue;
    char what[200];
    snprintf(what, sizeof what, "the value of `%s` on boundary `%s`", c->names.unknown[i], condition->name);
    report_wrong(c->names.tree, p->mesh, &s, m, i, c->conditions.condition[k].text[i], what);
    for (int64_t q = 0; q < s.n; ++q) {
      double area = norm(mesh->face_area + 3 * (mesh->num_interior_faces + condition->face[q]));
      e->most[i] = fmax(e->most[i], fabs(s.values[q * m + i]));
      e->sum[i] += area * s.values[q * m + i];
      e->area[i] += area;
    }
  }
  sampling_free(&s);
  return status;
}

static pcsim_status sample_start(const typed_case *c, pcsim_transport_problem *p, sampling *s) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(p->mesh);
  PCSIM_TRY(sampling_begin(mesh->num_cells, c->names.num_unknowns, s));
  for (int64_t i = 0; i < s->n; ++i) {
    memcpy(s->points + 4 * i, mesh->cell_centre + 3 * i, 3 * sizeof *s->points);
    s->region[i] = mesh->cell_region[i];
  }
  if (!p->initial) return PCSIM_OK;
  return typed_program_values(p->initial, "start", s->n, s->points, s->region, s->values);
}

/* What `initial` leaves open starts from the mean of the given boundary values. */
static pcsim_status fill_start(const typed_case *c, pcsim_transport_problem *p, const extent *e) {
  int m = c->names.num_unknowns;
  sampling s = {0};
  pcsim_status status = pcsim_status_agree(pcsim_mesh_comm(p->mesh), sample_start(c, p, &s));
  for (int i = 0; status == PCSIM_OK && i < m; ++i) {
    char what[200];
    snprintf(what, sizeof what, "the start of `%s`", c->names.unknown[i]);
    if (c->initial[i]) report_wrong(c->names.tree, p->mesh, &s, m, i, c->initial_text[i], what);
    for (int64_t q = 0; q < s.n; ++q) {
      if (!c->initial[i]) s.values[q * m + i] = e->area[i] > 0 ? e->sum[i] / e->area[i] : 0;
      e->most[i] = fmax(e->most[i], fabs(s.values[q * m + i]));
    }
  }
  p->start = s.values;
  p->view.start = p->start;
  s.values = NULL;
  sampling_free(&s);
  return status;
}

static pcsim_status fill_values(const typed_case *c, pcsim_transport_problem *p) {
  size_t m = (size_t)c->names.num_unknowns;
  extent e = {0};
  double *all = NULL;
  pcsim_status status = pcsim_alloc(3 * m, sizeof *all, &all);
  MPI_Comm comm = pcsim_mesh_comm(p->mesh);
  PCSIM_TRY(pcsim_status_agree(comm, status));
  e = (extent){all, all + m, all + 2 * m};
  for (int k = 0; status == PCSIM_OK && k < p->view.num_conditions; ++k) status = add_condition(c, p, k, &e);
  MPI_Allreduce(MPI_IN_PLACE, e.sum, 2 * (int)m, MPI_DOUBLE, MPI_SUM, comm);
  if (status == PCSIM_OK) status = fill_start(c, p, &e);
  MPI_Allreduce(MPI_IN_PLACE, e.most, (int)m, MPI_DOUBLE, MPI_MAX, comm);
  for (size_t i = 0; i < m; ++i) p->scale[i] = e.most[i] > 0 && isfinite(e.most[i]) ? e.most[i] : 1;
  pcsim_free(&all);
  return status;
}

/* --------------------------------------------------------------- ill-posed */

/* In a steady case something must fix the level of each unknown: a value on a boundary, or the unknown itself
 * (not only its derivatives) in a flux, a source or a condition. */
static pcsim_status check_levels(const typed_case *c, const pcsim_transport_problem *p) {
  pcsim_program *steady = NULL;
  const char *const outputs[] = {"flux", "source"};
  const pcsim_node *boundaries = pcsim_node_get(pcsim_tree_root(c->names.tree), "boundaries");
  pcsim_status status;
  if (!c->names.steady) return PCSIM_OK;
  PCSIM_GOTO(pcsim_program_copy(p->terms, &steady), status, done);
  PCSIM_GOTO(pcsim_program_keep(steady, outputs, 2), status, done);
  for (int i = 0; i < c->names.num_unknowns; ++i) {
    const char *name = c->names.unknown[i];
    bool fixed = typed_program_uses(steady, name);
    for (int k = 0; k < p->view.num_conditions; ++k) {
      if (p->patch_of[k] < 0) continue;
      fixed = fixed || p->condition[k].kind[i] == PCSIM_TRANSPORT_VALUE ||
              typed_program_uses(p->condition[k].program, name);
    }
    if (!fixed)
      pcsim_tree_problem(
          c->names.tree, boundaries,
          "nothing fixes the level of `%s`: the case is steady, no boundary gives its value (all give "
          "fluxes, a pure Neumann problem) and the equations contain its derivatives only; expected "
          "a value on some boundary, or a flux that depends on `%s`",
          name, name);
  }
done:
  pcsim_program_destroy(&steady);
  return status;
}

/* --------------------------------------------------------------------- time */

/* Times at which tables bend, in laws, conditions and sources. */
static pcsim_status find_kinks(const typed_case *c, pcsim_transport_problem *p) {
  pcsim_time time;
  int64_t *num = &p->view.num_kinks;
  if (c->names.steady) return PCSIM_OK;
  pcsim_time_read(c->names.tree, &time);
  PCSIM_TRY(
      pcsim_program_table_points(p->terms, "coordinates", TYPED_T, time.start, time.end, num, &p->kinks));
  if (p->force)
    PCSIM_TRY(
        pcsim_program_table_points(p->force, "coordinates", TYPED_T, time.start, time.end, num, &p->kinks));
  for (int k = 0; k < p->view.num_conditions; ++k)
    PCSIM_TRY(pcsim_program_table_points(p->condition[k].program, "coordinates", TYPED_T, time.start,
                                         time.end, num, &p->kinks));
  for (int k = 0; k < p->view.num_sources; ++k)
    PCSIM_TRY(pcsim_program_table_points(p->source[k].program, "coordinates", TYPED_T, time.start, time.end,
                                         num, &p->kinks));
  p->view.kinks = p->kinks;
  return PCSIM_OK;
}

/* -------------------------------------------------------------------- whole */

void pcsim_transport_problem_set_start(pcsim_transport_problem *problem, const double *values) {
  const int64_t n = pcsim_mesh_get(problem->mesh)->num_cells;
  const int m = problem->view.num_unknowns;
  if (n > 0) memcpy(problem->start, values, (size_t)n * (size_t)m * sizeof *values);
  for (int i = 0; i < m; ++i) {
    double most = problem->scale[i];
    for (int64_t c = 0; c < n; ++c) most = fmax(most, fabs(values[c * m + i]));
    MPI_Allreduce(&most, &problem->scale[i], 1, MPI_DOUBLE, MPI_MAX, pcsim_mesh_comm(problem->mesh));
  }
}

void pcsim_transport_problem_destroy(pcsim_transport_problem **problem) {
  if (!problem || !*problem) return;
  pcsim_transport_problem *p = *problem;
  int m = p->view.num_unknowns;
  for (int i = 0; p->unknown && i < m; ++i) pcsim_free(&p->unknown[i]);
  for (int i = 0; p->written && i < 3 * m; ++i) pcsim_free(&p->written[i]);
  for (int k = 0; p->condition && k < p->view.num_conditions; ++k) {
    pcsim_transport_condition *one = &p->condition[k];
    pcsim_program *program = (pcsim_program *)(uintptr_t)one->program;
    pcsim_program *lowered = (pcsim_program *)(uintptr_t)one->lowered;
    void *owned[3] = {(void *)(uintptr_t)one->name, (void *)(uintptr_t)one->kind,
                      (void *)(uintptr_t)one->face};
    pcsim_program_destroy(&program);
    pcsim_program_destroy(&lowered);
    for (int i = 0; i < 3; ++i) pcsim_free(&owned[i]);
  }
  for (int k = 0; p->source && k < p->view.num_sources; ++k) typed_source_clear(&p->source[k]);
  pcsim_program_destroy(&p->terms);
  pcsim_program_destroy(&p->lowered);
  pcsim_program_destroy(&p->initial);
  pcsim_program_destroy(&p->force);
  pcsim_free(&p->unknown);
  pcsim_free(&p->written);
  pcsim_free(&p->has_time);
  pcsim_free(&p->scale);
  pcsim_free(&p->region);
  pcsim_free(&p->material);
  pcsim_free(&p->start);
  pcsim_free(&p->kinks);
  pcsim_free(&p->patch_of);
  pcsim_free(&p->condition);
  pcsim_free(&p->source);
  pcsim_free(problem);
}

const pcsim_transport_view *pcsim_transport_problem_get(const pcsim_transport_problem *problem) {
  return &problem->view;
}

static pcsim_status copy_names(const typed_case *c, pcsim_transport_problem *p) {
  size_t m = (size_t)c->names.num_unknowns;
  p->view.num_unknowns = (int)m;
  PCSIM_TRY(pcsim_alloc(m, sizeof *p->unknown, &p->unknown));
  PCSIM_TRY(pcsim_alloc(3 * m, sizeof *p->written, &p->written));
  PCSIM_TRY(pcsim_alloc(m, sizeof *p->has_time, &p->has_time));
  PCSIM_TRY(pcsim_alloc(m, sizeof *p->scale, &p->scale));
  p->view.unknown = (const char *const *)p->unknown;
  p->view.written = (const char *const *)p->written;
  p->view.has_time = p->has_time;
  p->view.scale = p->scale;
  for (size_t i = 0; i < m; ++i) {
    PCSIM_TRY(pcsim_strdup(c->names.unknown[i], &p->unknown[i]));
    for (size_t k = 0; k < 3; ++k) {
      const char *text = c->equations[i].shown[k].text;
      PCSIM_TRY(pcsim_strdup(text ? text : "", &p->written[3 * i + k]));
    }
    p->has_time[i] = c->equations[i].part[PART_ACCUMULATION].text != NULL;
    p->view.has_any_time = p->view.has_any_time || p->has_time[i];
  }
  return PCSIM_OK;
}

/* What needs no other rank; the case has no problem so far. */
static pcsim_status make_local(const typed_case *c, const pcsim_mesh *mesh, pcsim_transport_problem **made) {
  PCSIM_TRY(pcsim_alloc(1, sizeof **made, made));
  pcsim_transport_problem *p = *made;
  p->mesh = mesh;
  p->view.dim = c->names.dim;
  PCSIM_TRY(copy_names(c, p));
  PCSIM_TRY(make_terms(c, &p->terms, &p->lowered));
  p->view.terms = p->terms;
  p->view.lowered = p->lowered;
  PCSIM_TRY(make_conditions(c, p));
  if (c->has_initial) PCSIM_TRY(make_initial(c, &p->initial));
  p->view.initial = p->initial;
  if (c->has_force) PCSIM_TRY(make_force(c, &p->force));
  p->view.force = p->force;
  p->view.num_carriers = c->names.num_carriers;
  p->view.carrier = velocities;
  PCSIM_TRY(place_conditions(c, p));
  PCSIM_TRY(place_regions(c, p));
  return pcsim_alloc((size_t)c->num_sources, sizeof *p->source, &p->source);
}

/* What is collective. */
static pcsim_status complete(const typed_case *c, pcsim_transport_problem *p) {
  find_length(p);
  p->view.source = p->source;
  for (int k = 0; k < c->num_sources; ++k) {
    ++p->view.num_sources;
    PCSIM_TRY(typed_source_make(&c->names, p->mesh, &c->sources[k], &p->source[k]));
  }
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(p->mesh), find_kinks(c, p)));
  PCSIM_TRY(fill_values(c, p));
  return pcsim_status_agree(pcsim_mesh_comm(p->mesh), check_levels(c, p));
}

pcsim_status pcsim_transport_problem_read(pcsim_tree *tree, const pcsim_mesh *mesh,
                                          pcsim_transport_problem **problem) {
  *problem = NULL;
  PCSIM_CHECK(tree && mesh, PCSIM_ERR_ARG, "pcsim_transport_problem_read needs a %s, found NULL",
              tree ? "mesh (pcsim_mesh_create makes one)" : "case (pcsim_tree_read makes one)");
  PCSIM_CHECK(pcsim_transport_given(tree) || pcsim_joined_given(tree), PCSIM_ERR_ARG,
              "the case has no typed equations");
  size_t before = pcsim_tree_num_problems(tree);
  MPI_Comm comm = pcsim_mesh_comm(mesh);
  pcsim_transport_problem *made = NULL;
  typed_case c;
  pcsim_status status = typed_case_read(tree, mesh, &c);
  if (status == PCSIM_OK) status = typed_conditions_match(&c.names, mesh, &c.conditions);
  bool good = pcsim_tree_num_problems(tree) == before;
  if (status == PCSIM_OK && good) status = make_local(&c, mesh, &made);
  PCSIM_GOTO(pcsim_status_agree(comm, status), status, done);
  good = pcsim_tree_num_problems(tree) == before;
  if (good) PCSIM_GOTO(complete(&c, made), status, done);
  if (pcsim_tree_num_problems(tree) == before) {
    *problem = made;
    made = NULL;
  }
done:
  pcsim_transport_problem_destroy(&made);
  typed_case_clear(&c);
  return status;
}
