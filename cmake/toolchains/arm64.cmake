# Compiles for 64-bit Arm on another machine: clang, with the headers and libraries of a Debian of that processor, which lies in the folder
# PANDO_SYSTEM_ROOT. What the build makes and then runs (popc, pando, Python with popxl) runs there, by chroot, which needs an emulator that the kernel
# knows: `./x test --full arm64` prepares both (tests/arm64/inside.sh).
set(PANDO_SYSTEM_ROOT "" CACHE PATH "A Debian for 64-bit Arm")
if(NOT EXISTS "${PANDO_SYSTEM_ROOT}/usr/include")
  message(FATAL_ERROR "PANDO_SYSTEM_ROOT is '${PANDO_SYSTEM_ROOT}': the folder of a Debian for 64-bit Arm was expected (./x test --full arm64 makes one)")
endif()
include(${CMAKE_CURRENT_LIST_DIR}/clang.cmake)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PANDO_SYSTEM_ROOT)

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_SYSROOT ${PANDO_SYSTEM_ROOT})
set(CMAKE_FIND_ROOT_PATH ${PANDO_SYSTEM_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()

# The environment of Python in the build tree is made with that system's.
set(PANDO_BASE_PYTHON /usr/bin/python3)
file(GLOB python_headers RELATIVE ${PANDO_SYSTEM_ROOT}/usr/include ${PANDO_SYSTEM_ROOT}/usr/include/python3.*)
string(REGEX REPLACE "^python([0-9.]+).*" "\\1" PANDO_SYSTEM_PYTHON "${python_headers}")

# Before a command of the build that runs what the build made.
set(pando_run_built chroot ${PANDO_SYSTEM_ROOT})
