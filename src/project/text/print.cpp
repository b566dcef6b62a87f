#include "project/text/print.h"

#include "ir/op_row.h"
#include "ir/text/print.h"

#include <fmt/format.h>

#include <iterator>
#include <set>

namespace pando::project {

namespace {

// " + 2", " - 1", "".
std::string shifted(std::int64_t n) { return n == 0 ? "" : fmt::format(" {} {}", n < 0 ? '-' : '+', n < 0 ? -n : n); }

std::string index_text(const Slot& s, std::int64_t copies) {
  std::string t = s.shift == 0 ? "t" : "(t" + shifted(-s.shift) + ")";
  if (s.every > 1 || s.offset != 0) t = fmt::format("({} / {}{})", t, s.every, shifted(s.offset));
  return fmt::format("[{} % {}]", t, copies);
}

std::string slot_text(const DeviceProgram& d, const Slot& s) {
  const Buffer& b = d.buffers[s.buffer];
  return ir::print_name(b.name) + (b.copies > 1 ? index_text(s, b.copies) : "");
}

class Printer {
 public:
  Printer(const ProjectedProgram& p, const PrintOptions& options) : p_(p), m_(*p.module), options_(options) {}

  std::string whole() {
    write("project {}\ntrips N{}\n", to_string(p_.policy), shifted(p_.drain));
    if (!p_.streams.empty()) out_ += '\n';
    for (const Stream& s : p_.streams) stream(s);
    for (const DeviceProgram& d : p_.devices) device(d);
    if (options_.whole) graphs();
    return std::move(out_);
  }

 private:
  template <class... Args>
  void write(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  std::string end(const Stream& s, std::int32_t device) const {
    if (device != kHost) return std::to_string(device);
    std::string text = "host \"";
    for (char c : s.host) text += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
    text += '"';
    return s.slices == 1 ? text : fmt::format("{} slice {} of {}", text, s.slice, s.slices);
  }
  void stream(const Stream& s) {
    write("stream {}: {} -> {}, {}, {} bytes, capacity {}\n", ir::print_name(s.name), end(s, s.from), end(s, s.to),
          m_.types().to_string(s.type), s.bytes, s.capacity == kUnbounded ? "unbounded" : std::to_string(s.capacity));
  }

  void device(const DeviceProgram& d) {
    write("\ndevice {}:\n", d.device);
    for (const Buffer& b : d.buffers) buffer(b);
    section(d, d.before, "before:");
    if (!d.loop.empty()) loop(d);
    section(d, d.update, "update:");
  }
  void buffer(const Buffer& b) {
    const char* const kind = b.kind == BufferKind::value ? "buffer" : b.kind == BufferKind::sum ? "sum" : "state";
    if (!options_.whole && b.kind == BufferKind::value && b.copies == 1) return;
    write("    {} {}: {}", kind, ir::print_name(b.name), m_.types().to_string(b.type));
    if (b.copies > 1) write(" x {}", b.copies);
    if (b.kind == BufferKind::state && options_.whole) write(" = {}", ir::print_data(b.initial));
    out_ += '\n';
  }
  void section(const DeviceProgram& d, const std::vector<Action>& actions, const char* title) {
    if (actions.empty()) return;
    write("    {}\n", title);
    for (const Action& a : actions) write("        {}\n", print_action(p_, d, a));
  }

  void loop(const DeviceProgram& d) {
    out_ += "    loop t:\n";
    const Guard* block = nullptr;
    for (const Action& a : d.loop) {
      const std::string guard = guard_text(a.guard);
      if (!block || !(*block == a.guard)) {
        if (!guard.empty()) write("        if {}:\n", guard);
        block = &a.guard;
      }
      write("{}{}\n", guard.empty() ? "        " : "            ", print_action(p_, d, a));
    }
  }
  std::string guard_text(const Guard& g) const {
    std::string text;
    const auto add = [&](const std::string& item) { text += (text.empty() ? "" : " and ") + item; };
    if (g.first != 0) add(fmt::format("t >= {}", g.first));
    if (g.end != p_.drain) add("t < N" + shifted(g.end));
    if (g.every != 1) add(fmt::format("last of {}", g.every));
    return text;
  }

  void graphs() {
    std::set<std::uint32_t> reached;
    for (const DeviceProgram& d : p_.devices) {
      for (const auto* actions : {&d.before, &d.loop, &d.update}) {
        for (const Action& a : *actions) {
          if (a.kind == ActionKind::compute) reach(a.op, reached);
        }
      }
    }
    for (std::uint32_t g : reached) write("\n{}", ir::print_graph(m_, ir::GraphId(g)));
  }
  void reach(ir::OpId o, std::set<std::uint32_t>& reached) const {
    for (ir::GraphId g : m_.graphs(o)) {
      if (!reached.insert(g.value).second) continue;
      for (ir::OpId inner : m_.graph(g).ops) reach(inner, reached);
    }
  }

  const ProjectedProgram& p_;
  const ir::Module& m_;
  const PrintOptions& options_;
  std::string out_;
};

// " reading WA of i - 1, WB of i - 1". Two versions of one state in one action are said for each operand.
std::string readings(const ProjectedProgram& p, const DeviceProgram& d, const Action& a) {
  std::string text;
  const auto operands = d.operands(a);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Slot& s = operands[i];
    if (d.buffers[s.buffer].kind != BufferKind::state) continue;
    bool said = false, several = false;
    for (std::size_t j = 0; j < operands.size(); ++j) {
      if (operands[j].buffer != s.buffer) continue;
      said |= j < i;
      several |= operands[j].delay != s.delay;
    }
    if (!several && (said || s.delay == 0)) continue;
    text += fmt::format("{} {} of {}{}", text.empty() ? " reading" : ",", ir::print_name(d.buffers[s.buffer].name),
                        p.policy.windowed() ? 'w' : 'i', shifted(-s.delay));
  }
  return text;
}

}  // namespace

std::string print(const ProjectedProgram& program, const PrintOptions& options) { return Printer(program, options).whole(); }

std::string print_action(const ProjectedProgram& p, const DeviceProgram& d, const Action& a) {
  std::string text;
  for (const Slot& s : d.results(a)) text += (text.empty() ? "" : ", ") + slot_text(d, s);
  if (!text.empty()) text += " = ";
  if (a.kind == ActionKind::receive) return text + "receive(" + ir::print_name(p.streams[a.stream].name) + ")";
  std::vector<std::string> operands;
  for (const Slot& s : d.operands(a)) operands.push_back(slot_text(d, s));
  if (a.kind == ActionKind::send) return "send(" + operands[0] + ", " + ir::print_name(p.streams[a.stream].name) + ")" + readings(p, d, a);
  return text + ir::print_call(*p.module, a.op, operands) + readings(p, d, a);
}

}  // namespace pando::project
