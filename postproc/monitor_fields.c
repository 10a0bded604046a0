/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields that monitors and references can name, and where the case gives their values. */
#include "monitor.h"

#include <stdio.h>
#include <string.h>

static const monitor_field flow_fields[PCSIM_FLOW_NUM_FIELDS] = {
    {.name = "u", .alias = "velocity.x", .unit = "m/s", .offered = true},
    {.name = "v", .alias = "velocity.y", .unit = "m/s", .offered = true},
    {.name = "w", .alias = "velocity.z", .unit = "m/s", .offered = true},
    {.name = "p", .alias = "pressure", .unit = "Pa", .offered = true, .oscillates = true},
};

static pcsim_status make_room(pcsim_monitors *monitors, int num, int num_patches) {
  monitors->num_fields = num;
  PCSIM_TRY(pcsim_alloc((size_t)num, sizeof *monitors->field, &monitors->field));
  return pcsim_alloc((size_t)num * (size_t)num_patches, sizeof(bool), &monitors->given);
}

static int patch_of(const pcsim_mesh_view *mesh, int64_t face) {
  int patch = 0;
  while (face >= mesh->patch_start[patch + 1]) ++patch;
  return patch;
}

/* Unknowns of typed equations as the fields from `first` on. A condition holds on whole boundaries: one of
 * its faces tells, on whichever rank it lies. */
static void add_unknowns(pcsim_monitors *monitors, const pcsim_transport_view *typed, int first) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  bool *given = monitors->given + first * mesh->num_patches;
  for (int i = 0; i < typed->num_unknowns; ++i)
    monitors->field[first + i] = (monitor_field){
        .name = typed->unknown[i], .unit = "", .offered = true, .given = given + i * mesh->num_patches};
  for (int c = 0; c < typed->num_conditions; ++c) {
    const pcsim_transport_condition *condition = &typed->condition[c];
    for (int64_t k = 0; k < condition->num_faces; ++k) {
      const int patch = patch_of(mesh, mesh->num_interior_faces + condition->face[k]);
      for (int i = 0; i < typed->num_unknowns; ++i)
        if (condition->kind[i] == PCSIM_TRANSPORT_VALUE) monitors->field[first + i].given[patch] = true;
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, given, typed->num_unknowns * mesh->num_patches, MPI_C_BOOL, MPI_LOR,
                pcsim_mesh_comm(monitors->mesh));
}

static pcsim_status read_flow(pcsim_tree *tree, pcsim_monitors *monitors) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  const int more = monitors->joined ? monitors->joined->num_unknowns : 0;
  pcsim_status status = make_room(monitors, PCSIM_FLOW_NUM_FIELDS + more, mesh->num_patches);
  if (status == PCSIM_OK) status = pcsim_alloc((size_t)mesh->num_patches, sizeof(int), &monitors->patch_kind);
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(monitors->mesh), status));
  pcsim_flow_kinds(tree, monitors->mesh, monitors->patch_kind);
  monitors->pressure_free = true;
  for (int f = 0; f < PCSIM_FLOW_NUM_FIELDS; ++f) {
    monitor_field *field = &monitors->field[f];
    *field = flow_fields[f];
    field->offered = f != SAMPLE_W || mesh->dim == 3;
    field->given = monitors->given + f * mesh->num_patches;
    for (int p = 0; p < mesh->num_patches; ++p) {
      const int kind = monitors->patch_kind[p];
      field->given[p] = f == SAMPLE_P ? kind == PCSIM_FLOW_PRESSURE
                                      : kind == PCSIM_FLOW_VELOCITY || kind == PCSIM_FLOW_WALL;
      if (kind == PCSIM_FLOW_PRESSURE || kind == PCSIM_FLOW_TOTAL_PRESSURE) monitors->pressure_free = false;
    }
  }
  if (monitors->joined) add_unknowns(monitors, monitors->joined, PCSIM_FLOW_NUM_FIELDS);
  return PCSIM_OK;
}

static pcsim_status read_typed(pcsim_monitors *monitors) {
  const pcsim_mesh_view *mesh = pcsim_mesh_get(monitors->mesh);
  const pcsim_status status = make_room(monitors, monitors->typed->num_unknowns, mesh->num_patches);
  PCSIM_TRY(pcsim_status_agree(pcsim_mesh_comm(monitors->mesh), status));
  add_unknowns(monitors, monitors->typed, 0);
  return PCSIM_OK;
}

pcsim_status monitors_read_fields(pcsim_tree *tree, pcsim_monitors *monitors) {
  return monitors->typed ? read_typed(monitors) : read_flow(tree, monitors);
}

int monitors_find_field(const pcsim_monitors *monitors, const char *name) {
  for (int f = 0; f < monitors->num_fields; ++f) {
    const monitor_field *field = &monitors->field[f];
    if (field->offered && (!strcmp(name, field->name) || (field->alias && !strcmp(name, field->alias))))
      return f;
  }
  return -1;
}

void monitors_field_names(const pcsim_monitors *monitors, char *text, size_t size) {
  int last = 0;
  for (int f = 0; f < monitors->num_fields; ++f)
    if (monitors->field[f].offered) last = f;
  text[0] = '\0';
  for (int f = 0; f <= last; ++f) {
    const size_t used = strlen(text);
    if (monitors->field[f].offered)
      snprintf(text + used, size - used, "%s%s",
               !used       ? ""
               : f == last ? " or "
                           : ", ",
               monitors->field[f].name);
  }
}
