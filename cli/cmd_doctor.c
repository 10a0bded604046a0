/* SPDX-License-Identifier: BSD-2-Clause */
/** @file cmd_doctor.c  pcsim doctor: what this build and this machine can do. */
#include "cli.h"

#include <dlfcn.h>
#include <hdf5.h>
#include <petscsys.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int problems;

static void line(const char *name, const char *text) { printf("%-12s %s\n", name, text); }

static void say_mpi(const cli *c) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  version[strcspn(version, ",\n")] = '\0';
  printf("%-12s %s, %d rank%s now\n", "MPI", version, c->ranks, c->ranks > 1 ? "s" : "");
}

static void say_petsc(void) {
  static const char *const packages[] = {"mumps", "hypre", "ptscotch", "superlu_dist", "suitesparse", "hdf5"};
  char version[256], found[256] = "", absent[256] = "";
  if (PetscGetVersion(version, sizeof version)) return;
  version[strcspn(version, ",")] = '\0';
  for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
    PetscBool has = PETSC_FALSE;
    if (PetscHasExternalPackage(packages[i], &has)) return;
    char *text = has ? found : absent;
    size_t used = strlen(text);
    snprintf(text + used, 256 - used, " %s", packages[i]);
  }
  printf("%-12s %s, %zu-bit indices, with%s%s%s\n", "PETSc", version, 8 * sizeof(PetscInt), found,
         *absent ? "; without" : "", absent);
}

static void say_hdf5(void) {
  unsigned major, minor, release;
  if (H5get_libversion(&major, &minor, &release) < 0) return;
  printf("%-12s %u.%u.%u, parallel\n", "HDF5", major, minor, release);
}

/* OpenBLAS comes with PETSc; ask it by name, for another BLAS may stand in its place. */
static void say_blas(void) {
  union {
    void *object;
    char *(*text)(void);
    int (*number)(void);
  } core = {dlsym(RTLD_DEFAULT, "openblas_get_corename")},
    threads = {dlsym(RTLD_DEFAULT, "openblas_get_num_threads")};
  if (!core.object || !threads.object) {
    line("BLAS", "not OpenBLAS");
    return;
  }
  printf("%-12s OpenBLAS for %s, %d thread%s\n", "BLAS", core.text(), threads.number(),
         threads.number() > 1 ? "s (OPENBLAS_NUM_THREADS=1 is faster here)" : "");
}

static void say_gmsh(void) {
  char path[4200] = "", text[256] = "", command[4300];
  const char *named = getenv("PCSIM_MESHER");
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 16);
  if (named && *named) {
    snprintf(path, sizeof path, "%s", named);
  } else if (n > 0) {
    path[n] = '\0';
    char *slash = strrchr(path, '/');
    if (slash) strcpy(slash + 1, "pcsim-mesh");
  }
  if (access(path, X_OK) != 0 || strchr(path, '\'')) {
    printf("%-12s pcsim-mesh is missing: expected %s\n", "Gmsh", path);
    problems++;
    return;
  }
  snprintf(command, sizeof command, "'%s' --version 2>&1", path);
  FILE *child = popen(command, "r");
  if (child) {
    if (!fgets(text, sizeof text, child)) text[0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (pclose(child) != 0 || !*text) problems++;
  }
  const char *version = strncmp(text, "Gmsh ", 5) ? text : text + 5;
  printf("%-12s %s (%s)\n", "Gmsh", *text ? version : "pcsim-mesh does not start", path);
}

static void say_machine(const cli *c) {
  char text[256], simd[64] = "";
  cpu_set_t set;
  cli_machine(c->ranks, text);
  text[strcspn(text, ",")] = '\0';
#if defined(__x86_64__)
  snprintf(simd, sizeof simd, "%s",
           __builtin_cpu_supports("avx512f") ? ", AVX-512"
           : __builtin_cpu_supports("avx2")  ? ", AVX2"
                                             : ", SSE2");
#elif defined(__aarch64__)
  snprintf(simd, sizeof simd, ", NEON");
#endif
  int usable = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  printf("%-12s %s, %d usable core%s%s, %.0f GiB\n", "machine", text, usable, usable > 1 ? "s" : "", simd,
         memory / (1 << 30));
}

static void say_tmp(void) {
  char *folder = NULL;
  if (pcsim_temporary_make(true, &folder) == PCSIM_OK) {
    printf("%-12s temporary files in %.*s\n", "files", (int)(strrchr(folder, '/') - folder), folder);
    cli_temporary_remove(&folder);
    return;
  }
  printf("%-12s %s\n", "files", pcsim_error_message());
  pcsim_error_clear();
  problems++;
}

pcsim_status cmd_doctor(cli *c, int argc, char **argv) {
  const char *words[1];
  int n;
  PCSIM_TRY(cli_options_read("doctor", argc, argv, NULL, 0, "", 0, 0, words, &n));
  PCSIM_TRY(pcsim_solver_start(c->comm));
  if (c->rank != 0) return PCSIM_OK;
  printf("%-12s %s, %s, C%ld\n", "pcsim", PCSIM_VERSION,
#ifdef __clang__
         "clang " __clang_version__,
#else
         "gcc " __VERSION__,
#endif
         __STDC_VERSION__ / 100 % 100);
  say_machine(c);
  say_mpi(c);
  say_petsc();
  say_hdf5();
  say_blas();
  say_gmsh();
  say_tmp();
  if (problems) PCSIM_FAIL(PCSIM_ERR_ENV, "%d of the above needs attention", problems);
  return PCSIM_OK;
}
