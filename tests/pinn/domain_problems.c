/* SPDX-License-Identifier: BSD-2-Clause */
/* What is wrong with a domain: every message and its place. */
#include "domain_text.h"

static const struct {
  const char *text, *problems;
} faults[] = {
    {"title: x\n",
     "case.yaml:1:1: a network needs `domain`, a mapping such as {box: {x: [0, 1]}}, or `mesh`"},
    {"domain: [1, 2]\n",
     "case.yaml:1:9: a network needs `domain`, a mapping such as {box: {x: [0, 1]}}, or `mesh`"},
    {"domain: {}\n", "case.yaml:1:1: expected one of `box`, `ball` and `surface`, found none"},
    {"domain: {box: {}}\n",
     "case.yaml:1:10: the box has no coordinates; expected such as {x: [0, 1], y: [0, 1]}"},
    {"domain: {box: {x: [0, 1]}, ball: {centre: [0], radius: 1}}\n",
     "case.yaml:1:1: expected one of `box`, `ball` and `surface`, found several"},
    {"domain: {bxo: {x: [0, 1]}}\n",
     "case.yaml:1:1: expected one of `box`, `ball` and `surface`, found none\n"
     "case.yaml:1:10: unknown key 'bxo' in 'domain'; did you mean 'box'? (known: box, ball, surface, plus, "
     "and, minus, t, regions)"},
    {"domain: {box: {x: [1, -1], y: [0, 1]}}\n",
     "case.yaml:1:19: the range of 'x' is empty: [1, -1]; expected [low, high] with low below high"},
    {"domain: {box: {x: [0], y: 3, z: [0, 1, 2], w: [0, inf]}}\n",
     "case.yaml:1:19: the range of 'x' has 1 numbers; expected [low, high]\n"
     "case.yaml:1:27: 'y' must be a sequence of numbers, such as [1, 0], found '3'\n"
     "case.yaml:1:33: 'z' has 3 numbers; at most 2 are expected\n"
     "case.yaml:1:51: element 2 of 'w' must be a number: 'inf' is not a number here; expected a "
     "finite number"},
    {"domain: {box: {x: [0, 1/0]}}\n",
     "case.yaml:1:23: element 2 of 'x' must be a finite number, found '1/0', which is inf"},
    {"domain: {box: {sin: [0, 1], e: [0, 1], u_x: [0, 1]}}\n",
     "case.yaml:1:16: a coordinate cannot be called 'sin': 'sin' cannot be a name: it is a "
     "function\n"
     "case.yaml:1:29: a coordinate cannot be called 'e': 'e' cannot be a name: it has a meaning "
     "of its own\n"
     "case.yaml:1:40: a coordinate cannot be called 'u_x': 'u_x' cannot be a name: letters and "
     "digits only, a letter first"},
    {"domain: {box: {a: [0, 1], b: [0, 1], c: [0, 1], d: [0, 1], f: [0, 1], g: [0, 1], h: [0, 1], "
     "i: [0, 1], j: [0, 1], k: [0, 1], l: [0, 1]}}\n",
     "case.yaml:1:126: 'l' is one coordinate too many: space has 10 at most"},
    {"domain: {box: {a: [0, 1], b: [0, 1], c: [0, 1], d: [0, 1], f: [0, 1], g: [0, 1], h: [0, 1], "
     "i: [0, 1], j: [0, 1], k: [0, 1], t: [0, 1]}}\n"
     "inputs: {m: [0, 1], n: [0, 1]}\n",
     "case.yaml:2:21: 'n' is one coordinate too many: space, time and inputs have 12 together"},
    {"domain: {box: {x: [0, 1]}}\n"
     "inputs: {x: [0, 1]}\n",
     "case.yaml:2:10: there is a coordinate 'x' already"},
    {"domain: {box: {x: [0, 1], t: [0, 1]}, t: [0, 2]}\n", "case.yaml:1:42: the range of 't' is given twice"},
    {"domain: {box: {x: [0, 1], t: [1, 0]}}\n",
     "case.yaml:1:30: the range of 't' is empty: [1, 0]; expected [low, high] with low below high"},
    {"domain: {ball: {centre: [0, 0], radius: -1}}\n",
     "case.yaml:1:41: 'radius' must be positive and at most 1e+300, found -1"},
    {"domain: {ball: {radius: 1}}\n",
     "case.yaml:1:10: missing key 'centre' in 'ball' (numbers: a number for each coordinate)"},
    {"domain: {ball: {centre: [], radius: 1}}\n", "case.yaml:1:25: the centre has no numbers"},
    {"domain: {ball: {centre: [0, 0], radius: 1, coordinates: [x, t]}}\n",
     "case.yaml:1:61: time cannot be a coordinate of a ball; expected `t: [start, end]` beside "
     "`ball`"},
    {"domain: {ball: {centre: [0, 0], radius: 1, coordinates: [x, y, z]}}\n",
     "case.yaml:1:25: the centre has 2 numbers for 3 coordinates"},
    {"domain: {ball: {centre: [0, 0], radius: 1, coordinates: [x, x]}}\n",
     "case.yaml:1:61: there is a coordinate 'x' already"},
    {"domain: {ball: {centre: [0,0,0,0,0,0,0,0,0,0,0], radius: 1}}\n",
     "case.yaml:1:25: space has 10 coordinates at most"},
    {"domain: {box: {x: [0, 1], y: [0, 1]}, minus: {disk1: {ball: {centre: [3, 3], radius: 1}}}}\n",
     "case.yaml:1:55: 'disk1' changes nothing: no point of its surface is boundary of the domain"},
    {"domain: {box: {x: [0, 1], y: [0, 1]}, plus: {disk1: {ball: {centre: [0.5, 0.5], radius: "
     "0.1}}}}\n",
     "case.yaml:1:54: 'disk1' changes nothing: no point of its surface is boundary of the domain"},
    {"domain: {box: {x: [0, 1], y: [0, 1]}, and: {disk1: {ball: {centre: [0.5, 0.5], radius: "
     "3}}}}\n",
     "case.yaml:1:53: 'disk1' changes nothing: no point of its surface is boundary of the domain"},
    {"domain: {box: {x: [0, 1], y: [0, 1]}, and: {disk1: {ball: {centre: [3, 3], radius: 1}}}}\n",
     "case.yaml:1:1: the domain is empty: of 262144 points around it none is inside"},
    {"domain: {box: {x: [0, 1], y: [0, 1]}, minus: {disk1: {ball: {centre: [0, 0], radius: 3}}}}\n",
     "case.yaml:1:1: the domain is empty: of 262144 points around it none is inside"},
    {"domain: {box: {x: [0, 1], y: [0, 1]}, minus: {disk1: {ball: {centre: [0, 0, 0], radius: "
     "3}}}}\n",
     "case.yaml:1:70: the centre has 3 numbers, the domain 2 coordinates of space; for a cylinder "
     "name those of its cross-section, as in `coordinates: [x, y]`"},
    {"domain: {box: {x: [0, 1], y: [0, 1]}, minus: {disk1: {box: {x: [0.3, 0.5], t: [0, 1], z: "
     "[0, 1]}}}}\n",
     "case.yaml:1:76: 't' cannot be here: a piece of the domain lasts through all time\n"
     "case.yaml:1:87: the domain has no coordinate 'z'"},
    {"domain: {box: {x: [0, 1], y: [0, 1]}, plus: {strip: {box: {x: [0.3, 1.5]}}}}\n",
     "case.yaml:1:54: what is added must be bounded in every coordinate; 'y' is missing"},
    {"domain: {box: {x: [0, 1], y: [0, 1]}, minus: {x-min: {box: {x: [0.3, 0.5]}}}}\n",
     "case.yaml:1:47: there is a boundary 'x-min' already"},
    {"domain: {box: {x: [0, 1], y: [0, 1]}, minus: {\"disk*\": {box: {x: [0.3, 0.5]}}, b: 3, c: "
     "{bal: {}}}}\n",
     "case.yaml:1:47: a boundary cannot be called 'disk*'; expected a name without * ? [ ]\n"
     "case.yaml:1:83: 'b' must be a mapping such as {ball: {centre: [0, 0], radius: 1}}\n"
     "case.yaml:1:86: expected one of `box`, `ball` and `surface`, found none\n"
     "case.yaml:1:90: unknown key 'bal' in piece of the domain; did you mean 'ball'? (known: box, "
     "ball, surface, plus, and, minus)"},
    {"domain: {box: {x: [0, 1], y: [0, 1]}, minus: {a: {box: {x: [0.3, 0.5]}}}, plus: {a: {box: "
     "{x: [0.3, 1.5], y: [0, 3]}}}}\n",
     "case.yaml:1:47: there is a boundary 'a' already"},
    /* What the reader of the file has told is not told again. */
    {"domain: {box: {x: [!2, 2], y: [-2, 2]}, minus: {a: {ball: {centre: [0, 0], radius: 1}}}}\n",
     "case.yaml:1:20: tags (!2) are not used in a case; each key knows its type"},
    {"mesh: {shape: cavity, n: [4, 4]}\ndomain: {box: {x: [0, 1]}}\n",
     "case.yaml:2:10: `mesh` and `domain` both say what the domain is; beside a mesh `domain` has `t` "
     "alone"},
    {"mesh: {shape: cavty, n: [4, 4]}\n",
     "case.yaml:1:15: unknown shape 'cavty'; expected one of box, cavity, channel-cylinder, "
     "channel-cylinder-3d, step; did you mean 'cavity'?"},
    {"mesh: {shape: step, n: [4, 4]}\n", "case.yaml:1:1: for a network the step needs 'upstream' above 0: "
                                         "without it its inlet is a part of a side"},
};

static void messages(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    expect_faults(faults[i].text, faults[i].problems);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(messages)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
