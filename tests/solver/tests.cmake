# Tests of solver/: pcsim_test(solver NAME RANKS ...)
pcsim_test(solver gradient RANKS 1 2 4)
