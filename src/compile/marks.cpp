#include "compile/marks.h"

#include "base/error.h"

namespace pando::compile {

namespace {

std::optional<std::regex> expression(const char* option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  try {
    return std::regex(text);
  } catch (const std::regex_error& e) {
    fail(ErrorKind::invalid_option, "regular-expression", "{} is '{}'; expected a regular expression: {}", option, text, e.what());
  }
}

bool matches(const std::optional<std::regex>& expression, const std::string& name) {
  return expression && !name.empty() && std::regex_match(name, *expression);
}

}  // namespace

Marks::Marks(const Options& options)
    : blocks_(expression("profiler.blocks.filter", options.blocks)),
      programs_(expression("profiler.programs.filter", options.programs)),
      stream_copies_(options.mark_stream_copies) {}

std::optional<Mark> Marks::of(const graph::Graph& graph, const graph::Program& program) const {
  const auto* sequence = std::get_if<graph::Sequence>(&program.body);
  if (sequence != nullptr && sequence->is_block && matches(blocks_, program.name)) return Mark{program.name};
  if (matches(programs_, program.name)) return Mark{program.name};
  if (const auto* execute = std::get_if<graph::Execute>(&program.body)) {
    const std::string& name = graph.compute_sets()[execute->compute_set].name;
    if (matches(programs_, name)) return Mark{name};
  }
  if (!stream_copies_) return std::nullopt;
  if (const auto* in = std::get_if<graph::HostToDevice>(&program.body)) return Mark{graph.fifos()[in->fifo].handle, true};
  if (const auto* out = std::get_if<graph::DeviceToHost>(&program.body)) return Mark{graph.fifos()[out->fifo].handle, true};
  return std::nullopt;
}

}  // namespace pando::compile
