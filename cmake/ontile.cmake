# Python on every tile: libpando_python (MicroPython as one native code for all tiles), its codelets (ontile.gp) and libpando_ontile
# (sessions of interpreters, the prompt). On libpoplar's exported API alone. Included when libpoplar and popc are defined.
set(ontile_dir ${CMAKE_SOURCE_DIR}/src/ontile)
set(PANDO_MICROPYTHON ${CMAKE_SOURCE_DIR}/build/sources/micropython CACHE PATH "Sources of MicroPython; fetched if absent")
find_program(PANDO_WASM2C wasm2c REQUIRED)

# Sources -> WebAssembly -> C -> the C of tiles.
set(ontile_work ${CMAKE_BINARY_DIR}/ontile)
file(MAKE_DIRECTORY ${ontile_work})
set(micropython_stamp ${ontile_work}/sources.stamp)
add_custom_command(OUTPUT ${micropython_stamp} DEPENDS ${ontile_dir}/fetch.sh
  COMMAND bash ${ontile_dir}/fetch.sh ${PANDO_MICROPYTHON}
  COMMAND ${CMAKE_COMMAND} -E touch ${micropython_stamp}
  COMMENT "fetch MicroPython" VERBATIM)
file(GLOB port_files CONFIGURE_DEPENDS ${ontile_dir}/port/*)
# A minute of processor time, most of it the preprocessor's, which no compiler cache spares: what was made of the same is taken.
set(pando_made_before ${Python3_EXECUTABLE} -S -E ${CMAKE_SOURCE_DIR}/cmake/made_before.py ${CMAKE_SOURCE_DIR})
set(micropython_inputs ${ontile_dir}/port ${ontile_dir}/build_wasm.sh)
foreach(folder py extmod shared lib drivers tools)
  list(APPEND micropython_inputs ${PANDO_MICROPYTHON}/${folder})
endforeach()
list(APPEND micropython_inputs /usr/include/wasm32-wasi /usr/lib/wasm32-wasi program:clang-19 program:${PANDO_WASM2C})
add_custom_command(OUTPUT ${ontile_work}/python.c ${ontile_work}/python.h DEPENDS ${micropython_stamp} ${port_files} ${ontile_dir}/build_wasm.sh
  COMMAND ${pando_made_before} ${micropython_inputs} -- ${ontile_work}/python.c ${ontile_work}/python.h --
    bash ${ontile_dir}/build_wasm.sh ${PANDO_MICROPYTHON} ${ontile_work}
  COMMENT "MicroPython as WebAssembly" VERBATIM)
add_custom_command(OUTPUT ${ontile_work}/interpreter.c DEPENDS ${ontile_work}/python.c ${ontile_work}/python.h ${ontile_dir}/translate.py
  COMMAND ${pando_made_before} ${ontile_dir}/translate.py ${ontile_work}/python.c ${ontile_work}/python.h -- ${ontile_work}/interpreter.c --
    ${Python3_EXECUTABLE} ${ontile_dir}/translate.py ${ontile_work}/python.c ${ontile_work}/python.h -o ${ontile_work}/interpreter.c
  COMMENT "the interpreter's C" VERBATIM)

file(GLOB python_sources CONFIGURE_DEPENDS ${ontile_dir}/runtime/*.cpp)
list(FILTER python_sources EXCLUDE REGEX "_test\\.cpp$")
add_library(pando_python SHARED ${python_sources} ${ontile_work}/interpreter.c)
target_include_directories(pando_python PRIVATE ${ontile_dir} ${CMAKE_SOURCE_DIR}/src)
# The collector reads the native stack, and a jump leaves frames: nothing that sanitizers could follow.
target_compile_options(pando_python PRIVATE -O2 -fno-strict-aliasing -fno-sanitize=all)
# Blocks of its great functions lie where they lie by chance: unless each begins on a line's half, any change moves bytecode's time by a tenth.
set(interpreter_options -O3 -falign-functions=64 -w -fno-math-errno -std=gnu11)
if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
  list(APPEND interpreter_options -mllvm -align-all-nofallthru-blocks=5)
endif()
set_source_files_properties(${ontile_work}/interpreter.c PROPERTIES COMPILE_OPTIONS "${interpreter_options}")
target_link_libraries(pando_python PRIVATE m)
install(TARGETS pando_python LIBRARY DESTINATION lib COMPONENT ontile)
install(FILES ${CMAKE_SOURCE_DIR}/include/pando/python.hpp DESTINATION include/pando COMPONENT ontile)

# Codelets: partial files, linked with the interpreter into ontile.gp.
file(GLOB ontile_codelets CONFIGURE_DEPENDS ${ontile_dir}/codelets/*.cpp)
set(ontile_partials "")
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/codelets/ontile)
foreach(codelet ${ontile_codelets})
  get_filename_component(stem ${codelet} NAME_WE)
  set(partial ${CMAKE_BINARY_DIR}/codelets/ontile/${stem}.gp)
  add_custom_command(OUTPUT ${partial} DEPFILE ${partial}.d DEPENDS ${codelet} ${pando_build_popc}
    COMMAND ${pando_run_popc} -c -O3 ${pando_general} -I${CMAKE_SOURCE_DIR}/src -MF ${partial}.d ${codelet} -o ${partial}
    COMMENT "popc ontile/${stem}" VERBATIM)
  list(APPEND ontile_partials ${partial})
endforeach()
set(ontile_gp ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/ontile.gp)
pando_link_codelets(ontile pando_python ${ontile_partials})
install(FILES ${ontile_gp} DESTINATION lib COMPONENT ontile)

# Sessions: what hosts interpreters, on the public API.
file(GLOB_RECURSE ontile_sources CONFIGURE_DEPENDS ${ontile_dir}/*.cpp)
list(FILTER ontile_sources EXCLUDE REGEX "/ontile/(codelets|ipupy|runtime|repl|shell)/")
set(ontile_tests ${ontile_sources})
list(FILTER ontile_sources EXCLUDE REGEX "_test\\.cpp$")
list(FILTER ontile_tests INCLUDE REGEX "_test\\.cpp$")
# Of Pando's own code only what reads and writes files of the user's: libpoplar does not show it.
add_library(ontile_objects OBJECT ${ontile_sources} ${CMAKE_SOURCE_DIR}/src/base/files/private_files.cpp ${CMAKE_SOURCE_DIR}/src/base/files/store.cpp)
target_include_directories(ontile_objects PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(ontile_objects PRIVATE poplar pando_python fmt::fmt nlohmann_json::nlohmann_json)
add_library(pando_ontile SHARED $<TARGET_OBJECTS:ontile_objects>)
target_link_libraries(pando_ontile PUBLIC poplar PRIVATE pando_python fmt::fmt nlohmann_json::nlohmann_json Threads::Threads ${CMAKE_DL_LIBS})
set_target_properties(pando_ontile PROPERTIES INSTALL_RPATH "$ORIGIN" BUILD_RPATH_USE_ORIGIN ON)
add_dependencies(pando_ontile ontile_gp)
install(TARGETS pando_ontile LIBRARY DESTINATION lib COMPONENT ontile)
if(PANDO_TESTS AND ontile_tests)
  add_executable(test_ontile ${ontile_tests} $<TARGET_OBJECTS:ontile_objects>)
  pando_use_headers(test_ontile pando_test_headers)
  pando_compile_in_batches(test_ontile ${pando_test_batch})
  target_include_directories(test_ontile PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(test_ontile PRIVATE poplar pando_python fmt::fmt nlohmann_json::nlohmann_json Threads::Threads ${CMAKE_DL_LIBS} GTest::gmock GTest::gtest_main)
  add_dependencies(test_ontile ontile_gp)
  add_test(NAME unit.ontile COMMAND test_ontile)
  set_tests_properties(unit.ontile PROPERTIES ENVIRONMENT "PANDO_POPC=${pando_popc};IPU_ONTILE_GP=${ontile_gp}")
endif()
