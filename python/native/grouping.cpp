#include "native/native.h"

#include "ir/replica_grouping.h"

namespace pando::python {

void bind_grouping(nb::module_& m) {
  nb::class_<ir::ReplicaGrouping> c(m, "Grouping", "Groups of replicas.");
  c.def(nb::init<std::int64_t, std::int64_t, std::int64_t>(), nb::arg("replicas"), nb::arg("stride"), nb::arg("size"));
  c.def_static("of_assignment", &ir::ReplicaGrouping::of_assignment, nb::arg("assignment"));
  c.def_prop_ro("replicas", &ir::ReplicaGrouping::replicas);
  c.def_prop_ro("groups", &ir::ReplicaGrouping::groups);
  c.def_prop_ro("size", &ir::ReplicaGrouping::size);
  c.def_prop_ro("stride", &ir::ReplicaGrouping::stride);
  c.def_prop_ro("is_constant", &ir::ReplicaGrouping::is_constant);
  c.def_prop_ro("assignment", [](const ir::ReplicaGrouping& g) { return g.assignment(); });
  c.def("transposed", &ir::ReplicaGrouping::transposed);
}

}  // namespace pando::python
