// Codelets and library are of one build with the kernels, or refused.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <poputil/exceptions.hpp>

#include "kernels_version.h"
#include "poplibs/codelet_file.h"

namespace popops {

pando::poplibs::Estimates estimates_fill();

namespace {

TEST(KernelsVersion, ALibraryForOtherKernelsIsRefused) {
  const poplar::Target target = poplar::Target::createIPUTarget(1, "ipu2");
  const auto load = [&](const char* kernels) {
    poplar::Graph graph(target);
    pando::poplibs::add_codelet_file(graph, "popops", reinterpret_cast<const void*>(&estimates_fill), kernels, {&estimates_fill});
    return graph.hasCodelet(estimates_fill().front().vertex);
  };
  EXPECT_TRUE(load(PANDO_KERNELS_VERSION_NAME));
  try {
    load("pando_kernels_version_older");
    FAIL();
  } catch (const poputil::poplibs_error& e) {
    EXPECT_THAT(e.what(),
                testing::HasSubstr("libpopops.so was built for a libpando_kernels.so with the symbol pando_kernels_version_older"));
  }
}

// That a reference to what a library lacks is refused is tested with the loader.
TEST(KernelsVersion, TheCodeletFileRefersToIt) {
  std::ifstream file(std::getenv("IPU_POPOPS_GP"), std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  EXPECT_NE(bytes.str().find(PANDO_KERNELS_VERSION_NAME), std::string::npos);
}

}  // namespace
}  // namespace popops
