# Tests of postproc/: pcsim_test(postproc NAME RANKS ...)
pcsim_test(postproc files RANKS 1 2 4)
pcsim_test(postproc checkpoint RANKS 1 2 4)
pcsim_test(postproc checkpoint_kill)
pcsim_test(postproc history)
pcsim_test(postproc json)
pcsim_test(postproc pictures RANKS 1 2)
pcsim_test(postproc disk_full)
if(TARGET test_postproc_disk_full)
  add_test(NAME postproc.disk_full.mounted
           COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/disk_full.sh $<TARGET_FILE:test_postproc_disk_full>
                   ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 2)
  set_tests_properties(postproc.disk_full.mounted PROPERTIES LABELS unit TIMEOUT 120 PROCESSORS 2
                       SKIP_RETURN_CODE 77 ENVIRONMENT "${PCSIM_TEST_ENV}")
endif()
pcsim_test(postproc monitors RANKS 1 2 4)
pcsim_test(postproc references RANKS 1 2)
