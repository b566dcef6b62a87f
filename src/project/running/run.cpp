#include "project/running/run.h"

#include "base/sizes.h"
#include "project/running/reference.h"
#include "project/terms.h"

#include <fmt/format.h>

namespace pando::project {

using namespace ir;

namespace {

// What was stored to a stream of the host, by sample and slice.
template <class D>
std::map<std::string, std::vector<typename D::Value>> outputs_of(const ProjectedProgram& p, const Machine<D>& machine) {
  std::map<std::string, std::vector<typename D::Value>> all;
  for (std::size_t s = 0; s < p.streams.size(); ++s) {
    const Stream& stream = p.streams[s];
    if (stream.to != kHost) continue;
    auto& out = all[stream.host];
    const auto& messages = machine.output(s);
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const std::size_t at = i * static_cast<std::size_t>(stream.slices) + static_cast<std::size_t>(stream.slice);
      if (out.size() <= at) out.resize(at + 1);
      out[at] = messages[i];
    }
  }
  return all;
}

}  // namespace

void check_samples(const ProjectedProgram& p, std::int64_t samples) {
  constexpr std::uint64_t kMessage = 128;  // beside its elements
  std::uint64_t of_sample = 0;
  for (const Stream& s : p.streams) {
    if (s.from == kHost || s.to == kHost) of_sample = saturating_add(of_sample, kMessage + static_cast<std::uint64_t>(s.bytes));
  }
  check_host_memory(saturating_mul(of_sample, static_cast<std::uint64_t>(samples)), ErrorKind::poplar_error,
                    fmt::format("{} samples, {} bytes of messages from and to the host for each", samples, of_sample));
}

RunResult run(const ProjectedProgram& p, const HostInputs& inputs, const MachineOptions& options) {
  check_samples(p, options.samples);
  Tensors domain(*p.module, inputs);
  Machine<Tensors> machine(p, domain, options);
  machine.run();
  RunResult r;
  for (std::size_t d = 0; d < p.devices.size(); ++d) {
    for (std::size_t b = 0; b < p.devices[d].buffers.size(); ++b) {
      const Buffer& buffer = p.devices[d].buffers[b];
      if (buffer.kind == BufferKind::state) r.states[buffer.name] = machine.state(d, b).value.tensor;
    }
  }
  for (const auto& [name, values] : outputs_of(p, machine)) {
    for (const Tensors::Value& v : values) r.outputs[name].push_back(v.value.tensor);
  }
  return r;
}

RunResult run_reference(const LoopProgram& l, const Lags& lags, const HostInputs& inputs, std::int64_t samples) {
  const Versions versions(l, lags);
  Tensors domain(*l.module, inputs);
  Reference<Tensors> reference(l, versions, domain);
  reference.run(samples);
  RunResult r;
  for (std::size_t s = 0; s < l.states.size(); ++s) {
    if (!l.states[s].is_sum) r.states[l.states[s].name] = reference.state(s).value.tensor;
  }
  for (OpId o : l.body) {
    if (l.module->row(o).effects == Effects::none || l.module->op(o).operand_count == 0) continue;
    const std::string& name = l.module->stream(std::get<HostStreamId>(*l.module->attributes(o).find("stream"))).name;
    auto& out = r.outputs[name];
    if (!out.empty()) continue;
    for (const Tensors::Value& v : reference.output(name)) out.push_back(v.value.tensor);
  }
  return r;
}

std::optional<std::string> differs_in_terms(const ProjectedProgram& p, const LoopProgram& l, const Lags& lags,
                                            const MachineOptions& options) {
  const Versions versions(l, lags);
  Terms domain(*l.module);
  Reference<Terms> reference(l, versions, domain);
  reference.run(options.samples);
  Machine<Terms> machine(p, domain, options);
  machine.run();
  std::map<std::string, std::size_t> states;
  for (std::size_t s = 0; s < l.states.size(); ++s) states[l.states[s].name] = s;
  for (std::size_t d = 0; d < p.devices.size(); ++d) {
    for (std::size_t b = 0; b < p.devices[d].buffers.size(); ++b) {
      const Buffer& buffer = p.devices[d].buffers[b];
      if (buffer.kind != BufferKind::state) continue;
      const Terms::Value have = machine.state(d, b), want = reference.state(states.at(buffer.name));
      if (have == want) continue;
      return fmt::format("after {} samples '{}' on device {} is {}, the reference has {}", options.samples, buffer.name,
                         p.devices[d].device, domain.to_string(have), domain.to_string(want));
    }
  }
  for (const auto& [name, values] : outputs_of(p, machine)) {
    const auto& wanted = reference.output(name);
    if (values.size() != wanted.size())
      return fmt::format("stream '{}' brings {} slices, the reference {}", name, values.size(), wanted.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] == wanted[i]) continue;
      return fmt::format("slice {} of stream '{}' is {}, the reference has {}", i, name, domain.to_string(values[i]),
                         domain.to_string(wanted[i]));
    }
  }
  return std::nullopt;
}

}  // namespace pando::project
