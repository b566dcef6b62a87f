// What the fuzzers take: [--seed S|new] [--runs N] [--seconds T] [--most FAILURES], and flags of their own.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace pando::fuzz {

struct Arguments {
  std::uint64_t seed = 1, runs = 1000;
  std::uint64_t most = 10;  // failures that are shown before a fuzzer stops, where it goes on after one
  double seconds = 1e9;
  std::vector<std::string> flags;  // those that were given
  bool has(std::string_view flag) const { return std::find(flags.begin(), flags.end(), flag) != flags.end(); }
};

// A whole number; nothing, if the text is none.
inline std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return n;
}

// The same, or "new": one that no run has had, as good as certainly, which is printed. So a run that is repeated covers new ground, and
// whatever it finds, even a crash, can be run again.
inline std::optional<std::uint64_t> seed_in(std::string_view text) {
  if (text != "new") return number_in(text);
  const std::uint64_t seed = std::random_device()() >> 1;  // what fits in an unsigned int together with the seeds that follow
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  return seed;
}

// `given` with what the command line says; nothing, and a message, if it says what nobody knows.
inline std::optional<Arguments> read_arguments(int argc, char** argv, Arguments given = {},
                                               std::initializer_list<std::string_view> flags = {}) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : nullptr;
    bool good = true;
    if (std::find(flags.begin(), flags.end(), name) != flags.end()) {
      given.flags.push_back(name);
    } else if (value != nullptr && (name == "--seed" || name == "--runs" || name == "--most")) {
      const auto number = name == "--seed" ? seed_in(value) : number_in(value);
      good = number.has_value();
      if (good) (name == "--seed" ? given.seed : name == "--runs" ? given.runs : given.most) = *number;
      ++i;
    } else if (value != nullptr && name == "--seconds") {
      char* end = nullptr;
      given.seconds = std::strtod(value, &end);
      good = end != value && *end == '\0';
      ++i;
    } else {
      std::fprintf(stderr, "%s: unknown argument, or one without its value: %s\n", argv[0], name.c_str());
      return std::nullopt;
    }
    if (!good) {
      std::fprintf(stderr, "%s: %s '%s': a number is expected\n", argv[0], name.c_str(), value);
      return std::nullopt;
    }
  }
  return given;
}

}  // namespace pando::fuzz
