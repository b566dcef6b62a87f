# Libraries that Pando does without where they are not installed. Configuring says what is lost; -DPANDO_USE_<NAME>=OFF builds without one that is there
# (tests/configure).
option(PANDO_USE_XSMM "libxsmm: products of small matrices and convolutions" ON)
option(PANDO_USE_MPI "MPI: ranks of pando run as processes, on several machines" ON)
option(PANDO_USE_EDIT "libedit: editing, history and completion in the prompts of pando repl and pando shell" ON)
option(PANDO_USE_DNNL "oneDNN: what benchmarks of products and convolutions are compared with" ON)
option(PANDO_USE_OPENMP "OpenMP: the loops that benchmarks of stencils are compared with" ON)

# pando_without(LIBRARY WHAT): a line of the configure step.
function(pando_without library what)
  message(STATUS "Without ${library}: ${what}")
endfunction()
