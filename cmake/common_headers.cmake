# Headers that most files include are parsed once: without, a build takes a third longer. Files include what they use all the same: the debug build
# has no precompiled headers, and finds what is missing.
option(PANDO_PRECOMPILED_HEADERS "Parse common headers once" ON)

set(pando_common_headers <algorithm> <array> <cmath> <cstddef> <cstdint> <cstring> <fstream> <functional> <limits> <map> <memory> <mutex> <numeric>
  <optional> <set> <span> <sstream> <string> <string_view> <tuple> <unordered_map> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h>)

# Compiler caches cannot know the time of a precompiled header.
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

# So many files are compiled as one. Not where missing includes are to be found.
function(pando_compile_in_batches target size)
  if(PANDO_PRECOMPILED_HEADERS)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
  endif()
endfunction()

# The same for up to so many files of each folder, which mostly include the same: names that are local to a file need only be unique there.
function(pando_compile_by_folder target size)
  if(PANDO_PRECOMPILED_HEADERS)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources EXCLUDE REGEX "\\.h$")
    foreach(source ${sources})
      get_filename_component(folder ${source} DIRECTORY)
      string(MAKE_C_IDENTIFIER "${folder}" id)
      if(NOT DEFINED files_of_${id})
        set(files_of_${id} 0)
      endif()
      file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${folder})
      string(MAKE_C_IDENTIFIER "${name}" name)
      math(EXPR number "${files_of_${id}} / ${size}")
      math(EXPR files_of_${id} "${files_of_${id}} + 1")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${number})
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  endif()
endfunction()

# Most code runs for milliseconds: what plans, reads, writes and reports. It is compiled with less effort, in three quarters of the time. A target
# may be named once.
function(pando_optimise_less target)
  target_compile_options(${target} PRIVATE "$<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:Clang>>:SHELL:-O1 -mllvm -inline-threshold=25>")
endfunction()
