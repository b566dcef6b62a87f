// Rows that were measured: how they are read, written, and looked up.
#include "simulate/measured.h"

#include "simulate/cluster_json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poplar/exceptions.hpp>

#include <cmath>
#include <string>

namespace pando::simulate {
namespace {

constexpr const char* kProducts = R"("products": [
    {"m": 4096, "k": 4096, "n": 4096, "layout": "f", "type": "bf16", "seconds": 0.0003},
    {"m": 2048, "k": 4096, "n": 4096, "layout": "f", "type": "bf16", "efficiency": 0.3},
    {"groups": 8, "m": 512, "k": 4096, "n": 1024, "layout": "w", "type": "bf16", "efficiency": 0.25},
    {"m": 4096, "k": 4096, "n": 4096, "layout": "f", "type": "fp8", "efficiency": 0.5}])";
constexpr const char* kRest = R"("attention": [
    {"batch": 1, "heads": 32, "kv_heads": 8, "seq": 4096, "head_size": 128, "value_size": 128, "backward": false, "seconds": 0.0005}],
  "bytewise": [{"op": "add", "backward": false, "software": "eager", "bytes": 1000, "seconds": 1e-5},
               {"op": "add", "backward": false, "software": "eager", "bytes": 100000, "seconds": 1e-3}],
  "copies": [{"direction": "to host", "bytes": 100, "seconds": 1e-5}],
  "collectives": [{"collective": "all_reduce", "bytes": 1000, "devices": 4, "nodes": 1, "beside": 1, "seconds": 1e-5},
                  {"collective": "all_reduce", "bytes": 100000, "devices": 4, "nodes": 1, "beside": 1, "seconds": 1e-4}],
  "layers": [{"hidden": 4096, "heads": 32, "kv_heads": 8, "head_size": 128, "ffn": 14336, "gated": true, "tensor": 1, "batch": 1,
              "seq": 4096, "software": "eager", "forward_seconds": 0.01, "backward_seconds": 0.02}],
  "skipped": [{"what": "fp8", "reason": "not there"}], "device": {"name": "X1", "devices": 1}, "dispatch_seconds": 4e-6, "sustained": 0.9)";

std::string machine(const std::string& measured, const std::string& more = "") {
  return fmt::format(R"({{"name": "mine", "half_operations": 1e15, "single_operations": 1e14, "vector_operations": 1e14,
    "eight_bit_operations": 2e15, "memory_bytes_per_second": 1e12, "memory_bytes": 1000000, "launch": 1e-6{},
    "levels": [{{"name": "node", "devices": 8, "bytes_per_second": 1e11}}],
    "provenance": {{"launch": "measured", "levels": "assumed"}}, "measured": {{{}}}}})",
                     more, measured);
}

Cluster read(const std::string& text) { return cluster_from_json(text, "m.json"); }

TEST(Measured, FilesAreReadAndWritten) {
  const Cluster c = read(machine(std::string(kProducts) + ", " + kRest));
  ASSERT_EQ(c.measured.shapes.products.size(), 3u);
  EXPECT_EQ(c.measured.shapes.grouped.size(), 1u);
  EXPECT_EQ(c.measured.device.front(), std::pair(std::string("name"), std::string("X1")));
  // Seconds become a share of the peak, without the launch that every op has.
  const auto share = product_share(c.measured.shapes, 4096, 4096, 4096, 'f', ProductType::bf16);
  ASSERT_TRUE(share);
  EXPECT_EQ(share->basis, Basis::measured);
  EXPECT_NEAR(share->efficiency, 2.0 * 4096 * 4096 * 4096 / (1e15 * (0.0003 - 1e-6)), 1e-9);
  const Cluster again = read(to_json(c));
  EXPECT_EQ(again.measured.shapes, c.measured.shapes);
  EXPECT_EQ(again, c);
}

TEST(Measured, NeighboursOfAProduct) {
  const Cluster c = read(machine(kProducts));
  const auto of = [&](double m, double k, double n, char layout, ProductType type) {
    return product_share(c.measured.shapes, m, k, n, layout, type);
  };
  const auto between = of(3000, 4096, 4096, 'f', ProductType::bf16);
  ASSERT_TRUE(between);
  EXPECT_EQ(between->basis, Basis::interpolated);
  EXPECT_GT(between->efficiency, 0.3);
  EXPECT_LT(between->efficiency, of(4096, 4096, 4096, 'f', ProductType::bf16)->efficiency);
  EXPECT_FALSE(of(100, 4096, 4096, 'f', ProductType::bf16));
  EXPECT_FALSE(of(4096, 4096, 4096, 'i', ProductType::bf16));
  EXPECT_FALSE(of(4096, 4096, 4096, 'f', ProductType::fp16));
  EXPECT_EQ(of(4096, 4096, 4096, 'f', ProductType::fp8)->efficiency, 0.5);
}

// A product that was not measured has the mean of the four nearest rows, each by one over its distance squared; sizes are compared by
// their logarithms, and none may be off by more than a factor of two.
TEST(Measured, ShareOfAProduct) {
  MeasuredShapes shapes;
  const auto row = [&](std::int64_t m, std::int64_t k, std::int64_t n, double share) {
    shapes.products.push_back({.m = m, .k = k, .n = n, .layout = 'f', .type = ProductType::bf16, .efficiency = share});
  };
  const auto of = [&](double m, double k, double n) { return product_share(shapes, m, k, n, 'f', ProductType::bf16); };
  EXPECT_FALSE(of(64, 64, 64));
  row(64, 64, 64, 0.2), row(256, 64, 64, 0.6), sort_rows(shapes);
  EXPECT_EQ(of(64, 64, 64)->basis, Basis::measured);
  EXPECT_EQ(of(64, 64, 64)->efficiency, 0.2);
  // As far from both; from one, a factor of two off; and farther than that.
  EXPECT_EQ(of(128, 64, 64)->basis, Basis::interpolated);
  EXPECT_NEAR(of(128, 64, 64)->efficiency, 0.4, 1e-12);
  EXPECT_NEAR(of(32, 64, 64)->efficiency, 0.2, 1e-12);
  EXPECT_NEAR(of(512, 64, 64)->efficiency, 0.6, 1e-12);
  EXPECT_FALSE(of(31, 64, 64));
  EXPECT_FALSE(of(520, 64, 64));
  // Each of the three sizes counts.
  EXPECT_FALSE(of(64, 130, 64));
  EXPECT_FALSE(of(64, 64, 31));
  EXPECT_TRUE(of(64, 100, 40));
  // Twice as far in one size, a quarter of the weight.
  row(96, 64, 64, 0.5), sort_rows(shapes);
  const double near = 1 / std::pow(std::log(128.0 / 96), 2), far = 1 / std::pow(std::log(2.0), 2);
  EXPECT_NEAR(of(128, 64, 64)->efficiency, (0.5 * near + (0.2 + 0.6) * far) / (near + 2 * far), 1e-12);
  // A fifth row that is farther than four others says nothing, in whichever order they stand.
  row(128, 60, 64, 0.7), row(128, 70, 64, 0.7), row(128, 64, 60, 0.7), row(128, 64, 70, 0.7), sort_rows(shapes);
  EXPECT_NEAR(of(128, 64, 64)->efficiency, 0.7, 1e-12);
}

TEST(Measured, CollectivesGoBeforeTheLevels) {
  const Cluster c = read(machine(kRest));
  const auto seconds = [&](Collective what, double bytes, std::int64_t devices) {
    return transfer_time(c, what, bytes, group_of(c, 0, devices, 1)).seconds;
  };
  EXPECT_DOUBLE_EQ(seconds(Collective::all_reduce, 100, 4), 1e-5);
  EXPECT_DOUBLE_EQ(seconds(Collective::all_reduce, 1000, 4), 1e-5);
  EXPECT_NEAR(seconds(Collective::all_reduce, 10000, 4), std::sqrt(1e-9), 1e-9);
  EXPECT_DOUBLE_EQ(seconds(Collective::all_reduce, 200000, 4), 2e-4);
  Cluster without = c;
  without.measured = {};
  for (const auto& [what, devices] : {std::pair{Collective::all_reduce, 8}, {Collective::all_gather, 4}})
    EXPECT_EQ(seconds(what, 1e6, devices), transfer_time(without, what, 1e6, group_of(c, 0, devices, 1)).seconds);
}

TEST(Measured, OpsByBytes) {
  const Cluster c = read(machine(kRest));
  EXPECT_NEAR(*bytewise_seconds(c.measured, "add", false, 10000), 1e-4, 1e-12);
  EXPECT_FALSE(bytewise_seconds(c.measured, "add", true, 1000));
  EXPECT_FALSE(bytewise_seconds(c.measured, "gelu", false, 1000));
}

TEST(Measured, WhatCannotBeIsRejected) {
  const auto rejects = [](const std::string& text, const std::string& message) {
    try {
      read(text);
      ADD_FAILURE() << "read: " << text;
    } catch (const poplar::poplar_error& e) { EXPECT_THAT(e.what(), testing::HasSubstr(message)); }
  };
  const auto product = [](const std::string& row) { return machine("\"products\": [" + row + "]"); };
  rejects(machine("\"prodcts\": []"), "measured has a member 'prodcts', which is not known; known are device");
  rejects(machine("\"products\": 3"), "products of measured is not a list of rows");
  rejects(product(R"({"m": 1, "k": 1, "n": 1, "layout": "f", "type": "bf16"})"), "row 0 of products lacks seconds");
  rejects(product(R"({"m": 1, "k": 1, "layout": "f", "type": "bf16", "seconds": 1})"), "row 0 of products lacks n");
  rejects(product(R"({"m": 0, "k": 1, "n": 1, "layout": "f", "type": "bf16", "seconds": 1})"), "has m 0; a whole number from 1");
  rejects(product(R"({"m": 1, "k": 1, "n": 1, "layout": "x", "type": "bf16", "seconds": 1})"), "has layout 'x'; known are f, i, w");
  rejects(product(R"({"m": 1, "k": 1, "n": 1, "layout": "f", "type": "bf8", "seconds": 1})"), "has type 'bf8'; known are bf16");
  rejects(product(R"({"m": 1, "k": 1, "n": 1, "layout": "f", "type": "bf16", "seconds": 1, "layuot": 1})"),
          "has a member 'layuot', which is not known; the nearest is layout");
  rejects(product(R"({"m": 4096, "k": 4096, "n": 4096, "layout": "f", "type": "bf16", "seconds": 1e-5})"), "% of the machine's peak");
  rejects(product(R"({"m": 1, "k": 1, "n": 1, "layout": "f", "type": "bf16", "seconds": -1})"), "has seconds -1; a number over 0");
  rejects(machine(R"("collectives": [{"collective": "all_reduce", "bytes": 8, "devices": 3, "nodes": 2, "beside": 1, "seconds": 1}])"),
          "has 3 devices on 2 nodes");
  rejects(machine(R"("bytewise": [{"op": "gleu", "backward": false, "software": "eager", "bytes": 8, "seconds": 1}])"), "has op 'gleu'");
  rejects(machine("", ", \"memory_efficiency\": [[1000, -1]]"), "a share of an efficiency is -1");
  std::string text = machine("");
  text.replace(text.find("\"launch\": \"measured\""), 8, "\"lunch\"");
  rejects(text, "provenance has a member 'lunch', which is not known; the nearest is launch");
}

}  // namespace
}  // namespace pando::simulate
