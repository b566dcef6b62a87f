// The axes of a space, and its points in groups.
#pragma once

#include "search/search.h"

#include <vector>

namespace pando::search {

// Points with equal degrees, microbatch, interleaving, recomputation (of as many layers) and schedule. The rest are the axes below.
struct PointGroup {
  Strategy head;
  std::int64_t first_index = 0, points = 0;
};

// What is chosen inside a group: transfers first, then what they do not depend on.
struct TransferChoice {
  TensorComm comm = TensorComm::all_reduce;
  bool regather = false;
  TensorOverlap overlap = TensorOverlap::none;
  std::int8_t tensor_level = -1;
};
struct OtherChoice {
  std::int64_t zero = 0;
  bool data_overlap = false, offload_weights = false, offload_activations = false, offload_optimizer = false;
  std::int8_t pipeline_level = -1, data_level = -1;
};

std::vector<TransferChoice> transfer_choices(const simulate::Cluster& c, const Space& space, const Strategy& head);
std::vector<OtherChoice> other_choices(const simulate::Cluster& c, const Space& space, const Strategy& head);
Strategy combined(const Strategy& head, const TransferChoice& t, const OtherChoice& o);

std::vector<PointGroup> groups_of(const Transformer& m, const simulate::Cluster& c, const Space& space);

}  // namespace pando::search
