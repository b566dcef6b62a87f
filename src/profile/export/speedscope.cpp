// For https://www.speedscope.app: a flame graph of cycles by debug path, a profile for each stream.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "profile/export.h"

namespace pando::profile {

namespace {

using Json = nlohmann::ordered_json;

std::string json_text(const std::string& text) { return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); }

class Frames {
 public:
  // Calls `visit` with the number of each frame of "a/b/c": a, b, c, and the kind of the step.
  template <class Visit>
  void of(const StepCycles& s, Visit visit) {
    for (std::size_t begin = 0; begin < s.name.size();) {
      const std::size_t end = std::min(s.name.find('/', begin), s.name.size());
      if (end > begin) visit(frame(s.name.substr(begin, end - begin)));
      begin = end + 1;
    }
    visit(frame("(" + s.kind + ")"));
  }
  // In the order of their numbers.
  std::string list() const {
    std::string out;
    for (const std::string& name : names_) out += fmt::format("{}{{\"name\":{}}}", out.empty() ? "" : ",", json_text(name));
    return out;
  }

 private:
  std::size_t frame(const std::string& name) {
    const auto [it, added] = ids_.emplace(name, ids_.size());
    if (added) names_.push_back(name);
    return it->second;
  }
  std::map<std::string, std::size_t> ids_;
  std::vector<std::string> names_;
};

std::uint64_t cycles_of(const StepCycles& s) { return s.cycles.total() - s.cycles.wait; }

// Calls `visit` with the steps of a stream that have cycles.
template <class Visit>
void visit_steps(const Report& report, const std::string& stream, Visit visit) {
  for (const StepCycles& s : report.steps)
    if (s.stream == stream && cycles_of(s) > 0) visit(s);
}

// There may be more steps than memory has room for as JSON: they are written one by one.
void write_profile(const Report& report, const std::string& stream, Frames& frames, std::ostream& out) {
  std::uint64_t end = 0;
  visit_steps(report, stream, [&](const StepCycles& s) { end += cycles_of(s); });
  out << fmt::format(R"({{"type":"sampled","name":{},"unit":"none","startValue":0,"endValue":{},"samples":[)", json_text(stream), end);
  const char* comma = "";
  visit_steps(report, stream, [&](const StepCycles& s) {
    out << std::exchange(comma, ",") << '[';
    const char* inner = "";
    frames.of(s, [&](std::size_t frame) { out << std::exchange(inner, ",") << frame; });
    out << ']';
  });
  out << R"(],"weights":[)";
  comma = "";
  visit_steps(report, stream, [&](const StepCycles& s) { out << std::exchange(comma, ",") << cycles_of(s); });
  out << "]}";
}

std::string write_speedscope(const Report& report, const ExportOptions&, std::ostream& out) {
  Frames frames;
  for (const StreamTotals& stream : report.streams)
    visit_steps(report, stream.stream, [&](const StepCycles& s) { frames.of(s, [](std::size_t) {}); });
  out << R"({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"Pando","name":"cycles by debug path",)"
      << fmt::format(R"("shared":{{"frames":[{}]}},"profiles":[)", frames.list());
  const char* comma = "";
  for (const StreamTotals& stream : report.streams) {
    out << std::exchange(comma, ",");
    write_profile(report, stream.stream, frames, out);
  }
  out << "]}\n";
  return report.executed ? "" : "nothing was executed: there are no profiles";
}

}  // namespace

extern const ExportRow export_speedscope;
constinit const ExportRow export_speedscope = {"speedscope", ".speedscope.json", "cycles by debug path as a flame graph for speedscope",
                                               write_speedscope};

}  // namespace pando::profile
