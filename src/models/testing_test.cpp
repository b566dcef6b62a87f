#include "models/testing.h"

#include "ir/op_row.h"
#include "ir/random.h"
#include "ir/semantics/interpreter.h"
#include "pando/model_error.hpp"
#include "transform/distribute/parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

namespace pando::models::testing {

using namespace transform;

std::vector<ir::HostTensor> data_for(const Program& program, std::uint64_t seed, bool smooth) {
  const ir::Module& m = program.module;
  std::vector<ir::HostTensor> all;
  std::mt19937_64 random(seed);
  for (ir::ValueId v : m.graph(m.main_graph()).inputs) {
    const ir::Type& t = m.type_of(v);
    ir::HostTensor x(t.dtype, t.shape);
    const bool integer = ir::is_integer(t.dtype);
    // Adam's second moments, its count of steps.
    const bool is_positive = m.name_of(v).ends_with(".v") || m.name_of(v) == "step";
    for (std::int64_t i = 0; i < x.elements(); ++i) {
      const auto r = static_cast<std::int64_t>(random() % 1000);
      if (integer) {
        x.set_integer(i, t.shape.empty() ? 2 : r % 5);
      } else {
        const double any = smooth ? static_cast<double>(r - 500) / 700 : static_cast<double>(r % 3 - 1);
        x.set(i, is_positive ? std::fabs(any) + 1 : any);
      }
    }
    all.push_back(std::move(x));
  }
  return all;
}

namespace {

std::string compare(const std::string& what, const ir::HostTensor& a, const ir::HostTensor& b, double tolerance) {
  if (tolerance == 0) return a == b ? "" : what + ": other bits\n";
  double largest = 1e-30, error = 0;
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    largest = std::max(largest, std::fabs(a.number(i)));
    const double d = std::fabs(a.number(i) - b.number(i));
    error = std::max(error, std::isnan(d) ? 1e30 : d);
  }
  return error <= tolerance * largest ? "" : fmt::format("{}: off by {} of {}\n", what, error, largest);
}

}  // namespace

std::string difference(const Program& program, const Strategy& strategy, double tolerance, std::uint64_t seed, bool smooth) {
  Distributed d;
  try {
    d = parallelise(program, strategy);
  } catch (const ModelError& e) { return e.what(); }
  const std::vector<ir::HostTensor> data = data_for(program, seed, smooth);
  const ir::Module& m = program.module;
  const ir::Graph& main = m.graph(m.main_graph());
  std::vector<ir::HostValue> inputs;
  for (const ir::HostTensor& t : data) inputs.push_back({t, {}});
  const auto expected = ir::Interpreter(m).run_graph(m.main_graph(), inputs);
  ir::Interpreter parts(d.module);
  const auto state_of = [](const Piece& p) { return ir::StateId(p.part); };
  for (const Piece& p : d.remote) {
    parts.set_state(state_of(p), 0, part_of(data[p.whole], p.start, d.module.type(d.module.state(state_of(p)).type).shape));
  }
  const auto found = parts.run_graph(d.module.main_graph(), cut_inputs(d, data));
  std::vector<ir::HostValue> off_chip(d.module.state_count());
  for (const Piece& p : d.remote) off_chip[p.part].tensor = parts.state(state_of(p), 0);
  std::string text;
  for (std::uint32_t i = 0; i < main.outputs.size(); ++i) {
    text += compare("output " + m.name_of(main.outputs[i]), expected[i].tensor, join(d.outputs, i, m.type_of(main.outputs[i]), found),
                    tolerance);
  }
  const std::size_t outputs = d.module.graph(d.module.main_graph()).outputs.size();
  for (std::uint32_t i = 0; i < main.inputs.size(); ++i) {
    const bool remote = std::any_of(d.remote.begin(), d.remote.end(), [&](const Piece& p) { return p.whole == i; });
    const ir::Type& type = m.type_of(main.inputs[i]);
    const ir::HostTensor final = remote ? join(d.remote, i, type, off_chip) : join(d.inputs, i, type, found, outputs);
    text += compare("final " + m.name_of(main.inputs[i]), expected[main.outputs.size() + i].tensor, final, tolerance);
  }
  return text;
}

std::string histogram(const ir::Module& m) {
  std::map<std::string, int> count;
  for (ir::OpId o : m.graph(m.main_graph()).ops) ++count[std::string(m.row(o).name)];
  std::string text;
  for (const auto& [name, n] : count) {
    if (name != "make_tuple" && name != "get_element") text += fmt::format("{}{}:{}", text.empty() ? "" : " ", name, n);
  }
  return text;
}

int count(const ir::Module& m, std::string_view name) {
  int n = 0;
  for (ir::OpId o : m.graph(m.main_graph()).ops) n += m.row(o).name == name;
  return n;
}

double farthest(const std::vector<ir::HostValue>& a, const std::vector<ir::HostValue>& b) {
  double most = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    for (std::int64_t k = 0; k < a[i].tensor.elements(); ++k)
      most = std::max(most, std::fabs(a[i].tensor.number(k) - b[i].tensor.number(k)));
  }
  return most;
}

}  // namespace pando::models::testing
