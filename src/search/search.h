// The best strategy of a space, with a certificate.
//
// The space is cut into groups: equal degrees, microbatch, interleaving, recomputation and schedule. Of a group, two bounds are known
// without looking into it: no member is quicker than its computing alone, none needs less memory than its thriftiest choices. Groups are
// visited in the order of their bounds; one that cannot beat the best so far, or cannot fit, is not looked into, and its members are
// counted. Inside, the same is done for each choice of tensor-parallel transfers. So every point is either evaluated or excluded by a
// bound, and the best is the best of all.
#pragma once

#include "search/report.h"
#include "search/strategy.h"

#include <string>
#include <vector>

namespace pando::search {

// How much of the axes a space has.
enum class Reach : std::uint8_t {
  // Calculon's axes: degrees that divide, microbatches, interleaving, recomputation, ZeRO 0 and 1, transfers, overlaps, levels of the
  // network. What others' searches are compared with.
  calculon,
  // What a trainer can run: any degrees, stages of different sizes, ZeRO 2 and 3, schedules, context and expert parallelism.
  trainers,
  // All that the estimate knows: offload, schedules and transfers that no trainer has, too.
  everything,
};
std::string_view name_of(Reach r);
// Refuses (poplar_error) what is no name of one.
Reach reach_named(std::string_view name);

struct Space {
  std::int64_t devices = 1, batch = 1;
  Reach reach = Reach::trainers;
  // Bytes of a device; 0: the machine's.
  double memory = 0;
  // What a user demands: a strategy's words (strategy.h); only points with these values are in the space.
  std::string require;
  // Only what the transforms can make (programs/bridge.h): no overlaps, no inputs gathered again, stages of equal size, the network's own
  // levels.
  bool runnable = false;
  // Also recomputation of the first layers of each stage alone: so many numbers of layers at most. 0: of all layers, or none.
  std::int64_t recompute_sets = 0;
};

using Found = FoundOf<Estimate>;
using Result = ResultOf<Estimate>;

Result search(const Transformer& model, const simulate::Cluster& cluster, const Space& space, const SearchOptions& options = {});

// Why a strategy is not the answer: the rule that it breaks; the device and the bytes that it lacks; or how much slower it is, and by what.
std::string why_not(const Transformer& model, const simulate::Cluster& cluster, const Space& space, const Strategy& s,
                    const Result& result);

// What a strategy's step comes to: sequence length, tokens a second and device, MFU, what the constants rest on.
std::string rates_of(const StrategyFacts& facts, const Found& found);
// The axes' words, what each means, what trainers call it.
std::string words_page();
// What a space leaves out, and why: a line for each axis.
std::string outside_of(const Space& space);
// Why nothing was found: rules, the least memory that was needed, and what would do.
std::string why_nothing(const Transformer& model, const simulate::Cluster& cluster, const Space& space, const Result& result);

Report report_of(const Result& result);

}  // namespace pando::search
