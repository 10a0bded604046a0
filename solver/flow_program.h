/* SPDX-License-Identifier: BSD-2-Clause */
/** @file flow_program.h  Private to solver/: the discrete flow as programs of the whole mesh.
 *
 *  Written from the laws at a face (flow_law.h) with maps between cells, faces and groups of boundary faces.
 *  One text gives the residual; its tangent, its cotangents and the blocks of the compact Jacobian are
 *  transforms. Inputs, maps and outputs by name (no parameter of a case has a dot or a dash in it), with the
 *  letters of flow.h:
 *
 *  - cells.q, cells.grad, cells.tau, cells.volume: [nt][m], [nt][m*d], [nt], [nt]
 *  - cells.force: [nt][d], where it varies or equations join the flow
 *  - flow.nu, flow.force, flow.density, rhie-chow: number, [d], numbers; no flow.nu where the viscosity
 * varies
 *  - shear-floor: number, faces.coordinates, faces.carried: [ni][4], [ni][viscous.num], and likewise of
 * groups: what a viscosity that varies asks for
 *  - faces.geometry: [ni][FLOW_FACE_WIDTH]; maps faces.owner, faces.neighbour
 *  - GROUP.geometry, GROUP.value: [num][FLOW_WALL_WIDTH], [num][m]; map GROUP.owner
 *
 *  - all: [nt][m] residual; what stands in ghosts is a part of it
 *  - mass, velocity, dissipation: [ni], [ni][d], [ni] volume flux, convected velocity, tau g of the face
 *  - GROUP.mass, GROUP.state, GROUP.viscous: [num], [num][m], [num][d]
 *  - viscosity, GROUP.viscosity: [ni], [num] where it varies
 *  - pace, coefficient: [nt] a_P, and tau of Rhie and Chow from it (owned cells)
 *  - stored.NAME: mass, velocity, dissipation, pace, and jump [ni], the pressure jump that is dissipated;
 * frozen: what a reverse is cut at (pcsim_program_cut) */
#ifndef PCSIM_SOLVER_FLOW_PROGRAM_H
#define PCSIM_SOLVER_FLOW_PROGRAM_H

#include "flow.h"

/** The boundary faces of one group on this rank. */
typedef struct {
  int64_t num;
  int64_t *face;                  /**< [num] boundary faces */
  int32_t *owner;                 /**< [num] */
  double *geometry, *value;       /**< [num][FLOW_WALL_WIDTH], [num][m] */
  double *mass, *state, *viscous; /**< [num], [num][m], [num][d]; 0 where there is none */
  double *block;                  /**< [num][m*m] of the compact Jacobian */
  double *d_mass, *d_state;       /**< of the last tangent, where equations join the flow */
  double *nu;                     /**< [num] where the viscosity varies, as the next; of the last residual */
  double *place;                  /**< [num][4] */
  double *carried, *d_carried;    /**< [num][viscous.num] */
} flow_group;

struct flow_programs {
  flow *f; /**< borrowed */
  flow_group group[FLOW_NUM_GROUPS];
  double *all;                           /**< [nt][m] */
  double *block_owner, *block_neighbour; /**< [FLOW_BLOCKS_AT_ONCE][m*m] of the compact Jacobian */
  pcsim_executor *frozen_tangent;        /**< at a viscosity that stands still; NULL where it is constant */
  pcsim_executor *residual, *tangent, *coefficients, *surface, *blocks, *boundary_blocks;
};
/** Faces whose blocks are made at a time. */
enum { FLOW_BLOCKS_AT_ONCE = 4096 };

/** Errors: ERR_MEMORY. Caller destroys. */
pcsim_status flow_programs_create(flow *f, flow_programs **programs) PCSIM_NODISCARD;
void flow_programs_destroy(flow_programs **programs);
/** Given values of the boundaries from the flow's. */
void flow_programs_set_values(flow_programs *p);
/** Functions that run f->programs. */
extern const flow_kernels flow_program_kernels;

/** The groups' part of f->viscous.carried, or `along` of its direction. */
void flow_programs_set_carried(flow_programs *p, bool along);

/** The program with everything above as outputs. Caller destroys. */
pcsim_status flow_write_program(const flow *f, pcsim_program **program) PCSIM_NODISCARD;
/** The sum over faces of boundaries, times "GROUP.weight" [num], of the force on them in a direction [d]
 * (NULL: of the volume flow out of them), in the units of the case, as output "value". Caller destroys. */
pcsim_status flow_write_surface_sum(const flow *f, const double *direction,
                                    pcsim_program **program) PCSIM_NODISCARD;
/** The sum over cells that are looked at, times "looks.weight" [num], of a quantity in the units of the case
 *  (pcsim_functional), as output "value"; inputs "looks.reach", "looks.coordinates" and map "looks.owner"
 * as of a look. Errors: ERR_ARG (a program that does not fit). Caller destroys. */
pcsim_status flow_write_cell_sum(const flow *f, const pcsim_program *quantity,
                                 pcsim_program **program) PCSIM_NODISCARD;
/** Blocks of the compact Jacobian, row-major: "owner", "neighbour" [ni][m*m], derivatives of a face's flux by
 *  either cell, and "GROUP.block" [num][m*m]; of the stored "mass", "velocity", "dissipation" and
 * "GROUP.mass". Caller destroys. */
pcsim_status flow_write_blocks(const flow *f, pcsim_program **program) PCSIM_NODISCARD;
/** What a program knows beside its cells. */
enum {
  FLOW_FACES = 1,     /**< the space of faces */
  FLOW_FACE_MAPS = 2, /**< the maps between cells and faces */
  FLOW_BOUNDARIES = 4,
  FLOW_EVERYTHING = 7
};
/** An executor with the data of the flow bound; outputs and other inputs are the caller's, who destroys it
 * after a failure too. */
pcsim_status flow_programs_executor(const flow_programs *p, const pcsim_program *program, int knows,
                                    pcsim_executor **x) PCSIM_NODISCARD;
/** Name of a group in inputs and outputs. */
const char *flow_group_name(int group);

#endif
