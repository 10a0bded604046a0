add_test(NAME layers.order COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/layers/check.sh ${CMAKE_SOURCE_DIR})
add_test(NAME layers.selftest COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/layers/selftest.sh)
add_test(NAME layers.readmes COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/layers/readmes.sh ${CMAKE_SOURCE_DIR})
set_tests_properties(layers.order layers.readmes layers.selftest PROPERTIES LABELS unit TIMEOUT 60)
