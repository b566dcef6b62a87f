// The report of a run of several devices: pando run --profile FILE.
#pragma once

#include "profile/plan/plan.h"
#include "ranks/timeline/recorder.h"
#include "split/program.h"

#include <map>
#include <string>
#include <vector>

namespace pando::ranks {

// What is known of a program before its parts are given away.
struct RunFacts {
  std::vector<exec::Channel> channels;
  std::vector<std::map<std::string, std::string>> phases;  // phases_of
  std::vector<std::int32_t> devices;                       // by part
  // By part: variables, slots of channels included.
  struct Variable {
    std::string name, shape;
    double bytes = 0;
    bool slots = false;
  };
  std::vector<std::vector<Variable>> variables;
};
RunFacts facts_of(const split::Program& program);

// `timelines`: of all devices, in their order. `machine`: "ipu2", "cpu".
profile::DevicePlan plan_of_run(const RunFacts& facts, const std::vector<DeviceTimeline>& timelines, const std::string& machine);

}  // namespace pando::ranks
