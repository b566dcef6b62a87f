# The model level: libpando_model.so of the modules ir, transform, lower and session, on libpoplar and the op libraries. C++ programs and
# the Python module link it. Included after poplibs.cmake.
pando_grouped_manifest(lower_manifest.inc ${CMAKE_SOURCE_DIR}/src/lower/ops)
pando_manifest(lower_option_manifest.inc ${CMAKE_SOURCE_DIR}/src/lower/options)
pando_manifest(session_option_manifest.inc ${CMAKE_SOURCE_DIR}/src/session/options)
pando_module(lower ir base)
target_link_libraries(pando_lower PUBLIC popnn poprand poplin popops poputil poplar)
# Reads modules alone.
pando_alone(${CMAKE_SOURCE_DIR}/src/lower/least_live.cpp)
# Many small rows that include the same large headers.
pando_compile_in_batches(pando_lower 20)
pando_module(session lower transform ir base)
pando_compile_in_batches(pando_session 8)
if(TARGET test_session)
  target_link_libraries(test_session PRIVATE pando_exec)
endif()
# No places of a user's program: poplar/DebugContext.hpp.
target_compile_definitions(pando_lower PRIVATE PANDO_LIBRARY)
target_compile_definitions(pando_session PRIVATE PANDO_LIBRARY)
# What it exports are C++ classes of these modules.
foreach(module ir transform lower session)
  set_target_properties(pando_${module} PROPERTIES CXX_VISIBILITY_PRESET default)
endforeach()

pando_shared_library(pando_model base ir transform lower session)
target_link_libraries(pando_model PRIVATE popnn poprand poplin popops poputil poplar fmt::fmt)
set_target_properties(pando_model PROPERTIES INSTALL_RPATH "$ORIGIN" BUILD_RPATH_USE_ORIGIN ON EXPORT_NAME model)
target_compile_features(pando_model INTERFACE cxx_std_20)

# Component `model`, beside `poplar` (which has the headers) and `poplibs`: find_package(pando) gives pando::model.
include(CMakePackageConfigHelpers)
install(TARGETS pando_model EXPORT pandoTargets LIBRARY DESTINATION lib COMPONENT model)
install(EXPORT pandoTargets NAMESPACE pando:: DESTINATION lib/cmake/pando COMPONENT model)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/pandoConfig.cmake.in ${CMAKE_BINARY_DIR}/cmake/pandoConfig.cmake INSTALL_DESTINATION lib/cmake/pando)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cmake/pandoConfigVersion.cmake VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/cmake/pandoConfig.cmake ${CMAKE_BINARY_DIR}/cmake/pandoConfigVersion.cmake DESTINATION lib/cmake/pando COMPONENT model)

# Prices of ops by what they are compiled to.
pando_module(pricing session simulate transform ir base)

# Predictions beside runs, and pando-measure, which `pando simulate --fidelity cycles` and `pando measure` become.
pando_module(measure pricing session search models transform simulate kernels ir base)
# With the commands `simulate` and `search` of `pando`, which becomes it where ops are to be compiled.
set(measure_shared plan_report programs_beside search_program stop_on_interrupt transformer words)
list(TRANSFORM measure_shared REPLACE "(.+)" "${CMAKE_SOURCE_DIR}/src/cli/shared/\\1.cpp")
add_executable(pando-measure ${CMAKE_SOURCE_DIR}/src/cli/measure/main.cpp ${CMAKE_SOURCE_DIR}/src/cli/measure/compiled_costs.cpp
  ${CMAKE_SOURCE_DIR}/src/cli/commands/simulate.cpp ${CMAKE_SOURCE_DIR}/src/cli/commands/search.cpp ${measure_shared})
target_link_libraries(pando-measure PRIVATE pando_measure pando_onnx pando_profile pando_command pando_command_files)
set_target_properties(pando-measure PROPERTIES INSTALL_RPATH "$ORIGIN/../lib" BUILD_RPATH_USE_ORIGIN ON BUILD_RPATH "${CMAKE_BINARY_DIR}/lib")
add_dependencies(pando-measure poputil popops poplin popnn poprand)
install(TARGETS pando-measure RUNTIME DESTINATION bin COMPONENT model)

# Tests find the codelets of the op libraries beside them.
foreach(module lower session pricing measure)
  if(TARGET test_${module})
    add_dependencies(test_${module} poputil popops poplin popnn poprand)
  endif()
endforeach()
