// Whatever reads a module verifies it: texts of modules, mutated, through every tool (modules/harness.h has the command line).
#include "modules/corpus.h"
#include "modules/harness.h"
#include "modules/mutate.h"
#include "modules/tools.h"

namespace {

std::string text_of_case(std::uint64_t seed) {
  pando::fuzz::Random random(seed * 2 + 1);
  const std::string text = pando::fuzz::mutated(pando::fuzz::corpus_text(random.below(5000)), random);
  return random.chance(60) ? pando::fuzz::repaired(text) : text;
}

}  // namespace

int main(int argc, char** argv) { return pando::fuzz::fuzz_tools({text_of_case, pando::fuzz::tools()}, argc, argv); }
