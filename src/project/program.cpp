#include "project/program.h"

namespace pando::project {

namespace {

constexpr std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0); }

}  // namespace

std::int64_t Slot::copy(std::int64_t trip, std::int64_t copies) const {
  const std::int64_t n = (floor_divide(trip - shift, every) + offset) % copies;
  return n < 0 ? n + copies : n;
}

std::string device_name(std::int32_t device) { return device == kHost ? "the host" : "device " + std::to_string(device); }

const std::string& name_of(const DeviceProgram& d, const Action& a) {
  static const std::string nameless = "(nothing)";
  if (a.result_count) return d.buffers[d.results(a)[0].buffer].name;
  return a.operand_count ? d.buffers[d.operands(a)[0].buffer].name : nameless;
}

}  // namespace pando::project
