# pando repl: the host side of the Python interpreters on tiles. Objects, which the executable and its tests share.
find_library(PANDO_EDIT NAMES edit)
find_path(PANDO_EDIT_INCLUDE histedit.h)
set(repl_dir ${CMAKE_SOURCE_DIR}/src/ontile/repl)
file(GLOB_RECURSE repl_sources CONFIGURE_DEPENDS ${repl_dir}/*.cpp)
if(PANDO_USE_EDIT AND PANDO_EDIT AND PANDO_EDIT_INCLUDE)
  list(FILTER repl_sources EXCLUDE REGEX "/plain_line_editor\\.cpp$")
  set(edit_include ${PANDO_EDIT_INCLUDE})
  set(edit ${PANDO_EDIT})
else()
  list(FILTER repl_sources EXCLUDE REGEX "/line_editor\\.cpp$")
  pando_without(libedit "the prompts of pando repl and pando shell have no history, completion and moving cursor")
endif()
set(repl_tests ${repl_sources})
list(FILTER repl_sources EXCLUDE REGEX "(_test|/main)\\.cpp$")
list(FILTER repl_tests INCLUDE REGEX "_test\\.cpp$")
add_library(ontile_repl OBJECT ${repl_sources})
target_include_directories(ontile_repl PUBLIC ${CMAKE_SOURCE_DIR}/src PRIVATE ${edit_include})
target_link_libraries(ontile_repl PUBLIC poplar fmt::fmt nlohmann_json::nlohmann_json Threads::Threads ${edit})
target_compile_definitions(ontile_repl PRIVATE PANDO_VERSION="${PROJECT_VERSION}")

# Beside `pando`, which becomes it.
# In libpoplar base is hidden: what the tools say is compiled for them.
add_executable(pando-repl ${repl_dir}/main.cpp ${CMAKE_SOURCE_DIR}/src/base/messages.cpp)
target_link_libraries(pando-repl PRIVATE ontile_repl pando_ontile pando_command)
set_target_properties(pando-repl PROPERTIES INSTALL_RPATH "$ORIGIN/../lib" BUILD_RPATH_USE_ORIGIN ON)
install(TARGETS pando-repl RUNTIME DESTINATION bin COMPONENT ontile)

# The Jupyter kernel, where `pando jupyter install` looks for it, in the build tree and in a prefix.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/pando)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/python ${CMAKE_BINARY_DIR}/share/pando/python SYMBOLIC)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/pando_kernel DESTINATION share/pando/python COMPONENT ontile FILES_MATCHING PATTERN "*.py")

if(PANDO_TESTS)
  add_executable(test_ontile_repl ${repl_tests})
  pando_use_headers(test_ontile_repl pando_test_headers)
  pando_compile_in_batches(test_ontile_repl ${pando_test_batch})
  target_link_libraries(test_ontile_repl PRIVATE ontile_repl GTest::gmock GTest::gtest_main)
  add_test(NAME unit.ontile_repl COMMAND test_ontile_repl)
  # The same faces over a machine without tiles: what terminals see is tested in a moment.
  add_executable(repl_without_tiles ${CMAKE_SOURCE_DIR}/tests/repl/repl_without_tiles.cpp)
  target_link_libraries(repl_without_tiles PRIVATE ontile_repl)
endif()
