# Tests of mesh/: pcsim_test(mesh NAME RANKS ...)
pcsim_test(mesh mesh_create RANKS 1 2 4)
