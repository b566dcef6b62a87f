#include "simulate/observed/beside.h"

#include "ir/error.h"
#include "simulate/traces/chrome.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace pando::simulate {

namespace {

using ir::ErrorClass;

[[noreturn]] void reject_trace(const std::string& file, const std::string& what) {
  ir::reject(ErrorClass::value, "trace", "{}: {}; a Chrome trace is expected: a list of events with name, ph, pid, ts and dur", file, what);
}

struct Sums {
  double predicted = 0, measured = 0;
  std::size_t predicted_runs = 0, measured_runs = 0;
};

struct Span {
  double begin = 0, end = 0;
  bool used = false;

  void add(double start, double seconds) {
    begin = used ? std::min(begin, start) : start;
    end = std::max(end, start + seconds);
    used = true;
  }
};

// Lines of values that views give have no step in the prediction: what only one side has says so.
std::string ratio(double predicted, double measured) {
  return predicted > 0 && measured > 0 ? fmt::format("{:.2f}", measured / predicted) : "-";
}

}  // namespace

std::vector<MeasuredEvent> read_trace(std::string_view text, const std::string& file) {
  const nlohmann::json all = nlohmann::json::parse(text, nullptr, false);
  if (all.is_discarded()) reject_trace(file, "it is not JSON");
  const nlohmann::json& events = all.is_object() && all.contains("traceEvents") ? all["traceEvents"] : all;
  if (!events.is_array()) reject_trace(file, "it holds no list of events");
  std::vector<MeasuredEvent> out;
  for (const nlohmann::json& e : events) {
    if (!e.is_object() || !e.contains("ph")) reject_trace(file, fmt::format("an entry is {}", e.dump().substr(0, 40)));
    if (e["ph"] != "X") continue;
    const auto is_number = [&](const char* key) { return e.contains(key) && e[key].is_number(); };
    if (!e.contains("name") || !e["name"].is_string() || !is_number("pid") || !is_number("ts") || !is_number("dur"))
      reject_trace(file, fmt::format("an event is {}", e.dump().substr(0, 80)));
    out.push_back({e["name"], e["pid"], e.value("tid", 0) == 1, e["ts"].get<double>() * 1e-6, e["dur"].get<double>() * 1e-6});
  }
  if (out.empty()) reject_trace(file, "it has no events");
  return out;
}

std::string compare(const Program& program, const Timeline& predicted, const std::vector<MeasuredEvent>& measured) {
  std::map<std::string, Sums> by_op;
  std::map<std::int32_t, std::pair<Span, Span>> by_device;
  for (const Event& e : predicted.events) {
    Sums& s = by_op[program.label(e.label)];
    s.predicted += e.seconds;
    ++s.predicted_runs;
    by_device[e.device].first.add(e.start, e.seconds);
  }
  for (const MeasuredEvent& e : measured) {
    Sums& s = by_op[e.name];
    s.measured += e.seconds;
    ++s.measured_runs;
    by_device[e.device].second.add(e.start, e.seconds);
  }
  std::vector<std::pair<std::string, Sums>> ops(by_op.begin(), by_op.end());
  std::stable_sort(ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.second.measured > b.second.measured; });
  std::string out = fmt::format("{:28} {:>14} {:>8} {:>14} {:>8} {:>8}\n", "op", "predicted us", "runs", "measured us", "runs", "ratio");
  for (const auto& [name, s] : ops) {
    out += fmt::format("{:28} {:14.2f} {:8} {:14.2f} {:8} {:>8}\n", name, s.predicted * 1e6, s.predicted_runs, s.measured * 1e6,
                       s.measured_runs, ratio(s.predicted, s.measured));
  }
  for (const auto& [device, spans] : by_device) {
    const double p = spans.first.end - spans.first.begin, m = spans.second.end - spans.second.begin;
    out +=
        fmt::format("{:28} {:14.2f} {:>8} {:14.2f} {:>8} {:>8}\n", fmt::format("device {}", device), p * 1e6, "", m * 1e6, "", ratio(p, m));
  }
  return out;
}

std::string chrome_trace(const Program& program, const Timeline& predicted, const std::vector<MeasuredEvent>& measured) {
  std::ostringstream out;
  {
    ChromeTrace trace(out);
    add_to_trace(program, predicted, trace);
    std::set<std::int32_t> devices;
    for (const MeasuredEvent& e : measured) devices.insert(e.device);
    for (const std::int32_t d : devices) name_device(kMeasuredProcess + d, fmt::format("device {}, measured", d), trace);
    for (const MeasuredEvent& e : measured) {
      trace.slice({.name = e.name, .process = kMeasuredProcess + e.device, .thread = e.transfer ? 1 : 0}, e.start * 1e6, e.seconds * 1e6);
    }
  }
  return out.str();
}

}  // namespace pando::simulate
