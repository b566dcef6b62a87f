// The rules that a projected program obeys, for every number of samples:
//
//   C1-order        a value is there when it is read: in an earlier trip, or earlier in the trip; no dummy is ever read
//   C2-overwritten  a read finds its own sample's value: a ring has copies enough, and both ends count them alike
//   C3-message      the k-th receive of a stream gets the k-th send, of the same sample; messages are of the stream's type
//   C4-version      a read of a state finds the version that it declares, and the policy allows that version
//   C5-deadlock     no device waits for ever, with the capacities that the streams declare
//   C6-ends         a stream has one sender and one receiver, where it says
//   C7-drain        every action runs for every sample: N samples make N updates (one for each window), and no message is left
//
// Loops are periodic, so each rule is an inequality between lags, places in the trip and copies; nothing is run to check it.
#pragma once

#include "project/program.h"

#include <string>
#include <vector>

namespace pando::project {

struct Violation {
  std::string rule;
  std::int32_t device = 0;
  // The first trip in which it shows; -1: before the loop, or in every trip.
  std::int64_t trip = -1;
  std::string value;
  std::string message;
};

std::vector<Violation> verify(const ProjectedProgram& program);
std::string to_string(const Violation& violation);
std::string to_string(const std::vector<Violation>& violations);
// Rejects (popart) a program that breaks a rule, with all violations in one message.
void check(const ProjectedProgram& program);

// The parts.
void verify_values(const ProjectedProgram& program, std::vector<Violation>& found);
void verify_streams(const ProjectedProgram& program, std::vector<Violation>& found);
void verify_waits(const ProjectedProgram& program, std::vector<Violation>& found);

}  // namespace pando::project
