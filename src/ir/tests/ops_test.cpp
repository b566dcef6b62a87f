// Loops over the table: every row keeps its promises on its samples. And rows whose numbers are easy to get wrong, against numbers of
// others.
#include "ir/construction/builder.h"
#include "ir/error.h"
#include "ir/op_table.h"
#include "ir/rows/gradient.h"
#include "ir/rows/inference.h"
#include "ir/semantics/infer.h"
#include "ir/semantics/interpreter.h"
#include "ir/semantics/samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <sstream>

namespace pando::ir {
namespace {

constexpr std::uint64_t kSeed = 2024;

std::string describe(const OpRow& row, const Sample& sample) {
  std::string text(row.name);
  for (const Sample::Operand& o : sample.operands) text += " " + std::string(name_of(o.dtype)) + to_string(o.shape);
  return text;
}

std::vector<Type> inferred(const OpRow& row, const std::vector<HostTensor>& operands, const Attributes& attributes, bool in_place) {
  Module module;
  std::vector<TypeId> types;
  for (const HostTensor& t : operands) types.push_back(module.type(tensor_type(t.dtype(), t.shape())));
  return infer_types(module, row, types, attributes, {}, in_place);
}

// The samples of every row that has some.
template <class F>
void for_each_sample(F f) {
  for (const OpRow* row : op_table()) {
    if (!row->samples) continue;
    for (const Sample& sample : row->samples()) {
      SCOPED_TRACE(describe(*row, sample));
      f(*row, sample);
    }
  }
}

TEST(ops, rows_without_samples_are_of_programs) {
  for (const OpRow* row : op_table()) {
    if (row->in_program_only) continue;
    ASSERT_NE(row->samples, nullptr) << row->name;
    EXPECT_FALSE(row->samples().empty()) << row->name;
  }
}

TEST(ops, inferred_types_are_those_of_the_meaning) {
  for_each_sample([](const OpRow& row, const Sample& sample) {
    if (!row.reference) return;
    const std::vector<HostTensor> operands = sample_data(sample, kSeed);
    const std::vector<Type> types = inferred(row, operands, sample.attributes, sample.in_place);
    const std::vector<HostTensor> results = evaluate(row, operands, sample.attributes, sample.in_place);
    ASSERT_EQ(types.size(), results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(types[i].dtype, results[i].dtype());
      EXPECT_EQ(types[i].shape, results[i].shape());
    }
  });
}

TEST(ops, meanings_leave_their_operands_alone) {
  for_each_sample([](const OpRow& row, const Sample& sample) {
    if (!row.reference) return;
    const std::vector<HostTensor> operands = sample_data(sample, kSeed);
    evaluate(row, operands, sample.attributes, sample.in_place);
    EXPECT_EQ(operands, sample_data(sample, kSeed));
  });
}

TEST(ops, in_place_forms_mean_the_same) {
  for_each_sample([](const OpRow& row, const Sample& sample) {
    if (!row.has_in_place || !row.reference || sample.in_place) return;
    const std::vector<HostTensor> operands = sample_data(sample, kSeed);
    const std::vector<HostTensor> plain = evaluate(row, operands, sample.attributes);
    // Broadcasting operand 0 needs more room than it has.
    const bool modifies = row.view == View::none;
    if (modifies && plain[0].shape() != operands[0].shape()) {
      EXPECT_THROW(evaluate(row, operands, sample.attributes, true), ModelError);
      return;
    }
    const std::vector<HostTensor> in_place = evaluate(row, operands, sample.attributes, true);
    ASSERT_EQ(in_place.size(), plain.size());
    EXPECT_EQ(in_place[0], plain[0]);
    if (modifies) EXPECT_EQ(in_place[0].dtype(), operands[0].dtype());
  });
}

TEST(ops, only_rows_that_say_so_have_in_place_forms) {
  for_each_sample([](const OpRow& row, const Sample& sample) {
    if (row.has_in_place || row.modifies[0].operand >= 0 || sample.in_place) return;
    EXPECT_THROW(inferred(row, sample_data(sample, kSeed), sample.attributes, true), ModelError);
  });
}

// Writes what a row expands to, or how it puts a view back, into a graph; then interprets it.
class Written : public Expansion {
 public:
  Written(const std::vector<HostTensor>& operands, const Attributes& attributes, std::vector<Type> results)
      : attributes_(attributes), result_types_(std::move(results)) {
    graph_ = module_.add_graph("main");
    for (const HostTensor& t : operands) {
      operands_.push_back(module_.add_input(graph_, tensor_type(t.dtype(), t.shape()), "t"));
      data_.push_back({t, {}});
    }
  }
  const Attributes& attributes() const override { return attributes_; }
  std::size_t operands() const override { return operands_.size(); }
  ValueId operand(std::size_t i) const override { return operands_[i]; }
  const Type& type_of(ValueId v) const override { return module_.type_of(v); }
  const Type& result_type(std::size_t i) const override { return result_types_[i]; }
  ValueId op(std::string_view name, std::initializer_list<ValueId> operands, const Attributes& attributes) override {
    return ops(name, std::span(operands.begin(), operands.size()), attributes)[0];
  }
  std::vector<ValueId> ops(std::string_view name, std::span<const ValueId> operands, const Attributes& attributes) override {
    const OpId id = infer_and_add(module_, graph_, name, operands, attributes);
    return {module_.results(id).begin(), module_.results(id).end()};
  }
  ValueId scalar(DType dtype, double value) override {
    return op("constant", {}, {{"data", module_.add_blob(HostTensor::filled(dtype, {}, value))}});
  }
  void result(ValueId v) override { module_.add_output(graph_, v); }

  std::vector<HostTensor> run() {
    std::vector<HostTensor> out;
    const std::vector<HostValue> results = Interpreter(module_).run_graph(graph_, data_);
    for (std::size_t i = 0; i < module_.graph(graph_).outputs.size(); ++i) out.push_back(results[i].tensor);
    return out;
  }

 private:
  Module module_;
  GraphId graph_;
  Attributes attributes_;
  std::vector<Type> result_types_;
  std::vector<ValueId> operands_;
  std::vector<HostValue> data_;
};

void expect_near(const HostTensor& a, const HostTensor& b) {
  ASSERT_EQ(a.dtype(), b.dtype());
  ASSERT_EQ(a.shape(), b.shape());
  const double relative = a.dtype() == DType::float16 ? 1e-2 : 1e-5;
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    const double x = a.number(i), y = b.number(i);
    if (!is_floating(a.dtype())) {
      EXPECT_EQ(a.integer(i), b.integer(i)) << i;
    } else if (std::isnan(x) || std::isinf(x)) {
      EXPECT_EQ(std::isnan(x), std::isnan(y)) << i;
      if (!std::isnan(x)) EXPECT_EQ(x, y) << i;
    } else {
      EXPECT_NEAR(x, y, relative * std::max(1.0, std::abs(x))) << i;
    }
  }
}

TEST(ops, expansions_mean_the_same) {
  std::size_t seen = 0;
  for_each_sample([&](const OpRow& row, const Sample& sample) {
    if (!row.expand || !row.reference) return;
    const std::vector<HostTensor> operands = sample_data(sample, kSeed);
    Written written(operands, sample.attributes, inferred(row, operands, sample.attributes, false));
    row.expand(written);
    const std::vector<HostTensor> expanded = written.run(), results = evaluate(row, operands, sample.attributes);
    ASSERT_EQ(expanded.size(), results.size());
    for (std::size_t i = 0; i < results.size(); ++i) expect_near(expanded[i], results[i]);
    ++seen;
  });
  EXPECT_GT(seen, 50u);
}

// Numbers that tell every element from every other.
HostTensor counted(const HostTensor& like, std::int64_t first) {
  HostTensor t(like.dtype(), like.shape());
  for (std::int64_t i = 0; i < t.elements(); ++i) t.set(i, static_cast<double>(first + i));
  return t;
}

TEST(ops, what_is_put_into_a_view_is_seen_through_it) {
  std::set<std::string> seen;
  for_each_sample([&](const OpRow& row, const Sample& sample) {
    if (row.view == View::none) return;
    ASSERT_NE(row.put, nullptr);
    std::vector<HostTensor> bases;
    for (const HostTensor& t : sample_data(sample, kSeed)) bases.push_back(counted(t, 1));
    const HostTensor before = evaluate(row, bases, sample.attributes)[0], piece = counted(before, 501);
    std::vector<HostTensor> operands = bases;
    operands.insert(row.view == View::of_all_operands ? operands.begin() : operands.end(), piece);
    Written written(operands, sample.attributes, {});
    row.put(written);
    const std::vector<HostTensor> after = written.run();
    ASSERT_EQ(after.size(), bases.size());
    EXPECT_EQ(evaluate(row, after, sample.attributes)[0], piece);
    // What the view does not show stays; what it shows is the piece's.
    std::int64_t changed = 0;
    for (std::size_t b = 0; b < bases.size(); ++b) {
      ASSERT_EQ(after[b].shape(), bases[b].shape());
      for (std::int64_t i = 0; i < bases[b].elements(); ++i) {
        if (after[b].number(i) > 500) {
          ++changed;
        } else {
          EXPECT_EQ(after[b].number(i), bases[b].number(i));
        }
      }
    }
    EXPECT_EQ(changed, piece.elements());
    seen.emplace(row.name);
  });
  for (const char* name : {"slice", "reshape", "flatten", "squeeze", "transpose", "concat", "detach"})
    EXPECT_TRUE(seen.contains(name)) << name;
}

// The functions of popxl.ops; `_` says that there is an in-place form.
constexpr const char* kPublic =
    "abs add_ argmax argmin average_pool batch_norm_inference call cast ceil clip concat_ conditional conv conv_pow2scaled conv_transpose "
    "conv_transpose_pow2scaled cos cumsum detach_ div dropout dynamic_slice dynamic_update_ equal exp_ flatten_ floor fmod gather gelu_ "
    "geluerf_ "
    "greater group_norm groupedgather histogram host_load host_store identity increment_mod_ init interpolate io_tile_copy ipu_copy "
    "isfinite isinf "
    "isnan l1 l2 lamb_square layer_norm log log2 logical_and logical_not logical_or logsum logsumexp matmul matmul_pow2scaled max maximum "
    "max_pool "
    "mean median min mul negate nll_loss nll_loss_with_softmax_grad onehot pow pow2scale_cast_from_fp8 pow2scale_cast_to_fp8 print_tensor "
    "prod "
    "random_normal random_uniform relu_ remote_code_load remote_load remote_store repeat reshape_ roi_align scaled_add_ scatter "
    "scatter_reduce "
    "shaped_dropout sign sin slice_ softmax split split_random_seed sqrt squeeze sub subsample sum sumsquare swish_ tanh tied_gather topk "
    "transpose_ "
    "where";
// Python makes these of others: clamp and rename are other names of clip and identity, remote_load_ is remote_load_into, the rest hand out
// more of what call, repeat and conditional add.
constexpr const char* kComposed = "clamp rename remote_load_ call_with_info repeat_with_info conditional_with_info";

TEST(ops, public_functions_have_rows) {
  std::size_t functions = 0;
  std::istringstream names(kPublic), composed(kComposed);
  for (std::string name; names >> name; ++functions) {
    const bool in_place = name.back() == '_';
    if (in_place) name.pop_back();
    functions += in_place;
    const auto kind = find_op(name);
    ASSERT_TRUE(kind) << name;
    const OpRow& row = row_of(*kind);
    EXPECT_EQ(row.has_in_place, in_place) << name;
    EXPECT_EQ(row.popart_in_place_type.empty(), !in_place) << name;
    EXPECT_FALSE(row.popart_type.empty()) << name;
    if (!row.signature.empty()) EXPECT_TRUE(row.signature.starts_with(name + "(")) << name;
  }
  for (std::string name; composed >> name; ++functions) EXPECT_FALSE(find_op(name)) << name;
  EXPECT_EQ(functions, 127u);
}

// --- single rows
// --------------------------------------------------------------------------------------------------------------------------

std::vector<double> numbers(const HostTensor& t) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < t.elements(); ++i) all.push_back(t.number(i));
  return all;
}

HostTensor floats(Shape shape, std::vector<double> values, DType t = DType::float32) {
  return HostTensor::of_floats(t, std::move(shape), values);
}
HostTensor floats(std::vector<double> values) { return floats({static_cast<std::int64_t>(values.size())}, values); }
HostTensor ints(std::vector<std::int64_t> values, DType t = DType::int32) {
  return HostTensor::of_ints(t, {static_cast<std::int64_t>(values.size())}, values);
}

std::vector<double> run(std::string_view name, const std::vector<HostTensor>& operands, const Attributes& attributes = {},
                        std::size_t result = 0) {
  return numbers(evaluate(row_of(op_kind(name)), operands, attributes)[result]);
}

void expect_close(const std::vector<double>& found, const std::vector<double>& expected, double tolerance = 2e-7) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << i;
}

void expect_rejected(std::string_view id, std::string_view name, const std::vector<HostTensor>& operands, const Attributes& attributes = {},
                     ModelError::Class kind = ModelError::Class::popart) {
  try {
    evaluate(row_of(op_kind(name)), operands, attributes);
    ADD_FAILURE() << name << ": nothing was rejected, expected " << id;
  } catch (const ModelError& e) {
    EXPECT_EQ(e.id(), id) << e.what();
    EXPECT_EQ(e.kind(), kind) << e.what();
  }
}

const double kInf = std::numeric_limits<double>::infinity();

TEST(ops, activations) {
  // Numbers of an arbitrary-precision calculator.
  expect_close(run("gelu", {floats({-1, 0.5, 2})}), {-0.15880801, 0.34571401, 1.95459769});
  expect_close(run("geluerf", {floats({-1, 0.5, 2})}), {-0.15865525, 0.34573123, 1.95449974});
  expect_close(run("swish", {floats({-1, 0.5, 2})}), {-0.26894142, 0.31122967, 1.76159416});
  expect_close(run("sigmoid", {floats({-1000, 0, 1000})}), {0, 0.5, 1});
  EXPECT_EQ(run("relu", {floats({-1, 0, 2})}), (std::vector<double>{0, 0, 2}));
  EXPECT_TRUE(std::isnan(run("relu", {floats({std::nan("")})})[0]));
  EXPECT_EQ(run("sign", {floats({-3, 0, 2})}), (std::vector<double>{-1, 0, 1}));
  EXPECT_EQ(run("sign", {floats({std::nan("")})}), (std::vector<double>{0}));
}

TEST(ops, integer_arithmetic) {
  const HostTensor a = ints({7, -7, 7, -7, 5}), b = ints({2, 2, -2, -2, 0});
  EXPECT_EQ(run("div", {a, b}), (std::vector<double>{3, -3, -3, 3, 0}));
  EXPECT_EQ(run("fmod", {a, b}), (std::vector<double>{1, -1, 1, -1, 0}));
  EXPECT_EQ(run("fmod", {floats({7.5, -7.5}), floats({2, 2})}), (std::vector<double>{1.5, -1.5}));
  const std::int64_t least = std::numeric_limits<std::int32_t>::min(), most = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(run("div", {ints({least}), ints({-1})}), (std::vector<double>{static_cast<double>(least)}));
  EXPECT_EQ(run("add", {ints({most}), ints({1})}), (std::vector<double>{static_cast<double>(least)}));
  EXPECT_EQ(run("sub", {ints({0}, DType::uint32), ints({1}, DType::uint32)}), (std::vector<double>{4294967295.0}));
  EXPECT_EQ(run("greater", {ints({-1}, DType::uint64), ints({1}, DType::uint64)}), (std::vector<double>{1}));
  EXPECT_EQ(run("div", {ints({-2}, DType::uint64), ints({2}, DType::uint64)}), (std::vector<double>{9223372036854775807.0}));
  EXPECT_EQ(run("increment_mod", {ints({0, 3, 4})}, {{"increment", 1.0}, {"modulus", 4.0}}), (std::vector<double>{1, 0, 1}));
  expect_rejected("different-types", "add", {ints({1}), floats({1})});
  expect_rejected("shapes-do-not-broadcast", "add", {floats({1, 2, 3}), floats({1, 2})});
}

TEST(ops, powers) {
  expect_close(run("pow", {floats({2, 9, -3}), floats({10, 0.5, 3})}), {1024, 3, -27}, 0);
  EXPECT_EQ(run("pow", {floats({2, 3}), ints({-1, 2})}), (std::vector<double>{0.5, 9}));
  EXPECT_EQ(evaluate(row_of(op_kind("pow")), {floats({2}), ints({2})}, {})[0].dtype(), DType::float32);
}

TEST(ops, casts_truncate_and_round) {
  EXPECT_EQ(run("cast", {floats({-1.9, 1.9, 0.5})}, {{"data_type", DType::int32}}), (std::vector<double>{-1, 1, 0}));
  EXPECT_EQ(run("cast", {floats({0, 0.25, -3})}, {{"data_type", DType::boolean}}), (std::vector<double>{0, 1, 1}));
  // Halfway between 1 and the next half: to even.
  EXPECT_EQ(run("cast", {floats({1 + 0x1p-11, 1 + 3 * 0x1p-11})}, {{"data_type", DType::float16}}), (std::vector<double>{1, 1 + 0x1p-9}));
  expect_rejected("cast-to-float8", "cast", {floats({1})}, {{"data_type", DType::float8_143}}, ModelError::Class::type);
  // The ends of 64 bits, which no double has.
  const HostTensor ends = floats({1e30, -1e30, kInf, -1});
  const HostTensor wide = ends.converted(DType::int64), natural = ends.converted(DType::uint64);
  EXPECT_EQ(wide.integer(0), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(wide.integer(1), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(static_cast<std::uint64_t>(natural.integer(2)), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(natural.integer(3), 0);
  // Halfway between floats but for the last bit, which a double does not hold.
  const HostTensor beside = HostTensor::of_ints(DType::int64, {1}, std::vector<std::int64_t>{(1ll << 62) + (1ll << 38) + 1});
  EXPECT_EQ(beside.converted(DType::float32).number(0), 0x1.000002p62);
  // Both parts of complex numbers; a real part becomes one, and is what is left of one.
  HostTensor complex(DType::complex64, {1});
  const float parts[] = {1.5f, -2.5f};
  std::memcpy(complex.writable(), parts, sizeof parts);
  double widened[2];
  std::memcpy(widened, complex.converted(DType::complex128).data(), sizeof widened);
  EXPECT_EQ(widened[0], 1.5);
  EXPECT_EQ(widened[1], -2.5);
  EXPECT_EQ(complex.converted(DType::int32).integer(0), 1);
  EXPECT_EQ(HostTensor::of_ints(DType::int32, {1}, std::vector<std::int64_t>{7}).converted(DType::complex64).number(0), 7);
  // What is too great saturates where that is asked for, infinities too.
  EXPECT_EQ(float8_from_float(DType::float8_143, 1e9f, false), 0x7f);
  EXPECT_EQ(float8_from_float(DType::float8_152, -std::numeric_limits<float>::infinity(), false), 0xff);
  EXPECT_EQ(float8_from_float(DType::float8_152, -std::numeric_limits<float>::infinity(), true), 0x80);
}

// All 256 codes by the definition of the format: sign, exponent with bias, fraction; the code of negative zero is NaN.
TEST(ops, float8_codes) {
  for (const auto& [format, mantissa, bias] : {std::tuple{DType::float8_143, 3, 8}, {DType::float8_152, 2, 16}}) {
    HostTensor codes(format, {256});
    for (int c = 0; c < 256; ++c) codes.writable()[c] = static_cast<std::byte>(c);
    const HostTensor scale = HostTensor::of_ints(DType::int32, {}, std::vector<std::int64_t>{2});
    const HostTensor values = evaluate(row_of(op_kind("pow2scale_cast_from_fp8")), {codes, scale}, {{"data_type", DType::float32}})[0];
    for (int c = 0; c < 256; ++c) {
      const int exponent = c >> mantissa & ((1 << (7 - mantissa)) - 1), fraction = c & ((1 << mantissa) - 1);
      double expected = exponent == 0 ? fraction * std::pow(2.0, 1 - bias - mantissa)
                                      : (1 + fraction * std::pow(2.0, -mantissa)) * std::pow(2.0, exponent - bias);
      if (c & 0x80) expected = -expected;
      if (c == 0x80) {
        EXPECT_TRUE(std::isnan(values.number(c)));
      } else {
        EXPECT_EQ(values.number(c), 4 * expected) << c;
      }
    }
    const HostTensor back_scale = HostTensor::of_ints(DType::int32, {}, std::vector<std::int64_t>{-2});
    const HostTensor back = evaluate(row_of(op_kind("pow2scale_cast_to_fp8")), {values, back_scale}, {{"data_type", format}})[0];
    for (int c = 0; c < 256; ++c) EXPECT_EQ(static_cast<int>(back.data()[c]), c);
    const double largest = format == DType::float8_143 ? 240 : 57344;
    const HostTensor outside = floats({largest * 2, -largest * 2, kInf, largest * (1 + 0x1p-8)});
    const HostTensor zero = HostTensor::of_ints(DType::int32, {}, std::vector<std::int64_t>{0});
    const std::vector<double> cast = run("pow2scale_cast_to_fp8", {outside, zero}, {{"data_type", format}});
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(cast[static_cast<std::size_t>(i)]));
    EXPECT_EQ(cast[3], largest);
  }
  const HostTensor one = HostTensor::filled(DType::float32, {}, 1);
  expect_rejected("log2-scale-type", "pow2scale_cast_to_fp8", {floats({1}), one}, {{"data_type", DType::float8_143}},
                  ModelError::Class::type);
  expect_rejected("log2-scale-shape", "pow2scale_cast_to_fp8", {floats({1}), ints({1, 2})}, {{"data_type", DType::float8_143}},
                  ModelError::Class::value);
  expect_rejected("log2-scale-range", "pow2scale_cast_to_fp8", {floats({1}), ints({32})}, {{"data_type", DType::float8_143}},
                  ModelError::Class::runtime);
  expect_rejected("cast-to-float8", "pow2scale_cast_to_fp8", {floats({1}), ints({1})}, {{"data_type", DType::float16}},
                  ModelError::Class::type);
}

TEST(ops, reductions) {
  const HostTensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto reduce = [&](std::string_view name, Ints axes, bool keep = false) {
    return run(name, {x}, {{"axis", axes}, {"keepdims", keep}});
  };
  EXPECT_EQ(reduce("sum", {0}), (std::vector<double>{5, 7, 9}));
  EXPECT_EQ(reduce("mean", {1}), (std::vector<double>{2, 5}));
  EXPECT_EQ(reduce("prod", {0, 1}), (std::vector<double>{720}));
  EXPECT_EQ(reduce("sumsquare", {1}), (std::vector<double>{14, 77}));
  EXPECT_EQ(reduce("l1", {1}), (std::vector<double>{6, 15}));
  expect_close(reduce("l2", {1}), {3.7416574, 8.7749644}, 1e-6);
  expect_close(reduce("logsum", {1}), {1.7917595, 2.7080502}, 1e-6);
  expect_close(reduce("logsumexp", {1}), {3.4076060, 6.4076060}, 1e-6);
  expect_close(run("logsumexp", {floats({1000, 1000})}, {{"axis", Ints{0}}}), {1000.6931472}, 1e-4);
  EXPECT_EQ(evaluate(row_of(op_kind("sum")), {x}, {{"axis", Ints{0}}, {"keepdims", true}})[0].shape(), (Shape{1, 3}));
  expect_rejected("axis-range", "sum", {x}, {{"axis", Ints{2}}});
  expect_rejected("axis-twice", "sum", {x}, {{"axis", Ints{1, 1}}});
  expect_rejected("axis-negative", "sum", {x}, {{"axis", Ints{-1}}});
}

TEST(ops, reductions_of_nothing) {
  const HostTensor x(DType::float32, {2, 0});
  EXPECT_EQ(run("sum", {x}, {{"axis", Ints{1}}}), (std::vector<double>{0, 0}));
  EXPECT_EQ(run("prod", {x}, {{"axis", Ints{1}}}), (std::vector<double>{1, 1}));
  EXPECT_EQ(run("logsumexp", {x}, {{"axis", Ints{1}}}), (std::vector<double>{-kInf, -kInf}));
  EXPECT_EQ(run("max", {x}, {{"axis", Ints{0}}}), (std::vector<double>{}));
  for (const char* name : {"max", "min", "median"}) expect_rejected("reduction-empty", name, {x}, {{"axis", Ints{1}}});
  for (const char* name : {"argmax", "argmin"}) expect_rejected("reduction-empty", name, {x}, {{"dim", std::int64_t{1}}});
}

TEST(ops, costs_count_what_is_done) {
  const auto cost = [](std::string_view name, const Shape& shape, const Attributes& attributes) {
    Module module;
    const std::vector<TypeId> types{module.type(tensor_type(DType::float32, shape))};
    Inference in(module, row_of(op_kind(name)), types, attributes, {}, false);
    in.row().infer(in);
    return in.row().cost(in);
  };
  const Cost sum = cost("sum", {10, 3}, {{"axis", Ints{0}}}),
             part = cost("split", {10, 3}, {{"splits", Ints{4, 6}}, {"axis", std::int64_t{0}}});
  EXPECT_EQ(sum.operations, 30);
  EXPECT_EQ(sum.bytes_read, 120);
  EXPECT_EQ(sum.bytes_written, 12);
  EXPECT_EQ(part.operations, 0);
  EXPECT_EQ(part.bytes_written, 120);
  EXPECT_EQ(cost("reshape", {10, 3}, {{"shape", Ints{30}}}).bytes_written, 0);
}

TEST(ops, median_is_the_lower_middle_and_says_where) {
  const HostTensor x = floats({2, 4}, {4, 1, 3, 2, 5, 5, 0, 5});
  EXPECT_EQ(run("median", {x}, {{"axis", Ints{1}}}, 0), (std::vector<double>{2, 5}));
  EXPECT_EQ(run("median", {x}, {{"axis", Ints{1}}}, 1), (std::vector<double>{3, 0}));
  EXPECT_EQ(run("median", {x}, {{"axis", Ints{0, 1}}}, 0), (std::vector<double>{3}));
  EXPECT_EQ(run("median", {x}, {{"axis", Ints{0, 1}}}, 1), (std::vector<double>{2}));
}

TEST(ops, extremes_and_their_ties) {
  const HostTensor x = floats({1, 5, 2, 5, 1});
  EXPECT_EQ(run("argmax", {x}, {{"dim", std::int64_t{0}}}), (std::vector<double>{1}));
  EXPECT_EQ(run("argmin", {x}, {{"dim", std::int64_t{0}}}), (std::vector<double>{0}));
  Attributes a{{"k", std::int64_t{3}}, {"axis", std::int64_t{0}}, {"largest", true}, {"sorted", true}};
  EXPECT_EQ(run("topk", {x}, a, 0), (std::vector<double>{5, 5, 2}));
  EXPECT_EQ(run("topk", {x}, a, 1), (std::vector<double>{1, 3, 2}));
  a.set("largest", false);
  EXPECT_EQ(run("topk", {x}, a, 1), (std::vector<double>{0, 4, 2}));
  a.set("k", std::int64_t{6});
  expect_rejected("topk-k", "topk", {x}, a);
}

TEST(ops, histogram_and_cumsum) {
  const HostTensor x = floats({-1, 0.5, 2, -2, 0, 1, 5});
  EXPECT_EQ(run("histogram", {x}, {{"levels", Floats{-1, 0.5, 2}}, {"absolute_of_input", false}}), (std::vector<double>{1, 2, 2, 2}));
  EXPECT_EQ(run("histogram", {x}, {{"levels", Floats{-1, 0.5, 2}}, {"absolute_of_input", true}}), (std::vector<double>{0, 1, 3, 3}));
  expect_rejected("histogram-levels", "histogram", {x}, {{"levels", Floats{1, 1}}, {"absolute_of_input", false}}, ModelError::Class::value);
  EXPECT_EQ(run("cumsum", {floats({2, 3}, {1, 2, 3, 4, 5, 6})}, {{"dim", std::int64_t{1}}}), (std::vector<double>{1, 3, 6, 4, 9, 15}));
}

TEST(ops, shapes) {
  const HostTensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run("transpose", {x}, {{"permutation", Ints{1, 0}}}), (std::vector<double>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(run("expand", {floats({2, 1}, {1, 2})}, {{"shape", Ints{2, 2}}}), (std::vector<double>{1, 1, 2, 2}));
  EXPECT_EQ(run("subsample", {x}, {{"strides", Ints{1, 2}}}), (std::vector<double>{1, 3, 4, 6}));
  EXPECT_EQ(run("slice", {x}, {{"start", Ints{2}}, {"stop", Ints{-10}}, {"step", Ints{-1}}, {"axis", Ints{1}}}),
            (std::vector<double>{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(run("onehot", {ints({2, 0, 5}), floats({-1, 1})}, {{"num_classes", std::int64_t{3}}, {"axis", std::int64_t{0}}}),
            (std::vector<double>{-1, 1, -1, -1, -1, -1, 1, -1, -1}));
  expect_rejected("reshape-elements", "reshape", {x}, {{"shape", Ints{4}}});
  expect_rejected("reshape-shape", "reshape", {x}, {{"shape", Ints{-1, 2}}});
  expect_rejected("permutation-length", "transpose", {x}, {{"permutation", Ints{0}}});
  expect_rejected("axis-twice", "transpose", {x}, {{"permutation", Ints{0, 0}}});
  expect_rejected("squeeze-extent", "squeeze", {x}, {{"axes", Ints{0}}});
  expect_rejected("concat-shapes", "concat", {x, floats({1})}, {{"axis", std::int64_t{0}}});
  expect_rejected("concat-shapes", "concat", {x, x, floats({2, 2}, {1, 2, 3, 4})}, {{"axis", std::int64_t{0}}});
  expect_rejected("different-types", "concat", {x, x.converted(DType::float16)}, {{"axis", std::int64_t{0}}});
  expect_rejected("split-lengths", "split", {x}, {{"splits", Ints{1, 1}}, {"axis", std::int64_t{1}}});
  expect_rejected("expand-shape", "expand", {x}, {{"shape", Ints{3}}});
  expect_rejected("slice-step", "slice", {x}, {{"start", Ints{0}}, {"stop", Ints{2}}, {"step", Ints{2}}, {"axis", Ints{1}}});
  expect_rejected("slice-lengths", "slice", {x}, {{"start", Ints{0}}, {"stop", Ints{2}}, {"step", Ints{}}, {"axis", Ints{1}}});
  expect_rejected("slice-piece", "slice_assign", {x, x}, {{"start", Ints{0}}, {"stop", Ints{2}}, {"step", Ints{1}}, {"axis", Ints{1}}});
  expect_rejected("subsample-strides", "subsample", {x}, {{"strides", Ints{2}}});
  expect_rejected("onehot-values", "onehot", {ints({1}), floats({1})}, {{"num_classes", std::int64_t{3}}, {"axis", std::int64_t{0}}});
}

TEST(ops, gathers_and_scatters) {
  const HostTensor x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const Attributes first{{"axis", std::int64_t{0}}};
  EXPECT_EQ(run("gather", {x, ints({2, 0})}, first), (std::vector<double>{5, 6, 1, 2}));
  EXPECT_EQ(run("gather", {x, ints({1, -1, 7})}, {{"axis", std::int64_t{0}}, {"zero_OOR", true}}), (std::vector<double>{3, 4, 0, 0, 0, 0}));
  EXPECT_EQ(run("groupedgather",
                {floats({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), HostTensor::of_ints(DType::int32, {2, 1}, std::vector<std::int64_t>{1, 0})},
                {{"axis", std::int64_t{1}}, {"group_size", std::int64_t{2}}}),
            (std::vector<double>{3, 4, 5, 6}));
  // The example of the ONNX operator ScatterElements.
  EXPECT_EQ(run("scatter",
                {floats({3, 3}, std::vector<double>(9, 0)),
                 HostTensor::of_ints(DType::int32, {2, 3}, std::vector<std::int64_t>{1, 0, 2, 0, 2, 1}),
                 floats({2, 3}, {1, 1.1, 1.2, 2, 2.1, 2.2})},
                first),
            numbers(floats({2, 1.1, 0, 1, 0, 2.2, 0, 2.1, 1.2})));
  EXPECT_EQ(run("gather_elements",
                {floats({2, 2}, {1, 2, 3, 4}), HostTensor::of_ints(DType::int32, {2, 2}, std::vector<std::int64_t>{0, 0, 1, 0})},
                {{"axis", std::int64_t{1}}}),
            (std::vector<double>{1, 1, 4, 3}));
  const auto reduce = [&](const char* how, std::vector<HostTensor> operands) {
    return run("scatter_reduce", operands, {{"reduction", std::string(how)}, {"axis", std::int64_t{0}}, {"axis_size", std::int64_t{3}}});
  };
  EXPECT_EQ(reduce("sum", {x, ints({2, 0, 2})}), (std::vector<double>{3, 4, 0, 0, 6, 8}));
  EXPECT_EQ(reduce("max", {x, ints({2, 0, 2})}), (std::vector<double>{3, 4, 0, 0, 5, 6}));
  EXPECT_EQ(reduce("min", {x, ints({2, 0, 2}), floats({3, 2}, {9, 0, 9, 9, 9, 9})}), (std::vector<double>{3, 0, 9, 9, 1, 2}));
  EXPECT_EQ(reduce("none", {x, ints({1, 0, 9}), floats({3, 2}, {9, 9, 9, 9, 8, 7})}), (std::vector<double>{3, 4, 1, 2, 8, 7}));
  expect_rejected("scatter-reduction", "scatter_reduce", {x, ints({2, 0, 2})},
                  {{"reduction", std::string("mul")}, {"axis", std::int64_t{0}}});
  expect_rejected("scatter-size", "scatter_reduce", {x, ints({2, 0, 2})}, {{"reduction", std::string("sum")}, {"axis", std::int64_t{0}}});
  expect_rejected("scatter-indices", "scatter_reduce", {x, ints({2, 0})},
                  {{"reduction", std::string("sum")}, {"axis", std::int64_t{0}}, {"axis_size", std::int64_t{3}}});
  expect_rejected("group-axis", "groupedgather", {x, ints({2, 0, 1})}, {{"axis", std::int64_t{0}}, {"group_size", std::int64_t{3}}});
  expect_rejected("group-size", "groupedgather", {x, ints({2, 0, 1})}, {{"axis", std::int64_t{1}}, {"group_size", std::int64_t{2}}});
}

TEST(ops, dynamic_slices_wrap_around) {
  const HostTensor x = floats({0, 1, 2, 3, 4});
  const Attributes a{{"axes", Ints{0}}, {"sizes", Ints{2}}, {"no_overlap", true}};
  EXPECT_EQ(run("dynamic_slice", {x, ints({3})}, a), (std::vector<double>{3, 4}));
  EXPECT_EQ(run("dynamic_slice", {x, ints({4}, DType::uint32)}, a), (std::vector<double>{4, 0}));
  EXPECT_EQ(run("dynamic_update", {x, ints({4}), floats({8, 9})}, a), (std::vector<double>{9, 1, 2, 3, 8}));
  expect_rejected("slice-size", "dynamic_slice", {x, ints({0})}, {{"axes", Ints{0}}, {"sizes", Ints{6}}});
  expect_rejected("slice-index", "dynamic_slice", {x, ints({0, 1})}, a);
  expect_rejected("slice-piece", "dynamic_update", {x, ints({0}), x}, a);
}

TEST(ops, scaled_add_takes_numbers_and_tensors) {
  const HostTensor x = floats({1, 2}), y = floats({10, 20}), three = HostTensor::filled(DType::float32, {}, 3);
  EXPECT_EQ(run("scaled_add", {x, y}, {{"a", 2.0}, {"b", 0.5}}), (std::vector<double>{7, 14}));
  EXPECT_EQ(run("scaled_add", {x, y, three}, {{"a", 2.0}, {"scalars", Strings{"b"}}}), (std::vector<double>{32, 64}));
  EXPECT_EQ(run("scaled_add", {x, y}), (std::vector<double>{11, 22}));
  expect_rejected("scalar-count", "scaled_add", {x, y, three});
  expect_rejected("scalar-shape", "scaled_add", {x, y, x}, {{"scalars", Strings{"b"}}});
  expect_rejected("different-shapes", "scaled_add", {x, three});
}

}  // namespace
}  // namespace pando::ir
