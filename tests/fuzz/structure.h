// What the fuzzers of files have in common: numbers that break things, and their arguments.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "arguments.h"
#include "random.h"

namespace pando::fuzz {

inline constexpr std::uint64_t kNumbers[] = {0,          1,          2,          7,          8,          255,        4096,  0x7fffffff,
                                             0x80000000, 0xfffffffe, 0xffffffff, 1ull << 32, 1ull << 47, 1ull << 63, ~0ull, ~0ull - 7};

// Up to three changes of bytes[begin, end): a bit, a word, two words, or a little more or less.
inline void change_numbers(std::string& bytes, std::size_t begin, std::size_t end, Random& random) {
  if (end < begin + 9) return;
  for (std::uint64_t k = random.between(1, 3); k > 0; --k) {
    const std::uint64_t at = begin + random.below(end - begin - 8), number = kNumbers[random.below(std::size(kNumbers))];
    switch (random.below(4)) {
      case 0: bytes[at] ^= static_cast<char>(1 << random.below(8)); break;
      case 1: std::memcpy(&bytes[at], &number, 4); break;
      case 2: std::memcpy(&bytes[at], &number, 8); break;
      default: {
        std::uint32_t word = 0;
        std::memcpy(&word, &bytes[at], 4);
        word += static_cast<std::uint32_t>(random.between(0, 16)) - 8;
        std::memcpy(&bytes[at], &word, 4);
      }
    }
  }
}

// run(seed, runs, seconds) of the command line; without --runs, as many as there is time for.
template <class Run>
int run_arguments(int argc, char** argv, Run run) {
  const auto given = read_arguments(argc, argv, {.runs = ~0ull, .seconds = 15});
  return given ? run(given->seed, given->runs, given->seconds) : 2;
}

}  // namespace pando::fuzz
