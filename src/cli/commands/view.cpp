// pando view: a report as one HTML page, and opens it.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>

#include "base/command/files.h"
#include "base/source_location.h"
#include "cli/command_row.h"
#include "machine/machine.h"
#include "poplar/exceptions.hpp"
#include "profile/report.h"
#include "view/page.h"

namespace pando::cli {
namespace {

struct Arguments {
  std::vector<std::string> reports;
  std::string output;
  std::string place;
  bool no_open = false, demo = false;
};

// How the tiles of an IPU lie on each machine that says it: "ipu2=16x23x4".
std::string fabrics() {
  std::string list;
  for (const Machine& m : all_machines())
    if (m.fabric_columns != 0)
      list += fmt::format("{}{}={}x{}x{}", list.empty() ? "" : " ", m.name, m.fabric_columns, m.fabric_rows, m.fabric_lanes);
  return list;
}

view::ShownReport read(const std::string& file) {
  view::ShownReport shown{std::filesystem::path(file).filename().string(), read_file(file)};
  try {
    if (shown.bytes.starts_with('{')) {  // version 3 is JSON
      std::istringstream json(shown.bytes);
      profile::read_json(json);
    } else {
      view::check_report(shown.bytes);
    }
  } catch (const poplar::parse_error& e) { fail_at(ErrorKind::parse_error, id_of(e.what()), {file}, "{}", without_id(e.what())); }
  return shown;
}

bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

// False if there is no browser to be asked.
bool open_in_browser(const std::string& url) {
  std::string program = "xdg-open";
  if (is_set("BROWSER"))
    program = std::getenv("BROWSER");
  else if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY"))
    return false;
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string address = url;
  char* const words[] = {program.data(), address.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawnp(&child, program.c_str(), &quiet, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&quiet);
  return failed == 0;
}

// Other bytes than letters, digits and a few signs as %XX.
std::string url_of(const std::string& file, const std::string& place) {
  std::string url = "file://";
  for (const char c : std::filesystem::absolute(file).string()) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 128 && (std::isalnum(byte) != 0 || std::string_view("/._-~").find(c) != std::string_view::npos))
      url += c;
    else
      url += fmt::format("%{:02X}", byte);
  }
  return place.empty() ? url : url + "#" + place;
}

int run(const Arguments& arguments) {
  if (arguments.demo != arguments.reports.empty())
    fail(ErrorKind::invalid_option, "view-report",
         "pando view shows a report file (profile.pando), or with --demo one that comes with it: {}",
         arguments.demo ? "both are named" : "none is named");
  std::vector<view::ShownReport> reports;
  if (arguments.demo) reports.push_back(view::demo_report());
  for (const std::string& file : arguments.reports) reports.push_back(read(file));
  // Two files of the same name are told apart by their folders.
  if (reports.size() == 2 && reports[0].name == reports[1].name)
    for (std::size_t i = 0; i < reports.size(); ++i)
      if (const std::filesystem::path folder = std::filesystem::absolute(arguments.reports[i]).parent_path().filename(); !folder.empty())
        reports[i].name = (folder / reports[i].name).string();
  const std::string output =
      arguments.output.empty() ? (arguments.demo ? "pando-demo" : arguments.reports.front()) + ".html" : arguments.output;
  write_file(output, view::write_page(reports, fabrics()));
  if (output == "-") return 0;
  const bool opened = !arguments.no_open && open_in_browser(url_of(output, arguments.place));
  write_file("-", fmt::format("{}{}\n", output, opened || arguments.no_open ? "" : ": open it in a browser"));
  return 0;
}

void describe(CLI::App* command, Invocation& invocation) {
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("reports", arguments->reports, "The report; with a second one, the page compares them")->expected(0, 2);
  command->add_flag("--demo", arguments->demo, "Show a report that comes with the tool: training steps on four IPUs, pipelined");
  command->add_option("-o,--output", arguments->output, "The page (- for standard output); without it, the report's name and .html");
  command->add_option("--place", arguments->place, "What the page shows first, as it stands after # in its address: memory&tile=3");
  command->add_flag("--no-open", arguments->no_open, "Write the page alone");
  command->callback([arguments, &invocation] { invocation.status = run(*arguments); });
}

}  // namespace

CommandRow command_view() {
  return {
      .name = "view",
      .group = CommandGroup::look,
      .summary = "Write a report, or two to compare, as one HTML page, and open it",
      .describe = describe,
      .examples = {{"pando view profile.pando", "write profile.pando.html and open it in a browser"},
                   {"pando view --demo", "look around in a report that comes with the tool"},
                   {"pando view old.pando new.pando --no-open -o both.html", "one page that compares two reports"}},
      .statuses = {{"0", "written"}, {"2", "the input or the command line is wrong"}},
  };
}

}  // namespace pando::cli
