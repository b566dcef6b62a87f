#include "session/dump.h"

#include "ir/error.h"
#include "ir/text/print.h"

#include <cstdlib>
#include <fstream>
#include <iostream>

namespace pando::session {

namespace {

// Dumps of a process follow one another in the file, and those of the levels below follow them.
void write(const std::string& text) {
  const char* path = std::getenv("PANDO_DUMP_FILE");
  if (path == nullptr || *path == '\0') {
    std::cout << text << std::flush;
    return;
  }
  std::ofstream out(path, std::ios::app);
  if (!(out << text)) ir::reject(ir::ErrorClass::runtime, "dump-file", "cannot write the dump to '{}'", path);
}

}  // namespace

Dump::Dump() {
  const char* level = std::getenv("PANDO_DUMP_LEVEL");
  wanted_ = level != nullptr && std::string_view(level) == "model";
}

void Dump::after(std::string_view pass, const ir::Module& module) {
  if (!wanted_) return;
  std::string text = ir::print(module, {.elide_data = true});
  const bool same = text == last_;
  write(fmt::format("# after {}{}\n{}\n", pass, same ? ": nothing changed" : "", same ? std::string() : text));
  last_ = std::move(text);
}

void Dump::decisions(const std::string& text) {
  if (wanted_) write(fmt::format("# lower decides\n{}\n", text));
}

}  // namespace pando::session
