#include "profile/report.h"

namespace pando::profile {

bool stands_around(const ProgramStep& part) {
  for (const char* kind : {"loop", "if", "switch", "case", "function"})
    if (part.kind == kind) return true;
  return false;
}

Cycles operator+(const Cycles& a, const Cycles& b) {
  Cycles c;
  c.compute = a.compute + b.compute;
  c.exchange = a.exchange + b.exchange;
  c.local_copy = a.local_copy + b.local_copy;
  c.sync = a.sync + b.sync;
  c.global_exchange = a.global_exchange + b.global_exchange;
  c.host = a.host + b.host;
  c.wait = a.wait + b.wait;
  return c;
}

Cycles operator*(const Cycles& a, std::uint64_t n) {
  Cycles c;
  c.compute = a.compute * n;
  c.exchange = a.exchange * n;
  c.local_copy = a.local_copy * n;
  c.sync = a.sync * n;
  c.global_exchange = a.global_exchange * n;
  c.host = a.host * n;
  c.wait = a.wait * n;
  return c;
}

void write_report(const DevicePlan& plan, std::ostream& out, const DevicePlan& predicted) {
  Report report;
  report.predicted = predicted;
  report.target.name = plan.machine;
  report.plan = plan;
  write_report(report, out);
}

}  // namespace pando::profile
