#include "project/versions.h"

#include "ir/error.h"
#include "ir/print.h"
#include "project/place.h"

#include <algorithm>

namespace pando::project {

using namespace ir;

namespace {

std::uint64_t key(OpId o, std::int32_t state) { return static_cast<std::uint64_t>(o.value) << 32 | static_cast<std::uint32_t>(state); }

}  // namespace

Versions::Versions(const LoopProgram& loop, const Lags& lags)
    : loop_(loop), lags_(lags), place_(loop.module->op_count(), -1), update_(loop.module->op_count(), false), state_copies_(loop.states.size(), 1),
      value_copies_(loop.module->value_count(), 1) {
  std::int32_t next = 0;
  for (OpId o : lags.order) place_[o.index()] = next++;
  for (OpId o : loop.update) update_[o.index()] = true;
  std::vector<std::vector<Read>> reads(loop.states.size());
  for (OpId o : lags.order) {
    for (ValueId v : loop.module->operands(o)) {
      if (loop.fixed[v.index()]) continue;
      if (loop.state_of[v.index()] >= 0) reads[static_cast<std::size_t>(loop.state_of[v.index()])].push_back({o, false});
      if (loop.new_version_of[v.index()] >= 0) reads[static_cast<std::size_t>(loop.new_version_of[v.index()])].push_back({o, true});
    }
  }
  for (std::size_t s = 0; s < reads.size(); ++s) {
    const LoopState& state = loop.states[s];
    if (state.final == state.value) continue;
    if (!loop.is_windowed(s)) {
      delays_of(s, reads[s]);
    } else if (loop.policy.kind == PolicyKind::double_buffered) {
      windows_of(s, reads[s]);
    }
  }
  copies_of_values();
}

bool Versions::is_windowed(ValueId v) const {
  return state(v) >= 0 && loop_.policy.kind == PolicyKind::double_buffered && loop_.is_windowed(static_cast<std::size_t>(state(v)));
}

std::int32_t Versions::delay(OpId o, ValueId v) const {
  // A value that is both is what an op of the body reads: the version that its own sample made.
  if (loop_.new_version_of[v.index()] >= 0) return -1;
  const auto it = delays_.find(key(o, loop_.state_of[v.index()]));
  return it == delays_.end() ? 0 : it->second;
}

// The least delay: the version that it reads is there.
std::int32_t Versions::newest(OpId use, OpId update) const {
  const std::int32_t behind = lags_.lag(update) - lags_.lag(use) - 1;
  return std::max(0, behind + (place_[update.index()] >= place_[use.index()]));
}

void Versions::delays_of(std::size_t s, const std::vector<Read>& reads) {
  const LoopState& state = loop_.states[s];
  const OpId update = loop_.module->value(state.final).producer;
  std::int32_t oldest = 0;
  for (const Read& r : reads) {
    if (r.new_version || r.op == update) continue;
    const std::int32_t delay = newest(r.op, update);
    oldest = std::max(oldest, delay);
    if (delay > 0) delays_[key(r.op, static_cast<std::int32_t>(s))] = delay;
    if (loop_.policy.at_most >= 0 && delay > loop_.policy.at_most) {
      refuse(ErrorClass::value, "version-too-old", "{}: it would read '{}' {} samples old; the policy is '{}'", print_op(*loop_.module, r.op), state.name, delay,
             to_string(loop_.policy));
    }
  }
  if (loop_.policy.kind == PolicyKind::stash && oldest > 0) {
    for (const Read& r : reads) {
      if (!r.new_version && r.op != update) delays_[key(r.op, static_cast<std::int32_t>(s))] = oldest;
    }
  }
  for (const Read& r : reads) {
    const std::int32_t delay = r.new_version ? -1 : this->delay(r.op, state.value);
    const std::int32_t gap = delay + lags_.lag(r.op) - lags_.lag(update) + 1;
    state_copies_[s] = std::max<std::int64_t>(state_copies_[s], gap + (place_[update.index()] < place_[r.op.index()]));
  }
}

// 2BW: window w reads version w - 1; the update behind sample (w + 1) M - 1 makes version w + 1.
void Versions::windows_of(std::size_t s, const std::vector<Read>& reads) {
  const LoopState& state = loop_.states[s];
  const OpId update = loop_.module->value(state.final).producer;
  const std::int64_t window = loop_.policy.window;
  state_copies_[s] = 1;
  for (const Read& r : reads) {
    const bool in_update = update_[r.op.index()];
    const std::int32_t delay = r.new_version ? -1 : in_update ? 0 : 1;
    if (!r.new_version) delays_[key(r.op, static_cast<std::int32_t>(s))] = delay;
    const std::int64_t ahead = lags_.lag(update) - lags_.lag(r.op);
    const bool update_first = place_[update.index()] < place_[r.op.index()];
    if (!in_update && window + 1 < ahead + !update_first) {
      refuse(ErrorClass::value, "window-too-short", "{}: version w - 1 of '{}' comes {} trips too late for window w of {} samples", print_op(*loop_.module, r.op),
             state.name, ahead + !update_first - window - 1, window);
    }
    // Version v is overwritten by version v + copies.
    std::int64_t copies = delay + 1;
    while ((copies - delay - 1) * window + ahead < 0 || ((copies - delay - 1) * window + ahead == 0 && update_first)) ++copies;
    state_copies_[s] = std::max(state_copies_[s], std::max<std::int64_t>(copies, 1));
  }
}

void Versions::copies_of_values() {
  const Module& m = *loop_.module;
  for (OpId o : lags_.order) {
    for (ValueId v : m.operands(o)) {
      const OpId producer = m.value(v).producer;
      if (is_state(v) || !producer.valid() || place_[producer.index()] < 0) continue;
      const std::int32_t gap = lags_.lag(o) - lags_.lag(producer);
      std::int64_t& copies = value_copies_[v.index()];
      copies = std::max<std::int64_t>(copies, gap + (place_[producer.index()] < place_[o.index()]));
    }
  }
}

}  // namespace pando::project
