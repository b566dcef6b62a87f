// What vertices that add up partial sums have in common.
#pragma once

namespace poplin {

constexpr unsigned kSumChunk = 512;

// sum[i] = sum over p of in[p][begin + i], in float.
template <class In>
static inline void add_partials(const In& in, unsigned begin, unsigned n, float* sum) {
  const auto* from = &in[0][begin];
  for (unsigned i = 0; i < n; ++i) sum[i] = static_cast<float>(from[i]);
  for (unsigned p = 1; p < in.size(); ++p) {
    from = &in[p][begin];
    for (unsigned i = 0; i < n; ++i) sum[i] += static_cast<float>(from[i]);
  }
}

}  // namespace poplin
