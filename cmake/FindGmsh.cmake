# Gmsh SDK: distributions ship neither a .pc file nor a CMake config. Defines Gmsh::Gmsh.
find_path(Gmsh_INCLUDE_DIR gmshc.h)
find_library(Gmsh_LIBRARY gmsh)
if(Gmsh_INCLUDE_DIR AND EXISTS "${Gmsh_INCLUDE_DIR}/gmshc.h")
  file(STRINGS "${Gmsh_INCLUDE_DIR}/gmshc.h" gmsh_version_line REGEX "define GMSH_API_VERSION \"")
  string(REGEX REPLACE ".*\"([0-9.]+)\".*" "\\1" Gmsh_VERSION "${gmsh_version_line}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Gmsh REQUIRED_VARS Gmsh_LIBRARY Gmsh_INCLUDE_DIR VERSION_VAR Gmsh_VERSION)
if(Gmsh_FOUND AND NOT TARGET Gmsh::Gmsh)
  add_library(Gmsh::Gmsh UNKNOWN IMPORTED)
  set_target_properties(Gmsh::Gmsh PROPERTIES IMPORTED_LOCATION "${Gmsh_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${Gmsh_INCLUDE_DIR}")
endif()
