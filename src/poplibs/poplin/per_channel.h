// Tensors of one element for each channel of some activations {batch, channels, field...}.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Tensor.hpp>

namespace poplin::internal {

// A variable {channels}; each channel on the tile of the first of its activations.
poplar::Tensor create_per_channel(poplar::Graph& graph, const poplar::Tensor& acts, const poplar::Type& type,
                                  const poplar::DebugContext& context);

// {channels} as {channels, 1 ...}: what broadcasts over activations.
poplar::Tensor per_channel(const poplar::Tensor& t, const poplar::Tensor& acts);

// The dimensions of activations but that of channels.
std::vector<std::size_t> all_but_channels(const poplar::Tensor& acts);

}  // namespace poplin::internal
