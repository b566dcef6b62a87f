// Sums of numbers that are kept as logarithms.
#pragma once

namespace popnn {

// The logarithm of 0, as a number that can be added to others: paths that are not possible.
constexpr float kNever = -1e30f;
constexpr float kHardly = -1e29f;  // sums with kNever in them are less
// The same where others read it, as a half, too: the least of its numbers.
constexpr float kLeastLog = -65504.0f;

// What becomes of the sums over the paths through each class.
enum class GradientForm : unsigned {
  of_probabilities,  // minus their share of all paths
  of_softmax,        // the class's own probability besides
  sums,              // they themselves, as logarithms
};

#ifdef __POPC__

inline float log_sum(float a, float b) {
  const float greater = a > b ? a : b, less = a > b ? b : a;
  if (less < kHardly) return greater;
  return greater + __builtin_log1pf(__builtin_expf(less - greater));
}

// Of a sequence: its labels, its length, its label's length.
struct Sequence {
  const unsigned* labels;
  unsigned most_labels, time, length;
};
template <class Edge>
inline Sequence sequence_of(const Edge& about, unsigned most_time = ~0u) {
  const unsigned n = about.size() - 2;
  return {&about[0], n, about[n] < most_time ? about[n] : most_time, about[n + 1] < n ? about[n + 1] : n};
}
// State i: a blank if i is even, else a class of the label. A path may go from here to the state after the next.
inline bool skips(const Sequence& s, unsigned state) {
  const unsigned label = state / 2;
  return state % 2 == 1 && label + 1 < s.most_labels && s.labels[label] != s.labels[label + 1];
}

#endif

}  // namespace popnn
