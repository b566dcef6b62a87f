// Hostile inputs through tools, each case in a process that may crash. A tool takes an input or rejects it, by an error of ours that says
// what and where; never a crash, an exception of the standard library's containers, or a tool that does not end.
//
//   [--seed S|new] [--runs N] [--seconds T] [--most FAILURES]
//   --seed S --runs 1 --show            // that one alone, in this process: for debuggers; prints the input
#pragma once

#include "arguments.h"
#include "random.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pando::fuzz {

struct Tool {
  const char* name;
  // Throws what the tool would say.
  void (*use)(const std::string& input, Random& random);
  // Whether it runs a program, which need not end.
  bool runs = false;
};

struct Subject {
  // The input of a number.
  std::string (*make)(std::uint64_t seed);
  std::vector<Tool> tools;
};

int fuzz_tools(const Subject& subject, int argc, char** argv);

}  // namespace pando::fuzz
