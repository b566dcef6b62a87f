// What the fuzzers take: [--seed S] [--runs N] [--seconds T] [--most FAILURES], and flags of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <optional>
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

// `given` with what the command line says; nothing, and a message, if it says what nobody knows.
inline std::optional<Arguments> read_arguments(int argc, char** argv, Arguments given = {},
                                               std::initializer_list<std::string_view> flags = {}) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (std::find(flags.begin(), flags.end(), name) != flags.end()) {
      given.flags.push_back(name);
    } else if (value != nullptr && (name == "--seed" || name == "--runs" || name == "--most")) {
      (name == "--seed" ? given.seed : name == "--runs" ? given.runs : given.most) = std::strtoull(argv[++i], nullptr, 10);
    } else if (value != nullptr && name == "--seconds") {
      given.seconds = std::strtod(argv[++i], nullptr);
    } else {
      std::fprintf(stderr, "%s: unknown argument, or one without its value: %s\n", argv[0], name.c_str());
      return std::nullopt;
    }
  }
  return given;
}

}  // namespace pando::fuzz
