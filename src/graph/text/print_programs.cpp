#include <fmt/format.h>

#include "graph/program_walk.h"
#include "graph/text/print_parts.h"

namespace pando::graph {

namespace {

class ProgramPrinter {
 public:
  ProgramPrinter(const Graph& graph, std::string& out) : graph_(graph), out_(out) {}

  void print(const ProgramPtr& program, unsigned indent) {
    if (!program) return line(indent, "empty");
    name_ = program->name.empty() ? "" : "  # " + program->name;
    indent_ = indent;
    std::visit([&](const auto& body) { step(body); }, program->body);
  }

 private:
  void line(unsigned indent, const std::string& text) { out_ += std::string(2 * indent, ' ') + text + "\n"; }
  void say(const std::string& text) { line(indent_, text + name_); }
  void part(const char* title, const ProgramPtr& body, unsigned indent) {
    line(indent, title);
    print(body, indent + 1);
  }

  std::string view(const View& v) const { return text_of(graph_, v); }
  std::string list(const std::vector<View>& views) const {
    std::string text;
    for (const View& v : views) text += (text.empty() ? "" : ", ") + view(v);
    return "(" + text + ")";
  }
  const std::string& function_name(FunctionId f) const { return graph_.functions()[f].name; }

  void step(const Sequence& p) {
    const unsigned indent = indent_;
    say(p.is_block ? "Block" : "Sequence");
    for (const ProgramPtr& s : p.steps) print(s, indent + 1);
  }
  void step(const Execute& p) {
    say(fmt::format("Execute cs{} {}{}", p.compute_set.value, quoted(graph_.compute_sets()[p.compute_set].name),
                    p.result.valid() ? " -> " + view(p.result) : ""));
  }
  void step(const Copy& p) { say(fmt::format("Copy {} -> {}", view(p.source), view(p.destination))); }
  void step(const HostToDevice& p) { say(fmt::format("Copy stream {} -> {}", quoted(graph_.fifos()[p.fifo].handle), view(p.destination))); }
  void step(const DeviceToHost& p) { say(fmt::format("Copy {} -> stream {}", view(p.source), quoted(graph_.fifos()[p.fifo].handle))); }
  std::string rows(RemoteBufferId b, const View& offset) const {
    return fmt::format("remote {} {}", quoted(graph_.remote_buffers()[b].handle), offset.valid() ? "rows " + view(offset) : "row 0");
  }
  void step(const RemoteRead& p) { say(fmt::format("Copy {} -> {}", rows(p.buffer, p.offset), view(p.tensor))); }
  void step(const RemoteWrite& p) { say(fmt::format("Copy {} -> {}", view(p.tensor), rows(p.buffer, p.offset))); }
  void step(const Repeat& p) {
    const unsigned indent = indent_;
    say(fmt::format("Repeat {}", p.count));
    print(p.body, indent + 1);
  }
  void step(const RepeatWhile& p) {
    const unsigned indent = indent_;
    say(fmt::format("RepeatWhile{} {}", p.until ? "False" : "True", view(p.predicate)));
    part("condition", p.condition, indent + 1);
    part("body", p.body, indent + 1);
  }
  void step(const If& p) {
    const unsigned indent = indent_;
    say("If " + view(p.predicate));
    part("then", p.then_body, indent + 1);
    part("else", p.else_body, indent + 1);
  }
  void step(const Switch& p) {
    const unsigned indent = indent_;
    say("Switch " + view(p.control));
    for (const auto& [value, body] : p.cases) part(fmt::format("case {}", value).c_str(), body, indent + 1);
    part("default", p.default_body, indent + 1);
  }
  void step(const Call& p) { say(fmt::format("Call f{} {}", p.function.value, quoted(function_name(p.function)))); }
  void step(const HostCall& p) {
    say(fmt::format("Call host {} {} -> {}", quoted(graph_.host_functions()[p.function].handle), list(p.inputs), list(p.outputs)));
  }
  void step(const LoadFunction& p) { say(fmt::format("Load f{} {}", p.function.value, quoted(function_name(p.function)))); }
  void step(const Sync& p) {
    constexpr const char* kNames[] = {"internal", "external", "global"};
    say(fmt::format("Sync {}", kNames[static_cast<int>(p.scope)]));
  }
  void step(const Print& p) { say(fmt::format("Print {} {}", quoted(p.title), view(p.tensor))); }
  void step(const Error& p) {
    say(fmt::format("Error {} {}{}", quoted(p.message), view(p.tensor), p.condition.valid() ? " if " + view(p.condition) : ""));
  }
  void step(const WriteUndef& p) { say("WriteUndef " + view(p.tensor)); }
  void step(const CrossReplicaCopy& p) {
    std::string map;
    for (const auto& [from, to] : p.map) map += fmt::format(" {}->{}", from, to);
    say(fmt::format("CrossReplicaCopy {} -> {} replicas{}", view(p.source), view(p.destination), map));
  }
  void step(const Send& p) { say(fmt::format("Send {} -> channel {}", view(p.source), quoted(graph_.channels()[p.channel].name))); }
  void step(const Receive& p) {
    say(fmt::format("Receive channel {} -> {}", quoted(graph_.channels()[p.channel].name), view(p.destination)));
  }
  void step(const CycleStamp& p) { say(fmt::format("CycleStamp tile {} -> {}", p.tile.value, view(p.stamp))); }

  const Graph& graph_;
  std::string& out_;
  std::string name_;
  unsigned indent_ = 0;
};

}  // namespace

void print_program(const Graph& graph, const ProgramPtr& program, unsigned indent, std::string& out) {
  ProgramPrinter(graph, out).print(program, indent);
}

}  // namespace pando::graph
