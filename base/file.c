/* SPDX-License-Identifier: BSD-2-Clause */
/* Whole files, folders, paths. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pcsim/base.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** "a/b" of "a/b/c", "." of "c", "/" of "/c". */
static pcsim_status folder_of(const char *path, char **folder) {
  const char *slash = strrchr(path, '/');
  if (!slash) return pcsim_strdup(".", folder);
  PCSIM_TRY(pcsim_strdup(path, folder));
  (*folder)[slash == path ? 1 : slash - path] = '\0';
  return PCSIM_OK;
}

/** Write everything and force it to the disk; the file is closed in any case. 0 or errno. */
static int fill_and_close(int fd, const char *data, size_t size) {
  int fault = 0;
  while (size && !fault) {
    ssize_t n = write(fd, data, size < SSIZE_MAX ? size : SSIZE_MAX);
    if (n < 0) {
      if (errno != EINTR) fault = errno;
    } else {
      data += n;
      size -= (size_t)n;
    }
  }
  if (!fault && fsync(fd)) fault = errno;
  if (close(fd) && !fault) fault = errno; /* some file systems report a full disk only here */
  return fault;
}

/** The rename itself reaches the disk with its folder. File systems that cannot do this say EINVAL. */
static void sync_folder(const char *folder) {
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)!fsync(fd);
  close(fd);
}

static pcsim_status write_and_rename(const char *path, const char *folder, const char *temporary,
                                     const void *data, size_t size) {
  int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  PCSIM_CHECK(fd >= 0, PCSIM_ERR_IO, "cannot write '%s': %s", path, strerror(errno));
  int fault = fill_and_close(fd, data, size);
  if (!fault && rename(temporary, path)) fault = errno;
  if (fault) {
    unlink(temporary);
    PCSIM_FAIL(PCSIM_ERR_IO, "cannot write '%s': %s", path, strerror(fault));
  }
  sync_folder(folder);
  return PCSIM_OK;
}

pcsim_status pcsim_file_write(const char *path, const void *data, size_t size) {
  static atomic_uint serial;
  char *folder = NULL, *temporary = NULL, *resolved = NULL, name[64];
  pcsim_status status = PCSIM_OK;
  struct stat info;
  if (stat(path, &info) == 0) {
    PCSIM_CHECK(!S_ISDIR(info.st_mode), PCSIM_ERR_IO, "cannot write '%s': it is a folder", path);
    PCSIM_CHECK(S_ISREG(info.st_mode), PCSIM_ERR_IO, "cannot write '%s': it is not a regular file", path);
    resolved = realpath(path, NULL); /* a link keeps pointing to the file, which is replaced */
  }
  const char *target = resolved ? resolved : path;
  snprintf(name, sizeof name, ".pcsim-%ld-%u.tmp", (long)getpid(), atomic_fetch_add(&serial, 1u));
  PCSIM_GOTO(folder_of(target, &folder), status, done);
  PCSIM_GOTO(pcsim_path_join(folder, name, &temporary), status, done);
  PCSIM_GOTO(write_and_rename(target, folder, temporary, data, size), status, done);
done:
  pcsim_free(&temporary);
  pcsim_free(&folder);
  free(resolved);
  return status;
}

/** Read `fd` to its end into a growing block; at most `limit` bytes. */
static pcsim_status read_all(int fd, const char *path, size_t expected, size_t limit, char **data,
                             size_t *size) {
  size_t room = expected + 1, used = 0;
  PCSIM_TRY(pcsim_alloc(room + 1, 1, data));
  for (;;) {
    if (used == room) {
      room = 2 * room + 4096;
      PCSIM_TRY(pcsim_realloc(room + 1, 1, data));
    }
    ssize_t n = read(fd, *data + used, room - used);
    if (n < 0 && errno == EINTR) continue;
    PCSIM_CHECK(n >= 0, PCSIM_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    if (n == 0) break;
    used += (size_t)n;
    PCSIM_CHECK(used <= limit, PCSIM_ERR_IO, "cannot read '%s': it is larger than the %zu bytes allowed",
                path, limit);
  }
  (*data)[used] = '\0';
  *size = used;
  return PCSIM_OK;
}

pcsim_status pcsim_file_read(const char *path, size_t limit, char **data, size_t *size) {
  struct stat info;
  size_t n = 0;
  *data = NULL;
  if (size) *size = 0;
  if (!limit) limit = (size_t)1 << 30;
  /* Without O_NONBLOCK a pipe without writer would wait for ever before it can be refused. */
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  PCSIM_CHECK(fd >= 0, PCSIM_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
  const char *fault = NULL;
  if (fstat(fd, &info)) fault = strerror(errno);
  else if (S_ISDIR(info.st_mode)) fault = "it is a folder";
  else if (!S_ISREG(info.st_mode)) fault = "it is not a regular file";
  pcsim_status status = PCSIM_OK;
  if (fault)
    status = pcsim_error_set(PCSIM_ERR_IO, __FILE__, __LINE__, __func__, "cannot read '%s': %s", path, fault);
  else if (info.st_size > 0 && (uintmax_t)info.st_size > limit)
    status = pcsim_error_set(PCSIM_ERR_IO, __FILE__, __LINE__, __func__,
                             "cannot read '%s': its %jd bytes are more than the %zu allowed", path,
                             (intmax_t)info.st_size, limit);
  else status = read_all(fd, path, (size_t)info.st_size, limit, data, &n);
  close(fd);
  if (status != PCSIM_OK) {
    pcsim_free(data);
    return status;
  }
  if (size) *size = n;
  return PCSIM_OK;
}

bool pcsim_file_exists(const char *path) {
  struct stat info;
  return path && stat(path, &info) == 0;
}

/** One folder; an existing one is fine. */
static pcsim_status make_one(const char *path) {
  struct stat info;
  if (mkdir(path, 0777) == 0) return PCSIM_OK;
  int fault = errno;
  if (fault == EEXIST) {
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return PCSIM_OK;
    PCSIM_FAIL(PCSIM_ERR_IO, "cannot make the folder '%s': a file of that name is in the way", path);
  }
  /* mkdir can say EROFS or EACCES for a folder that is there. */
  if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return PCSIM_OK;
  PCSIM_FAIL(PCSIM_ERR_IO, "cannot make the folder '%s': %s", path, strerror(fault));
}

pcsim_status pcsim_folder_make(const char *path) {
  char *partial = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_CHECK(path && *path, PCSIM_ERR_ARG, "the folder has no name");
  PCSIM_TRY(pcsim_strdup(path, &partial));
  for (char *p = partial + 1; status == PCSIM_OK && *p; p++) {
    if (*p != '/') continue;
    *p = '\0';
    status = make_one(partial);
    *p = '/';
  }
  if (status == PCSIM_OK) status = make_one(partial);
  pcsim_free(&partial);
  return status;
}

pcsim_status pcsim_path_join(const char *folder, const char *name, char **path) {
  *path = NULL;
  PCSIM_CHECK(name && *name, PCSIM_ERR_ARG, "the file has no name");
  if (*name == '/' || !folder || !*folder || !strcmp(folder, ".")) return pcsim_strdup(name, path);
  size_t size = strlen(folder) + strlen(name) + 2;
  PCSIM_TRY(pcsim_alloc(size, 1, path));
  snprintf(*path, size, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
  return PCSIM_OK;
}

pcsim_status pcsim_temporary_make(bool folder, char **path) {
  const char *place = getenv("TMPDIR");
  PCSIM_TRY(pcsim_path_join(place && *place ? place : "/tmp", "pcsim-XXXXXX", path));
  const int file = folder ? -1 : mkstemp(*path);
  if (file >= 0) close(file);
  if (file >= 0 || (folder && mkdtemp(*path))) return PCSIM_OK;
  const pcsim_status status =
      pcsim_error_set(PCSIM_ERR_IO, __FILE__, __LINE__, __func__, "%s: no temporary %s can be made: %s",
                      *path, folder ? "folder" : "file", strerror(errno));
  pcsim_free(path);
  return status;
}
