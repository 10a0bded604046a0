#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# train.sh PCSIM: networks trained from cases: errors, files, exact stop and resume, references that training does not
# see, conditions built in and penalised, what goes wrong.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >"$work/poisson.yaml" <<'YAML'
pcsim: 1
title: Poisson
domain: {box: {x: [0, 1], y: [0, 1]}}
physics: {unknowns: [u], equations: ["lap(u) + 2*pi^2*sin(pi*x)*sin(pi*y)"]}
boundaries: {"*": {u: 0}}
network: {layers: [12, 12], activation: tanh}
train: {budget: 100 steps, seed: 3, points: 400, redraw: 30, optimizer: ssbroyden}
reference: {u: {exact: "sin(pi*x)*sin(pi*y)", tolerance: 1e-2, source: exact}}
YAML
run "$pcsim" run "$work/poisson.yaml" -o "$work/whole"
expect_rc 0 "Poisson"
expect_out "built in: u on *" "Poisson"
expect_out "penalised: nothing" "Poisson"
for file in case.yaml summary.json history.csv report.html fields.hdf field-u.png model.h5 log.txt; do
  [ -s "$work/whole/$file" ] || fault "Poisson: no $file"
done
grep -q '"status": "completed"' "$work/whole/summary.json" || fault "status of a training"
for key in parameters points loss optimizer seed; do grep -q "\"$key\":" "$work/whole/summary.json" || fault "no $key"; done
expect_out "bound: the relative error is at most" "Poisson"
awk "BEGIN { exit !($(number "$work/whole/summary.json" error.u) <= $(number "$work/whole/summary.json" bound.u)) }" ||
  fault "the error of Poisson is above its bound"
number "$work/whole/summary.json" error.u | awk '{ exit !($1 > 0 && $1 < 1e-2) }' || fault "error of Poisson"

printf 'x,y\n0.5,0.5\n0.25,0.5\n2,0.5\n' >"$work/points.csv"
run "$pcsim" sample "$work/whole" --at "$work/points.csv" -o "$work/sampled.csv"
expect_rc 0 "sample of a training"
expect_err "1 of 3 points" "sample of a training"
[ "$(head -n 1 "$work/sampled.csv")" = x,y,u ] || fault "columns of a sampled training"
close "$(sed -n 2p "$work/sampled.csv" | cut -d, -f3)" 1 1e-2 "value of a sampled training"
close "$(sed -n 3p "$work/sampled.csv" | cut -d, -f3)" 0.70711 1e-2 "value of a sampled training"
[ "$(sed -n 4p "$work/sampled.csv" | cut -d, -f3)" = nan ] || fault "a sampled point outside of the domain"
printf 'y,x\n0.5,0.5\n' >"$work/points.csv"
run "$pcsim" sample "$work/whole" --at "$work/points.csv"
expect_rc 2 "columns in another order"
expect_err "column 1 is \`y\`; expected x, y" "columns in another order"
printf '0.5\n' >"$work/points.csv"
run "$pcsim" sample "$work/whole" --at "$work/points.csv"
expect_rc 2 "a coordinate is missing"
run "$pcsim" explain "$work/poisson.yaml"
expect_rc 0 "explain of a training"
expect_out 'equation 1: lap(u) + 2*pi^2*sin(pi*x)*sin(pi*y)' "explain of a training"
expect_out 'input "u_yy" : 1 on points' "explain of a training"
expect_out 'u on *: 0' "explain of a training"
for table in networks optimizers; do
  run "$pcsim" list $table
  expect_rc 0 "list $table"
done
expect_out ssbroyden "list optimizers"

# The same bits with one thread, after a stop at any step, without the reference.
run "$pcsim" run "$work/poisson.yaml" -o "$work/one" --set train.threads=1
expect_rc 0 "one thread"
cmp "$work/whole/model.h5" "$work/one/model.h5" || fault "the number of threads changes the bits"
for stop in 1 30 59; do
  rm -rf "$work/stopped"
  run "$pcsim" run "$work/poisson.yaml" -o "$work/stopped" --steps "$stop"
  expect_rc 3 "stop after $stop"
  [ -e "$work/stopped/summary.json" ] && fault "a stopped training looks finished"
  run "$pcsim" run "$work/poisson.yaml" -o "$work/stopped" --resume
  expect_rc 0 "resume after $stop"
  expect_out "goes on from step $stop" "resume after $stop"
  cmp "$work/whole/model.h5" "$work/stopped/model.h5" || fault "stop after $stop changes the bits"
  [ "$(cut -d, -f1-4 "$work/whole/history.csv")" = "$(cut -d, -f1-4 "$work/stopped/history.csv")" ] ||
    fault "stop after $stop changes the history"
done
sed '/^reference:/d' "$work/poisson.yaml" >"$work/blind.yaml"
run "$pcsim" run "$work/blind.yaml" -o "$work/blind"
expect_rc 0 "without reference"
cmp "$work/whole/model.h5" "$work/blind/model.h5" || fault "the reference changes the bits"

# What the case leaves open: trials first, points added on the way; a stop leaves the bits as they are, before and after
# points were added.
cat >"$work/open.yaml" <<'YAML'
pcsim: 1
domain: {box: {x: [-1, 1], t: [0, 1]}}
physics: {unknowns: [u], equations: ["u_t + u*u_x - 0.05*u_xx"]}
boundaries: {x-min: {u: 0}, x-max: {u: 0}}
initial: {u: "-sin(pi*x)"}
network: {layers: [8, 8]}
train: {budget: 2500 steps, points: 60}
YAML
run "$pcsim" run "$work/open.yaml" -o "$work/open"
expect_rc 0 "open choice"
expect_out "least residual on points not trained on" "open choice"
grep -q '"points": 60[,}]' "$work/open/summary.json" && fault "no points were added"
run "$pcsim" check "$work/open.yaml"
expect_rc 0 "check of an open choice"
grep -q "in short trials" <<<"$out$err" && fault "a check makes trials"
for stop in 1 1301; do
  rm -rf "$work/stopped"
  run "$pcsim" run "$work/open.yaml" -o "$work/stopped" --steps "$stop"
  expect_rc 3 "open choice, stop after $stop"
  run "$pcsim" run "$work/open.yaml" -o "$work/stopped" --resume
  expect_rc 0 "open choice, resume after $stop"
  grep -q "in short trials" <<<"$out$err" && fault "a resumed run tries again what it knows"
  cmp "$work/open/model.h5" "$work/stopped/model.h5" || fault "open choice: stop after $stop changes the bits"
done

# Integrals of what is trained: over boundaries and the domain, with a reference; at inputs of a family (below).
run "$pcsim" run "$work/poisson.yaml" -o "$work/monitored" --set 'monitors.flux={kind: integral, of: "dn(u)", on: "*"}' \
  --set 'monitors.mass={kind: integral, of: u}' --set 'reference.flux={value: -8, tolerance: 1%, source: exact}'
expect_rc 0 "monitors"
close "$(number "$work/monitored/summary.json" flux)" -8 2e-2 "flux through the boundary"
close "$(number "$work/monitored/summary.json" mass)" 0.405285 2e-2 "integral over the domain"
cmp "$work/whole/model.h5" "$work/monitored/model.h5" || fault "monitors change the bits"
head -n 1 "$work/monitored/history.csv" | grep -q ',flux,mass' || fault "no monitors in the history"
run "$pcsim" run "$work/poisson.yaml" -o "$work/monitored-wrong" --set 'monitors.flux={kind: integral, of: "dn(u)", on: "*"}' \
  --set 'reference.flux={value: -9, tolerance: 1%, source: wrong}'
expect_rc 1 "a quantity that misses its reference"
for wrong in '{kind: integral, of: u_xx}|first order' '{kind: integral, of: "dn(u)"}|on boundaries only' '{kind: integral, of: v}|unknown name' \
  '{kind: integral, of: "2"}|of a number' '{kind: integrl, of: u}|did you mean `integral`' '{kind: forces, on: x-min, velocity: 1, area: 1}|is of a flow' \
  '{kind: integral, of: u, on: x-mim}|did you mean `x-min`' '{kind: integral, of: u, at: {t: 0}}|neither the time nor an input'; do
  run "$pcsim" run "$work/poisson.yaml" -o "$work/wrong" --set "monitors.flux=${wrong%|*}"
  expect_rc 2 "monitor $wrong"
  expect_err "${wrong#*|}" "monitor $wrong"
done
run "$pcsim" run "$work/poisson.yaml" -o "$work/wrong" --set 'monitors.a-name-of-thirty-letters-or-so={kind: integral, of: u}' \
  --set 'monitors.a-name-of-thirty-letters-or-more={kind: integral, of: u^2}'
expect_rc 2 "monitors whose names are cut alike"
expect_err "two quantities are called" "monitors whose names are cut alike"

# Another seed is another run; a reference that is missed; a checkpoint of another case.
run "$pcsim" run "$work/poisson.yaml" -o "$work/seed" --set train.seed=4
cmp -s "$work/whole/model.h5" "$work/seed/model.h5" && fault "the seed changes nothing"
run "$pcsim" run "$work/poisson.yaml" -o "$work/missed" --set reference.u.tolerance=1e-12
expect_rc 1 "reference missed"
expect_out MISSED "reference missed"

# Penalised conditions have weights; a rate at the start; a period.
run "$pcsim" run "$work/poisson.yaml" -o "$work/soft" --set 'boundaries."*".exact=false' --set reference.u.tolerance=0.5
expect_rc 0 "penalised"
expect_out "penalised: u on *" "penalised"
expect_out "weight of *" "penalised"
cat >"$work/wave.yaml" <<'YAML'
pcsim: 1
domain: {box: {x: [0, 2], t: [0, 0.5]}}
physics: {unknowns: [u], equations: ["u_tt - u_xx"]}
boundaries: {x-min: {periodic: x-max}}
initial: {u: sin(pi*x), u_t: 0}
network: {layers: [10, 10]}
train: {budget: 150 steps, points: 300}
reference: {u: {exact: "sin(pi*x)*cos(pi*t)", tolerance: 2e-2}}
YAML
run "$pcsim" run "$work/wave.yaml" -o "$work/wave" --set output.pictures=false
expect_rc 0 "wave"
expect_out "u on initial; u_t on initial; period of x" "wave"

# A coefficient found from measured values; the network of a family of problems.
awk 'BEGIN { pi = atan2(0, -1); print "x,t,measured"
  for (i = 0; i < 100; i++) { x = (i * 37 % 100 + 0.5) / 100; t = i / 100; print x "," t "," exp(-pi * pi * 0.3 * t) * sin(pi * x) } }' >"$work/p.csv"
cat >"$work/inverse.yaml" <<'YAML'
pcsim: 1
domain: {box: {x: [0, 1], t: [0, 1]}}
physics: {unknowns: [u], equations: ["u_t - D*u_xx"]}
unknown: {D: {start: 1, range: [0.01, 10]}}
boundaries: {"*": {u: 0}}
initial: {u: "sin(pi*x)"}
data: {probe: {file: p.csv, fits: {u: measured}}}
network: {layers: [10, 10]}
train: {budget: 150 steps, points: 300}
output: {pictures: false}
YAML
run "$pcsim" run "$work/inverse.yaml" -o "$work/inverse"
expect_rc 0 "inverse"
close "$(number "$work/inverse/summary.json" D)" 0.3 1e-3 "diffusivity from measured values"
# Walls that contradict the start, through slabs of time: said, the bits after a stop; the key.
cat >"$work/rod.yaml" <<'YAML'
pcsim: 1
domain: {box: {x: [0, 1], t: [0, 1]}}
physics: {unknowns: [u], equations: ["dt(u) - lap(u)"]}
initial: {u: 0}
boundaries: {x-min: {flux: {u: "-1"}}, x-max: {"dn(u)": "-u"}}
network: {layers: [8, 8], activation: tanh, scale: 1}
train: {budget: 300 steps, points: 200, slabs: 2}
output: {pictures: false}
YAML
run "$pcsim" run "$work/rod.yaml" -o "$work/rod"
expect_rc 0 "walls that contradict the start"
expect_out "layers where walls contradict the start, built in and inputs: x-min" "walls that contradict the start"
run "$pcsim" run "$work/rod.yaml" -o "$work/rod-stopped" --steps 200
run "$pcsim" run "$work/rod.yaml" -o "$work/rod-stopped" --resume
cmp "$work/rod/model.h5" "$work/rod-stopped/model.h5" || fault "walls that contradict the start: a stop changes the bits"
run "$pcsim" run "$work/rod.yaml" -o "$work/rod-without" --set network.wall-layers=false
grep -q "contradict the start" <<<"$out$err" && fault "layers that the case does not want"
awk "BEGIN { exit !(50 * $(number "$work/rod/summary.json" residual.interior) < $(number "$work/rod-without/summary.json" residual.interior)) }" ||
  fault "layers at walls gain nothing"
run "$pcsim" check "$work/rod.yaml" --set network.wall-layers=maybe
expect_rc 2 "wall-layers that is no truth value"
expect_err "wall-layers" "wall-layers that is no truth value"

# Integrals as conditions: over the domain and over a side they fix what fluxes leave open; their bits after a stop; bad ones.
cat >"$work/integral.yaml" <<'YAML'
pcsim: 1
domain: {box: {x: [0, 1], y: [0, 1]}}
physics: {unknowns: [u], equations: ["lap(u) + 2*pi^2*cos(pi*x)*cos(pi*y)"]}
boundaries: {"*": {dn(u): 0}}
conditions: [{integral: u, equals: 3}]
network: {layers: [12, 12], scale: 1, activation: tanh}
train: {budget: 400 steps, points: 400}
output: {pictures: false}
reference: {u: {exact: "3 + cos(pi*x)*cos(pi*y)", tolerance: 1e-3}}
YAML
run "$pcsim" run "$work/integral.yaml" -o "$work/integral"
expect_rc 0 "an integral over the domain"
run "$pcsim" run "$work/integral.yaml" -o "$work/side" --set 'conditions=[{integral: "2*u", over: x-min, equals: 6}]'
expect_rc 0 "an integral over a side"
run "$pcsim" run "$work/integral.yaml" -o "$work/marquardt" --set 'conditions=[{integral: u, over: [x-min, y-max], equals: 6}]' \
  --set train.optimizer=lm --set 'train.budget=40 steps'
expect_rc 0 "an integral by Levenberg and Marquardt"
run "$pcsim" run "$work/integral.yaml" -o "$work/stopped-integral" --steps 150
run "$pcsim" run "$work/integral.yaml" -o "$work/stopped-integral" --resume
cmp "$work/integral/model.h5" "$work/stopped-integral/model.h5" || fault "an integral: a stop changes the bits"
for wrong in '[{integral: u}]|needs its value' '[{integral: u, over: x-mim, equals: 0}]|did you mean `x-min`' \
  '[{integral: u, equal: 0}]|no key `equal`' '[{integral: v, equals: 0}]|unknown name'; do
  run "$pcsim" run "$work/integral.yaml" -o "$work/wrong" --set "conditions=${wrong%|*}"
  expect_rc 2 "integral $wrong"
  expect_err "${wrong#*|}" "integral $wrong"
done

# A field from noisy values: their noise weighs them, the evidence says how smooth the field is; noise that is not given is
# found; the same bits after stops before and behind a change of the weights.
awk 'BEGIN { pi = atan2(0, -1); s = 12345; print "x,measured"
  for (i = 0; i < 400; i++) { x = (i + 0.5) / 400; g = 0
    for (k = 0; k < 12; k++) { s = (s * 16807) % 2147483647; g += s / 2147483647 }
    print x "," sin(pi * x) + 0.1 * (g - 6) } }' >"$work/noisy.csv"
cat >"$work/field.yaml" <<'YAML'
pcsim: 1
domain: {box: {x: [0, 1]}}
physics:
  unknowns: [u]
  coefficients: {k: 1 + 0.5*sin(pi*x)}
  equations: ["div(a*grad(u)) - pi^2*(0.5*cos(pi*x)^2 - k*sin(pi*x))"]
unknown: {a: {of: [x], positive: true}}
boundaries: {"*": {u: 0, a: 1}}
data: {probe: {file: noisy.csv, fits: {u: measured}, noise: 0.1}}
network: {layers: [10, 10], scale: 1, activation: tanh}
train: {budget: 700 steps, points: 200}
output: {pictures: false}
reference: {a: {exact: 1 + 0.5*sin(pi*x), tolerance: 0.04}}
YAML
run "$pcsim" run "$work/field.yaml" -o "$work/field"
expect_rc 0 "a field from noisy values"
expect_out "numbers of the smoothness of a" "a field from noisy values"
sed 's/, noise: 0.1//' "$work/field.yaml" >"$work/unsaid.yaml"
run "$pcsim" run "$work/unsaid.yaml" -o "$work/unsaid"
expect_rc 0 "noise that is not given"
close "$(sed -n 's/.*step 600: noise of probe \([0-9.]*\).*/\1/p' "$work/out")" 0.1 0.1 "noise that is found"
for stop in 299 301; do
  rm -rf "$work/stopped"
  run "$pcsim" run "$work/field.yaml" -o "$work/stopped" --steps "$stop"
  run "$pcsim" run "$work/field.yaml" -o "$work/stopped" --resume
  cmp "$work/field/model.h5" "$work/stopped/model.h5" || fault "a field: stop after $stop changes the bits"
done
# Many columns of one file, as many as may be, and one more.
{
  printf 'x,t'
  printf ',m%d' {1..65}
  printf '\n0.5,0.5'
  printf ',%d.5' {1..65}
  echo
} >"$work/many.csv"
for n in 20 64 65; do
  sed "s|^data: .*|data: {probe: {file: many.csv, fits: {$(for i in $(seq "$n"); do printf '%s"u + %d": m%d' "${sep-}" "$i" "$i"; sep=', '; done)}}}|" "$work/inverse.yaml" >"$work/many.yaml"
  run "$pcsim" run "$work/many.yaml" --set "train.budget=1 steps" -o "$work/many-$n"
  if [ "$n" -le 64 ]; then expect_rc 0 "$n columns: $err"; else expect_rc 2 "$n columns"; fi
done
cat >"$work/family.yaml" <<'YAML'
pcsim: 1
parameters: {D: 0.2}
domain: {box: {x: [0, 1], t: [0, 1]}}
inputs: {D: [0.1, 0.4]}
physics: {unknowns: [u], equations: ["dt(u) - D*lap(u)"]}
boundaries: {"*": {u: 0}}
initial: {u: "sin(pi*x)"}
network: {layers: [10, 10]}
train: {budget: 150 steps, points: 400}
output: {pictures: false}
monitors: {mass: {kind: integral, of: u, at: {t: 0.5, D: [0.15, 0.3]}}}
reference:
  u: {exact: "exp(-pi^2*D*t)*sin(pi*x)", tolerance: 1e-2}
  "mass(t=0.5, D=0.15)": {value: 0.303661, tolerance: 1e-2, source: exact}
  "mass(t=0.5, D=0.3)": {value: 0.144857, tolerance: 1e-2, source: exact}
YAML
run "$pcsim" run "$work/family.yaml" -o "$work/family"
expect_rc 0 "family"
run "$pcsim" run "$work/family.yaml" -o "$work/family-wrong" --set 'conditions=[{integral: u, equals: 0}]'
expect_rc 2 "an integral through time"
expect_err "steady problem without inputs" "an integral through time"
run "$pcsim" run "$work/family.yaml" -o "$work/family-wrong" --set "monitors.mass.at.D=[0.15, 0.5]"
expect_rc 2 "an input out of its range"
expect_err "outside of what the network is trained for" "an input out of its range"
printf 'x,t,D\n0.5,0.5,0.2\n0.5,0.5,0.5\n' >"$work/points.csv"
run "$pcsim" sample "$work/family" --at "$work/points.csv" -o "$work/sampled.csv"
expect_rc 0 "sample of a family"
close "$(sed -n 2p "$work/sampled.csv" | cut -d, -f4)" 0.372708 1e-2 "sample of a family"
[ "$(sed -n 3p "$work/sampled.csv" | cut -d, -f4)" = nan ] || fault "an input out of its range is sampled"

# Two materials, each with a network, against a run of the solver, which is solved first and then found. The exact
# solution bends at the interface; its energy norm needs the flux to be continuous.
cat >"$work/bars.yaml" <<'YAML'
parameters: {big: 100}
physics:
  unknowns: [u]
  coefficients: {k: {left: 1, rest: big}}
  equations: ["div(k*grad(u)) + 1"]
boundaries: {x-min: {u: 0}, x-max: {flux: {u: 0}}, "y-*": {flux: {u: 0}}}
YAML
cat >"$work/bars-solver.yaml" <<'YAML'
pcsim: 1
extends: bars.yaml
mesh: {shape: box, n: [64, 4], regions: {left: "x < 0.5"}}
YAML
cat >"$work/bars-train.yaml" <<'YAML'
pcsim: 1
extends: bars.yaml
domain: {box: {x: [0, 1], y: [0, 1]}, regions: {left: "x < 0.5"}}
network: {layers: [10, 10]}
train: {budget: 800 steps, points: 200}
reference: {u: {run: bars-solver.yaml, tolerance: 1e-3, source: solver}}
output: {pictures: false}
YAML
bars() { (cd "$work" && run_in "$@"); rc=$?; out=$(cat "$work/out"); err=$(cat "$work/err"); }
run_in() { "$pcsim" run bars-train.yaml "$@" >out 2>err; }
bars -o bars
expect_rc 0 "two materials"
expect_out "bars-solver.yaml is solved first" "two materials"
expect_out "weight of interface.left.rest" "two materials"
number "$work/bars/summary.json" error.u | awk '{ exit !($1 > 0 && $1 < 1e-3) }' || fault "error of two materials"
bars -o bars-exact --set 'reference.u={exact: "where(x < 0.5, x - x^2/2, 0.375 + (x - x^2/2 - 0.375)/big)", tolerance: 1e-3}'
expect_rc 0 "two materials, exact"
bars -o bars-again --set reference.u.run=runs/bars-solver
expect_rc 0 "two materials against a folder"
case "$out" in *"solved first"*) fault "a finished run is solved again" ;; esac
cmp "$work/bars/model.h5" "$work/bars-again/model.h5" || fault "the reference changes the bits"
cmp "$work/bars/model.h5" "$work/bars-exact/model.h5" || fault "the reference changes the bits"
bars -o bars-stopped --steps 470
expect_rc 3 "stop of two materials"
bars -o bars-stopped --resume
expect_rc 0 "resume of two materials"
cmp "$work/bars/model.h5" "$work/bars-stopped/model.h5" || fault "two materials: a stop changes the bits"
sed -i 's/big: 100/big: 50/' "$work/bars.yaml"
bars -o bars-old
expect_rc 2 "a reference of an older case"
expect_err "holds a run of another case" "a reference of an older case"

# Looks see rows of a table without regard to their order: here every third one is wrong.
awk 'BEGIN { pi = atan2(0, -1); print "x,y,u"
  for (i = 0; i < 6000; i++) { x = (i % 75 + 0.5)/75; y = (int(i/75) + 0.5)/80
    print x "," y "," sin(pi*x)*sin(pi*y)*(i % 3 ? 1 : 1.5) } }' >"$work/every-third.csv"
run "$pcsim" run "$work/poisson.yaml" -o "$work/every-third" \
  --set 'reference.u={table: {file: every-third.csv, columns: [x, y, u]}}'
expect_rc 0 "a table at looks"
expect_out "error.u: of 2000 of 6000 points on the way, of all at the end" "a table at looks"
close "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "error.u") c = i } END { print $c }' \
  "$work/every-third/history.csv")" "$(number "$work/every-third/summary.json" error.u)" 0.05 "errors at looks"

# A start that bends where its period ends is carried on, which is said.
cat >"$work/seam.yaml" <<'YAML'
pcsim: 1
title: a kink over the seam
domain: {box: {x: [0, 1], t: [0, 1]}}
physics: {unknowns: [u], equations: ["u_t - 0.01*u_xx"]}
boundaries: {x-min: {periodic: x-max}}
initial: {u: x*(1 - x)}
network: {layers: [8, 8], activation: tanh, scale: 1}
train: {budget: 40 steps, points: 200}
YAML
run "$pcsim" run "$work/seam.yaml" -o "$work/seam"
expect_rc 0 "a kink over the seam"
expect_out "start of u: where the period of x ends it jumps by 0 and its slope by 2" "a kink over the seam"
run "$pcsim" run "$work/seam.yaml" -o "$work/seamless" --set network.seam=false
expect_rc 0 "a kink that is not carried"
grep -q "carried by" <<<"$out$err" && fault "a kink is carried that is not to be"
run "$pcsim" check "$work/seam.yaml" --set network.seam=maybe
expect_rc 2 "a wrong key"
expect_err "'seam' must be true or false" "a wrong key"

# Names of columns may have blanks behind them; a value that is no number is none.
sed -i '1s/.*/x , y ,u /' "$work/every-third.csv"
run "$pcsim" check "$work/poisson.yaml" --set 'reference.u={table: {file: every-third.csv, columns: [x, y, u]}}'
expect_rc 0 "blanks behind names of columns"
sed -i '7s/[^,]*$/nan/' "$work/every-third.csv"
run "$pcsim" check "$work/poisson.yaml" --set 'reference.u={table: {file: every-third.csv, columns: [x, y, u]}}'
expect_rc 2 "a table with what is no number"
expect_err "line 7 of the file is no row of numbers" "a table with what is no number"

# A residual that is no number: which, where, exit 3.
sed 's/lap(u) + 2/sqrt(x - 0.5) + lap(u) + 2/' "$work/poisson.yaml" >"$work/bad.yaml"
run "$pcsim" run "$work/bad.yaml" -o "$work/bad"
expect_rc 3 "no number"
grep -q '"reason": "the residual of interior is no number at (x = ' "$work/bad/summary.json" || fault "no place of what is no number"
finish
