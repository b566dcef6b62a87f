// popc's command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pando::popc {

enum class Action {
  compile,
  expand_python,
  print_assembly,
  print_ir,
  print_count,
  describe,
  source_of,
  list_targets,
  list_instructions,
  version,
  help
};

struct Options {
  Action action = Action::compile;
  std::vector<std::string> inputs;  // .cpp, .c, .S, .gp; "-" is C++ text on standard input
  std::string output = "a.gp";
  std::vector<std::string> clang_flags;      // as given, in order: -I -D -W -std ...
  char level = '3';                          // of -O
  bool short_loops = true;                   // masked copies of loops for few iterations (passes/short_loops.h)
  bool strided = true;                       // entries for vertices at equal strides (passes/strided_entries.h)
  bool counts = true;                        // code that counts cycles (counting/count_module.h)
  bool checked = false;                      // accesses through edges are compared with their sizes (passes/checked.h)
  std::vector<std::string> levels;           // of processor_levels(), worst first: code for each; else for the host
  bool own_march = false;                    // the user chose -march: the host's features are not assumed
  std::string triple, sysroot;               // of another architecture: as clang names it, and where its headers and libraries are
  bool is_c = false;                         // -x c
  unsigned ipu_version = 0;                  // of --target, if no host is among the targets: 1, 2 or 21 (__IPU_ARCH_VERSION__)
  std::uint64_t address = 0;                 // of --source-of
  bool bitcode_only = false;                 // -c: for linking by popc; cannot be loaded
  std::string depfile;                       // -MF: a makefile rule with the files that were read
  std::vector<std::string> libraries;        // -l: names of shared libraries that the code calls
  std::vector<std::string> library_folders;  // -L
};

// Throws std::runtime_error: unknown target, missing argument.
Options parse_options(const std::vector<std::string>& arguments);
std::string help_text();
// All that --target takes.
std::string known_targets(const std::string& between);
// What the sources see: "cpu", or an IPU's name.
std::string target_of(const Options& options);

}  // namespace pando::popc
