# The packages pando, popxl, popart, popdist, poptorch and pva: build/python, and build/venv, an environment in which they can be imported.
# popxl/_core is the native part (python/native); sources of the packages are links, so that what is edited counts at once.
option(PANDO_PYTHON "Build the Python packages, and an environment in which they can be imported" ON)
if(NOT PANDO_PYTHON)
  return()
endif()
set(python_dir ${CMAKE_SOURCE_DIR}/python)
set(python_build ${CMAKE_BINARY_DIR}/python)

# Not in a wheel's build, which has an environment of its own. What configuring needs is installed now, the rest when it builds, beside the compiler.
set(pando_venv_ready "")
if(NOT SKBUILD)
  set(pando_venv ${CMAKE_BINARY_DIR}/venv)
  set(pando_pip ${pando_venv}/bin/python -m pip install --quiet --disable-pip-version-check --no-compile)
  if(CMAKE_CROSSCOMPILING)
    # Emulated, pip would take minutes: that of this machine's build installs what is for the other.
    set(pando_venv_options --without-pip)
    set(pando_pip ${CMAKE_SOURCE_DIR}/build/venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --upgrade
      --only-binary=:all: --platform manylinux2014_${CMAKE_SYSTEM_PROCESSOR} --python-version ${PANDO_SYSTEM_PYTHON}
      --target ${pando_venv}/lib/python${PANDO_SYSTEM_PYTHON}/site-packages)
  endif()
  set(requirements ${python_dir}/requirements.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${requirements})
  file(STRINGS ${requirements} wanted REGEX "^nanobind")
  set(installed "")
  if(EXISTS ${pando_venv}/configured.txt AND EXISTS ${pando_venv}/bin/python)
    file(STRINGS ${pando_venv}/configured.txt installed)
  endif()
  if(NOT installed STREQUAL wanted)
    message(STATUS "Python environment: ${pando_venv}")
    find_program(PANDO_BASE_PYTHON python3 REQUIRED)
    execute_process(COMMAND ${pando_run_built} ${PANDO_BASE_PYTHON} -m venv --clear ${pando_venv_options} ${pando_venv} COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${pando_pip} ${wanted} RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "pip could not install ${wanted} (-DPANDO_PYTHON=OFF builds without the Python packages)")
    endif()
    execute_process(COMMAND ${pando_run_built} ${pando_venv}/bin/python -c
      "import sysconfig; open(sysconfig.get_paths()['purelib'] + '/pando.pth', 'w').write('${python_build}\\n')" COMMAND_ERROR_IS_FATAL ANY)
    file(WRITE ${pando_venv}/configured.txt "${wanted}\n")
  endif()
  set(pando_venv_ready ${pando_venv}/requirements.txt)
  add_custom_command(OUTPUT ${pando_venv_ready} DEPENDS ${requirements} ${pando_venv}/configured.txt
    COMMAND ${pando_pip} -r ${requirements}
    COMMAND ${CMAKE_COMMAND} -E copy ${requirements} ${pando_venv_ready}
    COMMENT "Python packages of python/requirements.txt" VERBATIM)
  add_custom_target(pando_python_packages DEPENDS ${pando_venv_ready})
  set(Python_EXECUTABLE ${pando_venv}/bin/python)
endif()
if(CMAKE_CROSSCOMPILING)
  # The interpreter that configures is this machine's, of the same version: what it says of native modules is not true of the other's.
  set(NB_SUFFIX .so CACHE INTERNAL "")
  set(NB_SUFFIX_S .abi3.so CACHE INTERNAL "")
  set(Python_INCLUDE_DIR ${CMAKE_SYSROOT}/usr/include/python${PANDO_SYSTEM_PYTHON})
endif()
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_DIR
  COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)

file(GLOB native_sources CONFIGURE_DEPENDS ${python_dir}/native/*.cpp)
nanobind_add_module(popxl_core NB_STATIC NOMINSIZE ${native_sources})
set_target_properties(popxl_core PROPERTIES OUTPUT_NAME _core LIBRARY_OUTPUT_DIRECTORY ${python_build}/popxl BUILD_RPATH_USE_ORIGIN ON)
pando_own_headers(popxl_core <native/native.h>)
pando_compile_in_batches(popxl_core 8)
pando_optimise_less(popxl_core)
pando_compile_in_batches(nanobind-static 20)
target_include_directories(popxl_core PRIVATE ${python_dir})
# The modules themselves, not libpando_model: one library less to find.
target_link_libraries(popxl_core PRIVATE pando_pricing pando_session pando_search pando_onnx pando_exec fmt::fmt)
if(TARGET pando_mpi)
  add_dependencies(popxl_core pando_mpi)
endif()
target_include_directories(popxl_core PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)

# One link for each file of the packages.
set(python_packages pando popxl popart popdist poptorch pva)
configure_file(${CMAKE_SOURCE_DIR}/cmake/version.py.in ${python_build}/pando/_version.py @ONLY)
foreach(package ${python_packages})
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${python_dir} ${python_dir}/${package}/*.py ${python_dir}/${package}/py.typed)
  foreach(file ${files})
    get_filename_component(folder ${python_build}/${file} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${python_dir}/${file} ${python_build}/${file} SYMBOLIC)
  endforeach()
endforeach()

# Functions of popxl.ops that say no more than their rows of the op table. All modules are compiled here: not every user may write to this folder, or
# wants to wait.
set(ops_stamp ${python_build}/ops.stamp)
list(TRANSFORM python_packages PREPEND ${python_build}/ OUTPUT_VARIABLE packages)
list(TRANSFORM python_packages REPLACE "(.+)" "${python_dir}/\\1/*.py" OUTPUT_VARIABLE patterns)
file(GLOB_RECURSE modules CONFIGURE_DEPENDS ${patterns})
add_custom_command(OUTPUT ${ops_stamp} DEPENDS popxl_core ${pando_venv_ready} ${python_dir}/generate_ops.py ${python_dir}/make_stub.py ${modules}
  COMMAND ${pando_run_built} ${Python_EXECUTABLE} ${python_dir}/generate_ops.py ${python_build}
  COMMAND ${pando_run_built} ${Python_EXECUTABLE} ${python_dir}/make_stub.py ${python_build}
  COMMAND ${pando_run_built} ${Python_EXECUTABLE} -m compileall -q ${packages}
  COMMAND ${CMAKE_COMMAND} -E touch ${ops_stamp}
  COMMENT "popxl.ops" VERBATIM)
add_custom_target(popxl ALL DEPENDS ${ops_stamp})
if(TARGET pando_python_packages)
  add_dependencies(popxl pando_python_packages)
endif()

# Component python, which is what every wheel holds: the packages, and in pando/ what they load and the tools, as in a prefix (bin, lib, share), with code
# of the codelets for every level of processors. Codelets of a user's own need popc, which is not in it. Component python_core is the native part, for one
# version of Python.
set_target_properties(popxl_core PROPERTIES INSTALL_RPATH "$ORIGIN/../pando/lib")
install(TARGETS popxl_core LIBRARY DESTINATION popxl COMPONENT python_core)
foreach(package ${python_packages})
  install(DIRECTORY ${python_dir}/${package} DESTINATION . COMPONENT python FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
endforeach()
# Files that were made; links are of the files above.
install(CODE "file(GLOB_RECURSE made RELATIVE ${python_build} ${python_build}/pando/_version.py ${python_build}/popxl/*.py ${python_build}/popxl/*.pyi)
  foreach(file IN LISTS made)
    if(NOT IS_SYMLINK ${python_build}/\${file})
      get_filename_component(folder \${file} DIRECTORY)
      file(INSTALL ${python_build}/\${file} DESTINATION \${CMAKE_INSTALL_PREFIX}/\${folder})
    endif()
  endforeach()" COMPONENT python)
set(wheel_libraries poplar pando_kernels poputil popops poprand poplin popnn pando_ontile pando_python)
foreach(library ${wheel_libraries})
  install(FILES $<TARGET_FILE:${library}> DESTINATION pando/lib COMPONENT python)
endforeach()
foreach(library popops poprand poplin popnn ontile)
  install(FILES ${pando_levels_dir}/${library}.gp DESTINATION pando/lib COMPONENT python)
endforeach()
install(FILES $<TARGET_FILE:fmt::fmt> RENAME $<TARGET_SONAME_FILE_NAME:fmt::fmt> DESTINATION pando/lib COMPONENT python)
install(TARGETS pando-measure pando-run pando-repl pando-shell RUNTIME DESTINATION pando/bin COMPONENT python)
install(DIRECTORY ${python_dir}/pando_kernel DESTINATION pando/share/pando/python COMPONENT python FILES_MATCHING PATTERN "*.py")
add_custom_target(wheel_parts DEPENDS popxl codelet_levels ${wheel_libraries} pando pando-measure pando-run pando-repl pando-shell)

# The native part for other versions of Python. From 3.12 on one file serves all (the stable ABI). ./x wheel says for which.
set(PANDO_WHEEL_PYTHONS "" CACHE STRING "Interpreters for which the target wheel_cores builds the native part of popxl")
set(PANDO_WHEEL_NANOBIND "${CMAKE_BINARY_DIR}/wheels/nanobind" CACHE PATH "nanobind for them: folders new and old")
add_custom_target(wheel_cores)
foreach(interpreter ${PANDO_WHEEL_PYTHONS})
  execute_process(COMMAND ${interpreter} ${python_dir}/wheel/describe_python.py ${PANDO_WHEEL_NANOBIND} OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  list(GET described 0 tag)
  list(GET described 1 python_include)
  list(GET described 2 suffix)
  list(GET described 3 nanobind_dir)
  set(core popxl_core_${tag})
  add_library(${core} MODULE EXCLUDE_FROM_ALL ${native_sources} ${nanobind_dir}/src/nb_combined.cpp)
  set_target_properties(${core} PROPERTIES PREFIX "" SUFFIX ${suffix} OUTPUT_NAME _core LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/wheel_cores/${tag}
    INSTALL_RPATH "$ORIGIN/../pando/lib" BUILD_WITH_INSTALL_RPATH ON CXX_VISIBILITY_PRESET hidden)
  target_include_directories(${core} SYSTEM PRIVATE ${python_include} ${nanobind_dir}/include ${nanobind_dir}/ext/robin_map/include)
  target_include_directories(${core} PRIVATE ${python_dir} ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  target_compile_options(${core} PRIVATE -fno-strict-aliasing)
  target_compile_definitions(${core} PRIVATE NB_COMPACT_ASSERTIONS)
  if(suffix MATCHES "abi3")
    target_compile_definitions(${core} PRIVATE Py_LIMITED_API=0x030C0000)
  endif()
  set_source_files_properties(${nanobind_dir}/src/nb_combined.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  pando_alone(${nanobind_dir}/src/nb_combined.cpp)
  pando_own_headers(${core} <native/native.h>)
  pando_compile_in_batches(${core} 8)
  pando_optimise_less(${core})
  target_link_libraries(${core} PRIVATE pando_pricing pando_session pando_search pando_onnx pando_exec fmt::fmt)
  add_dependencies(wheel_cores ${core})
endforeach()
