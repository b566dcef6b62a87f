# The interpreter for tests of its collector, which runs at each allocation and overwrites what it frees; compiled by both compilers,
# as it reads the stacks and registers that they use. Programs run on it with its folder in LD_LIBRARY_PATH. Not installed.
find_program(PANDO_GCC gcc REQUIRED)
find_program(PANDO_GXX g++ REQUIRED)
set(stress_work ${CMAKE_CURRENT_BINARY_DIR}/stress)
file(MAKE_DIRECTORY ${stress_work})
add_custom_command(OUTPUT ${stress_work}/interpreter.c
  DEPENDS ${micropython_stamp} ${port_files} ${ontile_dir}/port/stress/collect_often.c ${ontile_dir}/build_wasm.sh ${ontile_dir}/translate.py
  COMMAND ${pando_made_before} ${micropython_inputs} -- ${stress_work}/python.c ${stress_work}/python.h --
    bash ${ontile_dir}/build_wasm.sh ${PANDO_MICROPYTHON} ${stress_work} GC_STRESS=1
  COMMAND ${pando_made_before} ${ontile_dir}/translate.py ${stress_work}/python.c ${stress_work}/python.h -- ${stress_work}/interpreter.c --
    ${Python3_EXECUTABLE} ${ontile_dir}/translate.py ${stress_work}/python.c ${stress_work}/python.h -o ${stress_work}/interpreter.c
  COMMENT "an interpreter that collects often" VERBATIM)

# stress_library(NAME C-COMPILER C++-COMPILER [ALL]): target pando_python_stress_NAME makes stress/NAME/libpando_python.so.
function(stress_library name c cxx)
  set(folder ${stress_work}/${name})
  file(MAKE_DIRECTORY ${folder})
  set(flags -O2 -fPIC -fno-strict-aliasing -fvisibility=hidden -DNDEBUG -DPANDO_PYTHON_STRESS -I${ontile_dir} -I${CMAKE_SOURCE_DIR}/src)
  file(GLOB headers CONFIGURE_DEPENDS ${ontile_dir}/runtime/*.h)
  add_custom_command(OUTPUT ${folder}/interpreter.o DEPENDS ${stress_work}/interpreter.c ${ontile_dir}/runtime/interpreter_c.h
    COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${c} ${flags} -w -fno-math-errno -std=gnu11 -c ${stress_work}/interpreter.c -o ${folder}/interpreter.o
    COMMENT "an interpreter that collects often: ${name}" VERBATIM)
  set(objects ${folder}/interpreter.o)
  foreach(source ${python_sources})
    get_filename_component(stem ${source} NAME_WE)
    add_custom_command(OUTPUT ${folder}/${stem}.o DEPENDS ${source} ${headers}
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${cxx} ${flags} -std=c++20 -c ${source} -o ${folder}/${stem}.o
      COMMENT "an interpreter that collects often: ${name}, ${stem}" VERBATIM)
    list(APPEND objects ${folder}/${stem}.o)
  endforeach()
  add_custom_command(OUTPUT ${folder}/libpando_python.so DEPENDS ${objects}
    COMMAND ${cxx} -shared ${objects} -Wl,-soname,libpando_python.so -o ${folder}/libpando_python.so -lm
    VERBATIM)
  add_custom_target(pando_python_stress_${name} ${ARGN} DEPENDS ${folder}/libpando_python.so)
endfunction()
stress_library(clang ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER} ALL)
stress_library(gcc ${PANDO_GCC} ${PANDO_GXX})
