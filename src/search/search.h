// The best strategy of a space, with a certificate.
//
// The space is cut into groups: equal degrees, microbatch, interleaving, recomputation and schedule. Of a group, two bounds are known
// without looking into it: no member is quicker than its computing alone, none needs less memory than its thriftiest choices. Groups are
// visited in the order of their bounds; one that cannot beat the best so far, or cannot fit, is not looked into, and its members are
// counted. Inside, the same is done for each choice of tensor-parallel transfers. So every point is either evaluated or excluded by a
// bound, and the best is the best of all.
#pragma once

#include "search/report.h"
#include "search/space.h"
#include "search/strategy.h"

#include <string>
#include <vector>

namespace pando::search {

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
