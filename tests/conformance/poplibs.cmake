# What PopLibs' project() includes. Its lists are read unchanged.

# PANDO_FILE_FLAGS: flags of single files, which its lists do not set, as SOURCE=FLAGS.
foreach(pair IN LISTS PANDO_FILE_FLAGS)
  string(REGEX MATCH "^([^=]*)=(.*)$" pair "${pair}")
  set(source "${CMAKE_SOURCE_DIR}/${CMAKE_MATCH_1}")
  set(flags " ${CMAKE_MATCH_2}")
  get_filename_component(folder "${source}" DIRECTORY)
  while(NOT EXISTS "${folder}/CMakeLists.txt")  # the folder of the target is whose lists name the source
    get_filename_component(folder "${folder}" DIRECTORY)
  endwhile()
  cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL set_property SOURCE [[${source}]] DIRECTORY [[${folder}]]
    APPEND_STRING PROPERTY COMPILE_FLAGS [[${flags}]])")
endforeach()

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
