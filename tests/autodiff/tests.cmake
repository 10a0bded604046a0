pcsim_test(autodiff ops)
