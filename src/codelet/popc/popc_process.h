// Runs popc as a process.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace pando {

// PANDO_POPC; else ../bin/popc beside the library this code is in; else popc in PATH; nothing if there is none.
std::optional<std::string> find_popc();

struct PopcResult {
  bool ok = false;
  std::string messages;  // what popc printed: clang's diagnostics
  std::string gp;
};

// popc ARGUMENTS -o <temporary>, with `input` on standard input. Throws no_environment if there is no popc.
PopcResult run_popc(const std::vector<std::string>& arguments, const std::string& input);

// Splits flags at blanks; quotes and backslashes as in a shell.
std::vector<std::string> split_flags(const std::string& flags);

}  // namespace pando
