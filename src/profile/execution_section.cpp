#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "profile/facts.h"
#include "profile/ranking.h"
#include "profile/summary.h"
#include "profile/text.h"

namespace pando::profile {

namespace {

constexpr std::size_t kStepsShown = 10;
constexpr std::size_t kStreamsShown = 16;

struct Term {
  const char* name;
  std::uint64_t Cycles::* value;
};
constexpr Term kTerms[] = {
    {"compute", &Cycles::compute},
    {"exchange", &Cycles::exchange},
    {"local copy", &Cycles::local_copy},
    {"sync", &Cycles::sync},
    {"between IPUs", &Cycles::global_exchange},
    {"host *", &Cycles::host},
    {"waiting", &Cycles::wait},
};

double share(std::uint64_t part, std::uint64_t whole) { return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole); }

std::string trimmed(std::string s) {
  s.resize(s.find_last_not_of(' ') + 1);
  return s;
}

// The stream that ends last, term by term.
void print_latest_stream(const Report& report, std::ostream& out) {
  const StreamTotals* latest = &report.streams.front();
  for (const StreamTotals& s : report.streams)
    if (s.finish > latest->finish) latest = &s;
  std::uint64_t total = latest->cycles.total();
  out << fmt::format("\n  {}\n", left(cut(latest->stream, 24), 24) + right("cycles", 15) + "    share");
  for (const Term& term : kTerms) {
    std::uint64_t cycles = latest->cycles.*term.value;
    out << trimmed(fmt::format("    {} {} {}  {}", left(term.name, 20), right(count_text(cycles), 16),
                               right(percent_text(share(cycles, total)), 8), bar(share(cycles, total), 40)))
        << '\n';
  }
  out << fmt::format("    {} {}\n", left("total", 20), right(count_text(total), 16));
  if (latest->cycles.host > 0) out << "    * host and Streaming Memory times are unvalidated parameters\n";
}

void print_streams(const Report& report, std::ostream& out) {
  if (report.streams.size() < 2) return;
  out << "\n  By stream           compute  exchange  loc. copy     sync   IPU-IPU      host   waiting     total\n";
  std::size_t shown = std::min(report.streams.size(), kStreamsShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const StreamTotals& s = report.streams[i];
    out << "    " << left(s.stream, 15);
    for (const Term& term : kTerms) out << right(short_count_text(s.cycles.*term.value), term.value == &Cycles::sync ? 9 : 10);
    out << right(short_count_text(s.finish), 10) << '\n';
  }
  if (shown < report.streams.size()) out << fmt::format("    ... and {} more\n", report.streams.size() - shown);
}

std::string remark(const StepCycles& s) {
  if (s.unestimated_vertices == 0) return {};
  return fmt::format("  {} of {} unestimated", count_text(s.unestimated_vertices), count_text(s.vertices));
}

void print_step(const StepCycles& s, bool many_streams, std::ostream& out) {
  std::string name = s.name.empty() ? "(" + s.kind + ")" : s.name;
  if (many_streams) name = s.stream + " " + name;
  std::string balance = s.cycles.compute == 0 ? "" : percent_text(s.tile_balance);
  std::string note = remark(s);
  std::size_t room = note.empty() ? 36 : 36 - std::min<std::size_t>(display_width(note), 28);
  out << trimmed(fmt::format("    {} {} {} {} {}  {}{}", right(count_text(s.order), 6), left(s.kind, 10),
                             right(count_text(s.executions), 10), right(count_text(s.cycles.total()), 15), right(balance, 8),
                             left(name, room), note))
      << '\n';
}

void print_steps(const Report& report, bool all, std::ostream& out) {
  if (report.steps.empty()) return;
  out << (all ? "\n  Cycles by step, in order of first execution\n" : "\n  Steps that cost most\n");
  out << "      step kind             times          cycles  balance  name\n";
  const auto print = [&](std::size_t i) { print_step(report.steps[i], report.streams.size() > 1, out); };
  if (all) {
    for (std::size_t i = 0; i < report.steps.size(); ++i) print(i);
    return;
  }
  for (const std::size_t i : greatest(report.steps, kStepsShown, [](const StepCycles& s) { return s.cycles.total(); })) print(i);
  if (report.steps.size() > kStepsShown)
    out << fmt::format("    ... and {} more (showExecutionSteps)\n", count_text(report.steps.size() - kStepsShown));
}

std::string remark(const CodeletCycles& c, bool nothing) {
  if (!c.estimated) return nothing ? "  (unestimated)" : "  (partly unestimated)";
  return c.source.find("counted") != std::string::npos ? "  (counted)" : "";
}

void print_codelets(const Report& report, std::ostream& out) {
  if (report.codelets.empty()) return;
  std::uint64_t total = 0;
  for (const CodeletCycles& c : report.codelets) total += c.cycles;
  out << "\n  Cycles by codelet (of the vertices themselves, summed over tiles)\n";
  out << "       instances            cycles    share  codelet\n";
  for (std::size_t i : ranking(report.codelets.size(), [&](std::size_t n) { return report.codelets[n].cycles; })) {
    const CodeletCycles* c = &report.codelets[i];
    bool nothing = !c->estimated && c->cycles == 0;
    out << fmt::format("    {} {} {}  {}{}\n", right(count_text(c->instances), 12), right(nothing ? "?" : count_text(c->cycles), 17),
                       right(nothing ? "" : percent_text(share(c->cycles, total)), 8), cut(c->codelet, 32), remark(*c, nothing));
    if (const std::string defined = defined_text(report, c->codelet); !defined.empty())
      out << fmt::format("    {}  {}\n", right("", 41), cut(defined, 57));
    if (const std::size_t why = c->source.find("not counted"); why != std::string::npos)
      out << fmt::format("    {}  {}\n", right("", 12), cut(c->source.substr(why), 80));
  }
}

}  // namespace

void print_execution_section(const Report& report, const SummaryOptions& options, std::ostream& out) {
  if (!report.executed) return;
  double seconds = report.target.clock_hz > 0 ? static_cast<double>(report.total_cycles) / report.target.clock_hz : 0;
  out << fmt::format("\nExecution:\n  Runs:                {}\n  Total cycles:        {}{}\n", count_text(report.runs),
                     count_text(report.total_cycles), report.target.clock_hz > 0 ? " (" + time_text(seconds) + ")" : "");
  if (const std::string clocks = clocks_text(clocks_of(report)); !report.predicted.title.empty())
    out << fmt::format("  A step:              {}\n", clocks);
  std::uint64_t vertices = 0, unestimated = 0;
  for (const StepCycles& s : report.steps) {
    vertices += s.vertices;
    unestimated += s.unestimated_vertices;
  }
  if (unestimated > 0)
    out << fmt::format("  Unestimated:         {} of {} executed vertices have no estimate; compute is a lower bound\n",
                       count_text(unestimated), count_text(vertices));
  if (!report.streams.empty()) print_latest_stream(report, out);
  print_streams(report, out);
  print_steps(report, options.execution_steps, out);
  print_codelets(report, out);
}

}  // namespace pando::profile
