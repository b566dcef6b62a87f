# The installed prefix, component `poplar`: what a Poplar program and PopLibs need.
#
#   PREFIX/include/...            the public headers, host and device
#   PREFIX/lib/libpoplar.so     also as libpva.so and libpvti.so: programs that read reports and write traces link those
#   PREFIX/lib/cmake/poplar/      find_package(poplar): targets poplar, poplar::poplar, popc_bin; beside it pva, libpvti, poplar_test and GCCS
#   PREFIX/bin/popc, pando
#   PREFIX/enable.sh              source it, and `g++ -std=c++11 x.cpp -lpoplar` works
#
# Component `ontile`: Python on tiles, `pando repl` and its Jupyter kernel.
# Component `poplibs`: the op libraries, their headers, codelets and kernels. Without it PopLibs itself can be built and installed.
#
# Everything finds the rest of the prefix relative to itself: the prefix may be moved.
include(CMakePackageConfigHelpers)

set(poplar_package_dir lib/cmake/poplar)

set_target_properties(poplar PROPERTIES INSTALL_RPATH "$ORIGIN" BUILD_RPATH_USE_ORIGIN ON)
target_compile_features(poplar INTERFACE cxx_std_11)
install(TARGETS poplar EXPORT poplarTargets LIBRARY DESTINATION lib COMPONENT poplar)
foreach(name pva pvti)
  install(CODE "file(CREATE_LINK libpoplar.so \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/lib${name}.so\" SYMBOLIC)" COMPONENT poplar)
endforeach()

foreach(tool popc pando)
  if(TARGET ${tool})
    set_target_properties(${tool} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib" BUILD_RPATH_USE_ORIGIN ON)
    install(TARGETS ${tool} RUNTIME DESTINATION bin COMPONENT poplar)
  endif()
endforeach()

set(poplibs_headers poputil popops poplin popnn poprand popsparse popfloat gcl)
list(JOIN poplibs_headers "|" poplibs_pattern)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/ DESTINATION include COMPONENT poplar
  REGEX "/include/(${poplibs_pattern})$" EXCLUDE PATTERN "libIPUpy.hpp" EXCLUDE PATTERN "python.hpp" EXCLUDE)
foreach(folder ${poplibs_headers})
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/${folder} DESTINATION include COMPONENT poplibs)
endforeach()
install(TARGETS pando_kernels EXPORT poplibsTargets LIBRARY DESTINATION lib COMPONENT poplibs)
install(EXPORT poplibsTargets DESTINATION lib/cmake/poplibs COMPONENT poplibs)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/poplibsConfig.cmake.in ${CMAKE_BINARY_DIR}/cmake/poplibsConfig.cmake
  INSTALL_DESTINATION lib/cmake/poplibs)
install(FILES ${CMAKE_BINARY_DIR}/cmake/poplibsConfig.cmake DESTINATION lib/cmake/poplibs COMPONENT poplibs)
install(EXPORT poplarTargets DESTINATION ${poplar_package_dir} COMPONENT poplar)

configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/poplarConfig.cmake.in ${CMAKE_BINARY_DIR}/cmake/poplarConfig.cmake
  INSTALL_DESTINATION ${poplar_package_dir})
# What programs ask for is the version of the SDK.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cmake/poplarConfigVersion.cmake VERSION ${PANDO_SDK_VERSION} COMPATIBILITY AnyNewerVersion)
install(FILES ${CMAKE_BINARY_DIR}/cmake/poplarConfig.cmake ${CMAKE_BINARY_DIR}/cmake/poplarConfigVersion.cmake
  DESTINATION ${poplar_package_dir} COMPONENT poplar)
install(PROGRAMS ${CMAKE_SOURCE_DIR}/cmake/enable.sh DESTINATION . COMPONENT poplar)
foreach(PANDO_PART pva libpvti)
  configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/pvaConfig.cmake.in ${CMAKE_BINARY_DIR}/cmake/${PANDO_PART}Config.cmake
    INSTALL_DESTINATION lib/cmake/${PANDO_PART})
  install(FILES ${CMAKE_BINARY_DIR}/cmake/${PANDO_PART}Config.cmake DESTINATION lib/cmake/${PANDO_PART} COMPONENT poplar)
endforeach()

# What newer PopLibs ask for. Not part of package `poplar`: older ones have a target `popsolver` of their own.
set(gccs_package_dir lib/cmake/GCCS)
install(TARGETS gccs popsolver EXPORT gccsTargets LIBRARY DESTINATION lib COMPONENT poplar)
install(EXPORT gccsTargets DESTINATION ${gccs_package_dir} COMPONENT poplar)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/cmake/gccs/ DESTINATION ${gccs_package_dir}/modules COMPONENT poplar)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/GCCSConfig.cmake.in ${CMAKE_BINARY_DIR}/cmake/GCCSConfig.cmake INSTALL_DESTINATION ${gccs_package_dir})
install(FILES ${CMAKE_BINARY_DIR}/cmake/GCCSConfig.cmake DESTINATION ${gccs_package_dir} COMPONENT poplar)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/poplar_testConfig.cmake.in ${CMAKE_BINARY_DIR}/cmake/poplar_testConfig.cmake
  INSTALL_DESTINATION lib/cmake/poplar_test)
install(FILES ${CMAKE_BINARY_DIR}/cmake/poplar_testConfig.cmake DESTINATION lib/cmake/poplar_test COMPONENT poplar)
