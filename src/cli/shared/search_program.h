// pando search of a program: an ONNX model, or a module's text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/programs/program_search.h"
#include "search/settings/emit_settings.h"

namespace pando::cli {

struct ProgramArguments {
  std::string input, why, svg, report, emit;
  // Of a program: which inputs count samples, positions, experts; which value is the loss; sizes of named dimensions;
  // files of schedules.
  std::vector<std::string> samples, sequence, experts, dimensions, tables;
  std::string loss;
  // Numbers of devices that are compared.
  std::vector<std::int64_t> devices;
  bool by_price = false;
  search::Space space;
  // What ops cost: "machine", or "compiled" for the machine of that name (compiled_costs.h).
  std::string cost = "machine", machine;
  // The command line, for the program that compiles.
  std::vector<std::string> given;
  search::SearchOptions options;
  // Runs the winner and the sequential program in the interpreter, and says whether they are equal.
  bool check = false, quiet = false;
};

// Whether the file is an ONNX model or a module's text.
bool is_program(const std::string& input);
// Exit status.
// The target of NAME or NAME:PATH, and the path; null: the text is the path of a program.
std::pair<const search::EmitTarget*, std::string> emit_target_of(const std::string& text);

int search_for_program(ProgramArguments& a, const simulate::Cluster& cluster);

}  // namespace pando::cli
