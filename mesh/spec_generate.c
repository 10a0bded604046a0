/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs pcsim-mesh as a child process. */
#include "spec.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { MESSAGE_SIZE = 16384, TIME_LIMIT = 6 * 3600 };

/* ---------------------------------------------------------- what to run */

/* PCSIM_MESHER, else beside the running program, else in the PATH. */
static pcsim_status find_mesher(char *path, size_t size) {
  const char *named = getenv("PCSIM_MESHER");
  if (named && *named) {
    PCSIM_CHECK(access(named, X_OK) == 0, PCSIM_ERR_ENV, "PCSIM_MESHER names '%s', which cannot be run: %s",
                named, strerror(errno));
    snprintf(path, size, "%s", named);
    return PCSIM_OK;
  }
  ssize_t n = readlink("/proc/self/exe", path, size - 32);
  if (n > 0) {
    path[n] = 0;
    char *slash = strrchr(path, '/');
    strcpy(slash ? slash + 1 : path, "pcsim-mesh");
    if (access(path, X_OK) == 0) return PCSIM_OK;
  }
  snprintf(path, size, "pcsim-mesh");
  return PCSIM_OK;
}

static size_t item_text(const pcsim_spec_item *item, char *out, size_t size) {
  bool count = !strcmp(item->key, "n") || !strcmp(item->key, "nz");
  char numbers[128] = "";
  int used = 0;
  for (int i = 0; i < item->n; i++)
    used += snprintf(numbers + used, sizeof numbers - (size_t)used, "%s%.17g", i ? "," : "",
                     count ? fmax(1, round(item->value[i])) : item->value[i]);
  return (size_t)snprintf(out, size, "%s=%s\n", item->key, item->n ? numbers : item->text);
}

/* `sizes`: file of the sizes that were set, NULL: none were. */
static pcsim_status write_spec(const pcsim_mesh_spec *spec, const char *sizes, const char *path) {
  const pcsim_spec_item file = {.key = "sizes.file", .text = (char *)sizes};
  size_t size = 1, used = 0;
  char *text = NULL;
  for (int i = 0; i < spec->num_items; i++) size += item_text(&spec->item[i], NULL, 0);
  if (sizes) size += item_text(&file, NULL, 0);
  PCSIM_TRY(pcsim_alloc(size, 1, &text));
  for (int i = 0; i < spec->num_items; i++) used += item_text(&spec->item[i], text + used, size - used);
  if (sizes) used += item_text(&file, text + used, size - used);
  pcsim_status status = pcsim_file_write(path, text, used);
  pcsim_free(&text);
  PCSIM_TRY(status);
  return PCSIM_OK;
}

/* -------------------------------------------------------------- the child */

static pcsim_status start(const char *mesher, char *const argv[], int fd[2], pid_t *pid) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t none, standard;
  PCSIM_CHECK(pipe2(fd, O_CLOEXEC) == 0, PCSIM_ERR_ENV, "cannot make a pipe to the mesher: %s",
              strerror(errno));
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&files, fd[1], 2);
  posix_spawnattr_init(&attributes);
  sigemptyset(&none);
  sigemptyset(&standard);
  const int reset[] = {SIGPIPE, SIGALRM, SIGXCPU, SIGCHLD};
  for (size_t i = 0; i < sizeof reset / sizeof *reset; i++) sigaddset(&standard, reset[i]);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &standard);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  int failed = posix_spawnp(pid, mesher, &files, &attributes, argv, environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  close(fd[1]);
  if (failed) close(fd[0]);
  PCSIM_CHECK(!failed, PCSIM_ERR_ENV,
              "the mesher '%s' cannot be started: %s (set PCSIM_MESHER to the path of pcsim-mesh)", mesher,
              strerror(failed));
  return PCSIM_OK;
}

/* Collect what the child prints until it closes the pipe; false when the time is over. */
static bool collect(int fd, double end, char *message) {
  size_t used = 0;
  char rest[512];
  message[0] = 0;
  for (;;) {
    double left = end - pcsim_time_wall();
    if (left <= 0) return false;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int ready = poll(&p, 1, left > 1000 ? 1000000 : (int)(left * 1000) + 1);
    if (ready < 0 && errno != EINTR) return true;
    if (ready <= 0) continue;
    bool room = used + 1 < MESSAGE_SIZE;
    ssize_t n = read(fd, room ? message + used : rest, room ? MESSAGE_SIZE - 1 - used : sizeof rest);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    if (room) message[used += (size_t)n] = 0;
  }
}

/* The child's wait status; false if it did not end in time (it is ended then) or cannot be waited for. */
static bool wait_for(pid_t pid, double end, bool in_time, int *code) {
  const struct timespec pause = {0, 2000000};
  while (in_time) {
    pid_t done = waitpid(pid, code, WNOHANG);
    if (done == pid) return true;
    if (done < 0 && errno != EINTR) return false;
    in_time = pcsim_time_wall() < end;
    if (done == 0 && in_time) nanosleep(&pause, NULL);
  }
  kill(pid, SIGKILL);
  while (waitpid(pid, code, 0) < 0 && errno == EINTR) {}
  return false;
}

/* ---------------------------------------------------------------- verdict */

/* Each line of the child's message with the place in the case before it. */
static void prefix_lines(const char *place, const char *message, char *out, size_t size) {
  size_t used = 0;
  out[0] = 0;
  for (const char *p = message; *p && used + 1 < size;) {
    size_t n = strcspn(p, "\n");
    if (n > 0) {
      int more = snprintf(out + used, size - used, "%s%s: %.*s", used ? "\n" : "", place, (int)n, p);
      used = more < 0 || (size_t)more >= size - used ? size - 1 : used + (size_t)more;
    }
    p += n + (p[n] == '\n');
  }
}

static pcsim_status judge(const pcsim_mesh_spec *spec, int code, const char *message) {
  if (WIFSIGNALED(code))
    PCSIM_FAIL(PCSIM_ERR_ENV, "%s: the mesher was ended by signal %d (%s) while %s '%s'", spec->place,
               WTERMSIG(code), strsignal(WTERMSIG(code)), spec->file ? "reading" : "meshing", spec->subject);
  int exit_code = WEXITSTATUS(code);
  if (exit_code == 0) return PCSIM_OK;
  PCSIM_CHECK(message[0] && (exit_code == 2 || exit_code == 4 || exit_code == 5), PCSIM_ERR_ENV,
              "%s: the mesher failed with exit code %d while %s '%s'%s%s", spec->place, exit_code,
              spec->file ? "reading" : "meshing", spec->subject, message[0] ? ": " : "", message);
  pcsim_status status = exit_code == 5   ? PCSIM_ERR_LIBRARY
                        : exit_code == 4 ? PCSIM_ERR_IO
                        : spec->file     ? PCSIM_ERR_MESH
                                         : PCSIM_ERR_CASE;
  char *text = NULL;
  size_t size = 2 * strlen(message) + 64 * (strlen(spec->place) + 4);
  PCSIM_TRY(pcsim_alloc(size, 1, &text));
  prefix_lines(spec->place, message, text, size);
  pcsim_error_set(status, __FILE__, __LINE__, __func__, "%s", text);
  pcsim_free(&text);
  return status;
}

static pcsim_status run(const pcsim_mesh_spec *spec, const char *spec_path, const char *out, const char *msh,
                        char *message) {
  char mesher[4096];
  int fd[2], code = 0;
  pid_t pid;
  PCSIM_TRY(find_mesher(mesher, sizeof mesher));
  char *const argv[] = {mesher, (char *)spec_path, (char *)out, (char *)msh, NULL};
  PCSIM_TRY(start(mesher, argv, fd, &pid));
  double end = pcsim_time_wall() + TIME_LIMIT;
  bool in_time = collect(fd[0], end, message);
  close(fd[0]);
  bool ended = wait_for(pid, end, in_time, &code);
  PCSIM_CHECK(ended || pcsim_time_wall() < end, PCSIM_ERR_ENV,
              "%s: the mesher did not end within %d hours and was stopped", spec->place, TIME_LIMIT / 3600);
  PCSIM_CHECK(ended, PCSIM_ERR_ENV, "%s: the mesher's result cannot be fetched: %s", spec->place,
              strerror(errno));
  return judge(spec, code, message);
}

pcsim_status pcsim_mesh_spec_generate(const pcsim_mesh_spec *spec, const char *out, const char *msh) {
  char *path = NULL, *sizes = NULL, *message = NULL;
  size_t size = strlen(out) + 7;
  pcsim_status status;
  PCSIM_GOTO(pcsim_alloc(size, 1, &path), status, done);
  PCSIM_GOTO(pcsim_alloc(MESSAGE_SIZE, 1, &message), status, done);
  snprintf(path, size, "%s.spec", out);
  if (spec->num_sizes) {
    PCSIM_GOTO(pcsim_alloc(size, 1, &sizes), status, done);
    snprintf(sizes, size, "%s.sizes", out);
    PCSIM_GOTO(pcsim_spec_write_sizes(spec, sizes), status, done);
  }
  PCSIM_GOTO(write_spec(spec, sizes, path), status, done);
  status = run(spec, path, out, msh, message);
  unlink(path);
done:
  if (sizes) unlink(sizes);
  pcsim_free(&path);
  pcsim_free(&sizes);
  pcsim_free(&message);
  return status;
}
