/* SPDX-License-Identifier: BSD-2-Clause */
/* Finite-volume meshes of every kind of cell on any number of ranks: volumes, closed cells, faces, halo, near
 * cells, gather and scatter, each against what the raw mesh or the mesh on one rank says. */
#include "lattice.h"

static const lattice kinds[NUM_LATTICES] = {
    [LATTICE_QUAD] = {LATTICE_QUAD, 9, 7, 0, 0.2, true},
    [LATTICE_TRIANGLE] = {LATTICE_TRIANGLE, 8, 6, 0, 0.2, true},
    [LATTICE_MIXED_2D] = {LATTICE_MIXED_2D, 9, 7, 0, 0.2, true},
    [LATTICE_HEXA] = {LATTICE_HEXA, 5, 4, 6, 0.2, true},
    [LATTICE_TETRA] = {LATTICE_TETRA, 4, 3, 5, 0.15, true},
    [LATTICE_PRISM] = {LATTICE_PRISM, 4, 5, 3, 0.15, true},
    [LATTICE_PYRAMID] = {LATTICE_PYRAMID, 3, 4, 3, 0.15, true},
    [LATTICE_MIXED_3D] = {LATTICE_MIXED_3D, 6, 5, 4, 0.15, true},
};

typedef struct {
  pcsim_raw_mesh *raw; /* on every rank here; rank 0 passes it */
  pcsim_mesh *mesh, *serial;
  const pcsim_mesh_view *view, *all; /* all: the same mesh on one rank, with other global numbers */
} pair;

static pair make(const lattice *shape) {
  pair p = {.raw = lattice_make(shape)};
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  assert_ok(pcsim_mesh_create(MPI_COMM_WORLD, rank == 0 ? p.raw : NULL, &p.mesh));
  assert_ok(pcsim_mesh_create(MPI_COMM_SELF, p.raw, &p.serial));
  p.view = pcsim_mesh_get(p.mesh);
  p.all = pcsim_mesh_get(p.serial);
  return p;
}
static void destroy(pair *p) {
  pcsim_mesh_destroy(&p->mesh);
  pcsim_mesh_destroy(&p->serial);
  pcsim_raw_mesh_destroy(&p->raw);
  assert_null(p->mesh);
}

static int64_t sum(int64_t value) {
  int64_t total = 0;
  MPI_Allreduce(&value, &total, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return total;
}
static double sum_double(double value) {
  double total = 0;
  MPI_Allreduce(&value, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return total;
}

static double box_volume(const lattice *s) {
  return (double)s->nx * s->ny * (s->kind < LATTICE_HEXA ? 1 : s->nz);
}

static void volumes_fill_the_box(void **state) {
  (void)state;
  for (int k = 0; k < NUM_LATTICES; k++) {
    pair p = make(kinds + k);
    double volume = 0, centre[3] = {0, 0, 0};
    for (int64_t c = 0; c < p.view->num_cells; c++) {
      assert_true(p.view->cell_volume[c] > 0);
      volume += p.view->cell_volume[c];
      for (int d = 0; d < 3; d++) centre[d] += p.view->cell_volume[c] * p.view->cell_centre[3 * c + d];
    }
    double total = box_volume(kinds + k);
    double middle[3] = {kinds[k].nx / 2.0, kinds[k].ny / 2.0, k < LATTICE_HEXA ? 0 : kinds[k].nz / 2.0};
    assert_close(sum_double(volume), total, 1e-12 * total);
    for (int d = 0; d < 3; d++) assert_close(sum_double(centre[d]) / total, middle[d], 1e-12 * total);
    destroy(&p);
  }
}

/* Sum of area vectors of each owned cell is zero; x . area over all its faces is dim times the volume for a
 * cell with plane faces, so areas point outwards. */
static void cells_are_closed(void **state) {
  (void)state;
  for (int k = 0; k < NUM_LATTICES; k++) {
    pair p = make(kinds + k);
    const pcsim_mesh_view *v = p.view;
    int64_t cells = v->num_cells + v->num_ghosts;
    double *closed = calloc((size_t)cells, 3 * sizeof *closed), *flux = calloc((size_t)cells, sizeof *flux);
    int *faces = calloc((size_t)cells, sizeof *faces);
    for (int64_t f = 0; f < v->num_faces; f++)
      for (int side = 0; side < (f < v->num_interior_faces ? 2 : 1); side++) {
        int64_t c = side == 0 ? v->owner[f] : v->neighbour[f];
        faces[c]++;
        for (int d = 0; d < 3; d++) {
          double area = side == 0 ? v->face_area[3 * f + d] : -v->face_area[3 * f + d];
          closed[3 * c + d] += area;
          flux[c] += area * (v->face_centre[3 * f + d] - v->cell_centre[3 * c + d]);
        }
      }
    for (int64_t c = 0; c < v->num_cells; c++) {
      for (int d = 0; d < 3; d++) assert_close(closed[3 * c + d], 0, 1e-14);
      assert_int_equal(faces[c], pcsim_cell_shapes[v->cell_type[c]].num_faces);
      double loose = v->cell_type[c] == PCSIM_CELL_TETRA || v->dim == 2 ? 1e-13 : 0.02;
      assert_close(flux[c] / v->dim, v->cell_volume[c], loose);
    }
    free(closed);
    free(flux);
    free(faces);
    destroy(&p);
  }
}

static int64_t global_number(const pcsim_mesh_view *v, int64_t c) {
  return c < v->num_cells ? v->first_cell + c : v->ghost_global[c - v->num_cells];
}

/* Faces by their pair of raw cells: each of the serial mesh is found, with the same bits of geometry but for
 * the direction, which the global numbers decide. */
static int64_t serial_place(const pair *p, int64_t raw_cell) {
  for (int64_t c = 0; c < p->all->num_cells; c++)
    if (p->all->cell_original[c] == raw_cell) return c;
  return -1;
}
static int64_t serial_face(const pair *p, int64_t a, int64_t b, const double *centre) {
  for (int64_t f = 0; f < p->all->num_faces; f++) {
    int64_t o = p->all->owner[f], n = f < p->all->num_interior_faces ? p->all->neighbour[f] : -1;
    bool same = (o == a && n == b) || (o == b && n == a);
    for (int d = 0; d < 3 && same; d++) same = fabs(p->all->face_centre[3 * f + d] - centre[d]) < 1e-13;
    if (same) return f;
  }
  return -1;
}

static void faces_agree_with_one_rank(void **state) {
  (void)state;
  for (int k = 0; k < NUM_LATTICES; k++) {
    pair p = make(kinds + k);
    const pcsim_mesh_view *v = p.view;
    int64_t counted = v->num_faces - v->num_interior_faces, boundary = sum(counted);
    for (int64_t f = 0; f < v->num_faces; f++) {
      int64_t o = v->owner[f], n = f < v->num_interior_faces ? v->neighbour[f] : -1;
      assert_true(o < v->num_cells || (n >= 0 && n < v->num_cells));
      if (n >= 0) assert_true(global_number(v, o) < global_number(v, n));
      if (n >= 0 && o < v->num_cells) counted++;
      int64_t a = serial_place(&p, v->cell_original[o]);
      int64_t b = n < 0 ? -1 : serial_place(&p, v->cell_original[n]);
      int64_t g = serial_face(&p, a, b, v->face_centre + 3 * f);
      assert_true(g >= 0);
      double sign = p.all->owner[g] == a ? 1 : -1;
      for (int d = 0; d < 3; d++)
        assert_close(v->face_area[3 * f + d], sign * p.all->face_area[3 * g + d], 1e-14);
      if (n < 0) assert_int_equal(pcsim_mesh_face_patch(p.mesh, f), pcsim_mesh_face_patch(p.serial, g));
      /* nodes of the face are nodes of an owned cell */
      for (int64_t i = v->face_node_start[f]; i < v->face_node_start[f + 1]; i++)
        assert_in_range(v->face_node[i], 0, v->num_nodes - 1);
    }
    assert_int_equal(sum(counted), p.all->num_faces);
    assert_int_equal(v->num_faces_global, p.all->num_faces);
    assert_int_equal(v->num_nodes_global, p.raw->num_nodes);
    assert_int_equal(boundary, p.raw->num_facets);
    assert_int_equal(sum(v->num_cells), p.raw->num_cells);
    int64_t named = 0;
    for (int i = 0; i < v->num_patches; i++) {
      assert_int_equal(sum(v->patch_start[i + 1] - v->patch_start[i]), v->patch_size_global[i]);
      named += v->patch_size_global[i];
      assert_int_equal(pcsim_mesh_find_patch(p.mesh, v->patch_name[i]), i);
    }
    assert_int_equal(named, p.raw->num_facets);
    assert_int_equal(pcsim_mesh_find_patch(p.mesh, "nowhere"), -1);
    destroy(&p);
  }
}

/* Every rank publishes the geometry of its cut faces by the pair of global cells; the bits are equal. */
static void cut_faces_have_equal_bits(void **state) {
  (void)state;
  for (int k = 0; k < NUM_LATTICES; k++) {
    pair p = make(kinds + k);
    const pcsim_mesh_view *v = p.view;
    int64_t n = v->num_cells_global;
    /* bits hashed per pair, summed into a table of pairs: both sides add the same number with opposite sign
     */
    int64_t *table = calloc((size_t)(n * n), sizeof *table), *total = calloc((size_t)(n * n), sizeof *total);
    for (int64_t f = 0; f < v->num_interior_faces; f++) {
      int64_t o = v->owner[f], b = v->neighbour[f], hash = 0;
      if (o < v->num_cells && b < v->num_cells) continue;
      double data[6];
      memcpy(data, v->face_area + 3 * f, 3 * sizeof *data);
      memcpy(data + 3, v->face_centre + 3 * f, 3 * sizeof *data);
      for (int i = 0; i < 6; i++) {
        int64_t bits;
        memcpy(&bits, data + i, sizeof bits);
        hash = (int64_t)((uint64_t)hash * 31u + ((uint64_t)bits ^ ((uint64_t)bits >> 29)));
      }
      hash = (int64_t)((uint64_t)hash >> 2) | 1;
      table[global_number(v, o) * n + global_number(v, b)] = o < v->num_cells ? hash : -hash;
    }
    MPI_Allreduce(table, total, (int)(n * n), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int64_t i = 0; i < n * n; i++) assert_true(total[i] == 0);
    free(table);
    free(total);
    destroy(&p);
  }
}

static void halo_carries_values(void **state) {
  (void)state;
  for (int k = 0; k < NUM_LATTICES; k++) {
    pair p = make(kinds + k);
    const pcsim_mesh_view *v = p.view;
    int64_t cells = v->num_cells + v->num_ghosts;
    for (int width = 1; width <= 5; width += 2) {
      double *values = calloc((size_t)(cells * width), sizeof *values);
      for (int64_t c = 0; c < v->num_cells; c++)
        for (int w = 0; w < width; w++) values[c * width + w] = (double)v->cell_original[c] * 10 + w;
      assert_ok(pcsim_mesh_exchange(p.mesh, width, values));
      for (int64_t c = 0; c < cells; c++) {
        int64_t serial = serial_place(&p, v->cell_original[c]);
        for (int w = 0; w < width; w++)
          assert_true(values[c * width + w] == (double)v->cell_original[c] * 10 + w);
        for (int d = 0; d < 3; d++)
          assert_true(v->cell_centre[3 * c + d] == p.all->cell_centre[3 * serial + d]);
        assert_true(v->cell_volume[c] == p.all->cell_volume[serial]);
        if (c > v->num_cells)
          assert_true(v->ghost_global[c - v->num_cells] > v->ghost_global[c - 1 - v->num_cells]);
      }
      free(values);
    }
    destroy(&p);
  }
}

/* <E x, y> = <x, E^T y>, with whole numbers that add up exactly; every ghost is counted once by its owner. */
static void halo_adds_back(void **state) {
  (void)state;
  for (int k = 0; k < NUM_LATTICES; k++) {
    pair p = make(kinds + k);
    const pcsim_mesh_view *v = p.view;
    const int64_t cells = v->num_cells + v->num_ghosts;
    for (int width = 1; width <= 4; width += 3) {
      double *x = calloc((size_t)(cells * width), sizeof *x), *y = calloc((size_t)(cells * width), sizeof *y);
      int64_t product[2] = {0, 0}, ghosts = 0;
      for (int64_t i = 0; i < cells * width; i++) {
        x[i] = i < v->num_cells * width ? (double)(v->cell_original[i / width] % 97 + i % width) : NAN;
        y[i] = (double)((i * 7 + v->first_cell) % 89);
      }
      assert_ok(pcsim_mesh_exchange(p.mesh, width, x));
      for (int64_t i = 0; i < cells * width; i++) product[0] += (int64_t)(x[i] * y[i]);
      assert_ok(pcsim_mesh_exchange_add(p.mesh, width, y));
      for (int64_t i = 0; i < v->num_cells * width; i++) product[1] += (int64_t)(x[i] * y[i]);
      for (int64_t i = v->num_cells * width; i < cells * width; i++)
        assert_true(y[i] == (double)((i * 7 + v->first_cell) % 89));
      assert_int_equal(sum(product[0]), sum(product[1]));
      for (int64_t i = 0; i < cells * width; i++) y[i] = i >= v->num_cells * width;
      assert_ok(pcsim_mesh_exchange_add(p.mesh, width, y));
      for (int64_t i = 0; i < v->num_cells * width; i++) ghosts += (int64_t)y[i];
      assert_int_equal(sum(ghosts), sum(v->num_ghosts * width));
      free(x);
      free(y);
    }
    destroy(&p);
  }
}

static int compare(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

/* The near cells of each owned cell, as raw numbers, against a search through all pairs. */
static void near_cells_share_a_node(void **state) {
  (void)state;
  for (int k = 0; k < NUM_LATTICES; k++) {
    pair p = make(kinds + k);
    const pcsim_mesh_view *v = p.view;
    const pcsim_raw_mesh *raw = p.raw;
    int64_t *found = calloc((size_t)raw->num_cells, sizeof *found);
    for (int64_t c = 0; c < v->num_cells; c++) {
      int64_t n = v->near_start[c + 1] - v->near_start[c], own = v->cell_original[c], expected = 0;
      for (int64_t i = 0; i < n; i++) {
        int64_t j = v->near[v->near_start[c] + i];
        if (i > 0) assert_true(global_number(v, j) > global_number(v, v->near[v->near_start[c] + i - 1]));
        found[i] = v->cell_original[j];
      }
      qsort(found, (size_t)n, sizeof *found, compare);
      for (int64_t other = 0; other < raw->num_cells; other++) {
        bool shares = false;
        for (int64_t a = raw->cell_start[own]; a < raw->cell_start[own + 1]; a++)
          for (int64_t b = raw->cell_start[other]; b < raw->cell_start[other + 1]; b++)
            shares = shares || raw->cell_nodes[a] == raw->cell_nodes[b];
        if (!shares || other == own) continue;
        assert_true(expected < n);
        assert_int_equal(found[expected++], other);
      }
      assert_int_equal(expected, n);
    }
    free(found);
    destroy(&p);
  }
}

/* Cells around each node, and the patch of the facets that touch it, against the raw mesh. */
static void nodes_know_their_cells(void **state) {
  (void)state;
  for (int k = 0; k < NUM_LATTICES; k++) {
    pair p = make(kinds + k);
    const pcsim_mesh_view *v = p.view;
    const pcsim_raw_mesh *raw = p.raw;
    for (int64_t node = 0; node < v->num_nodes; node++) {
      int64_t expected = 0, start = v->node_cell_start[node], n = v->node_cell_start[node + 1] - start;
      int expected_patch = PCSIM_NODE_INTERIOR;
      for (int64_t i = 0; i < raw->cell_start[raw->num_cells]; i++)
        expected += raw->cell_nodes[i] == v->node_global[node];
      assert_int_equal(n, expected);
      for (int64_t i = 0; i < n; i++) {
        int64_t c = v->cell_original[v->node_cell[start + i]];
        bool has = false;
        for (int64_t j = raw->cell_start[c]; j < raw->cell_start[c + 1]; j++)
          has = has || raw->cell_nodes[j] == v->node_global[node];
        assert_true(has);
        if (i > 0)
          assert_true(global_number(v, v->node_cell[start + i]) >
                      global_number(v, v->node_cell[start + i - 1]));
      }
      for (int64_t facet = 0; facet < raw->num_facets; facet++)
        for (int64_t i = raw->facet_start[facet]; i < raw->facet_start[facet + 1]; i++) {
          if (raw->facet_nodes[i] != v->node_global[node]) continue;
          int patch = pcsim_mesh_find_patch(p.mesh, raw->patches[raw->facet_patch[facet]]);
          if (expected_patch != PCSIM_NODE_INTERIOR && expected_patch != patch) patch = PCSIM_NODE_SEVERAL;
          expected_patch = patch;
        }
      assert_int_equal(v->node_patch[node], expected_patch);
      for (int d = 0; d < 3; d++)
        assert_true(v->node[3 * node + d] == raw->nodes[3 * v->node_global[node] + d]);
    }
    destroy(&p);
  }
}

static void gather_and_scatter_keep_raw_order(void **state) {
  (void)state;
  enum { WIDTH = 3 };
  for (int k = 0; k < NUM_LATTICES; k++) {
    pair p = make(kinds + k);
    const pcsim_mesh_view *v = p.view;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *values = calloc((size_t)v->num_cells + 1, WIDTH * sizeof *values), *all = NULL;
    if (rank == 0) all = calloc((size_t)v->num_cells_global, WIDTH * sizeof *all);
    for (int64_t i = 0; i < v->num_cells * WIDTH; i++)
      values[i] = (double)(v->cell_original[i / WIDTH] * WIDTH + i % WIDTH);
    assert_ok(pcsim_mesh_gather(p.mesh, WIDTH, values, all));
    for (int64_t i = 0; rank == 0 && i < v->num_cells_global * WIDTH; i++) {
      assert_true(all[i] == (double)i);
      all[i] += 0.5;
    }
    assert_ok(pcsim_mesh_scatter(p.mesh, WIDTH, all, values));
    for (int64_t i = 0; i < v->num_cells * WIDTH; i++)
      assert_true(values[i] == (double)(v->cell_original[i / WIDTH] * WIDTH + i % WIDTH) + 0.5);
    free(values);
    free(all);
    destroy(&p);
  }
}

static void geometry_comes_back(void **state) {
  (void)state;
  for (int k = 0; k < NUM_LATTICES; k++) {
    pair p = make(kinds + k);
    pcsim_raw_mesh *back = NULL;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    assert_ok(pcsim_mesh_gather_geometry(p.mesh, &back));
    if (rank > 0) {
      assert_null(back);
    } else {
      assert_ok(pcsim_raw_mesh_check(back));
      assert_int_equal(back->dim, p.raw->dim);
      assert_int_equal(back->num_nodes, p.raw->num_nodes);
      assert_int_equal(back->num_cells, p.raw->num_cells);
      assert_int_equal(back->num_facets, p.raw->num_facets);
      assert_memory_equal(back->nodes, p.raw->nodes, (size_t)p.raw->num_nodes * 3 * sizeof *back->nodes);
      assert_memory_equal(back->cell_type, p.raw->cell_type, (size_t)p.raw->num_cells);
      assert_memory_equal(back->cell_nodes, p.raw->cell_nodes,
                          (size_t)p.raw->cell_start[p.raw->num_cells] * sizeof *back->cell_nodes);
      assert_int_equal(back->num_patches, 3);
      /* and makes the same mesh */
      pcsim_mesh *again = NULL;
      assert_ok(pcsim_mesh_create(MPI_COMM_SELF, back, &again));
      const pcsim_mesh_view *w = pcsim_mesh_get(again);
      assert_int_equal(w->num_faces, p.all->num_faces);
      assert_memory_equal(w->face_area, p.all->face_area, (size_t)w->num_faces * 3 * sizeof *w->face_area);
      pcsim_mesh_destroy(&again);
    }
    pcsim_raw_mesh_destroy(&back);
    destroy(&p);
  }
}

static void more_ranks_than_cells(void **state) {
  (void)state;
  pair p = make(&(lattice){LATTICE_QUAD, 2, 1, 0, 0, false});
  double values[4] = {0};
  assert_int_equal(sum(p.view->num_cells), 2);
  for (int64_t c = 0; c < p.view->num_cells; c++) values[c] = 7;
  assert_ok(pcsim_mesh_exchange(p.mesh, 1, values));
  for (int64_t c = 0; c < p.view->num_cells + p.view->num_ghosts; c++) assert_true(values[c] == 7);
  destroy(&p);
}

static void everything_is_freed(void **state) {
  (void)state;
  size_t before = pcsim_memory_used();
  for (int k = 0; k < NUM_LATTICES; k++) {
    pair p = make(kinds + k);
    destroy(&p);
  }
  assert_true(pcsim_memory_used() == before);
}

static int run(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(volumes_fill_the_box),
      cmocka_unit_test(cells_are_closed),
      cmocka_unit_test(faces_agree_with_one_rank),
      cmocka_unit_test(cut_faces_have_equal_bits),
      cmocka_unit_test(halo_carries_values),
      cmocka_unit_test(halo_adds_back),
      cmocka_unit_test(near_cells_share_a_node),
      cmocka_unit_test(nodes_know_their_cells),
      cmocka_unit_test(gather_and_scatter_keep_raw_order),
      cmocka_unit_test(geometry_comes_back),
      cmocka_unit_test(more_ranks_than_cells),
      cmocka_unit_test(everything_is_freed),
  };
  return cmocka_run_group_tests_name("mesh_create", tests, NULL, NULL);
}

int main(int argc, char **argv) { return pcsim_test_main(run, &argc, &argv); }
