// Chrome trace events (chrome://tracing, Perfetto): a row for each stream, a cycle as a microsecond; of several devices, which a plan
// shows, a process for each device by its clock, what ran by the host's clock, too.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "base/text/chrome_trace.h"
#include "profile/export.h"

namespace pando::profile {

namespace {

// One stream's executed steps, in order, loops unfolded, of a time and up to a number. What comes before the time is not unfolded.
class StreamTrace {
 public:
  StreamTrace(const Report& report, const std::vector<TraceRow>& rows, std::int64_t thread, const ExportOptions& options,
              ChromeTrace& trace)
      : report_(report), rows_(rows), lengths_(rows.size()), thread_(thread), options_(options), trace_(trace) {
    for (std::size_t i = rows.size(); i-- > 0;) {
      if (rows[i].rows == 0) lengths_[i] = rows[i].gap + rows[i].cycles;
      for (std::size_t k = i + 1; k < i + 1 + rows[i].rows; k += rows_[k].rows + 1) lengths_[i] += lengths_[k] * rows[k].times;
    }
  }

  // False if there were more: now() is the cycle at which the first of them begins.
  bool write() { return unfold(0, rows_.size()); }
  std::uint64_t now() const { return now_; }

 private:
  bool unfold(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i += rows_[i].rows + 1) {
      std::uint64_t k = 0;
      if (now_ < options_.from && lengths_[i] > 0) k = std::min(rows_[i].times, (options_.from - now_) / lengths_[i]);
      now_ += k * lengths_[i];
      for (; k < rows_[i].times; ++k) {
        if (now_ >= options_.to) return true;
        if (!(rows_[i].rows > 0 ? unfold(i + 1, i + 1 + rows_[i].rows) : event(rows_[i]))) return false;
      }
    }
    return true;
  }

  bool event(const TraceRow& row) {
    const std::uint64_t begin = now_ + row.gap, end = begin + row.cycles;
    if (begin < options_.to && (end > options_.from || begin >= options_.from)) {
      if (written_ == options_.most_events) return false;
      const StepCycles& s = report_.steps[row.step];
      trace_.slice({.name = s.name.empty() ? s.kind : s.name, .thread = thread_, .category = s.kind}, begin, row.cycles);
      ++written_;
    }
    now_ = end;
    return true;
  }

  const Report& report_;
  const std::vector<TraceRow>& rows_;
  std::vector<std::uint64_t> lengths_;  // of an event, or of a round of a loop
  std::int64_t thread_;
  const ExportOptions& options_;
  ChromeTrace& trace_;
  std::uint64_t now_ = 0, written_ = 0;
};

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

std::string write_plan(const DevicePlan& plan, std::ostream& out) {
  ChromeTrace trace(out, R"("displayTimeUnit":"ns")");
  PlanTrace(plan, trace, false).write();
  if (std::any_of(plan.events.begin(), plan.events.end(), [](const PlanEvent& e) { return e.host_seconds > 0; }))
    PlanTrace(plan, trace, true).write();
  return {};
}

std::string write_perfetto(const Report& report, const ExportOptions& options, std::ostream& out) {
  if (report.traces.empty() && !report.plan.devices.empty()) return write_plan(report.plan, out);
  ChromeTrace trace(out, R"("displayTimeUnit":"ns","otherData":{"unit":"1 us is 1 cycle"})");
  std::string left_out = report.executed ? "" : "nothing was executed: the trace is empty";
  for (std::size_t s = 0; s < report.traces.size(); ++s) {
    if (report.traces[s].empty()) continue;
    const std::string name = s < report.block_streams.size() ? report.block_streams[s].stream : "stream " + std::to_string(s);
    trace.name_thread(0, static_cast<std::int64_t>(s), name);
    StreamTrace stream(report, report.traces[s], static_cast<std::int64_t>(s), options, trace);
    if (!stream.write())
      left_out += fmt::format("{}{}: the first {} executed steps are written, up to cycle {}; --from {} goes on",
                              left_out.empty() ? "" : "\n", name, options.most_events, stream.now(), stream.now());
  }
  if (report.events_lost > 0)
    left_out +=
        fmt::format("{}the report itself has no room for the last {} executed steps", left_out.empty() ? "" : "\n", report.events_lost);
  return left_out;
}

}  // namespace

extern const ExportRow export_perfetto;
constinit const ExportRow export_perfetto = {"perfetto",
                                             ".json",
                                             "the executed steps, or those of several devices, for Perfetto and chrome://tracing (--from, "
                                             "--to: of these cycles; up to 10,000,000 of a "
                                             "stream)",
                                             write_perfetto,
                                             false,
                                             true};

}  // namespace pando::profile
