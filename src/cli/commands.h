// The subcommands of `pando`. Each adds itself to the command line and, when called, sets the exit status:
// 0 it worked; 1 the answer is no (does not fit, no dump); 2 the input or the command line is wrong.
// `dump` of a program gives the program's status.
#pragma once

#include <CLI/CLI.hpp>

namespace pando::cli {

inline constexpr int kNo = 1;
inline constexpr int kWrong = 2;

void add_allocate(CLI::App& app, int& status);
void add_calibrate(CLI::App& app, int& status);
// `is_program`: the words are those of a program, as they follow --.
void add_dump(CLI::App& app, int& status, bool is_program);
void add_emit(CLI::App& app, int& status);
void add_import(CLI::App& app, int& status);
void add_jupyter(CLI::App& app, int& status);
void add_machines(CLI::App& app, int& status);
void add_measure(CLI::App& app, int& status);
void add_model(CLI::App& app, int& status);
void add_project(CLI::App& app, int& status);
void add_options(CLI::App& app, int& status);
void add_repl(CLI::App& app, int& status);
void add_report(CLI::App& app, int& status);
void add_run(CLI::App& app, int& status);
void add_schedule(CLI::App& app, int& status);
void add_search(CLI::App& app, int& status);
void add_shell(CLI::App& app, int& status);
void add_simulate(CLI::App& app, int& status);
void add_transform(CLI::App& app, int& status);
void add_view(CLI::App& app, int& status);

// Becomes a program that stands beside this one, with these arguments.
void become(const std::string& name, const std::vector<std::string>& arguments);

}  // namespace pando::cli
