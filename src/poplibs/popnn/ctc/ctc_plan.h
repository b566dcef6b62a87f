// How the work of one sequence is spread. The label with a blank before, between and after its classes (the path's states, 2 x length + 1)
// is cut into parts; time is cut into pieces. A sequence has some tiles of its own, if there are enough; each takes up to six parts and
// pieces, one for each worker.
#pragma once

#include <popnn/CTCLoss.hpp>

#include <optional>
#include <tuple>
#include <vector>

namespace popnn::ctc {

// What options say of a plan.
struct PlanLimits {
  double memory = 0.6;                       // of a tile's, for sums along the paths
  std::optional<std::size_t> batch;          // sequences that have tiles of their own
  std::optional<std::size_t> parts, pieces;  // of a sequence
};

class Plan::Impl {
 public:
  // Throws poplibs_error if there is no such plan.
  Impl(const poplar::Graph& graph, const poplar::Type& in, const poplar::Type& out, unsigned batch, unsigned time, unsigned labels,
       unsigned classes, const PlanLimits& limits);
  // Of a decoder, each sequence on one tile. It has no labels.
  Impl(const poplar::Graph& graph, const poplar::Type& in, unsigned batch, unsigned time, unsigned classes, unsigned beams);

  std::size_t states() const { return 2 * labels + 1; }
  std::size_t parts() const { return parts_; }
  std::size_t pieces() const { return pieces_; }
  poplar::Interval part(std::size_t p) const { return {states() * p / parts_, states() * (p + 1) / parts_}; }
  poplar::Interval piece(std::size_t q) const { return {time * q / pieces_, time * (q + 1) / pieces_}; }
  unsigned tile_of_part(std::size_t sequence, std::size_t p) const { return first_tile(sequence) + static_cast<unsigned>(p / kWorkers); }
  unsigned tile_of_piece(std::size_t sequence, std::size_t q) const {
    return first_tile(sequence) + static_cast<unsigned>(q * tiles_each_ / pieces_);
  }

  poplar::Type in, out;
  std::size_t batch, time, labels, classes;
  std::size_t beams = 0;  // of a decoder

  auto key() const {
    return std::tuple(in.toString(), out.toString(), batch, time, labels, classes, beams, at_once_, tiles_each_, parts_, pieces_);
  }

 private:
  static constexpr std::size_t kWorkers = 6;
  unsigned first_tile(std::size_t sequence) const { return static_cast<unsigned>(sequence % at_once_ * tiles_each_); }

  std::size_t at_once_;     // sequences side by side; others come to the tiles of these
  std::size_t tiles_each_;  // of a sequence
  std::size_t parts_, pieces_;
};

// Throws poplibs_error for a plan of the other kind, or of none.
const Plan::Impl& loss_plan(const Plan& plan);
const Plan::Impl& decoder_plan(const Plan& plan);

}  // namespace popnn::ctc
