#include "exec/transports/mpi.h"

#include "base/error.h"

#include <dlfcn.h>

#include <cstdlib>

namespace pando::exec {

bool started_by_mpi() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MPI_LOCALNRANKS"}) {
    if (std::getenv(name)) return true;
  }
  return false;
}

std::unique_ptr<Transport> open_mpi(double seconds) {
  // Global: MPI loads components of its own, which look for its symbols.
  void* const library = dlopen("libpando_mpi.so", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    fail(ErrorKind::no_environment, "no-mpi",
         "ranks are processes of MPI, and MPI cannot be loaded: {}; install Open MPI and build Pando with it", dlerror());
  }
  const auto make = reinterpret_cast<Transport* (*)(double)>(dlsym(library, "pando_make_mpi_transport"));
  if (make == nullptr) fail(ErrorKind::no_environment, "no-mpi", "libpando_mpi.so is of another version: {}", dlerror());
  return std::unique_ptr<Transport>(make(seconds));
}

}  // namespace pando::exec
