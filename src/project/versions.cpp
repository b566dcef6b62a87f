#include "project/versions.h"
#include "base/text/counted.h"

#include "ir/error.h"
#include "ir/text/print.h"
#include "split/place.h"

#include <algorithm>

namespace pando::project {

using namespace ir;

Versions::Versions(const LoopProgram& loop, const Lags& lags)
    : loop_(loop),
      lags_(lags),
      place_(loop.module->op_count(), -1),
      update_(loop.module->op_count(), false),
      state_copies_(loop.states.size(), 1),
      value_copies_(loop.module->value_count(), 1) {
  std::int32_t next = 0;
  for (OpId o : lags.order) place_[o.index()] = next++;
  for (OpId o : loop.update) update_[o.index()] = true;
  // Reads by state, one state's behind another's.
  std::vector<std::size_t> end(loop.states.size() + 1, 0);
  std::size_t operands = 0;
  const auto each_read = [&](const auto& f) {
    for (OpId o : lags.order) {
      const auto values = loop.module->operands(o);
      for (std::uint32_t i = 0; i < values.size(); ++i) {
        const std::size_t v = values[i].index();
        if (loop.fixed[v]) continue;
        if (loop.state_of[v] >= 0) f(static_cast<std::size_t>(loop.state_of[v]), Read{o, i, false});
        if (loop.new_version_of[v] >= 0) f(static_cast<std::size_t>(loop.new_version_of[v]), Read{o, i, true});
      }
      operands = std::max<std::size_t>(operands, loop.module->op(o).operand_begin + values.size());
    }
  };
  each_read([&](std::size_t s, const Read&) { ++end[s + 1]; });
  delays_.assign(operands, 0);
  for (std::size_t s = 0; s < loop.states.size(); ++s) end[s + 1] += end[s];
  std::vector<Read> reads(end.back());
  std::vector<std::size_t> place(end.begin(), end.end() - 1);
  each_read([&](std::size_t s, const Read& r) { reads[place[s]++] = r; });
  for (std::size_t s = 0; s < loop.states.size(); ++s) {
    const LoopState& state = loop.states[s];
    if (state.final == state.value) continue;
    const std::span<const Read> mine(reads.data() + end[s], end[s + 1] - end[s]);
    if (!loop.is_windowed(s)) {
      delays_of(s, mine);
    } else if (loop.policy.kind == PolicyKind::double_buffered) {
      windows_of(s, mine);
    }
  }
  copies_of_values();
}

bool Versions::is_windowed(ValueId v) const {
  return state(v) >= 0 && loop_.policy.kind == PolicyKind::double_buffered && loop_.is_windowed(static_cast<std::size_t>(state(v)));
}

std::int32_t Versions::delay(OpId o, std::uint32_t i) const {
  // A value that is both is what an op of the body reads: the version that its own sample made.
  if (loop_.new_version_of[loop_.module->operand(o, i).index()] >= 0) return -1;
  const std::size_t at = loop_.module->op(o).operand_begin + i;
  return at < delays_.size() ? delays_[at] : 0;
}

std::int32_t Versions::delay(OpId o, ValueId v) const {
  const auto values = loop_.module->operands(o);
  const auto it = std::find(values.begin(), values.end(), v);
  return it == values.end() ? 0 : delay(o, static_cast<std::uint32_t>(it - values.begin()));
}

// The least delay: the version that it reads is there.
std::int32_t Versions::newest(OpId use, OpId update) const {
  const std::int32_t behind = lags_.lag(update) - lags_.lag(use) - 1;
  return std::max(0, behind + (place_[update.index()] >= place_[use.index()]));
}

void Versions::delays_of(std::size_t s, std::span<const Read> reads) {
  const LoopState& state = loop_.states[s];
  const OpId update = loop_.module->value(state.final).producer;
  std::int32_t oldest = 0;
  for (const Read& r : reads) {
    if (r.new_version || r.op == update) continue;
    const std::int32_t delay = newest(r.op, update);
    oldest = std::max(oldest, delay);
    delay_at(r) = delay;
    if (loop_.policy.at_most >= 0 && delay > loop_.policy.at_most) {
      reject(ErrorClass::value, "version-too-old", "{}: it would read '{}' {} old; the policy is '{}'", print_op(*loop_.module, r.op),
             state.name, counted(delay, "sample"), to_string(loop_.policy));
    }
  }
  if (loop_.policy.kind == PolicyKind::stash && oldest > 0) {
    for (const Read& r : reads) {
      if (!r.new_version && r.op != update) delay_at(r) = oldest;
    }
  }
  for (const Read& r : reads) {
    const std::int32_t delay = r.new_version ? -1 : delay_at(r);
    const std::int32_t gap = delay + lags_.lag(r.op) - lags_.lag(update) + 1;
    state_copies_[s] = std::max<std::int64_t>(state_copies_[s], gap + (place_[update.index()] < place_[r.op.index()]));
  }
}

// 2BW: window w reads version w - 1; the update behind sample (w + 1) M - 1 makes version w + 1.
void Versions::windows_of(std::size_t s, std::span<const Read> reads) {
  const LoopState& state = loop_.states[s];
  const OpId update = loop_.module->value(state.final).producer;
  const std::int64_t window = loop_.policy.window;
  state_copies_[s] = 1;
  for (const Read& r : reads) {
    const bool in_update = update_[r.op.index()];
    const std::int32_t delay = r.new_version ? -1 : in_update ? 0 : 1;
    if (!r.new_version) delay_at(r) = delay;
    const std::int64_t ahead = lags_.lag(update) - lags_.lag(r.op);
    const bool update_first = place_[update.index()] < place_[r.op.index()];
    if (!in_update && window + 1 < ahead + !update_first) {
      reject(ErrorClass::value, "window-too-short", "{}: version w - 1 of '{}' comes {} trips too late for window w of {} samples",
             print_op(*loop_.module, r.op), state.name, ahead + !update_first - window - 1, window);
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
