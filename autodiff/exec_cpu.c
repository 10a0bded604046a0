/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_cpu.c  The CPU: passes over tiles of points by a few threads.
 *
 *  Tiles are dealt out in chunks that depend on the number of points only. Sums over points are kept by
 *  chunk and added up in pairs, so that the result does not depend on who ran which chunk. */
#include "exec_cpu.h"

#include <string.h>

/* --------------------------------------------------------------------- set-up */

static pcsim_status create_desks(pcsim_executor *x, cpu *c) {
  const plan *p = &x->plan;
  size_t rows = 1, strips = 1, scratch = 1, pointers = 1;
  for (int i = 0; i < p->num_stages; i++) {
    if ((size_t)p->stages[i].tile_rows > rows) rows = (size_t)p->stages[i].tile_rows;
    if ((size_t)p->stages[i].strips > strips) strips = (size_t)p->stages[i].strips;
  }
  for (int i = 0; i < p->num_instructions; i++) {
    const instruction *step = &p->instructions[i];
    if (step->kind != DO_ELEMENTWISE && (size_t)step->count > pointers) pointers = (size_t)step->count;
    const size_t need = step->kind == DO_MAP    ? (size_t)step->rows
                        : step->kind == DO_ADD  ? (size_t)step->rows * (size_t)step->count
                        : step->kind == DO_USER ? (size_t)step->rows * (size_t)(step->count + 1)
                                                : 0;
    if (need > scratch) scratch = need;
  }
  const size_t tile = (size_t)p->tile, strip = tile > STRIP ? tile : STRIP;
  PCSIM_TRY(pcsim_alloc((size_t)x->threads, sizeof *c->desks, &c->desks));
  for (int i = 0; i < x->threads; i++) {
    desk *d = &c->desks[i];
    PCSIM_TRY(pcsim_alloc(rows * tile, cpu_real_size(x), &d->tile));
    PCSIM_TRY(pcsim_alloc(strips * strip, cpu_real_size(x), &d->strips));
    PCSIM_TRY(pcsim_alloc(scratch * tile, sizeof *d->scratch, &d->scratch));
    PCSIM_TRY(pcsim_alloc(pointers, sizeof *d->in, &d->in));
    PCSIM_TRY(pcsim_alloc(pointers, sizeof *d->out, &d->out));
    PCSIM_TRY(pcsim_alloc(pointers, sizeof *d->bias, &d->bias));
    PCSIM_TRY(pcsim_alloc((size_t)c->code.spills, CODE_SLOT_BYTES, &d->spill));
    PCSIM_TRY(pcsim_alloc(c->code.pad_bytes, 1, &d->pad));
  }
  return PCSIM_OK;
}

static pcsim_status create_shared(pcsim_executor *x, cpu *c) {
  const plan *p = &x->plan;
  PCSIM_TRY(pcsim_alloc((size_t)p->num_packs, sizeof *c->pack_place, &c->pack_place));
  size_t bytes = 0, accumulators = 0;
  for (int i = 0; i < p->num_packs; i++) {
    const node *w = &p->program->nodes[p->packs[i].weight];
    const size_t m = (size_t)(p->packs[i].transposed ? w->columns : w->rows);
    const size_t k = (size_t)(p->packs[i].transposed ? w->rows : w->columns), panel = (size_t)p->panel;
    c->pack_place[i] = bytes;
    bytes += ((m + panel - 1) / panel * panel * k * cpu_real_size(x) + 63) / 64 * 64;
  }
  for (int i = 0; i < p->num_stages; i++)
    if ((size_t)p->stages[i].accumulators > accumulators) accumulators = (size_t)p->stages[i].accumulators;
  PCSIM_TRY(pcsim_alloc(bytes, 1, &c->packed));
  PCSIM_TRY(pcsim_alloc((size_t)p->num_splats * SPLAT_BYTES, 1, &c->splats));
  PCSIM_TRY(pcsim_alloc(accumulators * MAX_CHUNKS, sizeof *c->partial, &c->partial));
  return pcsim_pool_create(x->threads, &c->pool);
}

static pcsim_status cpu_create(pcsim_executor *x) {
  cpu *c = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *c, &c));
  x->device_data = c;
  c->x = x;
  if (!x->interpreted) PCSIM_TRY(exec_code_create(&x->plan, x->kernels, x->plan.tile, &c->code));
  PCSIM_TRY(create_desks(x, c));
  return create_shared(x, c);
}

static void cpu_destroy(pcsim_executor *x) {
  cpu *c = x->device_data;
  pcsim_pool_destroy(&c->pool);
  for (int i = 0; c->desks && i < x->threads; i++) {
    pcsim_free(&c->desks[i].tile);
    pcsim_free(&c->desks[i].strips);
    pcsim_free(&c->desks[i].scratch);
    pcsim_free(&c->desks[i].in);
    pcsim_free(&c->desks[i].out);
    pcsim_free(&c->desks[i].bias);
    pcsim_free(&c->desks[i].spill);
    pcsim_free(&c->desks[i].pad);
    pcsim_free(&c->desks[i].terms);
  }
  pcsim_free(&c->desks);
  pcsim_free(&c->packed);
  pcsim_free(&c->pack_place);
  pcsim_free(&c->splats);
  exec_code_destroy(&c->code);
  exec_code_destroy(&c->block_code);
  pcsim_free(&c->partial);
  pcsim_free(&c->columns);
  pcsim_free(&x->device_data);
}

/* ------------------------------------------------------------------- one pass */

static void run_chunk(void *context, int chunk, int thread) {
  cpu *c = context;
  const stage *s = c->s;
  double *sums = s->accumulators ? c->partial + (size_t)chunk * (size_t)s->accumulators : NULL;
  for (int i = 0; sums && i < s->accumulators; i++) sums[i] = 0;
  pass t = cpu_begin_pass(c, &c->desks[thread], c->x->plan.tile);
  t.sums = sums;
  t.fault = c->check ? &c->faults[chunk] : NULL;
  int64_t end = (chunk + 1) * c->chunk_tiles;
  if (end > c->tiles) end = c->tiles;
  for (int64_t i = chunk * c->chunk_tiles; i < end; i++) {
    t.number = i;
    cpu_run_tile(&t, c->begin + i * t.tile, c->points);
    const bool found = t.fault && t.fault->found;
    if (s->adds) {
      cpu_await_turn(&t);
      cpu_end_turns(&t, found ? end : i + 1);
    }
    if (found) return;
  }
}

void cpu_prepare_stage(cpu *c, const stage *s) {
  const pcsim_executor *x = c->x;
  const plan *p = &x->plan;
  for (int i = s->first_pack; i < s->first_pack + s->num_packs; i++) {
    const node *w = &p->program->nodes[p->packs[i].weight];
    const bool transposed = p->packs[i].transposed;
    x->kernels->pack(transposed ? w->columns : w->rows, transposed ? w->rows : w->columns,
                     x->uniform[p->packs[i].weight], transposed, c->packed + c->pack_place[i]);
  }
  for (int i = s->first_splat; i < s->first_splat + s->num_splats; i++)
    x->kernels->fill(x->kernels->lanes, x->uniform[p->splats[i]][0], c->splats + (size_t)i * SPLAT_BYTES);
  exec_code_prepare(&c->code, (int)(s - p->stages), x->kernels, x->uniform);
  exec_code_prepare(&c->block_code, (int)(s - p->stages), x->kernels, x->uniform);
}

/** Chunks in pairs, pairs of pairs, ...; the result stands in the first. */
static void combine(cpu *c, const stage *s) {
  const size_t n = (size_t)s->accumulators;
  if (!n) return;
  for (size_t j = 0; j < n && !c->chunks; j++) c->partial[j] = 0;
  for (int step = 1; step < c->chunks; step *= 2)
    for (int i = 0; i + step < c->chunks; i += 2 * step) {
      double *a = c->partial + (size_t)i * n;
      const double *b = c->partial + (size_t)(i + step) * n;
      for (size_t j = 0; j < n; j++) a[j] += b[j];
    }
}

static pcsim_status report(const cpu *c) {
  const pcsim_program *g = c->x->plan.program;
  for (int i = 0; i < c->chunks; i++) {
    const fault *f = &c->faults[i];
    if (!f->found) continue;
    char text[128];
    int row = f->row;
    exec_describe(&c->x->plan, f->node, &row, text, sizeof text);
    PCSIM_FAIL(PCSIM_ERR_CASE, "%s is %s at point %lld of '%s' (row %d)", text, exec_bad_name(f->value),
               (long long)f->point, g->spaces[c->s->space], row);
  }
  return PCSIM_OK;
}

void cpu_deal(cpu *c, const stage *s, int64_t begin, int64_t end, int64_t tiles) {
  const bool turns = s->adds && c->x->threads > 1 && !s->accumulators && !c->check && tiles <= INT32_MAX;
  c->s = s;
  c->begin = begin;
  c->points = end;
  c->tiles = tiles;
  c->chunk_tiles = turns ? 1 : (c->tiles + MAX_CHUNKS - 1) / MAX_CHUNKS;
  atomic_store(&c->turn, 0);
  c->chunks = c->tiles ? (int)((c->tiles + c->chunk_tiles - 1) / c->chunk_tiles) : 0;
}

/** One pass over all points. */
static void run_pass(cpu *c, const stage *s) {
  const int64_t points = c->x->points[s->space], tile = c->x->plan.tile;
  cpu_prepare_stage(c, s);
  cpu_deal(c, s, 0, points, (points + tile - 1) / tile);
  memset(c->faults, 0, sizeof c->faults);
  pcsim_pool_run(c->pool, c->chunks, run_chunk, c);
}

static pcsim_status run_stage(cpu *c, int number) {
  const plan *p = &c->x->plan;
  const stage *s = &p->stages[number];
  run_pass(c, s);
  if (c->check) PCSIM_TRY(report(c));
  combine(c, s);
  for (int i = 0; i < p->num_reductions; i++) {
    const point_sum *r = &p->reductions[i];
    if (r->stage != number) continue;
    double *sum = c->x->uniform[r->node];
    memcpy(sum, c->partial + r->offset, (size_t)r->count * sizeof *sum);
    const int64_t bad = c->check && p->exposed[r->node] ? c->x->kernels_double->find_bad(r->count, sum) : -1;
    if (bad < 0) continue;
    char text[128];
    int row = 0;
    exec_describe(p, r->node, &row, text, sizeof text);
    PCSIM_FAIL(PCSIM_ERR_CASE, "%s over the points of '%s' is %s (number %lld of %d)", text,
               p->program->spaces[s->space], exec_bad_name(sum[bad]), (long long)bad, r->count);
  }
  return PCSIM_OK;
}

pcsim_status cpu_run_levels(pcsim_executor *x, bool check, int last) {
  cpu *c = x->device_data;
  const plan *p = &x->plan;
  c->check = check;
  exec_sums_clear(x);
  for (int level = 0, i = 0; level < p->num_levels && level <= last; level++) {
    if (check) PCSIM_TRY(exec_sums_check(x, level));
    PCSIM_TRY(exec_uniforms(x, level, check));
    for (; i < p->num_stages && p->stages[i].level == level && level < last; i++) PCSIM_TRY(run_stage(c, i));
  }
  return PCSIM_OK;
}

static pcsim_status cpu_run(pcsim_executor *x, bool check) {
  return cpu_run_levels(x, check, x->plan.num_levels);
}

const exec_device exec_cpu = {
    .name = "cpu",
    .help = "vector units of this processor, a few threads",
    .create = cpu_create,
    .run = cpu_run,
    .jacobian = cpu_jacobian,
    .product = cpu_product,
    .destroy = cpu_destroy,
};
