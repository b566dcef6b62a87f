// For tests: a program on ranks of this process.
#pragma once

#include "exec/transports/in_process.h"
#include "ranks/run.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace pando::ranks::testing {

// Rank r runs programs[r] (the last one stands for all that follow). What run() gives on rank 0; throws what rank 0 throws.
inline Result run_on(const std::vector<Program>& programs, unsigned ranks, const Data& data, const Options& options) {
  const auto transports = exec::in_process_transports(ranks);
  std::vector<std::thread> threads;
  std::exception_ptr error;
  Result result;
  const auto one = [&](unsigned r) {
    Board board;
    try {
      Result mine = run(programs[std::min<std::size_t>(r, programs.size() - 1)], data, *transports[r], options, board);
      if (r == 0) result = std::move(mine);
    } catch (...) {
      if (r == 0) error = std::current_exception();
    }
  };
  for (unsigned r = 1; r < ranks; ++r) threads.emplace_back(one, r);
  one(0);
  for (std::thread& t : threads) t.join();
  if (error) std::rethrow_exception(error);
  return result;
}

// Names of tensors that are not the same bits, or not on both sides.
inline std::string differences(const Result& a, const Result& b) {
  std::string names;
  const auto compare = [&](const auto& left, const auto& right) {
    if (left.size() != right.size()) names += "(number) ";
    for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
      if (left[i].first != right[i].first || !(left[i].second == right[i].second)) names += left[i].first + ' ';
    }
  };
  compare(a.variables, b.variables);
  compare(a.outputs, b.outputs);
  return names;
}

inline const ir::HostTensor* find(const std::vector<std::pair<std::string, ir::HostTensor>>& all, const std::string& name) {
  for (const auto& [n, t] : all) {
    if (n == name) return &t;
  }
  return nullptr;
}

// The largest difference of what `whole` has to what `parts` has by the same name, relative to the largest element; what is missing is
// infinite.
inline double distance(const Result& whole, const Result& parts) {
  double most = 0;
  const auto compare = [&](const auto& left, const auto& right) {
    for (const auto& [name, a] : left) {
      const ir::HostTensor* b = find(right, name);
      if (!b || b->shape() != a.shape()) {
        most = 1e300;
        continue;
      }
      double size = 1e-30, off = 0;
      for (std::int64_t i = 0; i < a.elements(); ++i) {
        size = std::max(size, std::abs(a.number(i)));
        const double d = std::abs(a.number(i) - b->number(i));
        off = d <= 1e300 ? std::max(off, d) : 1e300;  // a NaN is no number that equals another one
      }
      most = std::max(most, off / size);
    }
  };
  compare(whole.variables, parts.variables);
  compare(whole.outputs, parts.outputs);
  return most;
}

}  // namespace pando::ranks::testing
