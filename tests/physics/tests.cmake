pcsim_test(physics problem RANKS 1 2)
pcsim_test(physics messages RANKS 1 2)
pcsim_test(physics transport RANKS 1 2)
pcsim_test(physics equations RANKS 1 2)
