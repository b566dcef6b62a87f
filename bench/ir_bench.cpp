// A module of a million ops at the model level: built with inferred types, verified, printed, parsed.
#include "bench.h"
#include "ir/checks/verify.h"
#include "ir/semantics/infer.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"

namespace pando::bench {
namespace {

using namespace pando::ir;

constexpr std::size_t kOps = 1'000'000;

// Chains that meet: each op reads the last value and one of some earlier ones.
Module build() {
  Module m;
  const GraphId main = m.add_graph("main");
  const GraphId body = m.add_graph("body");
  Place place;
  place.device = Device::numbered(0);
  place.tiles = TileSet::compute;
  std::vector<ValueId> last(16, m.add_input(body, tensor_type(DType::float32, {64, 64}, place), "x"));
  for (std::size_t i = 0; i < kOps; ++i) {
    const ValueId operands[] = {last[i % 16], last[(i * 7 + 3) % 16]};
    last[i % 16] = m.result(infer_and_add(m, body, "add", operands));
  }
  m.add_output(body, last[0]);
  (void)main;
  return m;
}

void figure(const char* what, double seconds) {
  print_figure({.what = fmt::format("model level, 10^6 ops: {}", what), .unit = "s", .ours = seconds, .at_most = 5});
}

void run() {
  Module m;
  figure("build with inferred types", seconds_of([&] { m = build(); }));
  std::size_t violations = 1;
  figure("verify", seconds_of([&] { violations = verify(m).size(); }));
  std::string text;
  figure("print", seconds_of([&] { text = print(m); }));
  Module again;
  figure("parse", seconds_of([&] { again = parse(text); }));
  if (violations != 0 || print(again) != text) {
    fmt::print("wrong: {} violations, or the text does not parse to the same\n", violations);
    std::exit(1);
  }
  fmt::print("text: {:.1f} MB, {:.0f} MiB at the most\n", static_cast<double>(text.size()) / 1e6, peak_mebibytes());
}

}  // namespace
}  // namespace pando::bench

int main() { pando::bench::run(); }
