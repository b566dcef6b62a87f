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
add_custom_command(OUTPUT ${ontile_work}/python.c ${ontile_work}/python.h DEPENDS ${micropython_stamp} ${port_files} ${ontile_dir}/build_wasm.sh
  COMMAND bash ${ontile_dir}/build_wasm.sh ${PANDO_MICROPYTHON} ${ontile_work}
  COMMENT "MicroPython as WebAssembly" VERBATIM)
add_custom_command(OUTPUT ${ontile_work}/interpreter.c DEPENDS ${ontile_work}/python.c ${ontile_work}/python.h ${ontile_dir}/translate.py
  COMMAND python3 ${ontile_dir}/translate.py ${ontile_work}/python.c ${ontile_work}/python.h -o ${ontile_work}/interpreter.c
  COMMENT "the interpreter's C" VERBATIM)

file(GLOB python_sources CONFIGURE_DEPENDS ${ontile_dir}/runtime/*.cpp)
list(FILTER python_sources EXCLUDE REGEX "_test\\.cpp$")
add_library(pando_python SHARED ${python_sources} ${ontile_work}/interpreter.c)
target_include_directories(pando_python PRIVATE ${ontile_dir})
# The collector reads the native stack, and a jump leaves frames: nothing that sanitizers could follow.
target_compile_options(pando_python PRIVATE -O2 -fno-strict-aliasing -fno-sanitize=all)
set_source_files_properties(${ontile_work}/interpreter.c PROPERTIES COMPILE_OPTIONS "-w;-fno-math-errno;-std=gnu11")
target_link_libraries(pando_python PRIVATE m)
install(TARGETS pando_python LIBRARY DESTINATION lib COMPONENT ontile)
