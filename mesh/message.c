/* SPDX-License-Identifier: BSD-2-Clause */
/* MPI failures as statuses, and messages longer than an int can count. */
#include "fv.h"

#include <string.h>

pcsim_status pcsim_mesh_mpi_error(int code, const char *file, int line, const char *func) {
  char text[MPI_MAX_ERROR_STRING + 1] = "unknown error";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) strcpy(text, "unknown error");
  return pcsim_error_set(PCSIM_ERR_LIBRARY, file, line, func, "MPI: %s", text);
}

enum { PIECE = 1 << 30 };

pcsim_status pcsim_mesh_send(const void *data, size_t size, int rank, int tag, MPI_Comm comm) {
  for (size_t done = 0; done < size; done += PIECE) {
    int count = (int)(size - done < PIECE ? size - done : PIECE);
    PCSIM_MPI(MPI_Send((const char *)data + done, count, MPI_BYTE, rank, tag, comm));
  }
  return PCSIM_OK;
}

pcsim_status pcsim_mesh_receive(void *data, size_t size, int rank, int tag, MPI_Comm comm) {
  for (size_t done = 0; done < size; done += PIECE) {
    int count = (int)(size - done < PIECE ? size - done : PIECE);
    PCSIM_MPI(MPI_Recv((char *)data + done, count, MPI_BYTE, rank, tag, comm, MPI_STATUS_IGNORE));
  }
  return PCSIM_OK;
}

pcsim_status pcsim_mesh_broadcast(void *data, size_t size, MPI_Comm comm) {
  for (size_t done = 0; done < size; done += PIECE) {
    int count = (int)(size - done < PIECE ? size - done : PIECE);
    PCSIM_MPI(MPI_Bcast((char *)data + done, count, MPI_BYTE, 0, comm));
  }
  return PCSIM_OK;
}
