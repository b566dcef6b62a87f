// How the steps of layers with a cell of the program's own are cut, and what their sequences have to be like.
#pragma once

#include <popnn/Rnn.hpp>

#include <string>
#include <vector>

namespace popnn::rnn::internal {

// Runs of neighbouring steps, as even as they can be.
class Shards {
 public:
  // Throws poplibs_error unless each has a step at least.
  Shards(const RnnParams& params, unsigned count, const char* where);
  std::size_t size() const { return intervals_.size(); }
  const poplar::Interval& operator[](std::size_t i) const { return intervals_[i]; }
  auto begin() const { return intervals_.begin(); }
  auto end() const { return intervals_.end(); }

 private:
  std::vector<poplar::Interval> intervals_;
};

// n of a sequence {steps * n, ...}. Throws poplibs_error if it is none.
std::size_t rows_per_step(const RnnParams& params, const poplar::Tensor& sequence, const char* where, const char* what);
// These throw poplibs_error: unless there are an input's and an output's size; and nothing is 0; and the type is float or half, and
// varTimeSteps are numbers of steps.
void check_layer_sizes(const RnnParams& params, const std::string& where);
void check_sizes(const RnnParams& params, const std::string& where);
void check_parameters(const RnnParams& params, const std::string& where);
// The last of these alone.
void check_lengths(const RnnParams& params, const std::string& where);

}  // namespace popnn::rnn::internal
