# The autodiff engine. A test is one file here and its name in this list.
set(autodiff_tests files lower ops transforms simplify exec example)
foreach(name ${autodiff_tests})
  if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/${name}.c")
    pcsim_test(autodiff ${name})
  endif()
endforeach()
