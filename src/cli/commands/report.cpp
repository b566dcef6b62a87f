// pando report: shows a report that a program has written, answers questions about it, compares it with another one, exports it.
#include "profile/report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iostream>
#include <limits>
#include <memory>
#include <sstream>

#include "base/command/arguments.h"
#include "base/command/files.h"
#include "base/source_location.h"
#include "cli/command_row.h"
#include "cli/shared/advice_answer.h"
#include "poplar/exceptions.hpp"
#include "profile/compare.h"
#include "profile/export.h"
#include "profile/file/schema.h"
#include "profile/question.h"

namespace pando::cli {
namespace {

struct Arguments {
  std::string input, svg, json, compared, exported, trace, output = "-";
  profile::ExportOptions options_of_export;
  std::vector<std::string> asked;
  std::string tile;
  std::size_t top = 10;
  bool schema = false;
  profile::SummaryOptions options;
};

profile::Report read(const std::string& file) {
  std::string bytes = read_file(file);
  try {
    return profile::read_report(std::move(bytes));
  } catch (const poplar::parse_error& e) { fail_at(ErrorKind::parse_error, id_of(e.what()), {file}, "{}", without_id(e.what())); }
}

std::string dumped(const profile::Json& json) { return json.dump(2, ' ', false, profile::Json::error_handler_t::replace) + "\n"; }

// A trace may be larger than the memory of this host, so it is never there as a whole.
void write_export(const profile::Report& report, const std::string& format, const profile::ExportOptions& options,
                  const std::string& path) {
  profile::export_named(format, options);  // before a file is made
  std::string left_out;
  write_file_in_parts(path, [&](std::ostream& out) { left_out = profile::export_report(report, format, options, out); });
  if (!left_out.empty()) fmt::print(stderr, "pando report: {}\n", left_out);
}

std::string summary_text(const profile::Report& report, const Arguments& arguments) {
  std::ostringstream out;
  profile::print_summary(report, arguments.options, out);
  return out.str();
}

profile::Json answer(const profile::Report& report, const std::string& query, std::size_t top) {
  return query == "advice" ? advice_answer(report, top) : profile::ask(report, query, top);
}

std::string answer_text(const profile::Report& report, const std::string& query, std::size_t top) {
  const profile::Json json = answer(report, query, top);
  return query == "advice" ? advice_text(json) : profile::answer_text(json);
}

// What the command line asks for; without a question the summary.
std::string text_of(const profile::Report& report, const Arguments& arguments) {
  if (!arguments.compared.empty()) {
    const profile::Json rows = profile::compare(report, read(arguments.compared), arguments.top);
    return arguments.json.empty() ? profile::answer_text(rows) : dumped(rows);
  }
  if (!arguments.json.empty()) return dumped(answer(report, arguments.json, arguments.top));
  std::string out;
  for (const std::string& query : arguments.asked) out += answer_text(report, query, arguments.top);
  if (!arguments.tile.empty()) out += answer_text(report, "tile=" + arguments.tile, arguments.top);
  return out.empty() && arguments.svg.empty() && arguments.trace.empty() ? summary_text(report, arguments) : out;
}

// An option that the others leave without an effect is a mistake.
void check_used(const Arguments& arguments) {
  const auto needs = [](bool given, bool used, std::string_view option, std::string_view what) {
    if (given && !used) fail(ErrorKind::invalid_option, "report-option", "{} is there without {}, which it is for", option, what);
  };
  const auto without = [](bool given, bool other, std::string_view option, std::string_view what) {
    if (given && other) fail(ErrorKind::invalid_option, "report-option", "found {} and {}: expected one of them", option, what);
  };
  const profile::ExportOptions &o = arguments.options_of_export, defaults;
  const bool is_export = !arguments.exported.empty();  // which says itself what it does not take
  const bool is_trace = !arguments.trace.empty() || is_export;
  needs(o.from != defaults.from, is_trace, "--from", "--trace or --export perfetto");
  needs(o.to != defaults.to, is_trace, "--to", "--trace or --export perfetto");
  needs(!o.table.empty(), is_export, "--table", "--export csv");
  const bool is_question = !arguments.asked.empty() || !arguments.tile.empty();
  without(!arguments.json.empty(), is_question && arguments.compared.empty(), "--json", "--ask or --tile");
  without(!arguments.compared.empty(), is_question, "--compare", "--ask or --tile");
  if (!arguments.compared.empty() && !arguments.json.empty() && arguments.json != "all")
    fail(ErrorKind::invalid_option, "report-option", "a comparison as JSON is --json all, found '{}'", arguments.json);
  without(!arguments.exported.empty(), is_question || !arguments.json.empty() || !arguments.compared.empty(), "--export",
          "--ask, --json, --tile or --compare");
}

int run(const Arguments& arguments) {
  if (arguments.schema) {
    write_file("-", profile::schema_markdown());
    return 0;
  }
  if (arguments.input.empty())
    fail(ErrorKind::invalid_option, "report-file", "pando report shows a report file (profile.pando): none is named");
  if (const auto& [from, to] = std::pair(arguments.options_of_export.from, arguments.options_of_export.to); from >= to)
    fail(ErrorKind::invalid_option, "report-cycles", "the cycles of a trace end after they begin: found --from {} --to {}", from, to);
  check_used(arguments);
  const profile::Report report = read(arguments.input);
  if (!arguments.trace.empty()) write_export(report, "perfetto", arguments.options_of_export, arguments.trace);
  if (!arguments.exported.empty()) {
    write_export(report, arguments.exported, arguments.options_of_export, arguments.output);
    return 0;
  }
  if (const std::string text = text_of(report, arguments); !text.empty()) write_file(arguments.output, text);
  if (arguments.svg.empty()) return 0;
  std::ostringstream picture;
  profile::write_svg(report, picture);
  write_file(arguments.svg, picture.str());
  return 0;
}

std::string questions_text() {
  std::string out = "Ask a question (several: several times):";
  for (const profile::QuestionRow* q : profile::questions())
    out += fmt::format("\n{}{}: {}", q->name, q->argument.empty() ? "" : fmt::format("[={}]", q->argument), q->help);
  return out;
}

std::string exports_text() {
  std::string out = "Write the report in another format:";
  for (const profile::ExportRow* e : profile::exports()) out += fmt::format("\n{}: {}", e->name, e->help);
  return out;
}

// An option without a value would be as if it were not there.
CLI::Validator some_text() {
  return CLI::Validator([](const std::string& text) { return text.empty() ? "a text is expected, found an empty one" : std::string(); },
                        "");
}

void describe(CLI::App* command, Invocation& invocation) {
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("file", arguments->input, "The report (profile.pando)");
  command->add_option("--ask", arguments->asked, questions_text());
  command->add_option("--json", arguments->json, "The answer to one question as JSON; with --compare: all");
  command->add_option("--tile", arguments->tile, "The same as --ask tile=TILE");
  command->add_option("--top", arguments->top, "Show at most so many rows of a list (10)")->check(at_least_one<std::int64_t>());
  command->add_option("--compare", arguments->compared,
                      "Compare with this report: what differs, matched by name, the greatest difference first");
  command->add_option("--export", arguments->exported, exports_text());
  command->add_option("--trace", arguments->trace,
                      "Write the executed steps for Perfetto and chrome://tracing into this file (--export perfetto)");
  const auto is_cycle = whole_number(0, std::numeric_limits<std::int64_t>::max());
  command->add_option("--from", arguments->options_of_export.from, "Of --trace and --export perfetto: begin at this cycle")
      ->check(is_cycle);
  command->add_option("--to", arguments->options_of_export.to, "Of --trace and --export perfetto: end at this cycle")->check(is_cycle);
  command->add_option("--table", arguments->options_of_export.table, "Of --export csv: which table of the file (see --schema)");
  command->add_option("-o,--output", arguments->output, "Write the text into this file");
  command->add_flag("--execution-steps", arguments->options.execution_steps, "Show the cycles of every step");
  command->add_flag("--var-storage", arguments->options.var_storage, "Show the largest variables and live memory by step");
  command->add_flag("--per-ipu-memory", arguments->options.per_ipu_memory, "Show memory by IPU");
  command->add_option("--svg", arguments->svg, "Draw memory by tile, live memory and cycles by step into this file");
  command->add_flag("--schema", arguments->schema, "Print the tables of report files as Markdown, and nothing else");
  for (const char* option : {"--ask", "--json", "--tile", "--compare", "--export", "--trace", "--table", "--output", "--svg"})
    command->get_option(option)->check(some_text());
  command->callback([arguments, &invocation] { invocation.status = run(*arguments); });
}

}  // namespace

CommandRow command_report() {
  return {
      .name = "report",
      .group = CommandGroup::look,
      .summary = "Show a report, ask it questions, compare or export it",
      .describe = describe,
      .examples = {{"pando report profile.pando", "the summary"},
                   {"pando report profile.pando --ask why_not_fit", "the answer to one question"},
                   {"pando report new.pando --compare old.pando --top 5", "what differs, the greatest difference first"},
                   {"pando report profile.pando --export perfetto -o trace.json", "a trace for another viewer"},
                   {"pando report profile.pando --trace trace.json --from 1000000 --to 2000000", "a trace of these cycles"}},
      .statuses = {{"0", "shown"}, {"2", "the input or the command line is wrong"}},
  };
}

}  // namespace pando::cli
