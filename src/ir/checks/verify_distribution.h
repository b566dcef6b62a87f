// Further rules, of a module whose devices are machines that each run their own part of it:
//
//   device-variable     a device variable is bound by a pmap that carries the graph, directly or not
//   device-range        devices are numbered from 0 to how many there are
//   group-device        what a collective joins lies on known devices, each once
//   stream-devices      a host stream is read, or written, by one device: no order is said between several
//   rendezvous-order    devices of a group come to its collectives in one order
//   rendezvous-deadlock no devices wait for each other in a circle, each for a collective that another comes to later
//
// The last two are of programs of single devices. A module has one order for all its devices, so what is projected from it obeys them.
#pragma once

#include "ir/checks/verify.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pando::ir {

// `devices`: how many there are, where that is known.
std::vector<Violation> verify_distribution(const Module& module, std::optional<std::int32_t> devices = {});

// What one device does together with others: a collective, or both ends of a send.
struct Rendezvous {
  // Devices that take part, ascending.
  std::vector<std::int32_t> members;
  // The op, with what members must agree on: attributes, types.
  std::string what;
  friend bool operator==(const Rendezvous&, const Rendezvous&) = default;
};

// Device d's, in its order, are all[d].
std::vector<std::vector<Rendezvous>> rendezvous_by_device(const Module& module);
// Every device waits at each rendezvous until all members are there.
std::vector<Violation> verify_rendezvous(const std::vector<std::vector<Rendezvous>>& all);

}  // namespace pando::ir
