#include <nlohmann/json.hpp>

#include <map>
#include <ostream>

#include "profile/report.h"

namespace pando::profile {

// One thread row per stream, in order of first appearance; one complete event ("X") per slice.
void write_chrome_trace(const std::vector<TraceSlice>& slices, std::ostream& out) {
  using Json = nlohmann::ordered_json;
  std::map<std::string, std::size_t> rows;
  std::vector<const std::string*> names;
  for (const TraceSlice& s : slices)
    if (rows.emplace(s.stream, names.size()).second) names.push_back(&s.stream);
  auto text = [](const Json& j) { return j.dump(-1, ' ', false, Json::error_handler_t::replace); };
  out << "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"unit\":\"1 us is 1 cycle\"},\"traceEvents\":[";
  const char* separator = "\n";
  for (std::size_t i = 0; i < names.size(); ++i) {
    out << separator << text({{"ph", "M"}, {"pid", 0}, {"tid", i}, {"name", "thread_name"}, {"args", {{"name", *names[i]}}}});
    separator = ",\n";
  }
  for (const TraceSlice& s : slices) {
    const std::string& name = s.name.empty() ? s.kind : s.name;
    out << separator
        << text({{"ph", "X"},
                 {"pid", 0},
                 {"tid", rows[s.stream]},
                 {"name", name},
                 {"cat", s.kind},
                 {"ts", s.begin},
                 {"dur", s.end - s.begin}});
    separator = ",\n";
  }
  out << "\n]}\n";
}

}  // namespace pando::profile
