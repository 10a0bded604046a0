/* SPDX-License-Identifier: BSD-2-Clause */
/* A look at a Gmsh file before Gmsh reads it: is it one, is it whole, do the counts fit its size. */
#include "mesher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
  const char *path, *data, *end;
  double version;
  int binary;
} msh_file;

static const char *next_line(const char *p, const char *end) {
  const char *newline = memchr(p, '\n', (size_t)(end - p));
  return newline ? newline + 1 : end;
}

/* A whole number at p; the file may not end in a zero byte, so strtoll cannot be used. */
static bool whole_number(const char **p, const char *end, int64_t *value) {
  const char *q = *p;
  int64_t v = 0;
  int digits = 0;
  while (q < end && (*q == ' ' || *q == '\t')) q++;
  for (; q < end && *q >= '0' && *q <= '9' && digits < 18; q++, digits++) v = 10 * v + (*q - '0');
  if (digits == 0 || digits >= 18) return false;
  *p = q;
  *value = v;
  return true;
}

/* Start of a line that is exactly `name`. */
static const char *find_line(const msh_file *f, const char *from, const char *name) {
  size_t n = strlen(name);
  for (const char *p = from; (p = memmem(p, (size_t)(f->end - p), name, n)); p++) {
    bool starts = p == f->data || p[-1] == '\n' || f->binary; /* binary blocks end without a newline */
    if (starts && (p + n == f->end || p[n] == '\n' || p[n] == '\r' || p[n] == ' ')) return p;
  }
  return NULL;
}

static pcsim_status check_format(msh_file *f) {
  const char *p = f->data, *end = f->end;
  while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')) p++;
  if (end - p >= 4 && !memcmp(p, "$NOD", 4)) {
    f->version = 1;
    return PCSIM_OK;
  }
  PCSIM_CHECK(end - p > 11 && !memcmp(p, "$MeshFormat", 11), PCSIM_ERR_MESH,
              "%s: is not a Gmsh mesh: it does not begin with $MeshFormat", f->path);
  char text[64] = "", *q;
  p = next_line(p, end);
  size_t n = (size_t)(next_line(p, end) - p);
  memcpy(text, p, n < sizeof text - 1 ? n : sizeof text - 1);
  f->version = strtod(text, &q);
  long binary = strtol(q, &q, 10), size = strtol(q, &q, 10);
  static const double known[] = {2, 2.1, 2.2, 3, 4, 4.1};
  bool valid = false;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) valid |= f->version == known[i];
  PCSIM_CHECK(valid, PCSIM_ERR_MESH,
              "%s:2: the format version is '%.20s', expected 2.2 or 4.1 (or 2, 2.1, 3, 4)", f->path,
              text[strcspn(text, "\r\n")] ? (text[strcspn(text, "\r\n")] = 0, text) : text);
  PCSIM_CHECK((binary == 0 || binary == 1) && size == 8, PCSIM_ERR_MESH,
              "%s:2: file type %ld and data size %ld, expected 0 (text) or 1 (binary) and 8", f->path, binary,
              size);
  f->binary = (int)binary;
  return PCSIM_OK;
}

/* Fewest bytes that one item can take. */
static int64_t least_bytes(const msh_file *f, bool nodes) {
  if (!f->binary) return nodes ? 8 : f->version < 4 ? 6 : 4;
  if (nodes) return f->version < 4 ? 28 : 28;
  return f->version < 4 ? 8 : 8;
}

static pcsim_status check_count(const msh_file *f, const char *name, const char *from, const char *to) {
  const char *p = from;
  int64_t count = 0, blocks = 0;
  bool nodes = !strcmp(name, "Nodes") || !strcmp(name, "NOD");
  if (f->binary && f->version >= 4) {
    uint64_t head[2];
    PCSIM_CHECK(to - p >= 16, PCSIM_ERR_MESH, "%s: section $%s is cut off", f->path, name);
    memcpy(head, p, 16);
    if (head[1] > UINT32_MAX && head[0] > UINT32_MAX) /* written on a machine of the other byte order */
      for (int i = 0; i < 2; i++) head[i] = __builtin_bswap64(head[i]);
    blocks = (int64_t)head[0];
    count = (int64_t)head[1];
  } else {
    if (f->version >= 4 && !whole_number(&p, to, &blocks)) blocks = -1;
    if (!whole_number(&p, to, &count)) count = -1;
  }
  PCSIM_CHECK(count >= 0 && blocks >= 0, PCSIM_ERR_MESH, "%s: section $%s does not begin with its counts",
              f->path, name);
  PCSIM_CHECK(count > 0, PCSIM_ERR_MESH, "%s: section $%s is empty", f->path, name);
  PCSIM_CHECK(
      count <= (to - from) / least_bytes(f, nodes) && blocks <= (to - from) / 4, PCSIM_ERR_MESH,
      "%s: section $%s announces %lld entries in %lld blocks, but has only %lld bytes: the file is damaged",
      f->path, name, (long long)count, (long long)blocks, (long long)(to - from));
  return PCSIM_OK;
}

static pcsim_status check_section(const msh_file *f, const char *name, const char **at) {
  char open[32] = "$", close[32] = "$End";
  strcat(open, name);
  strcat(close, name);
  if (f->version < 2) strcpy(close, !strcmp(name, "NOD") ? "$ENDNOD" : "$ENDELM");
  const char *p = find_line(f, *at, open);
  PCSIM_CHECK(p, PCSIM_ERR_MESH, "%s: has no section %s%s", f->path, open,
              *at > f->data ? " after $Nodes" : "");
  p = next_line(p, f->end);
  const char *q = find_line(f, p, close);
  PCSIM_CHECK(q, PCSIM_ERR_MESH, "%s: section %s has no end (%s): the file is cut off or damaged", f->path,
              open, close);
  PCSIM_TRY(check_count(f, name, p, q));
  *at = q;
  return PCSIM_OK;
}

static pcsim_status check_all(msh_file *f) {
  PCSIM_TRY(check_format(f));
  const char *at = f->data;
  PCSIM_TRY(check_section(f, f->version < 2 ? "NOD" : "Nodes", &at));
  return check_section(f, f->version < 2 ? "ELM" : "Elements", &at);
}

pcsim_status mesher_msh_check(const char *path) {
  struct stat info;
  size_t n = strlen(path);
  /* Gmsh chooses its reader by the ending; a geometry script could run commands */
  PCSIM_CHECK(n > 4 && !strcasecmp(path + n - 4, ".msh"), PCSIM_ERR_CASE, "%s: is not a Gmsh mesh (.msh)",
              path);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  PCSIM_CHECK(fd >= 0, PCSIM_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
  bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  void *data =
      regular && info.st_size > 0 ? mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
  int reason = errno;
  close(fd);
  PCSIM_CHECK(regular, PCSIM_ERR_IO, "%s: is not a file", path);
  PCSIM_CHECK(info.st_size > 0, PCSIM_ERR_MESH, "%s: is empty", path);
  PCSIM_CHECK(data != MAP_FAILED, PCSIM_ERR_IO, "%s: cannot be read: %s", path, strerror(reason));
  msh_file f = {.path = path, .data = data, .end = (const char *)data + info.st_size};
  pcsim_status status = check_all(&f);
  munmap(data, (size_t)info.st_size);
  PCSIM_TRY(status);
  return PCSIM_OK;
}
