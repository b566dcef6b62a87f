// What is no valid model, or more than a program can be, is rejected with the node's name, before anything is allocated for it.
#include "onnx/file_testing.h"
#include "onnx/importer.h"
#include "onnx/tensor_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

namespace pando::onnx {
namespace {

using ::testing::HasSubstr;

// One node on x, of two by three floats, with data beside it.
std::string rejection_of(const Bytes& n, const std::vector<Bytes>& data = {}, std::uint64_t opset = 13) {
  Made made;
  made.in(value("x", {2, 3}));
  for (const Bytes& t : data) made.data(t);
  made.add(n).out("y");
  return rejection(made.model(opset));
}

TEST(OnnxRejections, OperandsAndResultsAreCounted) {
  EXPECT_THAT(rejection_of(node("Relu", {"x", "x"}, {"y"})), HasSubstr("Relu 'node of y': it has 2 operands; 1 are the most"));
  EXPECT_THAT(rejection_of(node("Add", {"x"}, {"y"})), HasSubstr("operand 1 ('B') is missing"));
  EXPECT_THAT(rejection_of(node("Add", {"x", ""}, {"y"})), HasSubstr("operand 1 ('B') is missing"));
  EXPECT_THAT(rejection_of(node("Relu", {"x"}, {"y", "z"})), HasSubstr("it has 2 results; 1 are the most"));
  EXPECT_THAT(rejection_of(node("TopK", {"x", "k"}, {"y"}), {longs("k", {1})}), HasSubstr("'Indices' is missing"));
}

TEST(OnnxRejections, AttributesAreChecked) {
  EXPECT_THAT(rejection_of(node("Relu", {"x"}, {"y"}, {integer("slope", 1)})), HasSubstr("attribute 'slope' is not known"));
  EXPECT_THAT(rejection_of(node("Concat", {"x", "x"}, {"y"})), HasSubstr("attribute 'axis' is missing"));
  EXPECT_THAT(rejection_of(node("Concat", {"x", "x"}, {"y"}, {integers("axis", {0})})),
              HasSubstr("attribute 'axis' is integers; an integer is expected"));
  EXPECT_THAT(rejection_of(node("ReduceSum", {"x"}, {"y"}, {integer("keepdims", 7)})),
              HasSubstr("attribute 'keepdims' is 7; 0 to 1 are possible"));
  const Bytes mode = Bytes().bytes(1, "mode").bytes(4, "sideways");
  EXPECT_THAT(rejection_of(node("Pad", {"x", "p"}, {"y"}, {mode}), {longs("p", {0, 0, 1, 1})}),
              HasSubstr("attribute 'mode' is 'sideways'; 'constant', "));
  const Bytes twice = node("Concat", {"x", "x"}, {"y"}, {integer("axis", 0), integer("axis", 1)});
  EXPECT_THAT(rejection_of(twice), HasSubstr("a node has the attribute 'axis' twice"));
}

TEST(OnnxRejections, AxesAreInRangeAndDifferent) {
  for (std::int64_t axis : {std::int64_t{7}, std::int64_t{-9}, std::int64_t{100000}, INT64_MAX, INT64_MIN}) {
    const std::string out_of_range = fmt::format("axis {} is out of range", axis);
    EXPECT_THAT(rejection_of(node("Unsqueeze", {"x", "a"}, {"y"}), {longs("a", {axis})}), HasSubstr(out_of_range));
    EXPECT_THAT(rejection_of(node("Squeeze", {"x", "a"}, {"y"}), {longs("a", {axis})}), HasSubstr(out_of_range));
    EXPECT_THAT(rejection_of(node("ReduceSum", {"x", "a"}, {"y"}), {longs("a", {axis})}), HasSubstr(out_of_range));
    for (const char* op : {"Concat", "Softmax", "Gather", "ArgMax", "Split", "Flatten", "LayerNormalization", "Hardmax"}) {
      const bool two = std::string_view(op) == "Gather" || std::string_view(op) == "LayerNormalization";
      EXPECT_THAT(
          rejection_of(node(op, two ? std::vector<std::string>{"x", "i"} : std::vector<std::string>{"x"}, {"y"}, {integer("axis", axis)}),
                       {longs("i", {0})}),
          HasSubstr(out_of_range))
          << op;
    }
  }
  EXPECT_THAT(rejection_of(node("Unsqueeze", {"x", "a"}, {"y"}), {longs("a", {1, 1})}), HasSubstr("axis 1 is named twice"));
  EXPECT_THAT(rejection_of(node("ReduceSum", {"x", "a"}, {"y"}), {longs("a", {1, -1})}), HasSubstr("axis 1 is named twice"));
}

TEST(OnnxRejections, Sizes) {
  EXPECT_THAT(rejection_of(node("Split", {"x"}, {})), HasSubstr("'outputs' is missing"));
  EXPECT_THAT(rejection_of(node("Split", {"x", "s"}, {"y", "z"}), {longs("s", {4, -1})}), HasSubstr("the lengths (4, -1)"));
  EXPECT_THAT(rejection_of(node("Reshape", {"x", "s"}, {"y"}), {longs("s", {-1, -1})}), HasSubstr("two dimensions of -1"));
  EXPECT_THAT(rejection_of(node("Reshape", {"x", "s"}, {"y"}), {longs("s", {INT64_MAX, INT64_MAX})}), HasSubstr("a tensor has at most"));
  EXPECT_THAT(rejection_of(node("Reshape", {"x", "s"}, {"y"}), {longs("s", {4, 2})}), HasSubstr("6 elements do not fill (4, 2)"));
  EXPECT_THAT(rejection_of(node("Expand", {"x", "s"}, {"y"}), {longs("s", {INT64_MAX, 2, 3})}), HasSubstr("a tensor has at most"));
  EXPECT_THAT(rejection_of(node("Tile", {"x", "s"}, {"y"}), {longs("s", {INT64_MAX, INT64_MAX})}), HasSubstr("a tensor has at most"));
  EXPECT_THAT(rejection_of(node("ConstantOfShape", {"s"}, {"y"}), {longs("s", {std::int64_t{1} << 62, 4})}),
              HasSubstr("a tensor has at most"));
  EXPECT_THAT(rejection_of(node("ConstantOfShape", {"s"}, {"y"}), {longs("s", {-5})}), HasSubstr("no dimension is negative"));
  EXPECT_THAT(rejection_of(node("Range", {"a", "b", "c"}, {"y"}), {longs("a", {0}), longs("b", {INT64_MAX}), longs("c", {1})}),
              HasSubstr("constants have at most"));
  EXPECT_THAT(rejection_of(node("Range", {"a", "b", "c"}, {"y"}), {longs("a", {0}), longs("b", {9}), longs("c", {0})}),
              HasSubstr("its step leads nowhere"));
  EXPECT_THAT(rejection_of(node("Pad", {"x", "p"}, {"y"}), {longs("p", {0, 0, INT64_MAX, 0})}), HasSubstr("a pad of"));
  EXPECT_THAT(rejection_of(node("TopK", {"x", "k"}, {"y", "z"}), {longs("k", {99})}), HasSubstr("k is 99; axis 1 has 3 elements"));
  const std::vector<Bytes> huge{integers("kernel_shape", {INT64_MAX, 1})};
  EXPECT_THAT(rejection_of(node("MaxPool", {"x"}, {"y"}, huge)), HasSubstr("data of shape (2, 3)"));
}

TEST(OnnxRejections, ValuesAreMadeOnceAndBeforeTheyAreRead) {
  Made made;
  made.in(value("x", {2})).add(node("Relu", {"x"}, {"y"})).add(node("Relu", {"x"}, {"y"})).out("y");
  EXPECT_THAT(rejection(made.model()), HasSubstr("'y' is made twice"));
  Made late;
  late.in(value("x", {2})).add(node("Relu", {"z"}, {"y"})).add(node("Relu", {"x"}, {"z"})).out("y");
  EXPECT_THAT(rejection(late.model()), HasSubstr("'z' is made by no earlier node"));
  Made data;
  data.in(value("x", {2}))
      .data(floats("w", {1}, {1}, false))
      .data(floats("w", {1}, {2}, false))
      .add(node("Add", {"x", "w"}, {"y"}))
      .out("y");
  EXPECT_THAT(rejection(data.model()), HasSubstr("'w' has data twice"));
}

TEST(OnnxRejections, DimensionsWithoutANameArePlaces) {
  Made made;
  made.in(Bytes().bytes(1, "x").bytes(
      2, Bytes().bytes(1, Bytes().number(1, 1).bytes(2, Bytes().bytes(1, Bytes()).bytes(1, Bytes().number(1, 3))))));
  made.add(node("Relu", {"x"}, {"y"})).out("y");
  EXPECT_THAT(rejection(made.model()), HasSubstr("input 'x': dimension 0 has no size; give one as dimension 'x.0'"));
  EXPECT_EQ(rejection(made.model(), {{{"x.0", 2}}}), "accepted");
  // -1, which some exporters write.
  Made minus;
  minus.in(Bytes().bytes(1, "x").bytes(
      2, Bytes().bytes(1, Bytes().number(1, 1).bytes(2, Bytes().bytes(1, Bytes().number(1, static_cast<std::uint64_t>(-1)))))));
  minus.add(node("Relu", {"x"}, {"y"})).out("y");
  EXPECT_THAT(rejection(minus.model()), HasSubstr("give one as dimension 'x.0'"));
  EXPECT_EQ(rejection(minus.model(), {{{"x.0", 2}}}), "accepted");
}

// An input that has to be known is named, with the way to give it.
TEST(OnnxRejections, ValuesOfInputs) {
  Made made;
  made.in(value("x", {2, 3})).in(value("s", {2}, 7)).add(node("Reshape", {"x", "s"}, {"y"})).out("y");
  EXPECT_THAT(
      rejection(made.model()),
      HasSubstr(
          "operand 1 ('s') must be known when the model is read; what it follows from can be given: load_onnx(..., values={'s': ...})"));
  ImportOptions options;
  options.values["s"] = ir::HostTensor::of_ints(ir::DType::int64, {2}, std::vector<std::int64_t>{3, 2});
  const ir::Module m = import_model(read(made.model()), options);
  EXPECT_EQ(run(m, {tensor({2, 3}, {1, 2, 3, 4, 5, 6})})[0].shape(), (ir::Shape{3, 2}));
  options.values["s"] = ir::HostTensor::of_ints(ir::DType::int32, {2}, std::vector<std::int64_t>{3, 2});
  EXPECT_THAT(rejection(made.model(), options), HasSubstr("its value is given as int32(2)"));
  EXPECT_THAT(rejection(made.model(), {.values = {{"nothing", {}}}}), HasSubstr("'nothing', which is not an input of the model"));
}

// Data beside a model: a regular file below its folder, links resolved.
TEST(OnnxRejections, DataBesideTheModel) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / fmt::format("onnx_rejections_{}", ::getpid());
  fs::create_directories(folder / "model" / "part");
  std::ofstream(folder / "outside.bin") << "12345678";
  std::ofstream(folder / "model" / "part" / "inside.bin") << "12345678";
  fs::create_symlink(folder / "outside.bin", folder / "model" / "link.bin");
  fs::create_symlink("part/inside.bin", folder / "model" / "inner.bin");
  ASSERT_EQ(::mkfifo((folder / "model" / "pipe").c_str(), 0600), 0);
  const auto bytes = [&](const std::string& name, std::uint64_t offset = 0, std::uint64_t size = 8) -> std::string {
    try {
      return bytes_beside(folder / "model", name, offset, size, "w");
    } catch (const ModelError& e) { return std::string(without_id(e.what())); }
  };
  EXPECT_EQ(bytes("part/inside.bin"), "12345678");
  EXPECT_EQ(bytes("inner.bin", 4, 2), "56");
  EXPECT_EQ(bytes("part/../part/inside.bin", 7, 1), "8");
  for (const char* name : {"../outside.bin", "link.bin", "", "nothing.bin", "/dev/zero"}) {
    EXPECT_THAT(bytes(name), HasSubstr("a file in the model's folder is expected")) << name;
  }
  EXPECT_THAT(bytes("pipe"), HasSubstr("which is not a regular file"));
  EXPECT_THAT(bytes("part"), HasSubstr("which is not a regular file"));
  EXPECT_THAT(bytes("part/inside.bin", 1, 8), HasSubstr("are bytes 1 to 9 of 'part/inside.bin', which has 8"));
  EXPECT_THAT(bytes("part/inside.bin", UINT64_MAX, 8), HasSubstr("which has 8"));
  fs::remove_all(folder);
}

TEST(OnnxRejections, EverySignatureIsWhole) {
  for (const KnownOperator& o : operator_table()) {
    EXPECT_FALSE(o.signature.name.empty());
    EXPECT_FALSE(o.signature.results.empty()) << o.row->signature;
    EXPECT_NE(o.row->rule, nullptr) << o.row->signature;
    for (const auto& a : o.signature.attributes) EXPECT_NE(a.type, AttributeType::undefined) << o.row->signature << ": " << a.name;
  }
}

// Any node with any operands and attributes is taken or rejected; nothing else happens. The seed is printed where something does.
TEST(OnnxRejections, RandomNodes) {
  const unsigned seed = 20260;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 random(seed);
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::int64_t numbers[] = {0, 1, -1, 2, 3, 7, -2, 100, INT64_MAX, INT64_MIN, std::int64_t{1} << 32};
  std::size_t accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto all = operator_table();
    const Signature& s = all[pick(all.size())].signature;
    Made made;
    made.in(value("x", {2, 3})).in(value("z", {1, 2, 4, 4})).in(value("i", {3}, 7)).in(value("b", {2, 3}, 9)).in(value("q", {4}, 2));
    made.data(longs("one", {1})).data(longs("two", {2, 1})).data(floats("w", {3}, {0.5F, 1, 2}, false)).data(longs("none", {}));
    const std::vector<std::string> names{"x", "z", "i", "b", "q", "one", "two", "w", "none", ""};
    std::vector<std::string> in, out;
    for (std::size_t k = 0; k < s.operands.size() && (pick(8) != 0 || !s.operands[k].optional); ++k)
      in.push_back(names[pick(names.size())]);
    for (std::size_t k = 0; k < s.results.size(); ++k) out.push_back(fmt::format("y{}", k));
    std::vector<Bytes> attributes;
    for (const auto& a : s.attributes) {
      if (!a.required && pick(2) == 0) continue;
      Bytes b;
      b.bytes(1, a.name);
      const auto number = [&] { return static_cast<std::uint64_t>(numbers[pick(std::size(numbers))]); };
      switch (a.type) {
        case AttributeType::integer: b.number(3, number()); break;
        case AttributeType::real: b.real(2, static_cast<float>(static_cast<std::int64_t>(number()))); break;
        case AttributeType::text: b.bytes(4, pick(2) ? "mean" : "constant"); break;
        case AttributeType::integers:
          for (std::size_t k = pick(5); k > 0; --k) b.number(8, number());
          break;
        case AttributeType::reals: b.real(7, 1); break;
        default: break;
      }
      b.number(20, static_cast<std::uint64_t>(a.type));
      attributes.push_back(b);
    }
    Bytes n;
    for (const auto& i : in) n.bytes(1, i);
    for (const auto& o : out) n.bytes(2, o);
    n.bytes(4, s.name).bytes(7, s.domain);
    for (const Bytes& a : attributes) n.bytes(5, a);
    made.add(n).out("y0");
    const std::uint64_t opset = pick(2) ? 11 : 23;
    accepted += rejection(made.model(opset)) == "accepted" ? 1 : 0;
  }
  EXPECT_GT(accepted, 100u);
}

}  // namespace
}  // namespace pando::onnx
