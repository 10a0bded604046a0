/* SPDX-License-Identifier: BSD-2-Clause */
/* Saved programs, changed. The first byte chooses a program, the rest are changes of its arrays (part, place,
 * value) behind the checksum that would refuse them, or, for one choice, the file itself. What must hold: no
 * crash, no leak, a sentence; what is accepted is a program like any other: it prints, simplifies,
 * saves and has derivatives. */
#include "autodiff/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const file_operators no_operators = {NULL, 0};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                                      \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "%s:%d: does not hold: %s\n%s\n", __FILE__, __LINE__, #condition,                      \
              pcsim_error_message());                                                                        \
      abort();                                                                                               \
    }                                                                                                        \
  } while (0)

/** Every kind of value. */
static void build_kinds(pcsim_program *p) {
  pcsim_space cells = pcsim_build_space(p, "cells"), faces = pcsim_build_space(p, "faces");
  pcsim_map owner = pcsim_build_index_map(p, "owner", faces, cells);
  pcsim_map gradient = pcsim_build_sparse_map(p, "gradient", cells, faces, 2);
  pcsim_value x = pcsim_build_input(p, "x", cells, 2), y = pcsim_build_input(p, "y", faces, 2);
  pcsim_value weight = pcsim_build_parameter(p, "w", 3, 2), bias = pcsim_build_parameter(p, "b", 3, 1);
  pcsim_value hidden = pcsim_build_dense(p, weight, x, bias);
  pcsim_value both = pcsim_build_concat(p, (pcsim_value[]){hidden, x}, 2);
  pcsim_value part = pcsim_build_slice(p, both, 1, 3);
  pcsim_value turned = graph_transpose(p, pcsim_build_outer(p, hidden, x));
  pcsim_value at_faces = pcsim_build_gather(p, owner, pcsim_build_dense_transposed(p, weight, hidden));
  pcsim_value slopes = pcsim_build_sparse(p, gradient, y);
  pcsim_value least = pcsim_build_segment_min(p, gradient, y), most = pcsim_build_segment_max(p, gradient, y);
  pcsim_build_output(p, "a", pcsim_build_frozen(p, pcsim_build_scatter_add(p, owner, y)));
  pcsim_build_output(p, "b", pcsim_build_sparse_transposed(p, gradient, slopes));
  pcsim_build_output(p, "c", graph_segment_pick(p, gradient, at_faces, y, true));
  pcsim_build_output(p, "d", graph_segment_put(p, gradient, least, y, false));
  pcsim_build_output(p, "e", pcsim_build_mean(p, pcsim_build_row_sum(p, part)));
  pcsim_build_output(p, "f", turned);
  pcsim_build_output(p, "g", most);
  pcsim_build_output(p, "h", pcsim_build_table(p, 2, (const double[]){0, 1}, (const double[]){2, 5}, x));
}

static void build_operators(pcsim_program *p) {
  pcsim_space points = pcsim_build_space(p, "points");
  pcsim_value in[3];
  in[0] = pcsim_build_input(p, "x", points, 1);
  in[1] = pcsim_build_parameter(p, "k", 1, 1);
  in[2] = pcsim_build_constants(p, 2, (const double[]){1, 2});
  for (int op = 0; op < PCSIM_NUM_OPS; op++)
    pcsim_build_output(p, op_name((pcsim_op)op),
                       pcsim_build_op(p, (pcsim_op)op, in, op_num_inputs((pcsim_op)op)));
}

static uint32_t bits_of(const uint8_t *b) {
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/** A number that may be near a valid one (small), or anything. */
static int32_t number_of(const uint8_t *b) {
  return b[0] & 1 ? (int32_t)bits_of(b) : (int32_t)(b[1] % 40) - 3;
}

/** One change: overwrite, cut or (TEXT) end early. */
static void change(program_flat *flat, const uint8_t *b) {
  file_part part = (file_part)(b[0] % NUM_PARTS);
  size_t count = flat->part[part].count, place;
  if (!count) return;
  place = (b[1] | (size_t)b[2] << 8) % count;
  if (b[0] >= 250) {
    flat->part[part].count = place;
    return;
  }
  if (file_parts[part].type == PART_INT) ((int32_t *)flat->part[part].data)[place] = number_of(b + 3);
  else if (file_parts[part].type == PART_TEXT) ((char *)flat->part[part].data)[place] = (char)b[3];
  else ((double *)flat->part[part].data)[place] = (double)number_of(b + 3) / b[3];
}

/** Derivatives of an accepted program can be refused, but with a sentence. */
static void transform(const pcsim_program *p) {
  pcsim_program *q;
  if (!p->num_names || !p->num_outputs) return;
  const char *name = p->names[0];
  pcsim_status (*const transforms[])(const pcsim_program *, const char *const *, int,
                                     pcsim_program **) = {pcsim_transform_jvp, pcsim_transform_vjp};
  for (int i = 0; i < 2; i++)
    if (transforms[i](p, &name, 1, &q) == PCSIM_OK) pcsim_program_destroy(&q);
    else MUST(*pcsim_error_message());
  if (pcsim_transform_jet_collapsed(p, name, 2, 2, NULL, &q) == PCSIM_OK) pcsim_program_destroy(&q);
  else MUST(*pcsim_error_message());
}

/** `thorough`: with its derivatives, which take most of the time. */
static void check_accepted(pcsim_program *p, bool thorough) {
  program_flat flat;
  pcsim_program *copy;
  char *text;
  MUST(pcsim_program_status(p) == PCSIM_OK);
  MUST(pcsim_program_copy(p, &copy) == PCSIM_OK);
  MUST(program_flatten(copy, &flat) == PCSIM_OK);
  program_flat_free(&flat);
  pcsim_program_count(copy);
  MUST(pcsim_program_print(copy, &text) == PCSIM_OK);
  pcsim_free(&text);
  MUST(pcsim_program_simplify(copy) == PCSIM_OK);
  pcsim_program_destroy(&copy);
  if (thorough) transform(p);
}

static void fuzz_arrays(const pcsim_program *base, const uint8_t *data, size_t size, bool thorough) {
  program_flat flat;
  pcsim_program *p;
  MUST(program_flatten(base, &flat) == PCSIM_OK);
  for (; size >= 7; size -= 7, data += 7) change(&flat, data);
  pcsim_status status = program_unflatten(&flat, no_operators, &p);
  if (status == PCSIM_OK) check_accepted(p, thorough);
  else MUST(status == PCSIM_ERR_IO && !p && *pcsim_error_message());
  pcsim_program_destroy(&p);
  program_flat_free(&flat);
}

/** Bytes of the file: overwritten, and cut at the end. */
static void fuzz_file(const pcsim_program *base, const uint8_t *data, size_t size) {
  char *image;
  size_t n;
  pcsim_program *p;
  MUST(program_image_make(base, &image, &n) == PCSIM_OK);
  for (; size >= 4; size -= 4, data += 4) image[(data[0] | (size_t)data[1] << 8) % n] = (char)data[2];
  if (size) n = n * data[0] / 256;
  pcsim_status status = program_image_read("fuzz", image, n, no_operators, &p);
  if (status == PCSIM_OK) check_accepted(p, false);
  else MUST(status == PCSIM_ERR_IO && !p && *pcsim_error_message());
  pcsim_program_destroy(&p);
  pcsim_free(&image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t held = pcsim_memory_used();
  pcsim_program *base, *p;
  if (!size) return 0;
  MUST(pcsim_program_create(&base) == PCSIM_OK);
  if (data[0] & 1) build_kinds(base);
  else build_operators(base);
  MUST(pcsim_program_status(base) == PCSIM_OK);
  if (data[0] % 16 < 14) fuzz_arrays(base, data + 1, size - 1, data[0] % 128 < 16);
  else fuzz_file(base, data + 1, size - 1);
  pcsim_program_destroy(&base);
  /* Any bytes as a file. */
  if (program_image_read("fuzz", (const char *)data, size, no_operators, &p) == PCSIM_OK)
    check_accepted(p, false);
  pcsim_program_destroy(&p);
  pcsim_error_clear();
  MUST(pcsim_memory_used() == held);
  return 0;
}
