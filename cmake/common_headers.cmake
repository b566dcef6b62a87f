# Headers that most files include are parsed once: without, a build takes a third longer. Files include what they use all the same: the debug build
# has no precompiled headers, and finds what is missing.
option(PANDO_PRECOMPILED_HEADERS "Parse common headers once" ON)

set(pando_common_headers <algorithm> <array> <cmath> <cstddef> <cstdint> <cstring> <fstream> <functional> <limits> <map> <memory> <mutex> <numeric>
  <optional> <set> <span> <sstream> <string> <string_view> <tuple> <unordered_map> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h>)

# As an option of the driver, whose path compiler caches take from the root of the clone, not of the front end, whose words they leave.
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include-pch <PCH_FILE>)
endif()

# Compiler caches cannot know the time of a precompiled header.
# Headers of this project are named as they are included, <ir/module.h>: the file that includes them is then the same in every clone.
function(pando_own_headers target)
  if(PANDO_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:Clang>:-Xclang> $<$<CXX_COMPILER_ID:Clang>:-fno-pch-timestamp>)
  endif()
endfunction()

# Precompiled for the targets that pando_use_headers(TARGET OWNER) names. Those have the flags of the owner's files: of libraries, or of executables.
set(stub ${CMAKE_BINARY_DIR}/headers.cpp)
if(NOT EXISTS ${stub})
  file(WRITE ${stub} "int main() {}\n")
endif()
add_library(pando_common_headers OBJECT EXCLUDE_FROM_ALL ${stub})
target_link_libraries(pando_common_headers PRIVATE fmt::fmt)
pando_own_headers(pando_common_headers ${pando_common_headers})
if(PANDO_TESTS)
  add_executable(pando_test_headers EXCLUDE_FROM_ALL ${stub})
  target_link_libraries(pando_test_headers PRIVATE fmt::fmt GTest::gmock)
  pando_own_headers(pando_test_headers ${pando_common_headers} <gmock/gmock.h> <gtest/gtest.h>)
endif()

function(pando_use_headers target owner)
  if(PANDO_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} REUSE_FROM ${owner})
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:Clang>:-Xclang> $<$<CXX_COMPILER_ID:Clang>:-fno-pch-timestamp>)
  endif()
endfunction()

# Writes a file that includes others, by their paths from its folder: it is the same in every clone, and compiler caches find it again.
function(pando_write_unity file)
  get_filename_component(folder ${file} DIRECTORY)
  set(text "")
  foreach(source ${ARGN})
    file(RELATIVE_PATH path ${folder} ${source})
    string(APPEND text "#include \"${path}\"\n")
  endforeach()
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
endfunction()

# pando_alone(FILE...): these are compiled by themselves wherever others are compiled as one. Said before that.
function(pando_alone)
  foreach(file ${ARGN})
    set_property(GLOBAL APPEND PROPERTY pando_files_alone ${file})
  endforeach()
endfunction()

# Files of a target that are compiled as one with others, and the rest of its sources.
function(pando_unity_sources target united rest)
  get_target_property(sources ${target} SOURCES)
  get_property(alone GLOBAL PROPERTY pando_files_alone)
  set(in "")
  set(out "")
  foreach(source ${sources})
    get_filename_component(path ${source} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    if(path MATCHES "\\.cpp$" AND NOT path IN_LIST alone)
      list(APPEND in ${path})
    else()
      list(APPEND out ${source})
    endif()
  endforeach()
  set(${united} ${in} PARENT_SCOPE)
  set(${rest} ${out} PARENT_SCOPE)
endfunction()

# Appends to the list OUT the files PREFIX0.cpp, PREFIX1.cpp ... of a target, each of which includes up to SIZE of the others.
function(pando_unite out target prefix size)
  set(result ${${out}})
  set(number 0)
  while(ARGN)
    list(SUBLIST ARGN 0 ${size} batch)
    list(REMOVE_ITEM ARGN ${batch})
    set(file ${CMAKE_BINARY_DIR}/unity/${target}/${prefix}${number}.cpp)
    pando_write_unity(${file} ${batch})
    list(APPEND result ${file})
    math(EXPR number "${number} + 1")
  endwhile()
  set(${out} ${result} PARENT_SCOPE)
endfunction()

# So many files are compiled as one. Not where missing includes are to be found.
function(pando_compile_in_batches target size)
  if(NOT PANDO_PRECOMPILED_HEADERS)
    return()
  endif()
  pando_unity_sources(${target} sources result)
  pando_unite(result ${target} "" ${size} ${sources})
  set_target_properties(${target} PROPERTIES SOURCES "${result}")
endfunction()

# So many files of a module's tests are compiled as one, in less than half the time: names that are local to a file need to be unique in its batch,
# or the file is named here.
set(pando_test_batch 5)
pando_alone(
  ${CMAKE_SOURCE_DIR}/src/codelet/assembly/weights_test.cpp ${CMAKE_SOURCE_DIR}/src/codelet/counting_test.cpp
  ${CMAKE_SOURCE_DIR}/src/codelet/strided_test.cpp ${CMAKE_SOURCE_DIR}/src/compile/liveness_test.cpp
  ${CMAKE_SOURCE_DIR}/src/cycles/cycle_model_test.cpp ${CMAKE_SOURCE_DIR}/src/cycles/memory_report_test.cpp
  ${CMAKE_SOURCE_DIR}/src/exec/steps/strided_test.cpp ${CMAKE_SOURCE_DIR}/src/exec/steps/tile_by_tile_test.cpp
  ${CMAKE_SOURCE_DIR}/src/exec/threads/workers_test.cpp ${CMAKE_SOURCE_DIR}/src/exec/touched_memory_test.cpp
  ${CMAKE_SOURCE_DIR}/src/facade/engine/engine_test.cpp ${CMAKE_SOURCE_DIR}/src/facade/facade_test.cpp
  ${CMAKE_SOURCE_DIR}/src/ir/tests/random_test.cpp ${CMAKE_SOURCE_DIR}/src/ir/tests/subscripts_test.cpp
  ${CMAKE_SOURCE_DIR}/src/ir/tests/training_test.cpp ${CMAKE_SOURCE_DIR}/src/ir/tests/update_test.cpp
  ${CMAKE_SOURCE_DIR}/src/kernels/conv/conv_winograd_test.cpp ${CMAKE_SOURCE_DIR}/src/kernels/gemm/gemm_test.cpp
  ${CMAKE_SOURCE_DIR}/src/kernels/rows/sort_test.cpp ${CMAKE_SOURCE_DIR}/src/models/gpt_test.cpp ${CMAKE_SOURCE_DIR}/src/models/loops_test.cpp
  ${CMAKE_SOURCE_DIR}/src/planning/product_test.cpp ${CMAKE_SOURCE_DIR}/src/profile/profile_test.cpp
  ${CMAKE_SOURCE_DIR}/src/simulate/simulate_test.cpp ${CMAKE_SOURCE_DIR}/src/simulate/traces/chakra_test.cpp
  ${CMAKE_SOURCE_DIR}/src/tile/program_test.cpp ${CMAKE_SOURCE_DIR}/src/transform/devices/merge_exchange_test.cpp
  ${CMAKE_SOURCE_DIR}/tests/api/reentry_test.cpp ${CMAKE_SOURCE_DIR}/tests/api/sizes_test.cpp
  ${CMAKE_SOURCE_DIR}/src/poplibs/poplin/conformance/norms_test.cpp ${CMAKE_SOURCE_DIR}/src/poplibs/popnn/conformance/ctc_decoder_test.cpp
  ${CMAKE_SOURCE_DIR}/src/poplibs/popnn/conformance/ctc_test.cpp ${CMAKE_SOURCE_DIR}/src/poplibs/popnn/conformance/loss_test.cpp
  ${CMAKE_SOURCE_DIR}/src/poplibs/popnn/conformance/pooling_test.cpp ${CMAKE_SOURCE_DIR}/src/poplibs/popops/conformance/reduce_ops_test.cpp
  ${CMAKE_SOURCE_DIR}/src/poplibs/popops/conformance/tile_shares_test.cpp ${CMAKE_SOURCE_DIR}/src/poplibs/popsparse/conformance/known_test.cpp
  ${CMAKE_SOURCE_DIR}/src/poplibs/popsparse/conformance/masked_test.cpp)

# The same for up to so many files of each folder, which mostly include the same: names that are local to a file need only be unique there.
function(pando_compile_by_folder target size)
  if(NOT PANDO_PRECOMPILED_HEADERS)
    return()
  endif()
  pando_unity_sources(${target} sources result)
  set(folders "")
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    list(APPEND folders ${folder})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    set(here ${sources})
    list(FILTER here INCLUDE REGEX "^${folder}/[^/]*$")
    file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${folder})
    string(MAKE_C_IDENTIFIER "${name}" name)
    pando_unite(result ${target} "${name}_" ${size} ${here})
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${result}")
endfunction()

# Most code runs for milliseconds: what plans, reads, writes and reports. It is compiled with less effort, in three quarters of the time. A target
# may be named once.
function(pando_optimise_less target)
  target_compile_options(${target} PRIVATE "$<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:Clang>>:SHELL:-O1 -mllvm -inline-threshold=25>")
endfunction()
