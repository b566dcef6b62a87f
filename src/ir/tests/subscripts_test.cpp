// Subscripts of every row against its meaning: on its samples the op runs in parts along each subscript, and the parts' results are put
// together as the rule says.
#include "ir/rows/subscripts.h"

#include "ir/op_table.h"
#include "ir/semantics/infer.h"
#include "ir/semantics/samples.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <set>

namespace pando::ir {
namespace {

constexpr std::uint64_t kSeed = 7;

// The one op of a sample, in a module of its own.
struct Use {
  Module module;
  OpId op;
  Use(const OpRow& row, const Sample& sample, const std::vector<HostTensor>& data) {
    const GraphId graph = module.add_graph("main");
    std::vector<ValueId> operands;
    for (const HostTensor& t : data) operands.push_back(module.add_input(graph, tensor_type(t.dtype(), t.shape()), "t"));
    op = infer_and_add(module, graph, row.name, operands, sample.attributes, {}, sample.in_place);
  }
};

const Subscripts::At* find(const std::vector<Subscripts::At>& list, std::uint8_t subscript) {
  for (const Subscripts::At& at : list) {
    if (at.subscript == subscript) return &at;
  }
  return nullptr;
}

std::int64_t outer_of(const Subscripts::At& at) { return at.outer >= 0 ? at.outer : 1; }

// Position in the whole of element i of part k of n.
std::int64_t position(const Shape& whole, const Subscripts::At& at, std::int64_t k, std::int64_t n, std::int64_t i) {
  const auto dim = static_cast<std::size_t>(at.dim);
  std::int64_t inner = 1, before = i;
  for (std::size_t d = dim + 1; d < whole.size(); ++d) inner *= whole[d];
  const std::int64_t rest = whole[dim] / outer_of(at), mine = rest / n;  // dimension (outer, rest): the rest is cut
  const std::int64_t in = before % inner;
  before /= inner;
  const std::int64_t r = before % mine;
  before /= mine;
  const std::int64_t o = before % outer_of(at), left = before / outer_of(at);
  return ((left * outer_of(at) + o) * rest + k * mine + r) * inner + in;
}

Shape part_shape(Shape whole, const Subscripts::At& at, std::int64_t n) {
  whole[static_cast<std::size_t>(at.dim)] /= n;
  return whole;
}

HostTensor part_of(const HostTensor& whole, const Subscripts::At& at, std::int64_t k, std::int64_t n) {
  HostTensor part(whole.dtype(), part_shape(whole.shape(), at, n));
  for (std::int64_t i = 0; i < part.elements(); ++i) {
    const std::int64_t from = position(whole.shape(), at, k, n, i);
    if (is_integer(whole.dtype())) {
      part.set_integer(i, whole.integer(from));
    } else {
      part.set(i, whole.number(from));
    }
  }
  return part;
}

double tolerance_of(DType t) { return t == DType::float64 ? 1e-12 : t == DType::float32 ? 2e-6 : is_floating(t) ? 4e-3 : 0; }

void expect_same(const std::vector<double>& found, const HostTensor& want, const std::string& what) {
  ASSERT_EQ(static_cast<std::int64_t>(found.size()), want.elements()) << what;
  double most = 1;
  for (std::int64_t i = 0; i < want.elements(); ++i) {
    if (std::isfinite(want.number(i))) most = std::max(most, std::abs(want.number(i)));
  }
  for (std::int64_t i = 0; i < want.elements(); ++i) {
    const double a = found[static_cast<std::size_t>(i)], b = want.number(i);
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a == b) continue;
    ASSERT_NEAR(a, b, tolerance_of(want.dtype()) * most) << what << ", element " << i;
  }
}

// The least number of parts that a subscript can be cut into; none: it cannot.
std::optional<std::int64_t> parts_along(const Subscripts& s, std::uint8_t subscript, const std::vector<HostTensor>& operands,
                                        const std::vector<HostTensor>& results) {
  for (std::int64_t n = 2; n <= 6; ++n) {
    bool divides = true;
    const auto look = [&](const auto& lists, const std::vector<HostTensor>& tensors) {
      for (std::size_t i = 0; i < lists.size(); ++i) {
        const Subscripts::At* at = find(lists[i], subscript);
        if (at) divides = divides && tensors[i].shape()[static_cast<std::size_t>(at->dim)] / outer_of(*at) % n == 0;
      }
    };
    look(s.operands, operands);
    look(s.results, results);
    if (divides) return n;
  }
  return std::nullopt;
}

// As a distributed program has them.
Attributes local_attributes(const Sample& sample, const Subscripts& s, std::uint8_t subscript, const std::vector<HostTensor>& results,
                            std::int64_t n) {
  Attributes a = sample.attributes;
  const Subscripts::At* at = find(s.results[0], subscript);
  if (a.has("shape")) a.set("shape", Ints(at ? part_shape(results[0].shape(), *at, n) : results[0].shape()));
  return a;
}

void run_in_parts(const OpRow& row, const Sample& sample, const Subscripts& s, std::uint8_t subscript, std::int64_t n,
                  const std::vector<HostTensor>& operands, const std::vector<HostTensor>& whole_tensors) {
  std::vector<std::vector<double>> found(whole_tensors.size());
  for (std::size_t r = 0; r < whole_tensors.size(); ++r) found[r].assign(static_cast<std::size_t>(whole_tensors[r].elements()), 0);
  for (std::int64_t k = 0; k < n; ++k) {
    std::vector<HostTensor> parts;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Subscripts::At* at = find(s.operands[i], subscript);
      parts.push_back(at ? part_of(operands[i], *at, k, n) : operands[i]);
    }
    const std::vector<HostTensor> results = evaluate(row, parts, local_attributes(sample, s, subscript, whole_tensors, n), sample.in_place);
    for (std::size_t r = 0; r < results.size(); ++r) {
      const Subscripts::At* at = find(s.results[r], subscript);
      for (std::int64_t i = 0; i < results[r].elements(); ++i) {
        const std::int64_t to = at ? position(whole_tensors[r].shape(), *at, k, n, i) : i;
        double& x = found[r][static_cast<std::size_t>(to)];
        x = at || s.is_alike(r) ? results[r].number(i) : x + results[r].number(i);
      }
    }
  }
  for (std::size_t r = 0; r < whole_tensors.size(); ++r) {
    expect_same(found[r], whole_tensors[r], fmt::format("{}: result {} of {} parts along subscript {}", row.name, r, n, subscript));
  }
}

template <class F>
void for_each_use(F f) {
  for (const OpRow* row : op_table()) {
    if (!row->samples || !row->reference) continue;
    for (const Sample& sample : row->samples()) {
      const std::vector<HostTensor> data = sample_data(sample, kSeed);
      const Use use(*row, sample, data);
      const Subscripts s = subscripts_of(use.module, use.op);
      if (s.whole.empty()) f(*row, sample, s, data, evaluate(*row, data, sample.attributes, sample.in_place));
    }
  }
}

TEST(subscripts, parts_make_the_whole) {
  std::set<std::string_view> ruled, run;
  for_each_use([&](const OpRow& row, const Sample& sample, const Subscripts& s, const std::vector<HostTensor>& data,
                   const std::vector<HostTensor>& whole_tensors) {
    std::set<std::uint8_t> subscripts;
    for (const auto* lists : {&s.operands, &s.results}) {
      for (const auto& list : *lists) {
        for (const Subscripts::At& at : list) subscripts.insert(at.subscript);
      }
    }
    for (std::uint8_t subscript : subscripts) {
      if (s.is_blocked(subscript)) continue;
      ruled.insert(row.name);
      const auto n = parts_along(s, subscript, data, whole_tensors);
      if (!n) continue;
      run.insert(row.name);
      run_in_parts(row, sample, s, subscript, *n, data, whole_tensors);
    }
  });
  EXPECT_EQ(ruled, run) << "an op whose samples divide along no subscript";
  EXPECT_GT(run.size(), 120u);
}

// Terms of a sum, one after the other, in the operands that `chosen` names.
void run_as_sums(const OpRow& row, const Sample& sample, const std::vector<HostTensor>& data, const std::vector<HostTensor>& whole_tensors,
                 const std::vector<bool>& chosen) {
  std::vector<HostTensor> first = data, second = data;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (!chosen[i]) continue;
    first[i] = HostTensor(data[i].dtype(), data[i].shape());
    second[i] = first[i];
    for (std::int64_t k = 0; k < data[i].elements(); ++k) {
      const double share = static_cast<double>(k % 5) / 4;
      first[i].set(k, data[i].number(k) * share);
      second[i].set(k, data[i].number(k) * (1 - share));
    }
  }
  const auto a = evaluate(row, first, sample.attributes, sample.in_place), b = evaluate(row, second, sample.attributes, sample.in_place);
  for (std::size_t r = 0; r < whole_tensors.size(); ++r) {
    std::vector<double> sum;
    for (std::int64_t i = 0; i < whole_tensors[r].elements(); ++i) sum.push_back(a[r].number(i) + b[r].number(i));
    expect_same(sum, whole_tensors[r], fmt::format("{}: result {} of terms of a sum", row.name, r));
  }
}

TEST(subscripts, sums_go_through) {
  std::set<std::string_view> run;
  for_each_use([&](const OpRow& row, const Sample& sample, const Subscripts& s, const std::vector<HostTensor>& data,
                   const std::vector<HostTensor>& whole_tensors) {
    std::vector<bool> floats;
    for (const HostTensor& t : data) floats.push_back(t.dtype() == DType::float32 || t.dtype() == DType::float64);
    if (s.sums == Subscripts::Sums::none || data.empty() || !floats[0]) return;
    run.insert(row.name);
    std::vector<bool> chosen(data.size(), false);
    switch (s.sums) {
      case Subscripts::Sums::none: return;
      case Subscripts::Sums::every: return run_as_sums(row, sample, data, whole_tensors, floats);
      case Subscripts::Sums::first: chosen[0] = true; return run_as_sums(row, sample, data, whole_tensors, chosen);
      case Subscripts::Sums::any_one:
        for (std::size_t i = 0; i < data.size(); ++i) {
          chosen.assign(data.size(), false);
          chosen[i] = floats[i];
          if (floats[i]) run_as_sums(row, sample, data, whole_tensors, chosen);
        }
    }
  });
  EXPECT_GT(run.size(), 18u);
}

TEST(subscripts, who_has_none_says_why) {
  std::size_t whole = 0;
  for (const OpRow* row : op_table()) {
    const bool ruled = row->subscripts != nullptr || row->elementwise;
    EXPECT_EQ(ruled, row->whole.empty()) << row->name;
    whole += !ruled;
  }
  EXPECT_LT(whole, 45u);
}

}  // namespace
}  // namespace pando::ir
