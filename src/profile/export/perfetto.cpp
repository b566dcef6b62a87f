// Chrome trace events (chrome://tracing, Perfetto): a row for each stream, a cycle as a microsecond; of several devices, which a plan
// shows, a process for each device by its clock, what ran by the host's clock, too.
#include <fmt/format.h>

#include <ostream>

#include "base/text/chrome_trace.h"
#include "profile/export.h"

namespace pando::profile {

namespace {

constexpr std::size_t kMostEvents = 1'000'000;

// The events of rows [begin, end), in order, loops unfolded; false when there is no room for more.
bool unfold(const Report& report, const std::vector<TraceRow>& rows, std::size_t begin, std::size_t end, std::uint64_t& now,
            std::vector<TraceSlice>& out) {
  for (std::size_t i = begin; i < end; i += rows[i].rows + 1)
    for (std::uint64_t k = 0; k < rows[i].times; ++k) {
      if (rows[i].rows > 0) {
        if (!unfold(report, rows, i + 1, i + 1 + rows[i].rows, now, out)) return false;
        continue;
      }
      if (out.size() == kMostEvents) return false;
      const StepCycles& s = report.steps[rows[i].step];
      now += rows[i].gap;
      out.push_back({s.stream, s.name, s.kind, now, now + rows[i].cycles});
      now += rows[i].cycles;
    }
  return true;
}

// One clock of a plan's devices: its processes are [first, first + devices).
class PlanTrace {
 public:
  PlanTrace(const DevicePlan& plan, ChromeTrace& trace, bool is_host)
      : plan_(plan), trace_(trace), host_(is_host), first_(is_host ? static_cast<std::int64_t>(plan.devices.size()) : 0) {}

  void write() {
    for (std::size_t d = 0; d < plan_.devices.size(); ++d) {
      const std::int64_t process = first_ + static_cast<std::int64_t>(d);
      trace_.name_process(process, plan_.devices[d].name + (host_ ? ", by the host's clock" : ""));
      trace_.name_thread(process, 0, "computes");
      trace_.name_thread(process, 1, "transfers");
    }
    for (const PlanEvent& e : plan_.events) add(e);
    for (const PlanMessage& m : plan_.messages) add(m);
  }

 private:
  void add(const PlanEvent& e) {
    const std::int64_t process = first_ + e.device;
    const double begin = (host_ ? e.host_begin : e.begin) * 1e6;
    trace_.slice({.name = plan_.names[e.name],
                  .process = process,
                  .thread = e.transfer ? 1 : 0,
                  .category = e.kind < plan_.event_kinds.size() ? std::string_view(plan_.event_kinds[e.kind]) : std::string_view()},
                 begin, (host_ ? e.host_seconds : e.seconds) * 1e6);
    if (e.bytes > 0 && !host_)
      trace_.event({{"name", "memory"}, {"ph", "C"}, {"pid", process}, {"ts", begin}, {"args", {{"bytes", e.bytes}}}});
  }
  // An arrow.
  void add(const PlanMessage& m) {
    const auto end = [&](const char* phase, std::uint32_t device, double seconds) {
      nlohmann::ordered_json j{
          {"name", plan_.names[m.name]}, {"cat", "message"}, {"ph", phase},        {"id", 2 * arrows_ + (host_ ? 1 : 0)},
          {"pid", first_ + device},      {"tid", 1},         {"ts", seconds * 1e6}};
      if (*phase == 'f') j["bp"] = "e";
      j["args"] = {{"bytes", m.bytes}};
      trace_.event(j);
    };
    end("s", m.from, host_ ? m.host_sent : m.sent);
    end("f", m.to, host_ ? m.host_received : m.received);
    ++arrows_;
  }

  const DevicePlan& plan_;
  ChromeTrace& trace_;
  bool host_;
  std::int64_t first_, arrows_ = 0;
};

void write_plan(const DevicePlan& plan, std::ostream& out) {
  ChromeTrace trace(out, R"("displayTimeUnit":"ns")");
  PlanTrace(plan, trace, false).write();
  for (const PlanEvent& e : plan.events)
    if (e.host_seconds > 0) return PlanTrace(plan, trace, true).write();
}

void write_perfetto(const Report& report, const std::string&, std::ostream& out) {
  if (report.traces.empty() && !report.plan.devices.empty()) return write_plan(report.plan, out);
  std::vector<TraceSlice> slices;
  for (const std::vector<TraceRow>& rows : report.traces) {
    std::uint64_t now = 0;
    unfold(report, rows, 0, rows.size(), now, slices);
  }
  write_chrome_trace(slices, out);
}

}  // namespace

extern const ExportRow export_perfetto;
constinit const ExportRow export_perfetto = {
    "perfetto", ".json", "the executed steps, or those of several devices, for Perfetto and chrome://tracing, the first 1,000,000",
    write_perfetto};

}  // namespace pando::profile
