pcsim_test(pinn sequence)
pcsim_test(pinn domain)
pcsim_test(pinn domain_problems)
pcsim_test(pinn distance)
