# Tests of solver/: pcsim_test(solver NAME RANKS ...)
pcsim_test(solver gradient RANKS 1 2 4)
pcsim_test(solver tangent RANKS 1 2 4)
