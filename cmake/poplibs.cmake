# The op libraries: libpoputil, libpopops, libpoplin, libpopnn, libpoprand, libpopfloat, libgcl with their codelets (popops.gp ...), and the kernels
# that those call. They see of Pando only what libpoplar exports. Included when libpoplar is defined.
set(poplibs_dir ${CMAKE_SOURCE_DIR}/src/poplibs)

# Kernels over blocks of memory, one shared library; codelet files are loaded with it.
find_library(PANDO_XSMM NAMES xsmm PATHS /usr/lib REQUIRED)
find_library(PANDO_XSMM_NOBLAS NAMES xsmmnoblas PATHS /usr/lib REQUIRED)
find_path(PANDO_XSMM_INCLUDE libxsmm.h PATHS /usr/include/libxsmm REQUIRED)
file(GLOB_RECURSE kernel_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/kernels/*.cpp)
list(FILTER kernel_sources EXCLUDE REGEX "_test\\.cpp$")
file(GLOB_RECURSE kernel_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/kernels/*_test.cpp)
add_library(pando_kernels SHARED ${kernel_sources})
target_include_directories(pando_kernels PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src> $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/generated>)

# The version of the kernels is what their sources are: codelets and libraries of another one are refused when they are loaded.
file(GLOB_RECURSE kernel_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/kernels/*.h)
set(kernel_hashes "")
foreach(file ${kernel_sources} ${kernel_headers})
  file(SHA256 ${file} hash)
  string(APPEND kernel_hashes ${hash})
endforeach()
string(SHA256 PANDO_KERNELS_HASH "${kernel_hashes}")
string(SUBSTRING ${PANDO_KERNELS_HASH} 0 12 PANDO_KERNELS_HASH)
set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${kernel_sources} ${kernel_headers})
configure_file(${CMAKE_SOURCE_DIR}/cmake/kernels_version.h.in ${CMAKE_BINARY_DIR}/generated/kernels_version.h @ONLY)
target_include_directories(pando_kernels SYSTEM PRIVATE ${PANDO_XSMM_INCLUDE})
target_compile_options(pando_kernels PRIVATE -O3 -ffp-contract=off -fno-math-errno)
target_link_libraries(pando_kernels PRIVATE ${PANDO_XSMM} ${PANDO_XSMM_NOBLAS} Threads::Threads ${CMAKE_DL_LIBS})
if(PANDO_TESTS AND kernel_tests)
  add_executable(test_kernels ${kernel_tests})
  pando_use_headers(test_kernels pando_test_headers)
  target_link_libraries(test_kernels PRIVATE pando_kernels GTest::gmock GTest::gtest_main)
  add_test(NAME unit.kernels COMMAND test_kernels)
  # The same on a processor with less, as far as this one tells. libxsmm's name for AVX2 is hsw, for SSSE3 it has none and takes SSE3.
  add_test(NAME unit.kernels_avx2 COMMAND test_kernels)
  set_tests_properties(unit.kernels_avx2 PROPERTIES ENVIRONMENT "PANDO_VECTORS=avx2;LIBXSMM_TARGET=hsw")
  add_test(NAME unit.kernels_ssse3 COMMAND test_kernels)
  set_tests_properties(unit.kernels_ssse3 PROPERTIES ENVIRONMENT "PANDO_VECTORS=ssse3;LIBXSMM_TARGET=sse3")
endif()

# They use the names of other namespaces, which are not unique together.
set_source_files_properties(${poplibs_dir}/popops/elementwise/estimate.cpp ${poplibs_dir}/popops/elementwise/program_writer.cpp
  ${poplibs_dir}/poplin/matmul/matmul.cpp ${poplibs_dir}/popnn/recurrent/rnn.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# pando_op_library(NAME DEPS...): lib/libNAME.so of src/poplibs/NAME, and lib/NAME.gp of the codelets in src/poplibs/NAME/codelets.
# A codelet file is compiled twice: by popc (the vertex and its kernel) and into the library (its cycle estimates).
function(pando_op_library name)
  set(dir ${poplibs_dir}/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${dir}/*.cpp)
  file(GLOB_RECURSE codelets CONFIGURE_DEPENDS ${dir}/codelets/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  # Objects of their own: unit tests see what the library hides.
  add_library(${name}_objects OBJECT ${sources})
  pando_compile_by_folder(${name}_objects 8)
  target_include_directories(${name}_objects PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(${name}_objects PRIVATE poplar ${ARGN} fmt::fmt nlohmann_json::nlohmann_json)
  pando_use_headers(${name}_objects pando_common_headers)
  add_library(${name} SHARED $<TARGET_OBJECTS:${name}_objects>)
  target_link_libraries(${name} PUBLIC poplar ${ARGN} PRIVATE fmt::fmt nlohmann_json::nlohmann_json Threads::Threads ${CMAKE_DL_LIBS})
  target_compile_features(${name} INTERFACE cxx_std_11)
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN" BUILD_RPATH_USE_ORIGIN ON)
  install(TARGETS ${name} EXPORT poplibsTargets LIBRARY DESTINATION lib COMPONENT poplibs)

  set(rows "")
  foreach(codelet ${codelets})
    get_filename_component(stem ${codelet} NAME_WE)
    string(APPEND rows "X(${stem})\n")
  endforeach()
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/generated/${name}_codelets.inc CONTENT "${rows}")
  if(codelets)
    set(partials "")
    foreach(codelet ${codelets})
      get_filename_component(stem ${codelet} NAME_WE)
      set(partial ${CMAKE_BINARY_DIR}/codelets/${name}/${stem}.gp)
      add_custom_command(OUTPUT ${partial} DEPFILE ${partial}.d DEPENDS ${codelet} ${pando_popc}
        COMMAND ${pando_popc} -c -O3 -I${CMAKE_SOURCE_DIR}/src -MF ${partial}.d ${codelet} -o ${partial}
        COMMENT "popc ${name}/${stem}" VERBATIM)
      list(APPEND partials ${partial})
    endforeach()
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/codelets/${name})
    # One vertex more, that refers to the version of the kernels.
    set(version ${CMAKE_BINARY_DIR}/codelets/${name}/needs_kernels.gp)
    add_custom_command(OUTPUT ${version} DEPFILE ${version}.d DEPENDS ${poplibs_dir}/needs_kernels.cpp ${pando_popc}
      COMMAND ${pando_popc} -c -O3 -I${CMAKE_BINARY_DIR}/generated -DLIBRARY=${name} -MF ${version}.d ${poplibs_dir}/needs_kernels.cpp -o ${version}
      COMMENT "popc ${name}/needs_kernels" VERBATIM)
    list(APPEND partials ${version})
    set(gp ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${name}.gp)
    add_custom_command(OUTPUT ${gp} DEPENDS ${partials} ${pando_popc} pando_kernels
      COMMAND ${pando_popc} -O3 ${partials} -L${CMAKE_LIBRARY_OUTPUT_DIRECTORY} -lpando_kernels -o ${gp}
      COMMENT "popc ${name}.gp" VERBATIM)
    add_custom_target(${name}_gp ALL DEPENDS ${gp})
    add_dependencies(${name} ${name}_gp)
    install(FILES ${gp} DESTINATION lib COMPONENT poplibs)
  endif()

  if(PANDO_TESTS AND tests)
    add_executable(test_${name} ${tests} $<TARGET_OBJECTS:${name}_objects>)
    pando_use_headers(test_${name} pando_test_headers)
    target_include_directories(test_${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/tests)
    target_link_libraries(test_${name} PRIVATE poplar ${ARGN} fmt::fmt nlohmann_json::nlohmann_json Threads::Threads ${CMAKE_DL_LIBS} GTest::gmock GTest::gtest_main)
    if(codelets)
      add_dependencies(test_${name} ${name}_gp)
    endif()
    add_test(NAME unit.${name} COMMAND test_${name})
    string(TOUPPER ${name} upper_name)
    set_tests_properties(unit.${name} PROPERTIES ENVIRONMENT "PANDO_POPC=${pando_popc};IPU_${upper_name}_GP=${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${name}.gp")
  endif()
endfunction()

pando_op_library(poputil)
pando_op_library(popops poputil)
# Constants of expressions are folded by the kernels that would compute them.
target_link_libraries(popops PRIVATE pando_kernels)
if(TARGET test_popops)
  target_link_libraries(test_popops PRIVATE pando_kernels)
endif()
pando_op_library(poprand popops poputil)
pando_op_library(poplin popops poputil)
# How products are cut is planned below the facade, for simulations, too.
target_link_libraries(poplin_objects PRIVATE pando_planning)
target_link_libraries(poplin PRIVATE pando_planning)
if(TARGET test_poplin)
  target_link_libraries(test_poplin PRIVATE pando_planning)
endif()
pando_op_library(popnn poplin poprand popops poputil)
pando_op_library(popfloat poputil)
pando_op_library(gcl popops poputil)
