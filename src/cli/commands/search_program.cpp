#include "cli/commands/search_program.h"

#include <fmt/format.h>

#include <chrono>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/words.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "onnx/import.h"
#include "search/programs/equality.h"
#include "search/programs/strategy_text.h"
#include "transform/distribute/annotate.h"

namespace pando::cli {
namespace {

bool is_onnx(const std::string& input) { return input.ends_with(".onnx"); }

transform::Program program_from(const ProgramArguments& a) {
  ir::Module m =
      is_onnx(a.input) ? onnx::import_file(a.input, {.dimensions = sizes_of(a.dimensions)}) : ir::parse(read_file(a.input), a.input);
  transform::Annotation note{dimensions_of(a.samples), dimensions_of(a.sequence), dimensions_of(a.experts), {}};
  if (!a.loss.empty()) note.loss = a.loss;
  return transform::annotate(std::move(m), note);
}

// Whether it is equal; prints it.
bool check_winner(const transform::Program& program, const transform::Distributed& d) {
  const search::Equality e = search::compare(program, d, 1);
  fmt::print("equality: {}\n", search::to_text(e));
  return e.equal();
}

}  // namespace

bool is_program(const std::string& input) {
  if (is_onnx(input)) return true;
  if (!input.ends_with(".txt") && !input.ends_with(".pando")) return false;
  return true;
}

int search_for_program(ProgramArguments& a, const simulate::Cluster& cluster) {
  transform::Strategy asked;
  asked.first_device = a.space.first_device;
  asked = search::parse_words(a.why, asked);
  const transform::Program program = program_from(a);
  for (const std::string& file : a.tables) a.space.tables.push_back({file, search::table_from(file)});
  const auto begin = std::chrono::steady_clock::now();
  const search::ProgramResult r = search::search_program(program, cluster, a.space, a.options);
  if (!a.quiet) {
    fmt::print(stderr, "{}{} devices: {:.2f} s\n", a.options.progress ? fmt::format("\r{:60}\r", "") : "", a.space.devices,
               std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  fmt::print("{}", search::to_table(r));
  if (!a.why.empty()) { fmt::print("why not {}:\n  {}", a.why, search::why_not(program, cluster, a.space, asked, r)); }
  if (!a.svg.empty()) {
    write_file(a.svg, search::frontier_svg(r, a.space.memory > 0 ? a.space.memory : static_cast<double>(cluster.memory_bytes)));
  }
  if (r.best.empty()) return kNo;
  if (a.emit.empty() && !a.check) return 0;
  const transform::Distributed d = transform::parallelise(program, r.best.front().strategy);
  if (!a.emit.empty()) write_file(a.emit, ir::print(d.module));
  return !a.check || check_winner(program, d) ? 0 : kNo;
}

}  // namespace pando::cli
