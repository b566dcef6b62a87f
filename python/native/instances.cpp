// Instances: processes that run one program together.
#include "native/instances.h"

#include "exec/transports/mpi.h"
#include "ir/error.h"
#include "native/interruptible.h"

#include <atomic>

namespace pando::python {

namespace {

using session::Instances;

HeldInstances open(double timeout) {
  HeldInstances held;
  // MPI waits for all instances to come, and cannot be called back: signals end the process.
  nb::gil_scoped_release released;
  auto transport = exec::open_mpi(timeout);
  if (!transport)
    ir::reject(ir::ErrorClass::runtime, "instance-late", "not all instances have begun within {} s: each of them calls popdist.init()",
               timeout);
  held.instances = std::make_shared<Instances>(std::move(transport), timeout);
  return held;
}

nb::list all_gather(HeldInstances& held, const nb::bytes& bytes, std::string_view what, const std::vector<unsigned>& members) {
  const std::string mine(bytes.c_str(), bytes.size());
  std::vector<std::string> all;
  std::atomic<bool> stopped{false};
  interruptibly([&] { all = held.instances->all_gather(mine, what, members, [&] { return stopped.load(); }); }, [&] { stopped = true; });
  nb::list out;
  for (const std::string& part : all) out.append(nb::bytes(part.data(), part.size()));
  return out;
}

bool leave(HeldInstances& held, double seconds) {
  nb::gil_scoped_release released;
  return held.instances->leave(seconds);
}

}  // namespace

void bind_instances(nb::module_& m) {
  nb::class_<HeldInstances> c(m, "Instances", "The processes that poprun has started, as this one sees them.");
  m.def("open_instances", open, nb::arg("timeout"));
  c.def("index", [](HeldInstances& h) { return h.instances->index(); });
  c.def("count", [](HeldInstances& h) { return h.instances->count(); });
  c.def("all_gather", all_gather, nb::arg("bytes"), nb::arg("what"), nb::arg("members") = std::vector<unsigned>(),
        "What each of the members gives, in their order; no members: all instances.");
  c.def("fail", [](HeldInstances& h, const std::string& why) { h.instances->fail(why); }, nb::arg("why"));
  c.def("leave", leave, nb::arg("seconds"), "False: the others have not come to their ends.");
}

}  // namespace pando::python
