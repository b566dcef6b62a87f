include(${CMAKE_CURRENT_LIST_DIR}/TestVariants.cmake)

# add_multitarget_test(NAME NAME COMMAND PROGRAM ARGUMENTS... [VARIANTS...] [LABELS...] [PROPERTIES...] [ALLOW_SKIP]): runs it with
# --device-type=DEVICE for each variant. With ALLOW_SKIP a program that returns GCCS_SKIP_RETURN_CODE has not failed.
set(GCCS_SKIP_RETURN_CODE 77)
function(add_multitarget_test)
  cmake_parse_arguments(M "ALLOW_SKIP" "NAME" "COMMAND;VARIANTS;LABELS;PROPERTIES" ${ARGN})
  if(NOT M_NAME AND M_UNPARSED_ARGUMENTS)  # given first, without the word
    list(GET M_UNPARSED_ARGUMENTS 0 M_NAME)
  endif()
  if(NOT M_NAME OR NOT M_COMMAND)
    message(FATAL_ERROR "add_multitarget_test: NAME and COMMAND are needed")
  endif()
  if(M_ALLOW_SKIP)
    list(APPEND M_PROPERTIES SKIP_RETURN_CODE ${GCCS_SKIP_RETURN_CODE})
  endif()
  gccs_enabled_variants(variants ${M_VARIANTS})
  foreach(variant IN LISTS variants)
    string(REGEX REPLACE ":.*" "" device "${variant}")
    gccs_add_variant_test(${M_NAME} ${variant} COMMAND ${M_COMMAND} --device-type=${device} LABELS ${M_LABELS} PROPERTIES ${M_PROPERTIES})
  endforeach()
endfunction()
