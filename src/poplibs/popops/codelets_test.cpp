// Codelets and library are of one build with the kernels, or rejected.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <poplar/Engine.hpp>
#include <poplar/Program.hpp>
#include <poputil/exceptions.hpp>

#include "kernels_version.h"
#include "poplibs/codelet_file.h"

namespace popops {

pando::poplibs::Estimates estimates_fill();

namespace {

TEST(KernelsVersion, ALibraryForOtherKernelsIsRejected) {
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

int made = 0, asked = 0;

pando::poplibs::Estimates counted_estimates() {
  ++made;
  const auto cost = [](const poplar::VertexIntrospector&, const poplar::Target&) {
    ++asked;
    return poplar::VertexPerfEstimate(77);
  };
  return {{"popops::Fill<unsigned int>", cost}};
}

TEST(CodeletFile, EstimatesAreMadeOnceAndGoToEachGraph) {
  const poplar::Target target = poplar::Target::createIPUTarget(1, "ipu2");
  made = 0;
  for (int i = 0; i < 3; ++i) {
    poplar::Graph graph(target);
    pando::poplibs::add_codelet_file(graph, "popops", reinterpret_cast<const void*>(&estimates_fill), PANDO_KERNELS_VERSION_NAME,
                                     {&counted_estimates});
    const poplar::Tensor t = graph.addVariable(poplar::UNSIGNED_INT, {8});
    graph.setTileMapping(t, 0);
    const poplar::ComputeSet set = graph.addComputeSet("fill");
    const poplar::VertexRef v = graph.addVertex(set, "popops::Fill<unsigned int>", {{"out", t}});
    graph.setInitialValue(v["value"], 7u);
    graph.setTileMapping(v, 0);
    asked = 0;
    const poplar::Engine engine(graph, poplar::program::Execute(set));
    EXPECT_GT(asked, 0) << "graph " << i;
  }
  EXPECT_EQ(made, 1);
}

// That a reference to what a library lacks is rejected is tested with the loader.
TEST(KernelsVersion, TheCodeletFileRefersToIt) {
  std::ifstream file(std::getenv("IPU_POPOPS_GP"), std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  EXPECT_NE(bytes.str().find(PANDO_KERNELS_VERSION_NAME), std::string::npos);
}

}  // namespace
}  // namespace popops
