/* SPDX-License-Identifier: BSD-2-Clause */
/* pcsim-mesh SPEC OUT.raw [OUT.msh]: make or read a mesh as SPEC says; --version. Messages on standard error,
 * one a line; exit codes as pcsim's. */
#include "mesher.h"

#include <fcntl.h>
#include <gmshc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
  const char *name;
  mesher_shape make;
} shape_table[] = {
    {"box", mesher_shape_box},
    {"cavity", mesher_shape_cavity},
    {"channel-cylinder", mesher_shape_channel},
    {"channel-cylinder-3d", mesher_shape_channel_3d},
    {"step", mesher_shape_step},
};

typedef struct {
  mesher_spec *spec;
  const char *out, *msh;
} job;

static pcsim_status write_mesh(const job *j, pcsim_raw_mesh *raw) {
  PCSIM_TRY(mesher_regions_set(j->spec, raw));
  PCSIM_TRY(mesher_periodic_set(j->spec, raw));
  PCSIM_TRY(pcsim_raw_mesh_write(raw, j->out));
  if (j->msh) PCSIM_TRY(mesher_msh_write(raw, j->msh));
  return PCSIM_OK;
}

static pcsim_status read_file(void *context) {
  const job *j = context;
  pcsim_raw_mesh *raw = NULL;
  PCSIM_TRY(mesher_msh_read(j->spec, &raw));
  pcsim_status status = write_mesh(j, raw);
  pcsim_raw_mesh_destroy(&raw);
  PCSIM_TRY(status);
  return PCSIM_OK;
}

static pcsim_status make_shape(const job *j, const char *name) {
  mesher_mesh mesh = {0};
  pcsim_raw_mesh *raw = NULL;
  pcsim_status status = PCSIM_OK;
  size_t i = 0, n = sizeof shape_table / sizeof *shape_table;
  while (i < n && strcmp(shape_table[i].name, name) != 0) i++;
  PCSIM_CHECK(i < n, PCSIM_ERR_CASE, "mesh: unknown shape '%s'", name);
  PCSIM_GOTO(shape_table[i].make(j->spec, &mesh), status, done);
  PCSIM_GOTO(mesher_to_raw(&mesh, &raw), status, done);
  PCSIM_GOTO(write_mesh(j, raw), status, done);
done:
  mesher_mesh_free(&mesh);
  pcsim_raw_mesh_destroy(&raw);
  return status;
}

static pcsim_status run(job *j, const char *spec_path) {
  PCSIM_TRY(mesher_spec_read(spec_path, &j->spec));
  const char *shape = mesher_spec_text(j->spec, "shape"), *file = mesher_spec_text(j->spec, "file");
  PCSIM_CHECK(!shape != !file, PCSIM_ERR_CASE, "mesh: expected one of 'shape' and 'file'");
  if (shape) return make_shape(j, shape);
  PCSIM_TRY(mesher_msh_check(file));
  return mesher_contain(read_file, j, file);
}

/* Gmsh and the C++ run-time write to the standard streams as they please: our messages go out on a
 * descriptor of their own. */
static int take_over_streams(void) {
  int messages = fcntl(2, F_DUPFD_CLOEXEC, 10), null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (messages < 0) messages = 2;
  if (null < 0) return messages;
  dup2(null, 0);
  dup2(null, 1);
  if (messages != 2) dup2(null, 2);
  return messages;
}

/* The library that runs may be newer than the headers of the build. */
static int say_version(void) {
  char *version = NULL;
  int ierr = 0;
  pcsim_status status = mesher_gmsh_start();
  if (status == PCSIM_OK) gmshOptionGetString("General.Version", &version, &ierr);
  printf("Gmsh %s\n", version && !ierr ? version : "does not start");
  gmshFree(version);
  mesher_gmsh_stop();
  return version && !ierr ? 0 : 4;
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "--version")) return say_version();
  if (argc < 3 || argc > 4) {
    fprintf(stderr, "usage: pcsim-mesh SPEC OUT.raw [OUT.msh]\n");
    return 2;
  }
  job j = {.out = argv[2], .msh = argc > 3 ? argv[3] : NULL};
  int messages = take_over_streams();
  pcsim_status status = run(&j, argv[1]);
  if (status != PCSIM_OK) {
    const char *text = pcsim_error_message();
    dprintf(messages, "%s\n", text[0] ? text : pcsim_status_text(status));
  }
  mesher_spec_destroy(&j.spec);
  return pcsim_status_exit_code(status);
}
