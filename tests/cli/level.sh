#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Unknowns that only their derivatives fix: what is given out has the mean 0, references are compared without the mean
# of each time; a condition that fixes the level is compared with it.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >"$work/closed.yaml" <<'YAML'
pcsim: 1
domain: {box: {x: [0, 1], y: [0, 1]}}
physics: {unknowns: [u], equations: ["lap(u) + 2*pi^2*cos(pi*x)*cos(pi*y)"]}
boundaries: {"*": {dn(u): 0}}
network: {layers: [12, 12], scale: 1, activation: tanh}
train: {budget: 300 steps, points: 300}
output: {pictures: false}
monitors: {whole: {kind: integral, of: u}, square: {kind: integral, of: u^2}}
reference: {u: {exact: "3 + cos(pi*x)*cos(pi*y)", tolerance: 1e-2}}
YAML
run "$pcsim" run "$work/closed.yaml" -o "$work/closed"
expect_rc 0 "a level that nothing fixes"
number "$work/closed/summary.json" whole | awk '{ exit !($1 != "" && $1^2 < 1e-6) }' || fault "the mean of what has no level"
close "$(number "$work/closed/summary.json" square)" 0.25 1e-2 "the square of what has no level"
printf 'x,y\n0,0\n0.5,0.5\n' >"$work/points.csv"
run "$pcsim" sample "$work/closed" --at "$work/points.csv" -o "$work/sampled.csv"
expect_rc 0 "sample of what has no level"
close "$(sed -n 2p "$work/sampled.csv" | cut -d, -f3)" 1 2e-2 "sample of what has no level"
run "$pcsim" run "$work/closed.yaml" -o "$work/fixed" --set 'conditions=[{integral: u, equals: 2}]'
expect_rc 1 "a level that a condition fixes is compared with it"

# The level is a function of time: tables of several points a time, expressions.
cat >"$work/through.yaml" <<'YAML'
pcsim: 1
domain: {box: {x: [0, 1], t: [0, 1]}}
physics: {unknowns: [u], equations: ["u_xx + pi^2*cos(pi*x)*exp(-t)"]}
boundaries: {"*": {dn(u): 0}}
network: {layers: [10, 10], scale: 1, activation: tanh}
train: {budget: 200 steps, points: 200}
output: {pictures: false}
reference: {u: {exact: "7*t^2 + cos(pi*x)*exp(-t)", tolerance: 1e-2}}
YAML
run "$pcsim" run "$work/through.yaml" -o "$work/through"
expect_rc 0 "a level that depends on time"
awk 'BEGIN { pi = atan2(0, -1); print "x,t,u"
  for (i = 0; i < 60; i++) { x = (i % 12 + 0.5)/12; t = (i * 7 % 5)/4
    print x "," t "," 9*sin(t) + cos(pi*x)*exp(-t) } }' >"$work/times.csv"
run "$pcsim" run "$work/through.yaml" -o "$work/table" \
  --set 'reference.u={table: {file: times.csv, columns: [x, t, u]}, tolerance: 2e-2}'
expect_rc 0 "a table of a level that depends on time"
sed -i '2s/,[^,]*,/,0.77,/' "$work/times.csv"
run "$pcsim" run "$work/through.yaml" -o "$work/alone" \
  --set 'reference.u={table: {file: times.csv, columns: [x, t, u]}, tolerance: 2e-2}'
expect_rc 2 "a time with one row"
expect_err "needs several rows for each time" "a time with one row"
finish
