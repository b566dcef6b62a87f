# What PopLibs' project() includes. Its lists are read unchanged.
set(PANDO_CONFORMANCE_DIR "${CMAKE_CURRENT_LIST_DIR}")

# Flags of single files, which its sources do not set.
cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL set_property SOURCE "${CMAKE_SOURCE_DIR}/tools/topk.cpp" DIRECTORY "${CMAKE_SOURCE_DIR}/tools"
  APPEND_STRING PROPERTY COMPILE_FLAGS " -include ${PANDO_CONFORMANCE_DIR}/poplibs_topk.hpp")

# PANDO_LIBRARIES: an installed prefix whose op libraries are tested in place of PopLibs'.
if(PANDO_LIBRARIES)
  find_package(poplar REQUIRED)
  find_package(poplibs REQUIRED)
  # Their headers before PopLibs' own, which are beside those of its tests' helpers. A copy: compilers skip folders that are system folders, too.
  foreach(library poputil popops poprand poplin popnn popfloat)
    file(COPY "${PANDO_LIBRARIES}/include/${library}" DESTINATION "${CMAKE_BINARY_DIR}/op_headers")
  endforeach()
  include_directories("${CMAKE_BINARY_DIR}/op_headers")
  link_libraries(gcl)  # which has the collectives
  add_compile_options(-Wno-error=switch)  # of enumerations that have more values here

  macro(add_subdirectory folder)
    if(NOT "${CMAKE_CURRENT_SOURCE_DIR}/${folder}" MATCHES "/lib/(poputil|popops|poprand|poplin|popnn|popfloat|popsparse)$")
      _add_subdirectory(${folder} ${ARGN})
    endif()
  endmacro()
endif()
