/* SPDX-License-Identifier: BSD-2-Clause */
/** @file starters.c  The texts of `pcsim new`: small cases that run, with what can be changed said beside it.
 */
#include "cli.h"

/* What every starter ends with. */
#define SOLVE                                                                                                \
  "\n# Steady flow; stops when the residual has fallen to this share of its largest value.\n"                \
  "solve: {tolerance: 1e-8}\n"
#define REFERENCE                                                                                            \
  "\n# What is known: the run ends with exit code 1 if a reference is missed. `source` says where it is "    \
  "from.\n"

static const cli_starter table[] = {
    {"channel", "flow around a cylinder in a plane channel",
     "# Flow around a cylinder in a channel. `pcsim run THIS_FILE` solves it; `pcsim list keys` names every "
     "key.\n"
     "pcsim: 1\n"
     "title: Flow around a cylinder in a channel\n"
     "\n# Names for numbers; later ones and all expressions may use them.\n"
     "parameters: {H: 0.41, U: 0.3}\n"
     "\n# `size` is the length of a cell far away, `near` the length at a boundary and its growth with the "
     "distance.\n"
     "mesh:\n"
     "  shape: channel-cylinder\n"
     "  size: 0.02\n"
     "  near: {cylinder: {size: 3e-3, growth: 0.1}}\n"
     "\nphysics: {model: navier-stokes, density: 1, viscosity: 1e-3}\n"
     "\n# Every boundary of the mesh needs one condition. Expressions may use x, y, z and the parameters.\n"
     "boundaries:\n"
     "  inlet:    {velocity: [\"4*U*y*(H-y)/H^2\", 0]}\n"
     "  outlet:   {pressure: 0}\n"
     "  walls:    {wall: no-slip}\n"
     "  cylinder: {wall: no-slip}\n" SOLVE "\n# Quantities to follow: forces.cd, forces.cl and drop here.\n"
     "monitors:\n"
     "  forces: {kind: forces, on: cylinder, density: 1, velocity: 0.2, area: 0.1, drag: [1, 0], lift: [0, "
     "1]}\n"
     "  drop:   {kind: pressure-difference, points: [[0.15, 0.2], [0.25, 0.2]]}\n" REFERENCE "reference:\n"
     "  forces.cd: {value: 5.5795, tolerance: 2%, source: \"FeatFlow, DFG 2D-1\"}\n"},
    {"cavity", "flow in a square cavity driven by its lid",
     "# Lid-driven cavity. `pcsim run THIS_FILE` solves it; `pcsim list keys` names every key.\n"
     "pcsim: 1\n"
     "title: Lid-driven cavity\n"
     "parameters: {Re: 100}\n"
     "\n# `n` cells along x and y; `grading` is the ratio of the middle cell to that at a wall.\n"
     "mesh: {shape: cavity, n: [64, 64], grading: 2}\n"
     "physics: {model: navier-stokes, density: 1, viscosity: \"1/Re\"}\n"
     "\n# No boundary gives the pressure: its level is free, and the run says so.\n"
     "boundaries:\n"
     "  lid:   {wall: no-slip, velocity: [1, 0]}\n"
     "  walls: {wall: no-slip}\n" SOLVE "\nmonitors:\n"
     "  u:      {kind: extremum, of: u, along: {from: [0.5, 0], to: [0.5, 0.9]}}\n"
     "  middle: {kind: line, from: [0.5, 0], to: [0.5, 1], fields: u}\n" REFERENCE "reference:\n"
     "  u.min: {value: -0.2140417, tolerance: 1%, source: \"Marchi, Suero, Araki 2009\"}\n"},
    {"step", "flow over a backward-facing step",
     "# Flow over a backward-facing step. `pcsim run THIS_FILE` solves it; `pcsim list keys` names every "
     "key.\n"
     "pcsim: 1\n"
     "title: Backward-facing step\n"
     "mesh: {shape: step, length: 15, height: 1, step: 0.5, size: 0.04}\n"
     "physics: {model: navier-stokes, density: 1, viscosity: 5e-3}\n"
     "boundaries:\n"
     "  inlet:  {velocity: [\"24*y*(0.5-y)\", 0]}\n"
     "  outlet: {pressure: 0}\n"
     "  walls:  {wall: no-slip}\n" SOLVE "\nmonitors:\n"
     "  inflow: {kind: flow-rate, on: inlet}\n"},
    {"box", "flow in a rectangle or, with three coordinates, a box",
     "# Flow between parallel plates. Three coordinates in `low`, `high` and every vector make it "
     "three-dimensional.\n"
     "pcsim: 1\n"
     "title: Channel flow\n"
     "parameters: {H: 1, U: 1, L: 4}\n"
     "\n# Boundaries are x-min, x-max, y-min, y-max (and z-min, z-max). `cells`: quads, triangles or mixed.\n"
     "mesh: {shape: box, low: [0, 0], high: [L, H], size: 0.1, cells: quads}\n"
     "physics: {model: navier-stokes, density: 1, viscosity: 0.1}\n"
     "\n# A pattern gives several boundaries one condition.\n"
     "boundaries:\n"
     "  x-min: {velocity: [\"4*U*y*(H-y)/H^2\", 0]}\n"
     "  x-max: {pressure: 0}\n"
     "  \"y-*\": {wall: no-slip}\n" SOLVE "\nmonitors:\n"
     "  drop: {kind: pressure-difference, points: [[0.5, 0.5], [3.5, 0.5]]}\n" REFERENCE "reference:\n"
     "  drop: {value: 2.4, tolerance: 1%, source: \"Poiseuille flow: 8 viscosity U length / H^2\"}\n"},
    {"equation", "typed equations: heat in a plate with a heated spot, through time",
     "# Conduction of heat, as an example of typed equations. `pcsim run THIS_FILE` solves it; `pcsim list "
     "keys` names every key.\n"
     "pcsim: 1\n"
     "title: Heat in a plate\n"
     "\n# k: diffusivity, h: transfer to the air around, both as constants.\n"
     "parameters: {k: 0.01, h: 0.05}\n"
     "\nmesh: {shape: box, low: [0, 0], high: [2, 1], n: [64, 32], cells: quads}\n"
     "\n# A sum of dt(..), div(..) and sources is set to zero, one equation for each unknown. Coefficients "
     "are "
     "expressions\n"
     "# in x, y, z, t and the unknowns. `pcsim explain THIS_FILE` shows what becomes of them.\n"
     "physics:\n"
     "  unknowns: [T]\n"
     "  coefficients: {q: \"exp(-50*((x - 0.5)^2 + (y - 0.5)^2))\"}\n"
     "  equations: [\"dt(T) - div(k*grad(T)) + h*T - q\"]\n"
     "\n# A value of the unknown, or a flux out of the domain: no heat passes where it is zero.\n"
     "boundaries:\n"
     "  \"x-*\": {T: 0}\n"
     "  \"y-*\": {flux: {T: 0}}\n"
     "\ninitial: {T: 0}\n"
     "\n# Leave `time` and dt(..) out for the steady state.\n"
     "solve: {time: {end: 10, tolerance: 1e-4}}\n"
     "\nmonitors:\n"
     "  spot: {kind: probe, points: [0.5, 0.5]}\n"
     "  heat: {kind: integral, of: T}\n"},
    {"network", "a network trained on an equation that you type, without a mesh",
     "# A network that is trained until it satisfies an equation and its conditions. `pcsim run THIS_FILE` "
     "trains it.\n"
     "pcsim: 1\n"
     "title: Viscous shock\n"
     "parameters: {nu: \"0.01/pi\"}\n"
     "\n# Boxes and balls, joined by plus, and, minus; t is the time. `mesh:` serves too.\n"
     "domain: {box: {x: [-1, 1], t: [0, 1]}}\n"
     "\n# Derivatives are suffixes; dt(..), div(..), lap(..) are understood as well.\n"
     "physics: {unknowns: [u], equations: [\"u_t + u*u_x - nu*u_xx\"]}\n"
     "\n# Values are built into the network where they can be; {u: 0, exact: false} asks for a penalty.\n"
     "boundaries: {x-min: {u: 0}, x-max: {u: 0}}\n"
     "initial: {u: \"-sin(pi*x)\"}\n"
     "\n# Network, points and optimiser are chosen by short trials and named in the log; `pcsim list keys` "
     "has\n"
     "# the keys that fix them. A budget is a time, or a number of steps.\n"
     "train: {budget: 60 s, seed: 1}\n"
     "\n# Training does not see it.\n"
     "reference: {u: {exact: burgers-cole-hopf, tolerance: 1e-4}}\n"},
    {"file", "flow on a mesh that Gmsh or another program has written",
     "# Flow on a mesh file of Gmsh (any version). Boundaries are its physical groups; `pcsim mesh "
     "THIS_FILE` lists them.\n"
     "pcsim: 1\n"
     "title: Flow on a mesh from a file\n"
     "\n# `scale` multiplies the coordinates (0.001: the file is in millimetres); `names` renames groups. "
     "The path is\n"
     "# relative to this file.\n"
     "mesh: {file: duct.msh, scale: 1}\n"
     "physics: {model: navier-stokes, density: 1.2, viscosity: 1.8e-5}\n"
     "\n# Put the names of your mesh here. A wrong one is answered with the list of those there are.\n"
     "boundaries:\n"
     "  inlet:  {velocity: [1, 0, 0]}\n"
     "  outlet: {pressure: 0}\n"
     "  walls:  {wall: no-slip}\n" SOLVE "\nmonitors:\n"
     "  inflow: {kind: flow-rate, on: inlet}\n"},
};

const cli_starter *cli_starters(size_t *n) {
  *n = sizeof table / sizeof *table;
  return table;
}
