# What PopLibs' project() includes. Its lists are read unchanged.

# PANDO_ZOLTAN: build popsparse, where Zoltan is. Its module looks for Zoltan with an MPI of its own; Debian's has other names, and Open MPI.
if(PANDO_ZOLTAN)
  find_path(PANDO_ZOLTAN_HEADERS zoltan_cpp.h PATH_SUFFIXES trilinos)
  find_path(PANDO_MPI_HEADERS mpi.h PATHS "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi/include")
  find_library(ZOLTAN_LIBRARY trilinos_zoltan)
  find_library(ZOLTAN_SIMPI_LIBRARY mpi)
  if(PANDO_ZOLTAN_HEADERS AND PANDO_MPI_HEADERS AND ZOLTAN_LIBRARY AND ZOLTAN_SIMPI_LIBRARY)
    set(ZOLTAN_INCLUDE_DIR "${PANDO_ZOLTAN_HEADERS};${PANDO_MPI_HEADERS}" CACHE STRING "" FORCE)
    foreach(source ZoltanPartitioner HyperGraphStrip HyperGraphStripV0)
      list(APPEND PANDO_FILE_FLAGS "lib/popsparse/${source}.cpp=-DOMPI_SKIP_MPICXX")  # MPI's functions for C++ are another library's
    endforeach()
    foreach(source lib/popsparse/SparsePartitionerImpl tests/popsparse/SparseFormatsTest tests/popsparse/SparsePartitionerTests)
      list(APPEND PANDO_FILE_FLAGS "${source}.cpp=-include array -include cassert")  # which other headers used to bring
    endforeach()
  endif()
else()
  unset(ZOLTAN_INCLUDE_DIR CACHE)
  unset(ZOLTAN_LIBRARY CACHE)
  unset(ZOLTAN_SIMPI_LIBRARY CACHE)
endif()

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
  foreach(library poputil popops poprand poplin popnn popsparse popfloat)
    file(COPY "${PANDO_LIBRARIES}/include/${library}" DESTINATION "${CMAKE_BINARY_DIR}/op_headers")
  endforeach()
  # Behind them where PopLibs' targets have headers of their own, which tests include for a constant.
  include_directories("${CMAKE_BINARY_DIR}/op_headers" "${CMAKE_SOURCE_DIR}/lib/popnn" "${CMAKE_SOURCE_DIR}/lib/poplin")
  link_libraries(gcl)  # which has the collectives
  add_compile_options(-Wno-error=switch)  # of enumerations that have more values here

  macro(add_subdirectory folder)
    if(NOT "${CMAKE_CURRENT_SOURCE_DIR}/${folder}" MATCHES "/lib/(poputil|popops|poprand|poplin|popnn|popfloat|popsparse)$")
      _add_subdirectory(${folder} ${ARGN})
    endif()
  endmacro()
endif()
