#ifndef pando_transfer_hpp
#define pando_transfer_hpp

// Transfers with a capacity: blocks of data from the tiles of one instruction stream (an IPU, or a tile group of one) to those of another,
// that do not make the two wait for each other at every block. Beyond public Poplar.
//
//   pando::Channel acts = pando::add_channel(graph, poplar::FLOAT, x.numElements(), 2, "acts");
//   Sequence prog;
//   prog.add(Repeat(100, Sequence{Execute(stage0), pando::send(acts, x), pando::receive(acts, y), Execute(stage1)}));
//
// Here stage 0, on one IPU, runs up to two rounds ahead of stage 1, on another: a send goes on as soon as its block is in a slot, a receive
// as soon as there is a block. Blocks arrive in the order in which they were sent. Streams keep their own program order; between two
// streams the only order is that a block is received after it was sent, and that block n is sent after block n - capacity was received.
//
// Where tile groups are inferred, all tensors at one end of a channel are in one group: that of the compute tiles, if one of their tiles
// computes.
//
//   capacity 0    rendezvous: both stop until the other has come; the data move from tensor to tensor, and no memory is taken.
//   capacity n    n slots at both ends, always live, on the tiles of the first tensor that is sent, and received: each slot is as large on
//                 every one of these tiles as on the fullest.
//
// Blocks that were sent and not received when a program ends are there when the next one of the same engine runs; a run that ends in an
// error or is stopped empties all channels. Streams that wait for each other in a circle, or for a block that nobody sends, end the run
// with control_program_error, which names the streams and their steps.

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Program.hpp>
#include <poplar/Type.hpp>

#include <cstddef>
#include <cstdint>

namespace poplar {
class Graph;
class Tensor;
}  // namespace poplar

namespace pando {

/// A way for blocks of one size from one stream to one other. A value: copies are the same channel.
class Channel {
 public:
  Channel() = default;
  /// The channel of that number of a graph, as add_channel made it.
  Channel(std::uint32_t number, std::uint32_t graph) : number_(number), graph_(graph) {}
  std::uint32_t number() const { return number_; }
  std::uint32_t graph() const { return graph_; }

 private:
  std::uint32_t number_ = ~0u;
  std::uint32_t graph_ = 0;
};

/// Adds a channel for blocks of `elements` elements, at most `capacity` of which are sent and not received. Throws
/// graph_object_creation_error for blocks without elements, or of more bytes than there are.
POPLAR_EXPORT Channel add_channel(poplar::Graph& graph, const poplar::Type& type, std::size_t elements, unsigned capacity,
                                  const poplar::DebugContext& debugContext = {});

/// A step that sends the elements of `source`, in order. All tensors that a channel sends lie on tiles of one stream, and those that it
/// receives on tiles of another; no element stands in `source` twice. Otherwise the program does not compile: control_program_error.
POPLAR_EXPORT poplar::program::Program send(const Channel& channel, const poplar::Tensor& source,
                                            const poplar::DebugContext& debugContext = {});

/// A step that receives a block into `destination`.
POPLAR_EXPORT poplar::program::Program receive(const Channel& channel, const poplar::Tensor& destination,
                                               const poplar::DebugContext& debugContext = {});

}  // namespace pando

#endif
