# The Python that emitted programs take with them (src/emit/torch/python) is text in the module emit.
set(emit_python ${CMAKE_SOURCE_DIR}/src/emit/torch/python)
file(GLOB emit_python_files CONFIGURE_DEPENDS ${emit_python}/*.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${emit_python_files})
set(emit_rows "")
foreach(file ${emit_python_files})
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(APPEND emit_rows "    {\"${name}\", R\"python(${text})python\"},\n")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/emit/python_files.cpp @ONLY CONTENT [[#include "emit/torch/assemble.h"

#include "base/check.h"

#include <utility>

namespace pando::emit {

std::string_view python_file(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
@emit_rows@  };
  for (const auto& [file, text] : kFiles) {
    if (file == name) return text;
  }
  PANDO_CHECK(false);
}

}  // namespace pando::emit
]])
target_sources(pando_emit PRIVATE ${CMAKE_BINARY_DIR}/emit/python_files.cpp)
set_source_files_properties(${CMAKE_BINARY_DIR}/emit/python_files.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
