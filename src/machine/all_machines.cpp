#include <algorithm>

#include "machine/machine.h"

// CMake writes one X(<stem>) per file of machines/; a file without its function, or a function of another name, does not link.
#define X(stem) Machine machine_##stem();
namespace pando {
#include "machine_manifest.inc"
}
#undef X

namespace pando {

namespace {
std::vector<Machine> make_all() {
  std::vector<Machine> all;
#define X(stem) all.push_back(machine_##stem());
#include "machine_manifest.inc"
#undef X
  std::sort(all.begin(), all.end(), [](const Machine& a, const Machine& b) { return a.name < b.name; });
  return all;
}
}  // namespace

const std::vector<Machine>& all_machines() {
  static const std::vector<Machine> all = make_all();
  return all;
}

const Machine* find_machine(std::string_view name) {
  for (const Machine& m : all_machines())
    if (m.name == name) return &m;
  return nullptr;
}

}  // namespace pando
