/* SPDX-License-Identifier: BSD-2-Clause */
/** @file pcsim.h  Everything a program that links libpcsim needs. C11 or C++17.
 *
 *  The library never prints, exits or parses the host's command line; the host starts MPI before the first
 *  collective call and installs a log sink if it wants to hear anything (pcsim_log_set_sink). */
#ifndef PCSIM_H
#define PCSIM_H

#include <pcsim/autodiff.h>
#include <pcsim/base.h>
#include <pcsim/mesh.h>
#include <pcsim/physics.h>
#include <pcsim/pinn.h>
#include <pcsim/postproc.h>
#include <pcsim/solver.h>

#endif
