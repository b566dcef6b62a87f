#include "measure/run.h"

#include "session/session.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace pando::measure {

namespace {

struct HostData {
  std::vector<std::vector<std::byte>> buffers;
  std::vector<session::InputData> inputs;
  std::vector<session::OutputData> outputs;
};

// Zeros for all streams, one slice each of every replica.
HostData zeros_for(session::Session& s, const ir::Module& m) {
  HostData d;
  const auto add = [&](ir::HostStreamId id) {
    const ir::HostStream& stream = m.stream(id);
    d.buffers.emplace_back(static_cast<std::size_t>(ir::elements_of(s.full_shape(id))) * ir::size_of(stream.dtype));
    return d.buffers.back().data();
  };
  for (ir::HostStreamId id : s.inputs()) d.inputs.push_back({id, add(id), 1});
  for (ir::HostStreamId id : s.outputs()) d.outputs.push_back({id, add(id), 1});
  return d;
}

}  // namespace

void make_variables(ir::Module& m) {
  const ir::Graph& main = m.graph(m.main_graph());
  std::vector<bool> has(main.inputs.size(), false);
  for (std::uint32_t s = 0; s < m.state_count(); ++s) {
    if (const auto input = m.state(ir::StateId(s)).input) has[*input] = true;
  }
  for (std::uint32_t i = 0; i < has.size(); ++i) {
    if (has[i]) continue;
    const ir::ValueId v = main.inputs[i];
    ir::State state;
    state.name = m.name_of(v);
    state.type = m.value(v).type;
    state.input = i;
    m.add_state(std::move(state));
  }
}

IpuRun run_on_ipus(ir::Module module, const std::string& machine, std::int64_t tiles_per_ipu, std::string* profile) {
  make_variables(module);
  session::Options options;
  options.machine = machine;
  options.tiles_per_ipu = tiles_per_ipu;
  options.settings.set("plan_objective", std::string("cycles"));
  session::Session s(std::move(module), options);
  HostData data = zeros_for(s, s.lowered());
  s.attach();
  s.reset_cycles();
  s.run(data.inputs, data.outputs);
  IpuRun r;
  r.cycles = s.cycles();
  r.seconds = static_cast<double>(r.cycles) / s.clock_hz();
  if (profile != nullptr) *profile = s.profile_summary();
  return r;
}

double run_on_host(ir::Module module, double budget) {
  make_variables(module);
  session::Options options;
  options.device = "cpu";
  session::Session s(std::move(module), options);
  HostData data = zeros_for(s, s.lowered());
  s.attach();
  using Clock = std::chrono::steady_clock;
  double best = 1e30;
  const auto begin = Clock::now();
  for (int i = 0; i < 4 || std::chrono::duration<double>(Clock::now() - begin).count() < budget; ++i) {
    const auto start = Clock::now();
    s.run(data.inputs, data.outputs);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

}  // namespace pando::measure
