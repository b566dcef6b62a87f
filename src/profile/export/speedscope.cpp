// For https://www.speedscope.app: a flame graph of cycles by debug path, a profile for each stream.
#include <nlohmann/json.hpp>

#include <map>
#include <ostream>

#include "profile/export.h"

namespace pando::profile {

namespace {

using Json = nlohmann::ordered_json;

class Frames {
 public:
  // The frames of "a/b/c": a, b, c, and the kind of the step.
  Json stack(const StepCycles& s) {
    Json out = Json::array();
    for (std::size_t begin = 0; begin < s.name.size();) {
      const std::size_t end = std::min(s.name.find('/', begin), s.name.size());
      if (end > begin) out.push_back(frame(s.name.substr(begin, end - begin)));
      begin = end + 1;
    }
    out.push_back(frame("(" + s.kind + ")"));
    return out;
  }
  Json list;

 private:
  std::size_t frame(const std::string& name) {
    const auto [it, added] = ids_.emplace(name, ids_.size());
    if (added) list.push_back({{"name", name}});
    return it->second;
  }
  std::map<std::string, std::size_t> ids_;
};

std::string write_speedscope(const Report& report, const ExportOptions&, std::ostream& out) {
  Frames frames;
  frames.list = Json::array();
  Json profiles = Json::array();
  for (const StreamTotals& stream : report.streams) {
    Json samples = Json::array(), weights = Json::array();
    std::uint64_t end = 0;
    for (const StepCycles& s : report.steps) {
      const std::uint64_t cycles = s.cycles.total() - s.cycles.wait;
      if (s.stream != stream.stream || cycles == 0) continue;
      samples.push_back(frames.stack(s));
      weights.push_back(cycles);
      end += cycles;
    }
    profiles.push_back({{"type", "sampled"},
                        {"name", stream.stream},
                        {"unit", "none"},
                        {"startValue", 0},
                        {"endValue", end},
                        {"samples", samples},
                        {"weights", weights}});
  }
  const Json all{{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                 {"exporter", "Pando"},
                 {"name", "cycles by debug path"},
                 {"shared", {{"frames", frames.list}}},
                 {"profiles", profiles}};
  out << all.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  return {};
}

}  // namespace

extern const ExportRow export_speedscope;
constinit const ExportRow export_speedscope = {"speedscope", ".speedscope.json", "cycles by debug path as a flame graph for speedscope",
                                               write_speedscope};

}  // namespace pando::profile
