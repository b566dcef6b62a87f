// `pando repl` once there is a machine: which of its faces is asked for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ontile/repl/shell/machine.h"

namespace pando::ontile {

struct FrontOptions {
  std::optional<std::string> code;     // -c
  std::vector<std::string> arguments;  // a file of Python (not with -c), then what sys.argv holds after its name
  bool interactive = false;            // a prompt after the script
  bool json = false;
  std::string select;  // tiles; empty: all
};

// The whole of a file of the host. Throws file_load_error, "<what>cannot read <path>: <why>", if it cannot be read.
std::string read_host_file(const std::string& path, std::string_view what);

// Throws file_load_error, before there is a machine, if the script cannot be read. Empty if there is none.
std::string read_script(const FrontOptions& options);

// Returns the exit status.
int run_front(const FrontOptions& options, const std::string& script, Machine& machine);

}  // namespace pando::ontile
