# Python for codelets of others: libIPUpy.hpp and libIPUpy.gp, which popc links to inline Python, and the command IPUpyc. Included when
# libpando_python is defined.
set(ipupy_gp ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libIPUpy.gp)
add_custom_command(OUTPUT ${ipupy_gp} DEPFILE ${ipupy_gp}.d DEPENDS ${CMAKE_SOURCE_DIR}/src/ontile/ipupy/lib_ipupy.cpp ${pando_build_popc} pando_python
  COMMAND ${pando_run_popc} -c -O3 ${pando_general} -I${CMAKE_SOURCE_DIR}/src -MF ${ipupy_gp}.d ${CMAKE_SOURCE_DIR}/src/ontile/ipupy/lib_ipupy.cpp
    -L${CMAKE_LIBRARY_OUTPUT_DIRECTORY} -lpando_python -o ${ipupy_gp}
  COMMENT "popc libIPUpy.gp" VERBATIM)
add_custom_target(ipupy_gp ALL DEPENDS ${ipupy_gp})

install(FILES ${ipupy_gp} DESTINATION lib COMPONENT ontile)
install(FILES ${CMAKE_SOURCE_DIR}/include/libIPUpy.hpp DESTINATION include COMPONENT ontile)
install(PROGRAMS ${CMAKE_SOURCE_DIR}/src/ontile/ipupyc/IPUpyc DESTINATION bin COMPONENT ontile)
install(FILES ${CMAKE_SOURCE_DIR}/src/ontile/ipupyc/ipupyc.py DESTINATION share/pando COMPONENT ontile)
