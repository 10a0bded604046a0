pcsim_test(postproc files RANKS 1 2 4)
pcsim_test(postproc monitors RANKS 1 2 4)
pcsim_test(postproc references RANKS 1 2)
