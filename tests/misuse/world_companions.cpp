#include "misuse/world_companions.h"

#include <popfloat/experimental/codelets.hpp>

namespace misuse {

using gccs::popsolver::Model;
using gccs::popsolver::Solution;
using gccs::popsolver::Variable;
using popfloat::experimental::GfloatCast;
using popfloat::experimental::RoundType;
using popfloat::experimental::SpecType;

SolverWorld::SolverWorld() {
  for (const char* name : {"a", "b", "c"}) known.push_back(model.addVariable(0, 6, name));
  known.push_back(model.addConstant(4));
  known.push_back(model.sum({known[0], known[1]}));
  for (int i = 0; i < 40; ++i) static_cast<void>(other.addPriorityGroup());
}

std::string SolverWorld::solve() {
  const Solution s = model.minimize(known.back());
  if (!s.validSolution()) return {};
  for (std::size_t i = 0; i < 3; ++i)
    if (*s[known[i]] > 6) return "the solution of popsolver is outside of a variable's range";
  return *s[known[4]] == *s[known[0]] + *s[known[1]] ? std::string() : "the solution of popsolver breaks a constraint";
}

SolverWorld& World::solver() {
  if (!solver_world) solver_world = std::make_shared<SolverWorld>();
  return *solver_world;
}

std::string worlds_wrong(World& w) {
  if (std::string wrong = w.model_world ? model_wrong(w) : std::string(); !wrong.empty()) return wrong;
  return w.solver_world ? w.solver_world->solve() : std::string();
}

Variable Maker<Variable>::make(World& w) {
  const std::vector<Variable>& known = w.solver().known;
  if (w.roll(8) == 0) return Variable(w.roll(2) ? ~0u : 900);
  return known[w.roll(static_cast<unsigned>(known.size()))];
}

Model::PriorityGroup Maker<Model::PriorityGroup>::make(World& w) {
  SolverWorld& s = w.solver();
  switch (w.roll(4)) {
    case 0: return s.other.addPriorityGroup();
    case 1: return s.model.getDefaultPriorityGroup();
    default: return s.model.addPriorityGroup();
  }
}

Solution Maker<Solution>::make(World& w) {
  SolverWorld& s = w.solver();
  return w.roll(4) ? s.model.minimize(s.known) : Solution();
}

namespace {

template <class Chunk>
Chunk chunk_of(World& w) {
  Chunk chunk;
  chunk.tensor = Maker<poplar::Tensor>::make(w);
  chunk.index = w.roll(4) ? w.roll(3) : Maker<unsigned>::make(w);
  chunk.offset = w.roll(4) ? 4 * w.roll(3) : Maker<unsigned>::make(w);
  return chunk;
}

template <class Chunks, class Chunk>
Chunks chunks_of(World& w) {
  Chunks chunks;
  chunks.chunks = Maker<std::vector<Chunk>>::make(w);
  chunks.originalInput = Maker<poplar::Tensor>::make(w);
  return chunks;
}

}  // namespace

gcl::CollectiveBalancedHostRearrangement Maker<gcl::CollectiveBalancedHostRearrangement>::make(World& w) {
  gcl::CollectiveBalancedHostRearrangement out;
  out.setReplicationFactor(w.roll(4) ? w.roll(5) : Maker<unsigned>::make(w));
  out.setTotalElementsPerReplica(w.roll(4) ? w.roll(100) : Maker<std::size_t>::make(w));
  out.setGatheredToRefSlices(Maker<std::vector<poplar::Interval>>::make(w));
  return out;
}
gcl::CollectiveBalancedReorder Maker<gcl::CollectiveBalancedReorder>::make(World& w) {
  return {w.own, Maker<poplar::Tensor>::make(w), w.roll(4) ? 1 + w.roll(4) : Maker<unsigned>::make(w),
          {},    Maker<bool>::make(w),           1 + w.roll(3)};
}
gcl::Chunk Maker<gcl::Chunk>::make(World& w) { return chunk_of<gcl::Chunk>(w); }
gcl::Chunks Maker<gcl::Chunks>::make(World& w) { return chunks_of<gcl::Chunks, gcl::Chunk>(w); }
popops::Chunk Maker<popops::Chunk>::make(World& w) { return chunk_of<popops::Chunk>(w); }
popops::Chunks Maker<popops::Chunks>::make(World& w) { return chunks_of<popops::Chunks, popops::Chunk>(w); }

GfloatCast::GfloatFormatOptions Maker<GfloatCast::GfloatFormatOptions>::make(World& w) {
  GfloatCast::GfloatFormatOptions options;
  options.numMantissaBits = w.roll(6) ? w.roll(24) : Maker<unsigned>::make(w);
  options.numExponentBits = w.roll(6) ? w.roll(9) : Maker<unsigned>::make(w);
  options.numExponentBias = w.roll(6) ? w.roll(128) : Maker<unsigned>::make(w);
  options.enableDenorms = Maker<bool>::make(w);
  options.enableInfsAndNans = Maker<bool>::make(w);
  return options;
}

GfloatCast::FormatConfig Maker<GfloatCast::FormatConfig>::make(World& w) {
  const int biases[] = {15, 7, 127, 0, -20, 1000, -1000};
  if (w.roll(6) == 0)
    return {Maker<unsigned>::make(w), Maker<unsigned>::make(w), Maker<int>::make(w),
            Maker<bool>::make(w),     Maker<bool>::make(w),     Maker<SpecType>::make(w)};
  return {1 + w.roll(23), w.roll(9), biases[w.roll(7)], Maker<bool>::make(w), Maker<bool>::make(w)};
}

GfloatCast::GfloatCastOptions Maker<GfloatCast::GfloatCastOptions>::make(World& w) {
  GfloatCast::GfloatCastOptions options;
  options.roundMode = Maker<RoundType>::make(w);
  options.srNoiseDensity = Maker<popfloat::experimental::SRDensityType>::make(w);
  options.numSRBits = w.roll(6) ? w.roll(25) : Maker<unsigned>::make(w);
  options.srNoiseScale = Maker<float>::make(w);
  options.srNoiseMin = w.roll(2) ? -0.5 : Maker<float>::make(w);
  options.srNoiseMax = w.roll(2) ? 0.5 : Maker<float>::make(w);
  options.bernoulliProb = w.roll(2) ? 0.5 : Maker<float>::make(w);
  return options;
}

GfloatCast::RoundConfig Maker<GfloatCast::RoundConfig>::make(World& w) {
  const RoundType mode = Maker<RoundType>::make(w);
  if (w.roll(3) == 0) return {mode, Maker<unsigned>::make(w), Maker<poplar::Type>::make(w)};
  return {mode,
          1 + w.roll(23),
          w.roll(2) ? poplar::FLOAT : poplar::HALF,
          Maker<popfloat::experimental::SRDensityType>::make(w),
          Maker<float>::make(w),
          Maker<float>::make(w),
          Maker<float>::make(w),
          w.roll(2) ? -0.5f : Maker<float>::make(w)};
}

GfloatCast::CastConfig Maker<GfloatCast::CastConfig>::make(World& w) {
  const poplar::Type native = w.roll(2) ? poplar::FLOAT : poplar::HALF;
  if (w.roll(6) == 0) return {};
  if (w.roll(4) == 0)
    return GfloatCast::CastConfig::createCastGFToNative(popfloat::experimental::FormatType::BFLOAT16, native, Maker<poplar::Type>::make(w));
  return GfloatCast::CastConfig::createCastNativeToGF(popfloat::experimental::FormatType::BFLOAT16, native,
                                                      w.roll(3) ? native : Maker<poplar::Type>::make(w),
                                                      Maker<GfloatCast::RoundConfig>::make(w), Maker<bool>::make(w));
}

GfloatCast Maker<GfloatCast>::make(World& w) {
  if (w.roll(8)) popfloat::experimental::addCodelets(w.own);
  return {Maker<GfloatCast::FormatConfig>::make(w), Maker<GfloatCast::RoundConfig>::make(w), Maker<bool>::make(w), Maker<SpecType>::make(w),
          Maker<SpecType>::make(w)};
}

poplar_test::HostMemory Maker<poplar_test::HostMemory>::make(World& w) {
  return w.roll(4) ? poplar_test::HostMemory(buffer(), w.roll(2) ? 64 : w.roll(1u << 20)) : poplar_test::HostMemory();
}

}  // namespace misuse
