/* SPDX-License-Identifier: BSD-2-Clause */
/* Gmsh on files of unknown origin, in a child process: a crash, a hang or a huge allocation there becomes a
 * message here. */
#include "mesher.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Bytes of address space that this process has now: libraries alone take more than a gigabyte. */
static rlim_t address_space(void) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file) return (rlim_t)4 << 30;
  if (fscanf(file, "%ld", &pages) != 1) pages = 0;
  fclose(file);
  return pages > 0 ? (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) : (rlim_t)4 << 30;
}

static void limit(int what, rlim_t value) {
  struct rlimit r;
  if (getrlimit(what, &r) != 0 || (r.rlim_max != RLIM_INFINITY && r.rlim_max < value)) return;
  r.rlim_cur = value;
  setrlimit(what, &r);
}

/* Memory: Gmsh takes some 200 bytes an element, which is written in 30 or more. Time: it reads more than
 * 5 MB/s. */
static void set_limits(int64_t file_size) {
  const struct rlimit no_core = {0, 0};
  rlim_t seconds = 10 + (rlim_t)file_size / 500000;
  setrlimit(RLIMIT_CORE, &no_core);
  limit(RLIMIT_AS, address_space() + ((rlim_t)1 << 30) + 150 * (rlim_t)file_size);
  limit(RLIMIT_CPU, seconds);
  alarm((unsigned)(seconds < 100000 ? 12 * seconds : 1200000)); /* the machine may be busy with other work */
}

static void child(pcsim_status (*work)(void *), void *context, int fd, int64_t file_size) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  set_limits(file_size);
  pcsim_status status = work(context);
  const char *text = status == PCSIM_OK ? "" : pcsim_error_message();
  for (size_t n = strlen(text); n > 0;) {
    ssize_t done = write(fd, text, n);
    if (done <= 0) break;
    text += done;
    n -= (size_t)done;
  }
  _exit((int)status); /* no clean-up of Gmsh: it may be what is broken */
}

static void read_message(int fd, size_t size, char *text) {
  size_t used = 0;
  char rest[256];
  for (;;) {
    ssize_t n = used + 1 < size ? read(fd, text + used, size - 1 - used) : read(fd, rest, sizeof rest);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    if (used + 1 < size) used += (size_t)n;
  }
  text[used] = 0;
}

pcsim_status mesher_contain(pcsim_status (*work)(void *), void *context, const char *path) {
  struct stat info = {0};
  int fd[2], code;
  char message[4096];
  PCSIM_CHECK(stat(path, &info) == 0, PCSIM_ERR_IO, "%s: %s", path, strerror(errno));
  PCSIM_CHECK(pipe(fd) == 0, PCSIM_ERR_ENV, "cannot make a pipe: %s", strerror(errno));
  pid_t pid = fork();
  if (pid == 0) {
    close(fd[0]);
    child(work, context, fd[1], info.st_size);
  }
  close(fd[1]);
  if (pid > 0) read_message(fd[0], sizeof message, message);
  close(fd[0]);
  PCSIM_CHECK(pid > 0, PCSIM_ERR_ENV, "cannot start a process: %s", strerror(errno));
  while (waitpid(pid, &code, 0) < 0)
    PCSIM_CHECK(errno == EINTR, PCSIM_ERR_ENV, "cannot wait for the reading process: %s", strerror(errno));
  if (WIFEXITED(code)) {
    int status = WEXITSTATUS(code);
    if (status == PCSIM_OK) return PCSIM_OK;
    PCSIM_CHECK(status < PCSIM_NUM_STATUS && message[0], PCSIM_ERR_MESH,
                "%s: the file is damaged: Gmsh gave up on it (exit code %d)", path, status);
    PCSIM_FAIL((pcsim_status)status, "%s", message);
  }
  int sig = WTERMSIG(code);
  PCSIM_CHECK(sig != SIGXCPU && sig != SIGALRM, PCSIM_ERR_MESH,
              "%s: the file is damaged: reading it does not come to an end", path);
  PCSIM_CHECK(sig != SIGKILL, PCSIM_ERR_ENV, "%s: the reading process was killed (out of memory?)", path);
  PCSIM_FAIL(PCSIM_ERR_MESH, "%s: the file is damaged: Gmsh crashed on it (signal %d)", path, sig);
}
