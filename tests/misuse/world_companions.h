// What functions of the companion libraries (gcl, gccs, popfloat, poplar_test, pvti) may be given. world.h includes it.
#pragma once

#include <boost/optional.hpp>
#include <gccs/popsolver/Model.hpp>
#include <gcl/CollectiveBalancedReorder.hpp>
#include <gcl/Collectives.hpp>
#include <gcl/TileAllocation.hpp>
#include <popfloat/experimental/CastToGfloat.hpp>
#include <poplar_test/Util.hpp>
#include <popops/TensorCollectives.hpp>
#include <pvti/pvti.hpp>

#include "misuse/world.h"

namespace misuse {

// A model with a few variables of small range, which is solved after each call: a constraint that was taken must not break it.
struct SolverWorld {
  SolverWorld();
  std::string solve();  // what is wrong with the solution, or nothing

  gccs::popsolver::Model model, other;
  std::vector<gccs::popsolver::Variable> known;
};

template <>
struct Maker<gccs::popsolver::Variable> {
  static gccs::popsolver::Variable make(World& w);
};
template <>
struct Maker<gccs::popsolver::DataType> {
  static gccs::popsolver::DataType make(World& w) { return gccs::popsolver::DataType(Maker<std::uint64_t>::make(w)); }
};
template <>
struct Maker<gccs::popsolver::Model::PriorityGroup> {
  static gccs::popsolver::Model::PriorityGroup make(World& w);
};
template <>
struct Maker<gccs::popsolver::Solution> {
  static gccs::popsolver::Solution make(World& w);
};
template <>
struct Argument<gccs::popsolver::Model&> {
  explicit Argument(World& w) : model(w.solver().model) {}
  gccs::popsolver::Model& get() { return model; }
  gccs::popsolver::Model& model;
};

template <>
struct Maker<gcl::CollectiveOperator> {
  static gcl::CollectiveOperator make(World& w) { return static_cast<gcl::CollectiveOperator>(w.roll(3) ? w.roll(2) : w.roll(10)); }
};
template <>
struct Maker<gcl::CommGroup> {
  static gcl::CommGroup make(World& w) { return {Maker<gcl::CommGroupType>::make(w), Maker<unsigned>::make(w)}; }
};
template <>
struct Maker<gcl::CollectiveBalancedHostRearrangement> {
  static gcl::CollectiveBalancedHostRearrangement make(World& w);
};
template <>
struct Maker<gcl::CollectiveBalancedReorder> {
  static gcl::CollectiveBalancedReorder make(World& w);
};
template <>
struct Maker<gcl::Chunk> {
  static gcl::Chunk make(World& w);
};
template <>
struct Maker<gcl::Chunks> {
  static gcl::Chunks make(World& w);
};
template <>
struct Maker<popops::Chunk> {
  static popops::Chunk make(World& w);
};
template <>
struct Maker<popops::Chunks> {
  static popops::Chunks make(World& w);
};

template <>
struct Maker<popfloat::experimental::RoundType> {
  static popfloat::experimental::RoundType make(World& w) { return static_cast<popfloat::experimental::RoundType>(w.roll(9)); }
};
template <>
struct Maker<popfloat::experimental::SRDensityType> {
  static popfloat::experimental::SRDensityType make(World& w) { return static_cast<popfloat::experimental::SRDensityType>(w.roll(12)); }
};
template <>
struct Maker<popfloat::experimental::SpecType> {
  static popfloat::experimental::SpecType make(World& w) {
    return static_cast<popfloat::experimental::SpecType>(w.roll(3) ? 6 : w.roll(8));
  }
};
template <>
struct Maker<popfloat::experimental::GfloatCast::GfloatFormatOptions> {
  static popfloat::experimental::GfloatCast::GfloatFormatOptions make(World& w);
};
template <>
struct Maker<popfloat::experimental::GfloatCast::GfloatCastOptions> {
  static popfloat::experimental::GfloatCast::GfloatCastOptions make(World& w);
};
template <>
struct Maker<popfloat::experimental::GfloatCast::FormatConfig> {
  static popfloat::experimental::GfloatCast::FormatConfig make(World& w);
};
template <>
struct Maker<popfloat::experimental::GfloatCast::RoundConfig> {
  static popfloat::experimental::GfloatCast::RoundConfig make(World& w);
};
template <>
struct Maker<popfloat::experimental::GfloatCast::CastConfig> {
  static popfloat::experimental::GfloatCast::CastConfig make(World& w);
};
template <>
struct Maker<popfloat::experimental::GfloatCast> {
  static popfloat::experimental::GfloatCast make(World& w);
};

template <>
struct Maker<poplar_test::HostMemory> {
  static poplar_test::HostMemory make(World& w);
};
template <>
struct Argument<boost::optional<poplar::program::Sequence&>> {
  explicit Argument(World& w) : program(w.program), is_there(w.roll(3) != 0) {}
  boost::optional<poplar::program::Sequence&> get() {
    if (!is_there) return boost::none;
    return program;
  }
  poplar::program::Sequence& program;
  bool is_there;
};

template <>
struct Argument<pvti::TraceChannel*> {
  explicit Argument(World& w) : channel(text(w)), is_null(w.roll(4) == 0) {}
  pvti::TraceChannel* get() { return is_null ? nullptr : &channel; }
  pvti::TraceChannel channel;
  bool is_null;
};
template <>
struct Maker<pvti::TraceChannel> {
  static pvti::TraceChannel make(World& w) { return text(w); }
};
template <>
struct Maker<pvti::Graph> {
  static pvti::Graph make(World& w) { return pvti::Graph(text(w)); }
};
template <>
struct Maker<pvti::Series> {
  static pvti::Series make(World& w) { return pvti::Graph(text(w)).addSeries(text(w)); }
};

}  // namespace misuse
