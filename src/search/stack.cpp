#include "search/stack.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace pando::search {

#define X(name) Stack stack_##name();
#include "stack_manifest.inc"
#undef X

const std::vector<Stack>& stacks() {
  static const std::vector<Stack> all = {
#define X(name) stack_##name(),
#include "stack_manifest.inc"
#undef X
  };
  return all;
}

const Stack& stack_named(std::string_view name) {
  std::string known;
  for (const Stack& s : stacks()) {
    if (s.name == name) return s;
    known += (known.empty() ? "" : ", ") + s.name;
  }
  fail(ErrorKind::poplar_error, "unknown-stack", "no stack '{}'; stacks: {}", name, known);
}

void reserve_as_pytorch(Stack& s) {
  // [vocabpar] What PyTorch's allocator holds beside what is allocated, mean of 20 runs on A100 (VocabularyParallelism, exp_one_host.csv,
  // peak_reserved over peak_allocated: 1.09 to 1.15). The context and buffers of NCCL are assumed.
  s.allocator = 1.12;
  s.context_bytes = 1.0 * (1 << 30);
  s.without_reserve = {"bow-pod", "ipu1", "ipu2", "ipu21"};
}

namespace {

void scale(simulate::Efficiency& e, double by) {
  e.share *= by;
  for (auto& [size, share] : e.points) share *= by;
}

}  // namespace

simulate::Cluster with_stack(simulate::Cluster c, const Stack& s) {
  std::string added;
  for (const auto& [machine, seconds] : s.op_seconds) {
    if (machine == c.name && seconds > c.launch) c.launch = seconds, added += fmt::format(", {:g} us an op", 1e6 * seconds);
  }
  for (const auto& [machine, seconds] : s.microbatch_seconds) {
    if (machine == c.name) c.microbatch_seconds = seconds, added += fmt::format(", {:g} ms a microbatch of a pipeline", 1e3 * seconds);
  }
  for (const auto& [name, number] : simulate::kSoftwareNumbers)
    if (s.*number > 0) c.*number = s.*number;
  if (s.loss_bytes > 0) added += fmt::format(", a loss of {:g} bytes a logit", s.loss_bytes);
  for (const simulate::Unfused& u : s.unfused) added += fmt::format(", {} of several kernels", u.op);
  c.unfused = s.unfused;
  if (s.stops_early) added += ", layers that are computed again stop early";
  c.stops_early = s.stops_early;
  if (s.pace != 1) {
    scale(c.matmul_efficiency, s.pace);
    scale(c.memory_efficiency, s.pace);
    for (auto& p : c.measured.shapes.products) p.efficiency *= s.pace;
    for (auto& g : c.measured.shapes.grouped) g.efficiency *= s.pace;
    for (auto& p : c.measured.shapes.attentions) p.efficiency *= s.pace;
    for (auto& b : c.measured.bytewise) b.seconds /= s.pace;
    added += fmt::format(", {:g} of the machine's pace", s.pace);
  }
  if (s.logit_bytes > 0) added += fmt::format(", {:g} bytes a logit", s.logit_bytes);
  for (simulate::NetworkLevel& l : c.levels) l.slowdown = s.waits ? 1 : l.slowdown;
  if (s.waits) added += ", waits for transfers";
  // "ipu2:64" is an ipu2.
  const std::string machine = c.name.substr(0, c.name.find(':'));
  if (std::ranges::find(s.without_reserve, machine) == s.without_reserve.end() && c.memory_bytes > 0) {
    const auto whole = static_cast<double>(c.memory_bytes);
    const double usable = std::max(0.0, whole - s.context_bytes) / s.allocator;
    c.memory_bytes = static_cast<std::int64_t>(usable);
    added +=
        fmt::format(", {:.1f} GiB of {:.1f} kept for context, collectives and allocator", (whole - usable) / (1 << 30), whole / (1 << 30));
  }
  c.source += fmt::format("; stack {}{}", s.name, added);
  return c;
}

}  // namespace pando::search
