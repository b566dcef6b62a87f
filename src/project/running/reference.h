// What a projected program must compute: the loop, sample after sample, each read of a state at the version that its policy declares. One
// sample is done before the next begins, so nothing of it depends on lags, buffers or streams.
#pragma once

#include "project/loop.h"
#include "project/versions.h"
#include "split/place.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace pando::project {

template <class D>
class Reference {
 public:
  using Value = typename D::Value;

  Reference(const LoopProgram& loop, const Versions& versions, D& domain)
      : l_(loop), m_(*loop.module), versions_(versions), domain_(domain), values_(m_.value_count()) {
    for (const LoopState& s : l_.states) {
      Buffer b{s.name, m_.value(s.value).type, s.is_sum ? BufferKind::sum : BufferKind::state, 1, s.initial};
      zeros_.push_back(domain_.initial(b));
      history_.push_back({zeros_.back()});
      if (s.value == s.final) values_[s.value.index()] = zeros_.back();
    }
  }

  void run(std::int64_t samples) {
    for (ir::OpId o : l_.before) compute(o, 0);
    const std::int64_t window = l_.policy.windowed() ? l_.policy.window : 1;
    std::map<std::uint32_t, std::int64_t> loads;
    for (std::int64_t i = 0; i < samples; ++i) {
      for (ir::OpId o : l_.body) {
        if (m_.row(o).effects == ir::Effects::none) {
          compute(o, i);
        } else {
          host(o, i, loads);
        }
      }
      for (std::size_t s = 0; s < l_.states.size(); ++s) {
        if (!l_.is_windowed(s) && l_.states[s].value != l_.states[s].final) history_[s].push_back(values_[l_.states[s].final.index()]);
      }
      if (!l_.policy.windowed() || i % window != window - 1) continue;
      for (ir::OpId o : l_.update) compute(o, i);
      for (std::size_t s = 0; s < l_.states.size(); ++s) {
        if (l_.is_windowed(s)) history_[s].push_back(values_[l_.states[s].final.index()]);
      }
    }
  }

  const Value& state(std::size_t s) const { return history_[s].back(); }
  // Of a stream to the host, in order.
  const std::vector<Value>& output(const std::string& stream) { return outputs_[stream]; }

 private:
  const Value& read(ir::OpId o, ir::ValueId v, std::int64_t sample) {
    const std::int32_t s = l_.state_of[v.index()];
    if (s < 0 || l_.fixed[v.index()]) return values_[v.index()];
    const auto state = static_cast<std::size_t>(s);
    if (l_.states[state].is_sum) return sample % l_.policy.window == 0 ? zeros_[state] : history_[state].back();
    const std::int64_t now = l_.is_windowed(state) ? sample / l_.policy.window : sample;
    return history_[state][static_cast<std::size_t>(std::max<std::int64_t>(0, now - versions_.delay(o, v)))];
  }
  void compute(ir::OpId o, std::int64_t sample) {
    std::vector<Value> operands;
    for (ir::ValueId v : m_.operands(o)) operands.push_back(read(o, v, sample));
    // What takes a value to another device does nothing to it.
    std::vector<Value> results = split::is_transfer(m_, o) ? operands : domain_.evaluate(o, std::move(operands));
    for (std::size_t i = 0; i < results.size(); ++i) values_[m_.result(o, i).index()] = std::move(results[i]);
  }
  void host(ir::OpId o, std::int64_t sample, std::map<std::uint32_t, std::int64_t>& loads) {
    const ir::HostStreamId id = std::get<ir::HostStreamId>(*m_.attributes(o).find("stream"));
    const ir::HostStream& s = m_.stream(id);
    if (m_.op(o).operand_count == 0) {
      values_[m_.result(o).index()] = domain_.input(s.name, m_.type(ir::tensor_type(s.dtype, s.shape)), loads[id.value]++);
    } else {
      outputs_[s.name].push_back(read(o, m_.operand(o, 0), sample));
    }
  }

  const LoopProgram& l_;
  const ir::Module& m_;
  const Versions& versions_;
  D& domain_;
  std::vector<Value> values_, zeros_;
  // By state: its versions.
  std::vector<std::vector<Value>> history_;
  std::map<std::string, std::vector<Value>> outputs_;
};

}  // namespace pando::project
