#include "onnx/file_testing.h"
#include "transform/distribute/annotate.h"
#include "transform/distribute/parallelise.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <map>

namespace pando::onnx {
namespace {

TEST(Onnx, ALayerWithItsWeights) {
  for (bool raw : {false, true}) {
    Made made;
    made.in(value("x", {-1, 2})).data(floats("w", {2, 3}, {1, 2, 3, 4, 5, 6}, raw)).data(floats("b", {3}, {0.5f, -100, 1}, raw));
    made.add(node("Gemm", {"x", "w", "b"}, {"y"})).add(node("Relu", {"y"}, {"z"})).out("z");
    const ir::Module m = import_model(read(made.model()), {{{"batch", 2}}});
    const auto out = run(m, {tensor({2, 2}, {1, 0, 1, 1})});
    EXPECT_EQ(numbers(out[0]), (std::vector<double>{1.5, 0, 4, 5.5, 0, 10}));
    EXPECT_EQ(m.state_count(), 3u);
  }
}

Bytes constant(const std::string& name, const Bytes& tensor) {
  return node("Constant", {}, {name}, {Bytes().bytes(1, "value").bytes(5, tensor).number(20, 4)});
}

// The first output, of the first input.
ir::HostTensor run_distributed(const transform::Program& p, const transform::Strategy& strategy, const ir::HostTensor& given) {
  const transform::Distributed d = transform::parallelise(p, strategy);
  ir::Interpreter whole(p.module);
  std::vector<ir::HostTensor> whole_tensors{given};
  for (std::uint32_t s = 1; s < p.module.state_count(); ++s) whole_tensors.push_back(whole.state(ir::StateId(s), 0));
  ir::Interpreter parts(d.module);
  const auto found = parts.run_graph(d.module.main_graph(), transform::cut_inputs(d, whole_tensors));
  return transform::join(d.outputs, 0, p.module.type_of(p.module.graph(p.module.main_graph()).outputs[0]), found);
}

// Weights in nodes of their own are what weights in the model's list are: variables, cut over devices.
TEST(Onnx, ConstantsOfProductsAreWeights) {
  const std::vector<float> up{1, 2, 3, 4, -5, 6, 7, -8}, down{1, -1, 2, 2, 3, -3, 4, 4}, table{1, 2, 3, 4, 5, 6};
  const auto layers = [&](bool nodes) {
    Made made;
    made.in(value("tokens", {4}, 7));
    const auto weight = [&](const std::string& name, std::vector<std::int64_t> dims, const std::vector<float>& data) {
      nodes ? made.add(constant(name, floats(name, std::move(dims), data, true))) : made.data(floats(name, std::move(dims), data, true));
    };
    weight("table", {3, 2}, table);
    weight("up", {2, 4}, up);
    weight("bias", {4}, {1, -1, 0, 2});
    weight("down", {2, 4}, down);
    made.add(node("Gather", {"table", "tokens"}, {"x"}));
    made.add(node("MatMul", {"x", "up"}, {"y"})).add(node("Add", {"y", "bias"}, {"a"})).add(node("Relu", {"a"}, {"z"}));
    made.add(node("Gemm", {"z", "down"}, {"out"}, {integer("transB", 1)})).out("out");
    return transform::annotate(import_model(read(made.model())), {{{"tokens", 0}}, {}, {}, {}});
  };
  const transform::Program listed = layers(false), made = layers(true);
  const auto inputs = [](const transform::Program& p) {
    std::map<std::string, std::string> all;
    for (ir::ValueId v : p.module.graph(p.module.main_graph()).inputs) all[p.module.name_of(v)] = ir::to_string(p.module.type_of(v).shape);
    return all;
  };
  // A vector is no weight: it stays where it is needed.
  std::map<std::string, std::string> expected = inputs(listed);
  EXPECT_EQ(expected.erase("bias"), 1u);
  EXPECT_EQ(inputs(made), expected);
  const ir::HostTensor tokens = ir::HostTensor::of_ints(ir::DType::int64, {4}, std::vector<std::int64_t>{2, 0, 1, 2});
  const std::vector<double> expected_numbers = numbers(run(listed.module, {tokens})[0]);
  EXPECT_EQ(numbers(run(made.module, {tokens})[0]), expected_numbers);
  for (const transform::Strategy& s : {transform::Strategy{.tensor = 2},
                                       {.tensor = 2, .cut = {{"table", 1}}},
                                       {.tensor = 2, .cut = {{"up", 0}, {"down", -1}}},
                                       {.data = 2, .tensor = 2},
                                       {.tensor = 2, .microbatches = 2}}) {
    EXPECT_EQ(numbers(run_distributed(made, s, tokens)), expected_numbers);
  }
  const transform::Distributed d = transform::parallelise(made, {.tensor = 2});
  std::map<std::string, std::string> parts;
  for (ir::ValueId v : d.module.graph(d.module.main_graph()).inputs) parts[d.module.name_of(v)] = ir::to_string(d.module.type_of(v).shape);
  EXPECT_EQ(parts.at("up.1"), ir::to_string(ir::Shape{2, 2}));
  EXPECT_EQ(parts.at("down.2"), ir::to_string(ir::Shape{2, 2}));
}

// Masks and the like are read where they are; a weight that is made of a constant is one.
TEST(Onnx, OtherConstantsStay) {
  std::vector<float> many(300 * 300, 0.5f);
  Made made;
  made.in(value("x", {2, 300})).add(constant("mask", floats("mask", {2, 300}, std::vector<float>(600, 1), true)));
  made.add(constant("w", floats("w", {300, 300}, many, true)))
      .add(node("Transpose", {"w"}, {"wt"}, {integers("perm", {1, 0})}))
      .add(node("Add", {"x", "mask"}, {"y"}))
      .add(node("MatMul", {"y", "wt"}, {"z"}))
      .out("z");
  const ir::Module m = import_model(read(made.model()));
  std::vector<std::string> names;
  for (ir::ValueId v : m.graph(m.main_graph()).inputs) names.push_back(m.name_of(v));
  EXPECT_EQ(names, (std::vector<std::string>{"x", "w"}));
  EXPECT_EQ(numbers(run(m, {tensor({2, 300}, std::vector<double>(600, 1))})[0]), std::vector<double>(600, 300));
}

TEST(Onnx, ShapesAreComputedAtImport) {
  // Heads of attention: the shape comes of the operand's own.
  Made made;
  made.in(value("x", {-1, 6})).data(longs("zero", {0})).data(longs("tail", {2, 3}));
  made.add(node("Shape", {"x"}, {"s"}))
      .add(node("Gather", {"s", "zero"}, {"n"}, {integer("axis", 0)}))
      .add(node("Concat", {"n", "tail"}, {"to"}, {integer("axis", 0)}));
  made.add(node("Reshape", {"x", "to"}, {"y"})).add(node("Transpose", {"y"}, {"z"}, {integers("perm", {0, 2, 1})})).out("z");
  const ir::Module m = import_model(read(made.model()), {{{"batch", 2}}});
  EXPECT_EQ(m.graph(m.main_graph()).ops.size(), 2u);
  const auto out = run(m, {tensor({2, 6}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})});
  EXPECT_EQ(out[0].shape(), (ir::Shape{2, 3, 2}));
  EXPECT_EQ(numbers(out[0]), (std::vector<double>{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}));
}

TEST(Onnx, PiecesAndReductions) {
  Made made;
  made.in(value("x", {2, 4})).data(longs("start", {-3})).data(longs("end", {1000})).data(longs("axis", {1}));
  made.add(node("Slice", {"x", "start", "end", "axis"}, {"s"}))
      .add(node("ReduceMean", {"s"}, {"m"}, {integers("axes", {-1}), integer("keepdims", 0)}));
  made.add(node("Split", {"x"}, {"l", "r"}, {integer("axis", 1)}))
      .add(node("Sub", {"l", "r"}, {"d"}))
      .add(node("Softmax", {"d"}, {"p"}, {integer("axis", -1)}));
  made.out("m").out("d").out("p");
  const auto out = run(import_model(read(made.model())), {tensor({2, 4}, {1, 2, 3, 4, 5, 7, 9, 11})});
  EXPECT_EQ(numbers(out[0]), (std::vector<double>{3, 9}));
  EXPECT_EQ(numbers(out[1]), (std::vector<double>{-2, -2, -4, -4}));
  EXPECT_EQ(numbers(out[2]), (std::vector<double>{0.5, 0.5, 0.5, 0.5}));
}

// A start in front of the first element is the first element, of slices backwards, too; an end there lies in front of it.
TEST(Onnx, SlicesBackwards) {
  const auto sliced = [](std::int64_t start, std::int64_t end, std::int64_t step) {
    Made made;
    made.in(value("x", {5})).data(longs("start", {start})).data(longs("end", {end})).data(longs("axis", {0})).data(longs("step", {step}));
    made.add(node("Slice", {"x", "start", "end", "axis", "step"}, {"y"})).out("y");
    return numbers(run(import_model(read(made.model())), {tensor({5}, {0, 1, 2, 3, 4})})[0]);
  };
  EXPECT_EQ(sliced(-12, -13, -1), (std::vector<double>{0}));
  EXPECT_EQ(sliced(INT64_MAX, INT64_MIN, -2), (std::vector<double>{4, 2, 0}));
  EXPECT_EQ(sliced(-2, 0, -1), (std::vector<double>{3, 2, 1}));
  EXPECT_EQ(sliced(1, 3, -1), (std::vector<double>{}));
  EXPECT_EQ(sliced(INT64_MIN, INT64_MAX, INT64_MAX), (std::vector<double>{0}));
  EXPECT_EQ(sliced(7, 9, 1), (std::vector<double>{}));
}

TEST(Onnx, NormalisationAndImages) {
  Made made;
  made.in(value("x", {1, 1, 3, 3})).data(floats("k", {1, 1, 2, 2}, {1, 0, 0, 1}, true)).data(floats("b", {1}, {10}, true));
  made.add(node("Conv", {"x", "k", "b"}, {"y"},
                {integers("kernel_shape", {2, 2}), integers("strides", {1, 1}), integers("pads", {0, 0, 0, 0})}));
  made.add(node("MaxPool", {"y"}, {"p"}, {integers("kernel_shape", {2, 2})}))
      .add(node("Flatten", {"y"}, {"f"}))
      .data(floats("g", {4}, {1, 1, 1, 1}, true));
  made.add(node("LayerNormalization", {"f", "g"}, {"n"})).out("y").out("p").out("n");
  const auto out = run(import_model(read(made.model(17))), {tensor({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})});
  EXPECT_EQ(numbers(out[0]), (std::vector<double>{16, 18, 22, 24}));
  EXPECT_EQ(numbers(out[1]), (std::vector<double>{24}));
  EXPECT_NEAR(out[2].number(0), -4 / std::sqrt(10.0), 1e-5);
}

TEST(Onnx, DataBesideTheModel) {
  const std::string directory = ::testing::TempDir();
  const float data[] = {7, 1, 2};
  std::ofstream(directory + "/weights.bin", std::ios::binary).write(reinterpret_cast<const char*>(data), sizeof data);
  const auto entry = [](const char* key, const std::string& v) { return Bytes().bytes(1, key).bytes(2, v); };
  const auto model = [&](const std::string& location, const std::string& offset = "4", const std::string& length = "8") {
    Made made;
    made.in(value("x", {2}))
        .data(Bytes()
                  .number(1, 2)
                  .number(2, 1)
                  .bytes(8, "w")
                  .bytes(13, entry("location", location))
                  .bytes(13, entry("offset", offset))
                  .bytes(13, entry("length", length))
                  .number(14, 1));
    made.add(node("Add", {"x", "w"}, {"y"})).out("y");
    return made.model();
  };
  EXPECT_EQ(numbers(run(import_model(read(model("weights.bin"), directory)), {tensor({2}, {1, 1})})[0]), (std::vector<double>{2, 3}));
  EXPECT_EQ(rejection(model("../weights.bin")).substr(0, 13), "onnx-external");
  EXPECT_EQ(rejection(model("nothing.bin")).substr(0, 13), "onnx-external");
  EXPECT_THAT(rejection(model("weights.bin", "-1")),
              testing::HasSubstr("the offset of data beside the model is '-1'; a number of bytes is expected"));
  EXPECT_THAT(rejection(model("weights.bin", "4", "all")), testing::HasSubstr("the length of data beside the model is 'all'"));
  // Nothing is allocated for it.
  EXPECT_THAT(rejection(model("weights.bin", "4", "9000000000000000000")),
              testing::HasSubstr("'w' has 9000000000000000000 bytes of data, 8 are its shape's"));
}

TEST(Onnx, WhatIsNotKnownIsNamedTogether) {
  Made made;
  made.in(value("x", {2}))
      .add(node("StringSplit", {"x"}, {"a"}))
      .add(node("StringSplit", {"a"}, {"b"}))
      .add(node("ImageDecoder", {"b"}, {"c"}))
      .out("c");
  const std::string text = rejection(made.model());
  EXPECT_NE(text.find("ImageDecoder (1), StringSplit (2)"), std::string::npos) << text;
}

TEST(Onnx, Errors) {
  EXPECT_EQ(rejection("this is not a model").substr(0, 9), "onnx-file");
  try {
    read("this is not a model", ".", "net.onnx");
    FAIL() << "nothing was thrown";
  } catch (const ModelError& e) {
    EXPECT_EQ(e.location(), "net.onnx");
    EXPECT_EQ(std::string(e.what()).substr(0, 38), "net.onnx: this is not an ONNX file: a ");
  }
  try {
    import_file("nowhere/net.onnx");
    FAIL() << "nothing was thrown";
  } catch (const ModelError& e) { EXPECT_STREQ(e.what(), "nowhere/net.onnx: it cannot be read: No such file or directory [onnx-file]"); }
  Made open;
  open.in(value("x", {-1})).add(node("Relu", {"x"}, {"y"})).out("y");
  EXPECT_EQ(rejection(open.model()),
            "onnx-dimension: model: input 'x': it has a dimension 'batch' without a size; give one as dimension 'batch' [onnx-dimension]");
  const std::string whole = open.model();
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_NE(rejection(whole.substr(0, n), {{{"batch", 2}}}), "accepted") << n;
  Made missing;
  missing.in(value("x", {2})).add(node("Add", {"x", "nobody"}, {"y"})).out("y");
  EXPECT_EQ(rejection(missing.model()), "onnx-value: model: Add 'node of y': 'nobody' is made by no earlier node [onnx-value]");
  Made shapes;
  shapes.in(value("x", {2})).in(value("z", {3})).add(node("Add", {"x", "z"}, {"y"})).out("y");
  // What the op rejects, once, with the node and one id.
  const std::string text = rejection(shapes.model());
  EXPECT_EQ(text.substr(0, 37), "onnx-node: model: Add 'node of y': ad");
  EXPECT_EQ(text.find("shapes-do-not-broadcast"), std::string::npos);
}

}  // namespace
}  // namespace pando::onnx
