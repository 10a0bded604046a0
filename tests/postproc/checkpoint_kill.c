/* SPDX-License-Identifier: BSD-2-Clause */
/* A process that writes checkpoints without pause is killed (signal 9) at random moments. Each time the file
 * must be whole, and no older than the one before. */
#include "sample.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static const lattice shape = {LATTICE_QUAD, 60, 60, 0, 0, false};
enum { KILLS = 20, WIDTH = 4 };

/* Child: write steps from `first` on until killed. Every value of a file is its step. */
static int writer(const char *path, int64_t first) {
  pcsim_mesh *mesh = sample_mesh(MPI_COMM_WORLD, &shape, 1);
  const int64_t n = pcsim_mesh_get(mesh)->num_cells * WIDTH;
  double *values = malloc(sizeof *values * (size_t)n);
  for (int64_t step = first;; step++) {
    pcsim_checkpoint info = {.step = step, .width = WIDTH};
    for (int64_t i = 0; i < n; i++) values[i] = (double)step;
    if (pcsim_checkpoint_write(mesh, &info, values, path) != PCSIM_OK) return 1;
  }
}

/* Child: check every copy. */
static int checker(const char *folder) {
  pcsim_mesh *mesh = sample_mesh(MPI_COMM_WORLD, &shape, 1);
  const int64_t n = pcsim_mesh_get(mesh)->num_cells * WIDTH;
  double *values = malloc(sizeof *values * (size_t)n);
  int64_t last = -1;
  for (int k = 0; k < KILLS; k++) {
    char path[256];
    snprintf(path, sizeof path, "%s/copy%d", folder, k);
    pcsim_checkpoint info = {.width = WIDTH};
    if (pcsim_checkpoint_read(mesh, path, &info, values) != PCSIM_OK) {
      fprintf(stderr, "%s\n", pcsim_error_message());
      return 1;
    }
    for (int64_t i = 0; i < n; i++)
      if (values[i] != (double)info.step) return 2;
    if (info.step < last) return 3;
    last = info.step;
  }
  printf("%d kills, last step %lld\n", KILLS, (long long)last);
  return last > KILLS ? 0 : 4;
}

static pid_t start(char *program, const char *what, const char *where, const char *number) {
  pid_t child = fork();
  if (child == 0) {
    execl(program, program, what, where, number, (char *)NULL);
    _exit(127);
  }
  return child;
}

static void sleep_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

static int copy(const char *from, const char *to) {
  char *data;
  size_t size;
  if (pcsim_file_read(from, 0, &data, &size) != PCSIM_OK) return 1;
  int failed = pcsim_file_write(to, data, size) != PCSIM_OK;
  pcsim_free(&data);
  return failed;
}

/* The parent has no MPI: a child under MPI could not be started by it otherwise. */
static int parent(char *program) {
  char folder[] = "/tmp/pcsim-test-XXXXXX", path[256], to[300], number[32];
  if (!mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/checkpoint.h5", folder);
  int failed = 0, status = 0;
  srand(7);
  for (int k = 0; k < KILLS && !failed; k++) {
    snprintf(number, sizeof number, "%d", 1000000 * (k + 1));
    struct stat info;
    ino_t old = stat(path, &info) == 0 ? info.st_ino : 0;
    pid_t child = start(program, "write", path, number);
    for (int i = 0; i < 2000 && (stat(path, &info) != 0 || info.st_ino == old); i++) sleep_ms(10);
    sleep_ms(rand() % 60);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    failed = !WIFSIGNALED(status);
    snprintf(to, sizeof to, "%s/copy%d", folder, k);
    failed = failed || copy(path, to);
  }
  if (!failed) {
    waitpid(start(program, "check", folder, ""), &status, 0);
    failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  }
  /* Nothing but the file, the copies and at most one unfinished file. */
  if (!failed && sample_entries(folder) > KILLS + 2) failed = 1;
  for (int k = 0; k < KILLS; k++) {
    snprintf(to, sizeof to, "%s/copy%d", folder, k);
    remove(to);
  }
  remove(path);
  snprintf(to, sizeof to, "%s/.pcsim-checkpoint.h5.tmp", folder);
  remove(to);
  rmdir(folder);
  return failed;
}

int main(int argc, char **argv) {
  if (argc < 3) return parent(argv[0]);
  MPI_Init(&argc, &argv);
  int result = !strcmp(argv[1], "write") ? writer(argv[2], atoll(argv[3])) : checker(argv[2]);
  MPI_Finalize();
  return result;
}
