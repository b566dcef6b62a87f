#include "transform/distribute/checks/equality.h"

#include "transform/distribute/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

namespace pando::transform {

namespace {

using ir::HostStreamId;
using ir::HostTensor;
using ir::Module;
using ir::StateId;

HostTensor made(ir::DType dtype, const ir::Shape& shape, bool positive, std::mt19937_64& random) {
  HostTensor x(dtype, shape);
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const auto r = static_cast<std::int64_t>(random() % 1000);
    if (ir::is_integer(dtype)) {
      // Of one element: a count, which is divided by. Otherwise a row of a table or a class, of which there are two at least.
      x.set_integer(i, shape.empty() ? 2 : r % 2);
    } else {
      x.set(i, positive ? static_cast<double>(r + 1) / 1000 : static_cast<double>(r - 500) / 700);
    }
  }
  return x;
}

// What the sequential program is given.
struct Given {
  std::vector<HostTensor> inputs;
  std::map<std::uint32_t, HostTensor> streams;
};

Given data_for(const Program& program, std::uint64_t seed) {
  const Module& m = program.module;
  const ir::Graph& main = m.graph(m.main_graph());
  std::mt19937_64 random(seed);
  std::vector<bool> forward(m.value_count(), false);
  for (ir::OpId o : main.ops) {
    for (ir::ValueId v : m.operands(o)) forward[v.index()] = forward[v.index()] || program.phase_of(o) == Phase::forward;
  }
  Given g;
  for (std::size_t i = 0; i < main.inputs.size(); ++i) {
    const ir::ValueId v = main.inputs[i];
    // States of an optimizer may be under a root.
    const bool positive = main.updated_inputs[i] != v && !forward[v.index()];
    g.inputs.push_back(made(m.type_of(v).dtype, m.type_of(v).shape, positive, random));
  }
  for (std::uint32_t s = 0; s < m.state_count(); ++s) {
    const ir::State& state = m.state(StateId(s));
    if (state.input && state.data.valid() && m.blob(state.data).shape() == m.type(state.type).shape) {
      g.inputs[*state.input] = m.blob(state.data);
    }
  }
  for (std::uint32_t s = 0; s < m.stream_count(); ++s) {
    const ir::HostStream& stream = m.stream(HostStreamId(s));
    if (stream.direction == ir::HostStream::Direction::host_to_device) {
      g.streams.emplace(s, made(stream.dtype, stream.shape, false, random));
    }
  }
  return g;
}

HostTensor with_leading(const HostTensor& t, std::initializer_list<std::int64_t> lead) {
  ir::Shape shape(lead);
  shape.insert(shape.end(), t.shape().begin(), t.shape().end());
  return t.reshaped(shape);
}

// Every device's stream with its parts, one load behind the other.
std::map<std::uint32_t, HostTensor> stream_parts(const Distributed& d, const std::map<std::uint32_t, HostTensor>& whole_tensors) {
  std::map<std::uint32_t, std::int64_t> loads;
  for (const Piece& p : d.streams) loads[p.part] = std::max(loads[p.part], std::int64_t{p.load} + 1);
  std::map<std::uint32_t, HostTensor> all;
  for (const Piece& p : d.streams) {
    const ir::HostStream& stream = d.module.stream(HostStreamId(p.part));
    ir::Shape shape = stream.shape;
    shape.insert(shape.begin(), {loads[p.part], 1});
    HostTensor& to = all.try_emplace(p.part, stream.dtype, shape).first->second;
    ir::Shape start(shape.size(), 0);
    start[0] = p.load;
    put_part(to, with_leading(part_of(whole_tensors.at(p.whole), p.start, stream.shape), {1, 1}), start);
  }
  return all;
}

class Comparison {
 public:
  Comparison(const Program& program, const Distributed& d, std::uint64_t seed)
      : m_(program.module), main_(m_.graph(m_.main_graph())), d_(d), given_(data_for(program, seed)), whole_(m_), parts_(d.module) {}

  Equality run() {
    const std::vector<ir::HostValue> expected = run_whole(), found = run_parts();
    outputs(expected, found);
    updated_inputs(expected, found);
    stores();
    return e_;
  }

 private:
  std::vector<ir::HostValue> run_whole() {
    for (const auto& [s, t] : given_.streams) whole_.set_input(HostStreamId(s), with_leading(t, {1, 1}));
    std::vector<ir::HostValue> inputs;
    for (const HostTensor& t : given_.inputs) inputs.push_back({t, {}});
    return whole_.run_graph(m_.main_graph(), inputs);
  }

  std::vector<ir::HostValue> run_parts() {
    for (auto& [s, t] : stream_parts(d_, given_.streams)) parts_.set_input(HostStreamId(s), t);
    for (const Piece& p : d_.remote) {
      parts_.set_state(StateId(p.part), 0,
                       part_of(given_.inputs[p.whole], p.start, d_.module.type(d_.module.state(StateId(p.part)).type).shape));
    }
    return parts_.run_graph(d_.module.main_graph(), cut_inputs(d_, given_.inputs));
  }

  void outputs(const std::vector<ir::HostValue>& expected, const std::vector<ir::HostValue>& found) {
    for (std::uint32_t i = 0; i < main_.outputs.size(); ++i) {
      note("output " + m_.name_of(main_.outputs[i]), expected[i].tensor, join(d_.outputs, i, m_.type_of(main_.outputs[i]), found));
    }
  }

  void updated_inputs(const std::vector<ir::HostValue>& expected, const std::vector<ir::HostValue>& found) {
    const std::size_t outputs = d_.module.graph(d_.module.main_graph()).outputs.size();
    std::vector<ir::HostValue> off_chip(d_.module.state_count());
    for (const Piece& p : d_.remote) off_chip[p.part].tensor = parts_.state(StateId(p.part), 0);
    for (std::uint32_t i = 0; i < main_.inputs.size(); ++i) {
      if (main_.updated_inputs[i] == main_.inputs[i]) continue;
      const bool remote = std::any_of(d_.remote.begin(), d_.remote.end(), [&](const Piece& p) { return p.whole == i; });
      const ir::Type& type = m_.type_of(main_.inputs[i]);
      const HostTensor final = remote ? join(d_.remote, i, type, off_chip) : join(d_.inputs, i, type, found, outputs);
      note("variable " + m_.name_of(main_.inputs[i]), expected[main_.outputs.size() + i].tensor, final);
    }
  }

  void stores() {
    for (std::uint32_t s = 0; s < m_.stream_count(); ++s) {
      const ir::HostStream& stream = m_.stream(HostStreamId(s));
      if (stream.direction == ir::HostStream::Direction::host_to_device) continue;
      for (std::uint32_t p = 0; p < d_.module.stream_count(); ++p) {
        if (d_.module.stream(HostStreamId(p)).name == stream.name) {
          note("stream " + stream.name, whole_.output(HostStreamId(s), 1), parts_.output(HostStreamId(p), 1));
        }
      }
    }
  }

  void note(const std::string& what, const HostTensor& a, const HostTensor& b) {
    ++e_.tensors;
    e_.elements += a.elements();
    const ir::DType dtype = a.dtype();
    e_.allowed = std::max(e_.allowed, ir::size_of(dtype) <= 2 ? 2e-2 : dtype == ir::DType::float32 ? 2e-5 : 1e-10);
    if (a == b) return;
    e_.same_bits = false;
    double largest = 1e-30, error = 0;
    for (std::int64_t i = 0; i < a.elements(); ++i) {
      largest = std::max(largest, std::fabs(a.number(i)));
      const double difference = std::fabs(a.number(i) - b.number(i));
      error = std::max(error, std::isnan(difference) ? 1e30 : difference);
    }
    if (error / largest < e_.worst) return;
    e_.worst = error / largest;
    e_.where = what;
  }

  const Module& m_;
  const ir::Graph& main_;
  const Distributed& d_;
  Given given_;
  ir::Interpreter whole_, parts_;
  Equality e_;
};

}  // namespace

Equality compare(const Program& program, const Distributed& distributed, std::uint64_t seed) {
  return Comparison(program, distributed, seed).run();
}

std::string to_text(const Equality& e) {
  const std::string what = fmt::format("{} tensors, {} elements", e.tensors, e.elements);
  if (e.same_bits) return fmt::format("bit for bit ({})", what);
  return fmt::format("{} to {:.2g} of a tensor's largest element, {:.2g} is rounding's; most in {} ({})", e.equal() ? "equal" : "NOT equal",
                     e.worst, e.allowed, e.where, what);
}

}  // namespace pando::transform
