#include "ranks/start/check_input.h"

#include "base/error.h"
#include "ir/error.h"
#include "machine/machine.h"

#include <limits>

namespace pando::ranks {

namespace {

void check_variables(const Part& part, const Data& data) {
  for (std::size_t i = 0; i < part.module.state_count(); ++i) {
    const ir::State& s = part.module.state(ir::StateId(static_cast<ir::StateId::rep>(i)));
    if (is_slots(s.name) || data.has_variable(s.name, part.module.type(s.type).shape) || s.data.valid()) continue;
    ir::reject(ir::ErrorClass::value, "variable-without-data",
               "variable '{}' of device {} has no data: give it with --input, or --seed for numbers that are made", s.name, part.device);
  }
}

void check_streams(const Part& part, const Data& data, std::int64_t steps) {
  for (const HostEnd& end : part.host) {
    const ir::HostStream& s = part.module.stream(end.stream);
    std::int64_t blocks = 0;
    if (__builtin_mul_overflow(steps, end.blocks_per_step, &blocks)) blocks = std::numeric_limits<std::int64_t>::max();
    if (!end.to_device || data.has_stream(end.name, s.dtype, s.shape, blocks)) continue;
    ir::reject(ir::ErrorClass::value, "stream-without-data",
               "stream '{}' of device {} has no data: give it with --input, or --seed for numbers that are made", end.name, part.device);
  }
}

void check_machine(const Options& options) {
  if (options.device != "ipu_model" || find_machine(options.machine)) return;
  std::string known;
  for (const Machine& m : all_machines()) known += (known.empty() ? "" : ", ") + std::string(m.name);
  fail(ErrorKind::invalid_machine_model, "unknown-machine", "there is no machine '{}'; known ones: {}", options.machine, known);
}

}  // namespace

void check_input(const Program& program, const Data& data, const Options& options, unsigned ranks) {
  if (ranks > program.parts.size()) {
    ir::reject(ir::ErrorClass::value, "too-many-ranks", "{} ranks for a program of {} devices; a rank holds one or more", ranks,
               program.parts.size());
  }
  check_machine(options);
  for (const Part& part : program.parts) {
    check_variables(part, data);
    check_streams(part, data, options.steps);
  }
}

}  // namespace pando::ranks
