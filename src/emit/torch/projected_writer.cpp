#include "emit/torch/projected_writer.h"

#include "base/check.h"
#include "emit/torch/function_writer.h"
#include "emit/torch/python_text.h"
#include "ir/op_row.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace pando::emit {

using namespace ir;
using namespace pando::project;

namespace {

// "t", "t - 2", "t + 1".
std::string shifted(const std::string& t, std::int64_t by) {
  return by == 0 ? t : by > 0 ? fmt::format("{} + {}", t, by) : fmt::format("{} - {}", t, -by);
}

class ProjectedWriter {
 public:
  ProjectedWriter(const ProjectedProgram& p, const DeviceProgram& d, std::int64_t samples, bool canonical)
      : p_(p), d_(d), samples_(samples), program_(*p.module, d.device, canonical), taken_(program_.reserved()) {}

  ProgramText write() {
    for (std::uint32_t b = 0; b < d_.buffers.size(); ++b) add_buffer(b);
    std::string body;
    for (const Action& a : d_.before) action(a, body, 4);
    if (p_.policy.kind == PolicyKind::flush) {
      body += fmt::format("    for w in range(samples // {}):\n", p_.policy.window);
      loop(body, 8, std::to_string(p_.policy.window));
      for (const Action& a : d_.update) action(a, body, 8);
    } else {
      loop(body, 4, "samples");
    }
    for (const std::string& line : ends_) body += "    " + line + "\n";
    for (const auto& [stream, blocks] : host_blocks_) body += fmt::format("    rank.end_blocks({}, {})\n", py_text(stream), blocks);
    ProgramText& text = program_.text();
    for (ProgramText::Load& load : text.loads) load.per_step = per_step_.at(load.name);
    text.functions += "def step(rank):\n";
    if (p_.policy.kind == PolicyKind::flush || !d_.loop.empty()) text.functions += fmt::format("    samples = {}\n", samples_);
    if (mentions(body, "var") || mentions(begins_, "var")) text.functions += "    var = rank.variables\n";
    if (mentions(body, "const")) text.functions += "    const = rank.constants\n";
    text.functions += begins_ + body;
    if (text.functions.ends_with("def step(rank):\n")) text.functions += "    pass\n";
    return std::move(text);
  }

 private:
  // --- buffers: a name each, a list where there are several copies
  void add_buffer(std::uint32_t b) {
    const Buffer& buffer = d_.buffers[b];
    std::string place;
    if (buffer.kind == BufferKind::state) {
      place = "var." + program_.variable(buffer.name, buffer.type, buffer.initial);
      if (buffer.copies == 1) return names_.push_back(place);
    }
    const std::string name = program_.canonical() ? fmt::format("n{}", names_.size()) : py_identifier(buffer.name, taken_);
    names_.push_back(name);
    if (buffer.kind == BufferKind::state) {
      // All copies begin with what it is; a step ends with the newest.
      newest_[b] = program_.canonical() ? fmt::format("w{}", b) : py_identifier("newest_" + buffer.name, taken_);
      begins_ += fmt::format("    {} = [{}] * {}\n    {} = 0\n", name, place, buffer.copies, newest_[b]);
      ends_.push_back(fmt::format("{} = {}[{}]", place, name, newest_[b]));
    } else if (buffer.copies > 1) {
      begins_ += fmt::format("    {} = [None] * {}\n", name, buffer.copies);
    } else if (buffer.kind == BufferKind::sum) {
      begins_ += fmt::format("    {} = {}\n", name, zeros(buffer));
    }
  }
  std::string zeros(const Buffer& b) const {
    const Type& t = p_.module->type(b.type);
    return fmt::format("torch.zeros({}, dtype={}, device=rank.device)", py_tuple(t.shape), py_dtype(t.dtype));
  }

  // (floor((t - shift) / every) + offset) mod copies.
  std::string index(const Slot& s) const {
    std::string text = shifted("t", -std::int64_t{s.shift});
    bool atom = s.shift == 0;
    if (s.every > 1) {
      text = fmt::format("{} // {}", atom ? text : "(" + text + ")", s.every);
      atom = false;
    }
    if (s.offset != 0) {
      text = shifted(text, s.offset);
      atom = false;
    }
    return fmt::format("{} % {}", atom ? text : "(" + text + ")", d_.buffers[s.buffer].copies);
  }
  std::string place(const Slot& s) const {
    const std::string& name = names_[s.buffer];
    return d_.buffers[s.buffer].copies > 1 ? fmt::format("{}[{}]", name, index(s)) : name;
  }

  // --- the loop
  std::string guard(const Guard& g, const std::string& n) const {
    std::vector<std::string> items;
    if (g.first > 0) items.push_back(fmt::format("t >= {}", g.first));
    if (g.end < p_.drain) items.push_back(fmt::format("t < {}", shifted(n, g.end)));
    if (g.every > 1)
      items.push_back(
          fmt::format("{} % {} == {}", g.first ? fmt::format("({})", shifted("t", -std::int64_t{g.first})) : "t", g.every, g.every - 1));
    return fmt::format("{}", fmt::join(items, " and "));
  }

  void loop(std::string& out, int indent, const std::string& n) {
    if (d_.loop.empty()) return;
    const std::string space(static_cast<std::size_t>(indent), ' ');
    out += fmt::format("{}for t in range({}):\n", space, shifted(n, p_.drain));
    std::string open;
    for (const Action& a : d_.loop) {
      const std::string when = guard(a.guard, n);
      if (!when.empty() && when != open) out += fmt::format("{}    if {}:\n", space, when);
      open = when;
      action(a, out, indent + (when.empty() ? 4 : 8));
    }
  }

  bool begins_sum(const Action& a, const Slot& s) const {
    const bool adds = d_.buffers[s.buffer].kind == BufferKind::sum && a.result_count == 1 && d_.results(a)[0].buffer == s.buffer;
    return adds && p_.policy.windowed();
  }

  void action(const Action& a, std::string& out, int indent) {
    const std::string space(static_cast<std::size_t>(indent), ' ');
    if (a.kind == ActionKind::send) return send(a, out, indent);
    if (a.kind == ActionKind::receive) return receive(a, out, indent);
    std::vector<std::string> operands, targets;
    for (const Slot& s : d_.operands(a)) {
      if (begins_sum(a, s)) {
        const std::string trip = a.guard.first ? fmt::format("({})", shifted("t", -std::int64_t{a.guard.first})) : "t";
        out +=
            fmt::format("{}if {} % {} == 0:\n{}    {} = {}\n", space, trip, p_.policy.window, space, place(s), zeros(d_.buffers[s.buffer]));
      }
      operands.push_back(place(s));
    }
    for (const Slot& s : d_.results(a)) targets.push_back(place(s));
    const auto results = d_.results(a);
    for (const Slot& s : results) {
      if (const auto it = newest_.find(s.buffer); it != newest_.end()) out += fmt::format("{}{} = {}\n", space, it->second, index(s));
    }
    if (p_.module->row(a.op).constant) return program_.line(out, indent, targets[0], program_.constant(a.op), "step", "");
    program_.write(a.op, operands, targets, false, out, indent, "step");
  }

  void send(const Action& a, std::string& out, int indent) {
    const Stream& s = p_.streams[a.stream];
    const std::string value = place(d_.operands(a)[0]);
    if (s.to == kHost)
      return program_.line(out, indent, "", fmt::format("rank.output({}, {})", py_text(program_.store(s.host, s.host)), value), "step",
                           "host_store");
    program_.line(out, indent, "", fmt::format("rank.channels[{}].send({})", channel(a.stream, s.to), value), "step", "send");
  }

  void receive(const Action& a, std::string& out, int indent) {
    const Stream& s = p_.streams[a.stream];
    const Slot& to = d_.results(a)[0];
    const Type& t = p_.module->type(d_.buffers[to.buffer].type);
    std::string text;
    if (s.from == kHost) {
      text = fmt::format("rank.load({}", py_text(load(s, t)));
      // The sample's number in the step, and which of its slices.
      const std::string sample = shifted("t", -std::int64_t{a.guard.first});
      text += s.slices == 1 ? fmt::format(", {})", host_sample(sample))
                            : fmt::format(", ({}) * {} + {})", host_sample(sample), s.slices, s.slice);
    } else {
      text = fmt::format("rank.channels[{}].receive({}, {})", channel(a.stream, s.from), py_tuple(t.shape), py_dtype(t.dtype));
    }
    if (const auto it = newest_.find(to.buffer); it != newest_.end())
      out += fmt::format("{}{} = {}\n", std::string(static_cast<std::size_t>(indent), ' '), it->second, index(to));
    program_.line(out, indent, place(to), text, "step", s.from == kHost ? "host_load" : "send");
  }

  // Windows that are drained begin their trips at 0.
  std::string host_sample(const std::string& sample) const {
    return p_.policy.kind == PolicyKind::flush ? fmt::format("w * {} + {}", p_.policy.window, sample) : sample;
  }

  std::string load(const Stream& s, const Type& t) {
    for (const ProgramText::Load& l : program_.text().loads) {
      if (l.name == s.host) return l.local;
    }
    const std::string name = program_.load_named(s.host, t.dtype, t.shape);
    per_step_[s.host] = samples_ * s.slices;
    host_blocks_.emplace_back(name, samples_ * s.slices);
    return name;
  }

  std::size_t channel(std::uint32_t stream, std::int32_t peer) {
    const auto [it, is_new] = channels_.try_emplace(stream, channels_.size());
    if (is_new)
      program_.text().channels.push_back({peer, p_.streams[stream].capacity == kUnbounded ? -1 : p_.streams[stream].capacity, stream});
    return it->second;
  }

  const ProjectedProgram& p_;
  const DeviceProgram& d_;
  std::int64_t samples_;
  ProgramWriter program_;
  NameSet taken_;
  std::vector<std::string> names_;
  std::map<std::uint32_t, std::string> newest_;
  std::map<std::uint32_t, std::size_t> channels_;
  std::map<std::string, std::int64_t> per_step_;
  std::vector<std::pair<std::string, std::int64_t>> host_blocks_;
  std::string begins_;
  std::vector<std::string> ends_;
};

}  // namespace

ProgramText write_projected(const ProjectedProgram& program, std::size_t device, std::int64_t samples, bool canonical) {
  return ProjectedWriter(program, program.devices[device], samples, canonical).write();
}

}  // namespace pando::emit
