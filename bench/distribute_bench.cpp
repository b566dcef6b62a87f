// Distribution of an MLP's training step: from one device to many, unfolded.
#include "bench.h"
#include "ir/checks/verify.h"
#include "models/mlp.h"
#include "transform/distribute/parallelise.h"

namespace pando::bench {
namespace {

using namespace pando::transform;

void figure(const std::string& what, double microseconds) {
  print_figure({.what = what, .unit = "us/op", .ours = microseconds, .at_most = 1});
}

void one(const char* size, std::int64_t layers, const Strategy& base) {
  const Program mlp = models::build_mlp({layers, 1024, 32768});
  Strategy s = base;
  s.schedule = "eager-1F1B";
  s.join_outputs = true;
  s.verify = false;
  Distributed d;
  const double seconds = seconds_of([&] { d = parallelise(mlp, s); });
  const double ops = static_cast<double>(d.module.graph(d.module.main_graph()).ops.size());
  figure(fmt::format("distribute an MLP, {}: transform and types", size), seconds / ops * 1e6);
  std::size_t violations = 1;
  const double verified = seconds_of([&] { violations = ir::verify(d.module).size(); });
  figure(fmt::format("distribute an MLP, {}: verify", size), violations == 0 ? verified / ops * 1e6 : 1e9);
}

void run() {
  one("10^6 ops", 64, {.data = 8, .tensor = 2, .pipeline = 4, .microbatches = 128});
  one("10^7 ops", 128, {.data = 16, .tensor = 4, .pipeline = 8, .microbatches = 128});
}

}  // namespace
}  // namespace pando::bench

int main() {
  pando::bench::run();
  return 0;
}
