/* SPDX-License-Identifier: BSD-2-Clause */
#include "petsc_error.h"

#include <pcsim/solver.h>
#include <petscsys.h>
#include <stdio.h>
#include <string.h>

/* OpenBLAS starts a thread a core, which spin between calls; the vectors here are short. */
extern void openblas_set_num_threads(int n);

static char first_message[512];
static pcsim_status inner; /* failure of our own inside a call-back of PETSc */
static bool started_here;

/* Keep the first message of a failure; the frames above it add nothing for the user. */
static PetscErrorCode keep_message(MPI_Comm comm, int line, const char *func, const char *file,
                                   PetscErrorCode code, PetscErrorType type, const char *message,
                                   void *context) {
  (void)comm, (void)context, (void)line, (void)file;
  if (type == PETSC_ERROR_INITIAL)
    snprintf(first_message, sizeof first_message, "%s (%s)", message ? message : "no text",
             func ? func : "?");
  return code;
}

/* Addresses of manual pages, with the colon before them: they help nobody with a case. */
static void drop_addresses(char *text) {
  for (char *url; (url = strstr(text, "http"));) {
    char *end = url + strcspn(url, " \n");
    while (url > text && (url[-1] == ' ' || url[-1] == ':')) url--;
    memmove(url, end, strlen(end) + 1);
  }
}

void pcsim_petsc_begin(void) {
  first_message[0] = 0;
  inner = PCSIM_OK;
  (void)PetscPushErrorHandler(keep_message, NULL);
}

void pcsim_petsc_inner(pcsim_status status) { inner = status; }

pcsim_status pcsim_petsc_end(int code, const char *file, int line, const char *func) {
  (void)PetscPopErrorHandler();
  if (!code) return PCSIM_OK;
  if (inner != PCSIM_OK) return pcsim_error_frame(inner, file, line, func);
  const char *text = NULL;
  char kind[256];
  (void)PetscErrorMessage(code, &text, NULL);
  snprintf(kind, sizeof kind, "%s", text ? text : "error");
  drop_addresses(kind);
  drop_addresses(first_message);
  return pcsim_error_set(code == PETSC_ERR_MEM ? PCSIM_ERR_MEMORY : PCSIM_ERR_LIBRARY, file, line, func,
                         "PETSc: %s: %s", kind, first_message);
}

pcsim_status pcsim_solver_start(MPI_Comm comm) {
  PetscBool running = PETSC_FALSE;
  openblas_set_num_threads(1);
  if (PetscInitialized(&running)) PCSIM_FAIL(PCSIM_ERR_LIBRARY, "PETSc cannot be asked whether it runs");
  if (running) return PCSIM_OK;
  static char name[] = "pcsim", quiet[] = "-no_signal_handler";
  static char *arguments[] = {name, quiet, NULL};
  char **argv = arguments;
  int argc = 2;
  PETSC_COMM_WORLD = comm;
  const PetscErrorCode code = PetscInitialize(&argc, &argv, NULL, NULL);
  PCSIM_CHECK(code == 0, PCSIM_ERR_LIBRARY, "PETSc does not start (error %d)", (int)code);
  started_here = true;
  return PCSIM_OK;
}

pcsim_status pcsim_solver_end(void) {
  if (!started_here) return PCSIM_OK;
  started_here = false;
  const PetscErrorCode code = PetscFinalize();
  PCSIM_CHECK(code == 0, PCSIM_ERR_LIBRARY, "PETSc does not end cleanly (error %d)", (int)code);
  return PCSIM_OK;
}
