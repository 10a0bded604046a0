/* SPDX-License-Identifier: BSD-2-Clause */
#include "graph.h"

pcsim_value graph_add(pcsim_program *program, const node *n) { return graph_append(program, n); }
