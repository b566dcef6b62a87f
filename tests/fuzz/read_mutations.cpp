// Every truncation and random corruptions of a real executable are rejected or read, without a crash: the part of the reader's
// fuzzing that runs everywhere (fuzz_read needs libFuzzer).
//
//   fuzz_corrupt [--seed S|new] [--runs N]
#include <fmt/format.h>

#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

#include "arguments.h"
#include "base/error.h"
#include "check.h"
#include "random.h"

namespace pando::fuzz {
namespace {

std::string executable(std::uint64_t seed) {
  const Case test = generate(seed);
  compile::Options options;
  options.bounded_memory = test.graph->machine().bounded_memory;
  const compile::Result result = compile::compile(*test.graph, test.engines[0].programs, options);
  std::ostringstream out;
  tile::write(*result.program, out);
  return out.str();
}

bool is_read(const std::string& bytes) {
  std::istringstream in(bytes);
  try {
    tile::read(in);
    return true;
  } catch (const std::exception& e) {
    if (std::string(e.what()).empty()) std::exit(1);
    return false;
  }
}

int run(std::uint64_t seed, std::uint64_t runs) {
  Random random(seed);
  std::uint64_t truncated = 0, rejected = 0;
  for (std::uint64_t i = 0; i < runs; ++i) {
    const std::string good = executable(seed + i);
    if (!is_read(good)) return std::cout << "seed " << seed + i << ": a good executable is rejected\n", 1;
    for (int n = 0; n < 50; ++n, ++truncated)
      if (is_read(good.substr(0, random.below(good.size()))))
        return std::cout << "seed " << seed + i << ": a truncated executable is read\n", 1;
    for (int n = 0; n < 200; ++n) {
      std::string bad = good;
      for (std::uint64_t k = random.between(1, 4); k > 0; --k) bad[random.below(bad.size())] ^= static_cast<char>(1 << random.below(8));
      rejected += !is_read(bad);
    }
  }
  std::cout << fmt::format("{} truncations rejected; {} of {} corruptions rejected\n", truncated, rejected, 200 * runs);
  return 0;
}

}  // namespace
}  // namespace pando::fuzz

int main(int argc, char** argv) {
  const auto given = pando::fuzz::read_arguments(argc, argv, {.runs = 20});
  return given ? pando::fuzz::run(given->seed, given->runs) : 2;
}
