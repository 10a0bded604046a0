/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs to files. A file is an HDF5 image behind 512 bytes of our own (HDF5's user block), which hold the
 * size and a checksum of every byte: the reader checks them before HDF5 sees any. */
#include "file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char file_magic[] = "pcsim program ";

const file_part_info file_parts[NUM_PARTS] = {
#define FILE_PART_LINE(part, name, type) {name, PART_##type},
    FILE_PART_LIST(FILE_PART_LINE)
#undef FILE_PART_LINE
};

size_t file_element_size(file_part_type type) {
  return type == PART_INT ? sizeof(int32_t) : type == PART_DOUBLE ? sizeof(double) : 1;
}

void program_flat_free(program_flat *flat) {
  for (int i = 0; i < NUM_PARTS; i++) {
    pcsim_free(&flat->part[i].data);
    flat->part[i].count = 0;
  }
}

void file_quiet(file_printing *saved) {
  H5Eget_auto2(H5E_DEFAULT, &saved->function, &saved->context);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void file_loud(const file_printing *saved) { H5Eset_auto2(H5E_DEFAULT, saved->function, saved->context); }

/* 64-bit FNV-1a (Fowler, Noll, Vo): each step is a bijection of the state, so one changed byte always shows.
 */
static uint64_t checksum(const void *bytes, size_t size) {
  const unsigned char *b = bytes;
  uint64_t state = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < size; i++) state = (state ^ b[i]) * UINT64_C(0x100000001b3);
  return state;
}

void file_header(char header[FILE_HEADER_SIZE], const char *content, size_t content_size) {
  char text[256];
  int n = snprintf(text, sizeof text, "%s%d\nbytes %zu\nchecksum %016" PRIx64 "\n", file_magic, FILE_VERSION,
                   FILE_HEADER_SIZE + content_size, checksum(content, content_size));
  n += snprintf(text + n, sizeof text - (size_t)n, "header %016" PRIx64 "\n", checksum(text, (size_t)n));
  memset(header, '\n', FILE_HEADER_SIZE);
  memcpy(header, text, (size_t)n);
}

/* ------------------------------------------------------------- flattening */

static pcsim_status take(program_flat *flat, file_part part, size_t count) {
  flat->part[part].count = count;
  return pcsim_alloc(count, file_element_size(file_parts[part].type), &flat->part[part].data);
}

static const char *name_of_space(const pcsim_program *p, int i) { return p->spaces[i]; }
static const char *name_of_map(const pcsim_program *p, int i) { return p->maps[i].name; }
static const char *name_of_output(const pcsim_program *p, int i) { return p->outputs[i].name; }

/** Texts one after another. */
static pcsim_status pack(program_flat *flat, file_part part, const pcsim_program *p, int n,
                         const char *(*name)(const pcsim_program *, int)) {
  size_t size = 0;
  for (int i = 0; i < n; i++) size += strlen(name(p, i)) + 1;
  PCSIM_TRY(take(flat, part, size));
  char *at = flat->part[part].data;
  for (int i = 0; i < n; i++) {
    size = strlen(name(p, i)) + 1;
    memcpy(at, name(p, i), size);
    at += size;
  }
  return PCSIM_OK;
}

static bool has_name(const node *n) { return n->kind == NODE_INPUT || n->kind == NODE_PARAMETER; }

static bool same_operator(const pcsim_user_op *a, const pcsim_user_op *b) {
  return a->num_inputs == b->num_inputs && a->value == b->value && a->derivative == b->derivative &&
         a->context == b->context;
}

/** Number those operators of the host that values have, each name once; number [num_user_ops], -1: unused. */
static pcsim_status number_operators(const pcsim_program *p, int *number, int *count) {
  *count = 0;
  for (int i = 0; i < p->num_user_ops; i++) number[i] = -1;
  for (int v = 0; v < p->num_nodes; v++) {
    const int op = p->nodes[v].index;
    if (p->nodes[v].kind != NODE_USER || number[op] >= 0) continue;
    for (int i = 0; i < p->num_user_ops; i++) {
      if (number[i] < 0 || strcmp(p->user_ops[i].name, p->user_ops[op].name) != 0) continue;
      PCSIM_CHECK(same_operator(&p->user_ops[i], &p->user_ops[op]), PCSIM_ERR_ARG,
                  "the program has two different operators '%s'; a file knows them by their names only",
                  p->user_ops[op].name);
      number[op] = number[i];
    }
    if (number[op] < 0) number[op] = (*count)++;
  }
  return PCSIM_OK;
}

/** Names and inputs of the operators; those of one number are alike. */
static pcsim_status put_operators(const pcsim_program *p, const int *number, int count, program_flat *flat) {
  size_t size = 0;
  PCSIM_TRY(take(flat, PART_OPERATORS, (size_t)count));
  int32_t *inputs = flat->part[PART_OPERATORS].data;
  for (int k = 0; k < count; k++) {
    int op = 0;
    while (number[op] != k) op++;
    inputs[k] = p->user_ops[op].num_inputs;
    size += strlen(p->user_ops[op].name) + 1;
  }
  PCSIM_TRY(take(flat, PART_OPERATOR_NAMES, size));
  char *name = flat->part[PART_OPERATOR_NAMES].data;
  for (int k = 0; k < count; k++) {
    int op = 0;
    while (number[op] != k) op++;
    size = strlen(p->user_ops[op].name) + 1;
    memcpy(name, p->user_ops[op].name, size);
    name += size;
  }
  return PCSIM_OK;
}

static pcsim_status flatten_operators(const pcsim_program *p, program_flat *flat) {
  int *number = NULL, count;
  PCSIM_TRY(pcsim_alloc((size_t)p->num_user_ops, sizeof *number, &number));
  pcsim_status status = number_operators(p, number, &count);
  if (status == PCSIM_OK) status = put_operators(p, number, count, flat);
  int32_t *row = flat->part[PART_NODES].data;
  for (int v = 0; status == PCSIM_OK && v < p->num_nodes; v++)
    if (p->nodes[v].kind == NODE_USER)
      row[(size_t)v * FILE_NODE_WIDTH + COLUMN_INDEX] = number[p->nodes[v].index];
  pcsim_free(&number);
  return status;
}

/** Nodes with their inputs, numbers and names. Names are numbered as the nodes come: those that nothing has
 * any more are left out. */
static pcsim_status flatten_nodes(const pcsim_program *p, program_flat *flat) {
  size_t inputs = 0, numbers = 0, names = 0;
  for (int v = 0; v < p->num_nodes; v++) {
    const node *n = &p->nodes[v];
    inputs += (size_t)n->num_inputs;
    if (n->numbers) numbers += (size_t)n->rows * (size_t)n->columns;
    if (has_name(n)) names += strlen(p->names[n->index]) + 1;
  }
  PCSIM_TRY(take(flat, PART_NODES, (size_t)p->num_nodes * FILE_NODE_WIDTH));
  PCSIM_TRY(take(flat, PART_INPUTS, inputs));
  PCSIM_TRY(take(flat, PART_NUMBERS, numbers));
  PCSIM_TRY(take(flat, PART_NAMES, names));
  int32_t *row = flat->part[PART_NODES].data, *input = flat->part[PART_INPUTS].data, named = 0;
  double *number = flat->part[PART_NUMBERS].data;
  char *name = flat->part[PART_NAMES].data;
  for (int v = 0; v < p->num_nodes; v++, row += FILE_NODE_WIDTH) {
    const node *n = &p->nodes[v];
    const int32_t line[FILE_NODE_WIDTH] = {
        [COLUMN_KIND] = n->kind,   [COLUMN_OP] = (int32_t)n->op,   [COLUMN_INDEX] = n->index,
        [COLUMN_SPACE] = n->space, [COLUMN_ROWS] = n->rows,        [COLUMN_COLUMNS] = n->columns,
        [COLUMN_FIRST] = n->first, [COLUMN_INPUTS] = n->num_inputs};
    memcpy(row, line, sizeof line);
    for (int i = 0; i < n->num_inputs; i++) *input++ = n->inputs[i];
    for (int64_t i = 0; n->numbers && i < (int64_t)n->rows * n->columns; i++) *number++ = n->numbers[i];
    if (!has_name(n)) continue;
    row[COLUMN_INDEX] = named++;
    size_t size = strlen(p->names[n->index]) + 1;
    memcpy(name, p->names[n->index], size);
    name += size;
  }
  return PCSIM_OK;
}

static pcsim_status flatten(const pcsim_program *p, program_flat *flat) {
  PCSIM_TRY(flatten_nodes(p, flat));
  PCSIM_TRY(flatten_operators(p, flat));
  PCSIM_TRY(pack(flat, PART_SPACES, p, p->num_spaces, name_of_space));
  PCSIM_TRY(pack(flat, PART_MAP_NAMES, p, p->num_maps, name_of_map));
  PCSIM_TRY(pack(flat, PART_OUTPUT_NAMES, p, p->num_outputs, name_of_output));
  PCSIM_TRY(take(flat, PART_MAPS, 3 * (size_t)p->num_maps));
  PCSIM_TRY(take(flat, PART_OUTPUTS, (size_t)p->num_outputs));
  int32_t *map = flat->part[PART_MAPS].data, *output = flat->part[PART_OUTPUTS].data;
  for (int i = 0; i < p->num_maps; i++, map += 3) {
    map[0] = p->maps[i].to;
    map[1] = p->maps[i].from;
    map[2] = p->maps[i].width;
  }
  for (int i = 0; i < p->num_outputs; i++) output[i] = p->outputs[i].value;
  return PCSIM_OK;
}

pcsim_status program_flatten(const pcsim_program *program, program_flat *flat) {
  *flat = (program_flat){0};
  PCSIM_TRY(pcsim_program_status(program));
  pcsim_status status = flatten(program, flat);
  if (status != PCSIM_OK) program_flat_free(flat);
  return status;
}

/* ---------------------------------------------------------------- writing */

static bool put_part(hid_t file, file_part part, const program_flat *flat) {
  const hid_t disk[] = {H5T_STD_I32LE, H5T_IEEE_F64LE, H5T_STD_U8LE};
  const hid_t memory[] = {H5T_NATIVE_INT32, H5T_NATIVE_DOUBLE, H5T_NATIVE_UCHAR};
  const file_part_info *info = &file_parts[part];
  hsize_t size = flat->part[part].count;
  hid_t space = H5Screate_simple(1, &size, NULL);
  /* Without the time of its birth: the same program gives the same file. */
  hid_t create = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(create, 0);
  hid_t set = H5Dcreate2(file, info->name, disk[info->type], space, H5P_DEFAULT, create, H5P_DEFAULT);
  bool good = set >= 0 && (!size || H5Dwrite(set, memory[info->type], H5S_ALL, H5S_ALL, H5P_DEFAULT,
                                             flat->part[part].data) >= 0);
  if (set >= 0) H5Dclose(set);
  H5Pclose(create);
  H5Sclose(space);
  return good;
}

/** The HDF5 file in memory, with room for the header before it. */
static pcsim_status take_image(hid_t file, char **image, size_t *size) {
  ssize_t bytes = H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 ? -1 : H5Fget_file_image(file, NULL, 0);
  PCSIM_CHECK(bytes > 0, PCSIM_ERR_LIBRARY, "HDF5 gives no file image");
  *size = FILE_HEADER_SIZE + (size_t)bytes;
  PCSIM_TRY(pcsim_alloc(*size, 1, image));
  PCSIM_CHECK(H5Fget_file_image(file, *image + FILE_HEADER_SIZE, (size_t)bytes) == bytes, PCSIM_ERR_LIBRARY,
              "HDF5 gives no file image");
  return PCSIM_OK;
}

static pcsim_status make_content(const program_flat *flat, char **image, size_t *size) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, 1 << 16, 0); /* in memory, never on disk */
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  hid_t file = H5Fcreate("pcsim-program", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  PCSIM_CHECK(file >= 0, PCSIM_ERR_LIBRARY, "HDF5 cannot make a file in memory");
  bool good = true;
  for (int part = 0; good && part < NUM_PARTS; part++) good = put_part(file, (file_part)part, flat);
  pcsim_status status = PCSIM_OK;
  if (good) status = take_image(file, image, size);
  else
    status = pcsim_error_set(PCSIM_ERR_LIBRARY, __FILE__, __LINE__, __func__,
                             "HDF5 cannot hold the program in memory");
  H5Fclose(file);
  return status;
}

pcsim_status program_image_make(const pcsim_program *program, char **image, size_t *size) {
  program_flat flat;
  file_printing printing;
  *image = NULL;
  PCSIM_TRY(program_flatten(program, &flat));
  file_quiet(&printing);
  pcsim_status status = make_content(&flat, image, size);
  file_loud(&printing);
  program_flat_free(&flat);
  if (status == PCSIM_OK) file_header(*image, *image + FILE_HEADER_SIZE, *size - FILE_HEADER_SIZE);
  else pcsim_free(image);
  return status;
}

pcsim_status pcsim_program_save(const pcsim_program *program, const char *path) {
  char *image = NULL;
  size_t size = 0;
  PCSIM_CHECK(path && *path, PCSIM_ERR_ARG, "the file has no name");
  PCSIM_TRY(program_image_make(program, &image, &size));
  pcsim_status status = pcsim_file_write(path, image, size);
  pcsim_free(&image);
  return status;
}
