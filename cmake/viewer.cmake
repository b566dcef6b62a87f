# The page of `pando view`: viewer/ (TypeScript) as one HTML file, which the module view carries. Users need no Node; a build uses the host's, or fetches
# one into build/viewer. A build that cannot have it goes on without the page, and says so at its end (./x build) and in `pando view`.
set(pando_viewer_page ${CMAKE_BINARY_DIR}/share/pando/viewer.html)
set(pando_viewer_source ${CMAKE_BINARY_DIR}/viewer/built_page.cpp)
file(GLOB_RECURSE viewer_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/viewer/src/*)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(viewer_pip "")
if(PANDO_PYTHON AND NOT SKBUILD)
  set(viewer_pip ${pando_venv}/bin/python)
endif()
add_custom_command(OUTPUT ${pando_viewer_page} ${pando_viewer_source}
  DEPENDS ${viewer_sources} ${CMAKE_SOURCE_DIR}/viewer/package.json ${CMAKE_SOURCE_DIR}/viewer/package-lock.json ${CMAKE_SOURCE_DIR}/viewer/build.mjs
    ${CMAKE_SOURCE_DIR}/viewer/make_page.py ${CMAKE_SOURCE_DIR}/viewer/demo.pando
  COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/viewer/make_page.py ${CMAKE_BINARY_DIR}/viewer ${pando_viewer_page} ${pando_viewer_source} ${viewer_pip}
  COMMENT "the page of pando view" VERBATIM)
add_custom_target(viewer_page DEPENDS ${pando_viewer_page} ${pando_viewer_source})
target_sources(pando_view PRIVATE ${pando_viewer_source})
set_source_files_properties(${pando_viewer_source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
