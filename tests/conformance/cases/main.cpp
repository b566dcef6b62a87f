// Programs against the public API, on several machines and thread counts.
//
//   conformance [--case PART] [--machine PART] [--list]
#include <cstdlib>
#include <iostream>

#include "world.h"

namespace conformance {
namespace {

poplar::Device ipu_model(unsigned ipus, unsigned tiles_per_ipu) {
  poplar::IPUModel model("ipu2");
  model.numIPUs = ipus;
  model.tilesPerIPU = tiles_per_ipu;
  return model.createDevice();
}

std::vector<Machine> machines() {
  return {{"four_tiles_even", [] { return ipu_model(1, 4); }, false},
          {"four_tiles_uneven", [] { return ipu_model(1, 4); }, true},
          {"1472_tiles_uneven", [] { return ipu_model(1, 1472); }, true},
          {"two_ipus_uneven", [] { return ipu_model(2, 4); }, true},
          {"cpu", [] { return poplar::Device::createCPUDevice(); }, false}};
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (auto list : {view_cases, field_cases, program_cases, host_cases, replica_cases, executable_cases})
    for (const Case& c : list()) all.push_back(c);
  return all;
}

// Empty, or what is wrong. `seen` receives what the case read.
std::string run(const Case& test, const Machine& machine, const char* threads, std::string& seen) {
  setenv("PANDO_THREADS", threads, 1);
  try {
    World world(machine, test.replicas);
    test.run(world);
    seen = world.seen();
  } catch (const World::Declined&) { seen = "declined"; } catch (const std::exception& e) {
    return e.what();
  }
  return {};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

int run_all(const std::string& case_part, const std::string& machine_part) {
  unsigned passed = 0, failed = 0, declined = 0;
  for (const Case& test : cases())
    for (const Machine& machine : machines()) {
      if (!contains(test.name, case_part) || !contains(machine.name, machine_part)) continue;
      std::string one, two;
      std::string fault = run(test, machine, "1", one);
      if (fault.empty()) fault = run(test, machine, "2", two);
      if (fault.empty() && one != two) fault = "one thread and two threads read other bytes";
      declined += one == "declined";
      passed += fault.empty();
      failed += !fault.empty();
      if (!fault.empty()) std::cout << "FAIL " << test.name << " on " << machine.name << ": " << fault << std::endl;
    }
  std::cout << passed << " passed (" << declined << " declined), " << failed << " failed\n";
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace
}  // namespace conformance

int main(int argc, char** argv) {
  std::string case_part, machine_part;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--list") {
      for (const conformance::Case& c : conformance::cases()) std::cout << c.name << "\n";
      return 0;
    }
    if (i + 1 >= argc) return std::cerr << "usage: conformance [--case PART] [--machine PART] [--list]\n", 2;
    (flag == "--case" ? case_part : machine_part) = argv[++i];
  }
  return conformance::run_all(case_part, machine_part);
}
