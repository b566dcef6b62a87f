#include "session/program_testing.h"

#include <gtest/gtest.h>

// Matrices that lie turned, of so many elements that copies of them in rows are made: what is computed stays the same.
namespace pando::session {
namespace {

using namespace testing;

// No two in a row or column are equal, and sums of two are exact.
HostTensor mixed(const Shape& shape) {
  HostTensor t(DType::float32, shape);
  for (std::int64_t i = 0; i < t.elements(); ++i) t.set(i, static_cast<double>((i * 7919) % 65537) - 30000);
  return t;
}

TensorId turned(Program& p, TensorId x, const Ints& order) { return p.op(p.main(), "transpose", {x}, {{"permutation", order}}); }

TEST(Turned, BesideWholeOnes) {
  on_machines([](Program& p) {
    const TensorId x = p.variable(mixed({150, 150})), y = p.variable(mixed({150, 150}));
    const TensorId t = turned(p, x, {1, 0});
    const TensorId sum = p.op(p.main(), "add", {t, y});
    p.store(p.op(p.main(), "mul", {sum, p.constant(p.main(), counting({}, 2))}));
    p.store(p.op(p.main(), "add", {y, t}));
    p.store(p.op(p.main(), "add", {t, t}));
  });
}

TEST(Turned, WrittenInPlace) {
  on_machines([](Program& p) {
    const TensorId x = p.variable(mixed({140, 160})), y = p.variable(mixed({160, 140}));
    p.op(p.main(), "add", {y, turned(p, x, {1, 0})}, {}, {}, true);
    p.store(turned(p, x, {1, 0}));
  });
}

TEST(Turned, MatricesOfABatch) {
  on_machines([](Program& p) {
    const TensorId x = p.variable(mixed({3, 80, 90})), y = p.variable(mixed({3, 90, 80}));
    p.store(p.op(p.main(), "add", {turned(p, x, {0, 2, 1}), y}));
    p.store(p.op(p.main(), "add", {turned(p, x, {2, 0, 1}), turned(p, y, {1, 0, 2})}));
  });
}

TEST(Turned, ReducedAlongTheFirstDimension) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    const TensorId x = p.variable(mixed({130, 140}));
    for (TensorId r : p.b.op(g, "median", std::vector{x}, {{"axis", Ints{0}}, {"keepdims", false}})) p.store(r);
    p.store(p.op(g, "argmax", {x}, {{"dim", std::int64_t{0}}, {"keepdim", false}}));
    p.store(p.op(g, "argmin", {x}, {{"dim", std::int64_t{0}}, {"keepdim", true}}));
    for (TensorId r :
         p.b.op(g, "topk", std::vector{x}, {{"axis", std::int64_t{0}}, {"k", std::int64_t{3}}, {"largest", true}, {"sorted", true}}))
      p.store(r);
  });
}

}  // namespace
}  // namespace pando::session
