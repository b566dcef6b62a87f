// Ways to multiply and to convolve: which one computes what.
#include "poplibs/poplin/matmul/method.h"

#include <gtest/gtest.h>

#include <poplar/Device.hpp>
#include <poplar/IPUModel.hpp>

#include <set>
#include <string_view>

#include "poplibs/poplin/conv/method.h"

namespace poplin {
namespace {

template <class Methods>
void expect_one_order(const Methods& methods) {
  std::set<int> orders;
  std::set<std::string_view> names;
  for (const auto& m : methods) {
    EXPECT_TRUE(orders.insert(m.order).second) << m.name;
    EXPECT_TRUE(names.insert(m.name).second) << m.name;
    EXPECT_TRUE(m.applies && m.run && m.report) << m.name;
  }
}

TEST(Methods, have_orders_and_names_of_their_own) {
  expect_one_order(internal::matmul::methods());
  expect_one_order(conv::methods());
}

TEST(Methods, products_are_multiplied_as_the_target_and_the_options_say) {
  using namespace internal::matmul;
  poplar::IPUModel model("ipu2");
  model.tilesPerIPU = 64;
  const poplar::Device ipu = model.createDevice(), cpu = poplar::Device::createCPUDevice();
  Problem p = problem_of("test", poplar::FLOAT, poplar::FLOAT, {1, 256, 1024}, {1, 1024, 784}, {});
  EXPECT_EQ(method_for(p, cpu.getTarget()).name, "cpu");
  EXPECT_EQ(method_for(p, ipu.getTarget()).name, "planned");
  p = problem_of("test", poplar::FLOAT, poplar::FLOAT, {1, 256, 1024}, {1, 1024, 784}, {{"pando.layout", "blocks"}});
  EXPECT_EQ(method_for(p, ipu.getTarget()).name, "blocked");
  EXPECT_EQ(method_for(p, ipu.getTarget(), true).name, "planned") << "blocks are not written to a result that is given";
  EXPECT_EQ(method_for(p, cpu.getTarget(), true).name, "cpu");
}

TEST(Methods, convolutions_are_computed_as_the_target_and_the_options_say) {
  poplar::IPUModel model("ipu2");
  model.tilesPerIPU = 64;
  const poplar::Device ipu = model.createDevice(), cpu = poplar::Device::createCPUDevice();
  const ConvParams params(poplar::FLOAT, poplar::FLOAT, 16, {32, 32}, {3, 3}, 8, 8, 1);
  const conv::Problem problem = conv::problem_of(params);
  const conv::Options options = conv::parse_options({}), apart = conv::parse_options({{"pando.inRows", "false"}});
  const auto chosen = [&](const poplar::Device& device, const conv::Options& o, conv::Kind kind) {
    return conv::method_for({device.getTarget(), problem, o, kind, nullptr}).name;
  };
  EXPECT_EQ(chosen(cpu, options, conv::Kind::forward), "rows");
  EXPECT_EQ(chosen(cpu, apart, conv::Kind::forward), "planned");
  EXPECT_EQ(chosen(cpu, options, conv::Kind::weight_gradient), "planned");
  EXPECT_EQ(chosen(ipu, options, conv::Kind::forward), "planned");
}

}  // namespace
}  // namespace poplin
