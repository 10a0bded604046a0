/* SPDX-License-Identifier: BSD-2-Clause */
/** @file fields.c  Field files of a run: what of the fields goes to fields.hdf and surface.hdf. */
#include "cli.h"

#include <math.h>
#include <string.h>

/* Where estimated errors come from. */
typedef char indicator_names[MAX_SENSITIVITIES][96];
static int list_indicators(const cli_session *s, pcsim_field *list, indicator_names name) {
  const cli_sensitivities *errors = &s->sensitivities;
  int n = 0;
  for (int i = 0; i < errors->num; i++) {
    if (!errors->indicator[i]) continue;
    snprintf(name[i], sizeof name[i], "indicator.%s", errors->quantity[i]);
    list[n++] = (pcsim_field){name[i], 1, errors->indicator[i]};
  }
  return n;
}

/* ------------------------------------------------------------------ a flow */

/* With the unknowns of equations that join it. */
static pcsim_status write_flow(const cli_session *s, const pcsim_fields *all, const char *path) {
  const pcsim_mesh_view *view = pcsim_mesh_get(s->mesh);
  const pcsim_flow_fields *f = all->flow;
  pcsim_field list[3 + OUTPUT_UNKNOWNS + MAX_SENSITIVITIES];
  indicator_names name;
  int n = 0;
  double *vorticity = NULL;
  if (s->output.velocity) list[n++] = (pcsim_field){"velocity", 3, f->velocity};
  if (s->output.pressure) list[n++] = (pcsim_field){"pressure", 1, f->pressure};
  if (s->output.vorticity) {
    pcsim_status room = pcsim_alloc((size_t)view->num_cells * 3, sizeof *vorticity, &vorticity);
    PCSIM_TRY(pcsim_status_agree(s->c->comm, room));
    for (int64_t c = 0; c < view->num_cells; c++) {
      const double *g = f->velocity_gradient + 9 * c;
      vorticity[3 * c] = g[7] - g[5];
      vorticity[3 * c + 1] = g[2] - g[6];
      vorticity[3 * c + 2] = g[3] - g[1];
    }
    list[n++] = (pcsim_field){"vorticity", 3, vorticity};
  }
  n += list_indicators(s, list + n, name);
  for (int i = PCSIM_FLOW_NUM_FIELDS; i < all->num; i++)
    if (s->output.unknowns[i - PCSIM_FLOW_NUM_FIELDS])
      list[n++] = (pcsim_field){all->scalar[i].name, 1, all->scalar[i].value};
  pcsim_status status = pcsim_write_fields(s->mesh, list, n, path);
  pcsim_free(&vorticity);
  return status;
}

/* Boundaries with at least one wall face, on any rank. */
static pcsim_status find_walls(const cli_session *s, bool *wanted, bool *any) {
  const pcsim_mesh_view *view = pcsim_mesh_get(s->mesh);
  const pcsim_flow_view *flow = pcsim_flow_problem_get(s->problem);
  int *mine = NULL, *all = NULL;
  size_t n = (size_t)view->num_patches;
  pcsim_status status = PCSIM_OK;
  PCSIM_GOTO(pcsim_alloc(n, sizeof *mine, &mine), status, done);
  PCSIM_GOTO(pcsim_alloc(n, sizeof *all, &all), status, done);
  for (size_t p = 0; p < n; p++)
    for (int64_t face = view->patch_start[p]; face < view->patch_start[p + 1]; face++)
      if (flow->kind[face - view->num_interior_faces] == PCSIM_FLOW_WALL) mine[p] = 1;
  MPI_Allreduce(mine, all, (int)n, MPI_INT, MPI_MAX, s->c->comm);
  *any = false;
  for (size_t p = 0; p < n; p++) {
    wanted[p] = all[p];
    *any = *any || all[p];
  }
done:
  pcsim_free(&mine);
  pcsim_free(&all);
  return status;
}

/* Per wall face: pressure and wall shear (viscous force of the fluid on the wall, per area). */
static pcsim_status write_walls(const cli_session *s, const pcsim_flow_fields *f, const char *path) {
  const pcsim_mesh_view *view = pcsim_mesh_get(s->mesh);
  int64_t n = view->num_faces - view->num_interior_faces;
  bool *wanted = NULL, any = false;
  double *shear = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_GOTO(pcsim_alloc((size_t)view->num_patches, sizeof *wanted, &wanted), status, done);
  PCSIM_GOTO(find_walls(s, wanted, &any), status, done);
  if (!any) goto done;
  PCSIM_GOTO(pcsim_status_agree(s->c->comm, pcsim_alloc((size_t)n * 3, sizeof *shear, &shear)), status, done);
  for (int64_t i = 0; i < n; i++) {
    const double *a = view->face_area + 3 * (view->num_interior_faces + i);
    double area = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    for (int k = 0; k < 3; k++) shear[3 * i + k] = f->face_friction[3 * i + k] / area;
  }
  pcsim_face_field list[] = {{"pressure", 1, f->face_pressure}, {"shear", 3, shear}};
  PCSIM_GOTO(pcsim_write_surface(s->mesh, wanted, list, 2, path), status, done);
done:
  pcsim_free(&wanted);
  pcsim_free(&shear);
  return status;
}

/* --------------------------------------------------------- typed equations */

/* The unknowns that are wanted, and where estimated errors come from. */
static pcsim_status write_unknowns(const cli_session *s, const pcsim_fields *f, const char *path) {
  pcsim_field list[OUTPUT_UNKNOWNS + MAX_SENSITIVITIES];
  indicator_names name;
  int n = 0;
  for (int i = 0; i < f->num; i++)
    if (s->output.unknowns[i]) list[n++] = (pcsim_field){f->scalar[i].name, 1, f->scalar[i].value};
  n += list_indicators(s, list + n, name);
  return pcsim_write_fields(s->mesh, list, n, path);
}

/* Per boundary face each unknown and, as NAME.flux, the outward flux of its equation per area. */
static pcsim_status write_boundaries(const cli_session *s, const pcsim_fields *f, const char *path) {
  enum { NAME = 96 };
  const pcsim_mesh_view *view = pcsim_mesh_get(s->mesh);
  const int64_t n = view->num_faces - view->num_interior_faces;
  pcsim_face_field list[2 * OUTPUT_UNKNOWNS];
  double *flux = NULL;
  char(*name)[NAME] = NULL;
  pcsim_status status = pcsim_alloc((size_t)(n * f->num), sizeof *flux, &flux);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)f->num, NAME, &name);
  PCSIM_GOTO(pcsim_status_agree(s->c->comm, status), status, done);
  for (int i = 0; i < f->num; i++) {
    for (int64_t k = 0; k < n; k++) {
      const double *a = view->face_area + 3 * (view->num_interior_faces + k);
      flux[n * i + k] = f->scalar[i].flux[k] / sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    }
    snprintf(name[i], NAME, "%s.flux", f->scalar[i].name);
    list[2 * i] = (pcsim_face_field){f->scalar[i].name, 1, f->scalar[i].face};
    list[2 * i + 1] = (pcsim_face_field){name[i], 1, flux + n * i};
  }
  status = pcsim_write_surface(s->mesh, NULL, list, 2 * f->num, path);
done:
  pcsim_free(&flux);
  pcsim_free(&name);
  return status;
}

/* ------------------------------------------------------------------ either */

pcsim_status cli_fields_write(const cli_session *s, const pcsim_fields *f, const char *path, bool *written) {
  const cli_output *o = &s->output;
  *written = o->velocity || o->pressure || o->vorticity;
  for (int i = f->flow ? PCSIM_FLOW_NUM_FIELDS : 0; i < f->num; i++)
    *written = *written || o->unknowns[i - (f->flow ? PCSIM_FLOW_NUM_FIELDS : 0)];
  if (!*written) return PCSIM_OK;
  return f->flow ? write_flow(s, f, path) : write_unknowns(s, f, path);
}

pcsim_status cli_surface_write(const cli_session *s, const pcsim_fields *f, const char *path) {
  return f->flow ? write_walls(s, f->flow, path) : write_boundaries(s, f, path);
}
