pcsim_test(physics problem RANKS 1 2)
pcsim_test(physics messages RANKS 1 2)
