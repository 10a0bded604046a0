/* SPDX-License-Identifier: BSD-2-Clause */
/* The hand-over file of raw meshes. Layout, in the machine's own byte order (a file from another order
 * fails the check of `order`):
 *   header (struct below), arrays in the order of for_each_array, names (patches, regions, notes; each
 *   ends with a zero byte), padding to 8 bytes, checksum of everything before it (8 bytes). */
#include "raw.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define RAW_MAGIC "PCSIMRAW"
enum { RAW_VERSION = 2, RAW_ORDER = 0x01020304, RAW_ARRAYS = 10 };

typedef struct {
  char magic[8];
  uint32_t version, order;
  int64_t dim, num_nodes, num_cells, num_cell_nodes, num_facets, num_facet_nodes, num_patches, num_regions,
      num_periodic;
  int64_t text_size; /* bytes of names and notes with their zeros */
  int64_t file_size;
} raw_header;

typedef struct {
  void *data;
  size_t size;
} raw_array;

/* Each array starts at a multiple of 8 bytes so that the checksum runs over whole words. */
static size_t padded(size_t size) { return (size + 7) / 8 * 8; }

static void list_arrays(const pcsim_raw_mesh *m, const raw_header *h, raw_array array[RAW_ARRAYS]) {
  size_t cells = (size_t)h->num_cells, facets = (size_t)h->num_facets;
  array[0] = (raw_array){m->nodes, (size_t)h->num_nodes * 3 * sizeof(double)};
  array[1] = (raw_array){m->cell_type, cells};
  array[2] = (raw_array){m->cell_start, (cells + 1) * sizeof(int64_t)};
  array[3] = (raw_array){m->cell_nodes, (size_t)h->num_cell_nodes * sizeof(int32_t)};
  array[4] = (raw_array){m->cell_region, cells * sizeof(int32_t)};
  array[5] = (raw_array){m->facet_type, facets};
  array[6] = (raw_array){m->facet_start, (facets + 1) * sizeof(int64_t)};
  array[7] = (raw_array){m->facet_nodes, (size_t)h->num_facet_nodes * sizeof(int32_t)};
  array[8] = (raw_array){m->facet_patch, facets * sizeof(int32_t)};
  array[9] = (raw_array){m->periodic, 2 * (size_t)h->num_periodic * sizeof(int32_t)};
}

/* Word-wise multiply-xor hash: each step is a bijection of the state, so a single changed word always shows.
 */
static uint64_t hash_words(uint64_t hash, const void *data, size_t size) {
  const unsigned char *p = data;
  for (size_t i = 0; i < size; i += 8) {
    uint64_t word;
    memcpy(&word, p + i, 8);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}
static const uint64_t hash_start = 0x70637369u;

static size_t text_size(const pcsim_raw_mesh *m) {
  size_t n = strlen(m->notes ? m->notes : "") + 1;
  for (int i = 0; i < m->num_patches; i++) n += strlen(m->patches[i]) + 1;
  for (int i = 0; i < m->num_regions; i++) n += strlen(m->regions[i]) + 1;
  return n;
}

pcsim_status pcsim_raw_mesh_write(const pcsim_raw_mesh *raw, const char *path) {
  PCSIM_TRY(pcsim_raw_mesh_check(raw));
  static const int64_t no_facets[1] = {0};
  pcsim_raw_mesh m = *raw;
  if (!m.facet_start) m.facet_start = (int64_t *)no_facets;
  raw_header h = {.version = RAW_VERSION,
                  .order = RAW_ORDER,
                  .dim = m.dim,
                  .num_nodes = m.num_nodes,
                  .num_cells = m.num_cells,
                  .num_cell_nodes = m.cell_start[m.num_cells],
                  .num_facets = m.num_facets,
                  .num_facet_nodes = m.facet_start[m.num_facets],
                  .num_patches = m.num_patches,
                  .num_regions = m.num_regions,
                  .num_periodic = m.num_periodic,
                  .text_size = (int64_t)text_size(&m)};
  memcpy(h.magic, RAW_MAGIC, 8);
  raw_array array[RAW_ARRAYS];
  list_arrays(&m, &h, array);
  size_t total = sizeof h + padded((size_t)h.text_size) + 8;
  for (int i = 0; i < RAW_ARRAYS; i++) total += padded(array[i].size);
  h.file_size = (int64_t)total;

  char *buffer = NULL;
  PCSIM_TRY(pcsim_alloc(total, 1, &buffer));
  size_t at = sizeof h;
  memcpy(buffer, &h, sizeof h);
  for (int i = 0; i < RAW_ARRAYS; at += padded(array[i].size), i++)
    if (array[i].size) memcpy(buffer + at, array[i].data, array[i].size);
  for (int i = 0; i < m.num_patches; i++)
    at += (size_t)(stpcpy(buffer + at, m.patches[i]) - (buffer + at)) + 1;
  for (int i = 0; i < m.num_regions; i++)
    at += (size_t)(stpcpy(buffer + at, m.regions[i]) - (buffer + at)) + 1;
  stpcpy(buffer + at, m.notes ? m.notes : "");
  uint64_t hash = hash_words(hash_start, buffer, total - 8);
  memcpy(buffer + total - 8, &hash, 8);
  pcsim_status status = pcsim_file_write(path, buffer, total);
  pcsim_free(&buffer);
  PCSIM_TRY(status);
  return PCSIM_OK;
}

/* The header must be plausible against the size of the file before anything is allocated. */
static pcsim_status check_header(const raw_header *h, int64_t file_size, const char *path) {
  PCSIM_CHECK(memcmp(h->magic, RAW_MAGIC, 8) == 0, PCSIM_ERR_MESH, "%s: not a raw mesh of pcsim-mesh", path);
  PCSIM_CHECK(h->order == RAW_ORDER, PCSIM_ERR_MESH, "%s: written on a machine of another byte order", path);
  PCSIM_CHECK(h->version == RAW_VERSION, PCSIM_ERR_MESH, "%s: raw mesh of version %u, this build reads %d",
              path, h->version, RAW_VERSION);
  PCSIM_CHECK(h->file_size == file_size, PCSIM_ERR_MESH,
              "%s: %lld bytes, expected %lld: the file is cut off or damaged", path, (long long)file_size,
              (long long)h->file_size);
  const int64_t count[] = {h->num_nodes,   h->num_cells,       h->num_cell_nodes,
                           h->num_facets,  h->num_facet_nodes, h->num_patches,
                           h->num_regions, h->num_periodic,    h->text_size};
  bool plausible = h->dim == 2 || h->dim == 3;
  for (size_t i = 0; i < sizeof count / sizeof *count; i++)
    plausible &= count[i] >= 0 && count[i] <= file_size;
  if (plausible) { /* each count is at most the file's size now, so these sums do not overflow */
    raw_array array[RAW_ARRAYS];
    list_arrays(&(pcsim_raw_mesh){0}, h, array);
    size_t total = sizeof *h + padded((size_t)h->text_size) + 8;
    for (int i = 0; i < RAW_ARRAYS; i++) total += padded(array[i].size);
    plausible = total == (size_t)file_size && h->num_patches + h->num_regions < h->text_size;
  }
  PCSIM_CHECK(plausible, PCSIM_ERR_MESH, "%s: the counts in the header do not fit the file: it is damaged",
              path);
  return PCSIM_OK;
}

static pcsim_status read_block(FILE *file, const char *path, void *data, size_t size, uint64_t *hash) {
  size_t whole = size / 8 * 8, rest = size - whole;
  PCSIM_CHECK(whole == 0 || fread(data, 1, whole, file) == whole, PCSIM_ERR_IO, "%s: cannot be read: %s",
              path, ferror(file) ? strerror(errno) : "it is cut off");
  *hash = hash_words(*hash, data, whole);
  if (rest == 0) return PCSIM_OK;
  char tail[8];
  PCSIM_CHECK(fread(tail, 1, 8, file) == 8, PCSIM_ERR_IO, "%s: cannot be read: %s", path,
              ferror(file) ? strerror(errno) : "it is cut off");
  *hash = hash_words(*hash, tail, 8);
  memcpy((char *)data + whole, tail, rest);
  return PCSIM_OK;
}

static pcsim_status take_text(const char **at, const char *end, const char *path, char **copy) {
  const char *zero = memchr(*at, 0, (size_t)(end - *at));
  PCSIM_CHECK(zero, PCSIM_ERR_MESH, "%s: the names are damaged", path);
  PCSIM_TRY(pcsim_strdup(*at, copy));
  *at = zero + 1;
  return PCSIM_OK;
}

static pcsim_status read_text(FILE *file, const char *path, size_t size, uint64_t *hash, pcsim_raw_mesh *m) {
  char *text = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_TRY(pcsim_alloc(size, 1, &text));
  PCSIM_GOTO(read_block(file, path, text, size, hash), status, done);
  const char *at = text, *end = text + size;
  for (int i = 0; i < m->num_patches; i++)
    PCSIM_GOTO(take_text(&at, end, path, &m->patches[i]), status, done);
  for (int i = 0; i < m->num_regions; i++)
    PCSIM_GOTO(take_text(&at, end, path, &m->regions[i]), status, done);
  PCSIM_GOTO(take_text(&at, end, path, &m->notes), status, done);
done:
  pcsim_free(&text);
  return status;
}

static pcsim_status read_file(FILE *file, const char *path, pcsim_raw_mesh **raw) {
  struct stat info;
  raw_header h;
  PCSIM_CHECK(fstat(fileno(file), &info) == 0, PCSIM_ERR_IO, "%s: %s", path, strerror(errno));
  PCSIM_CHECK(S_ISREG(info.st_mode), PCSIM_ERR_IO, "%s: not a file", path);
  PCSIM_CHECK(fread(&h, sizeof h, 1, file) == 1, PCSIM_ERR_MESH,
              "%s: %lld bytes: not a raw mesh of pcsim-mesh, or cut off", path, (long long)info.st_size);
  PCSIM_TRY(check_header(&h, info.st_size, path));
  const pcsim_raw_size size = {(int)h.dim,         h.num_nodes,        h.num_cells,
                               h.num_cell_nodes,   h.num_facets,       h.num_facet_nodes,
                               (int)h.num_patches, (int)h.num_regions, (int)h.num_periodic};
  pcsim_raw_mesh *m = NULL;
  pcsim_status status = PCSIM_OK;
  PCSIM_TRY(pcsim_raw_mesh_new(&size, &m));
  uint64_t hash = hash_words(hash_start, &h, sizeof h), stored = 0;
  raw_array array[RAW_ARRAYS];
  list_arrays(m, &h, array);
  for (int i = 0; i < RAW_ARRAYS; i++)
    PCSIM_GOTO(read_block(file, path, array[i].data, array[i].size, &hash), status, fail);
  PCSIM_GOTO(read_text(file, path, (size_t)h.text_size, &hash, m), status, fail);
  if (fread(&stored, 8, 1, file) != 1 || stored != hash) {
    status = pcsim_error_set(PCSIM_ERR_MESH, __FILE__, __LINE__, __func__,
                             "%s: the checksum is wrong: the file is damaged", path);
    goto fail;
  }
  PCSIM_GOTO(pcsim_raw_mesh_check(m), status, fail);
  *raw = m;
  return PCSIM_OK;
fail:
  pcsim_raw_mesh_destroy(&m);
  return status;
}

pcsim_status pcsim_raw_mesh_read(const char *path, pcsim_raw_mesh **raw) {
  *raw = NULL;
  FILE *file = fopen(path, "rb");
  PCSIM_CHECK(file, PCSIM_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
  pcsim_status status = read_file(file, path, raw);
  fclose(file);
  PCSIM_TRY(status);
  return PCSIM_OK;
}
