#include "project/order.h"

#include "ir/error.h"
#include "ir/op_row.h"
#include "ir/semantics/infer.h"
#include "ir/text/print.h"
#include "split/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace pando::project {

using namespace ir;

namespace {

class Order {
 public:
  Order(Module& m, std::vector<std::int32_t>& devices, const Policy& policy) : m_(m), devices_(devices), windowed_(policy.windowed()) {}

  void run() {
    const std::vector<std::pair<OpId, OpId>> wanted = graph().after;
    const auto is_joined = [&](const auto& edge) { return on_one_device(edge.first, edge.second); };
    if (std::all_of(wanted.begin(), wanted.end(), is_joined)) return;
    look_at_ops();
    old_ops_ = graph().ops.size();
    std::vector<std::pair<OpId, OpId>> across;
    for (const auto& edge : wanted) (is_joined(edge) ? after_ : across).push_back(edge);
    for (const auto& [first, then] : after_) before_[then.value].push_back(first);
    for (const auto& [first, then] : across) {
      if (!is_of_the_loop(first) || !is_of_the_loop(then) || is_brought(first, then)) continue;
      const OpId message = message_behind(first, devices_[then.index()], then);
      after_.emplace_back(message, then);
      before_[then.value].push_back(first);
    }
    graph().after = std::move(after_);
    put_behind();
  }

 private:
  Graph& graph() { return m_.graph(m_.main_graph()); }

  // One, or both of a transfer.
  std::pair<std::int32_t, std::int32_t> devices_of(OpId o) const {
    const std::int32_t d = devices_[o.index()];
    return {split::is_transfer(m_, o) ? m_.type_of(m_.operand(o, 0)).place.device.value : d, d};
  }
  bool on_one_device(OpId first, OpId then) const {
    const auto a = devices_of(first), b = devices_of(then);
    return a.first == b.first || a.first == b.second || a.second == b.first || a.second == b.second;
  }

  // What changes from sample to sample, and what a window's update makes.
  void look_at_ops() {
    changes_.assign(m_.value_count(), false);
    std::vector<bool> updated(m_.value_count(), false), is_new(m_.value_count(), false);
    const Graph& main = graph();
    for (std::size_t i = 0; i < main.inputs.size(); ++i) {
      changes_[main.inputs[i].index()] = main.inputs[i] != main.updated_inputs[i];
      if (main.inputs[i] != main.updated_inputs[i]) is_new[main.updated_inputs[i].index()] = true;
    }
    position_.assign(m_.op_count(), 0);
    in_loop_.assign(m_.op_count(), false);
    for (std::size_t i = 0; i < main.ops.size(); ++i) {
      const OpId o = main.ops[i];
      position_[o.index()] = i;
      bool changes = m_.row(o).effects != Effects::none, update = false;
      for (ValueId v : m_.operands(o)) changes = changes || changes_[v.index()], update = update || updated[v.index()];
      for (ValueId v : m_.results(o)) changes = changes || is_new[v.index()], update = update || is_new[v.index()];
      for (ValueId v : m_.results(o)) changes_[v.index()] = changes, updated[v.index()] = update;
      in_loop_[o.index()] = changes && !(windowed_ && update);
      if (split::is_transfer(m_, o)) {
        sent_.try_emplace(static_cast<std::uint64_t>(m_.operand(o, 0).value) << 32 | static_cast<std::uint32_t>(devices_[o.index()]), o);
      }
    }
  }
  bool is_of_the_loop(OpId o) const { return in_loop_[o.index()]; }

  // Whether `then` waits for `first` anyway: for its results, or for what waits for them.
  bool is_brought(OpId first, OpId then) const {
    std::vector<OpId> open{then};
    std::vector<bool> seen(position_[then.index()] - position_[first.index()] + 1, false);
    const auto look_at = [&](OpId o) {
      if (!o.valid() || o.index() >= position_.size() || position_[o.index()] < position_[first.index()]) return;
      const std::size_t i = position_[o.index()] - position_[first.index()];
      if (i >= seen.size() || seen[i]) return;
      seen[i] = true;
      open.push_back(o);
    };
    while (!open.empty()) {
      const OpId o = open.back();
      open.pop_back();
      if (o == first) return true;
      for (ValueId v : m_.operands(o)) look_at(m_.value(v).producer);
      if (const auto it = before_.find(o.value); it != before_.end()) {
        for (OpId b : it->second) look_at(b);
      }
    }
    return false;
  }

  // The op that brings something of `first` to a device, once for all that wait there.
  OpId message_behind(OpId first, std::int32_t to, OpId then) {
    const std::uint64_t key = static_cast<std::uint64_t>(first.value) << 32 | static_cast<std::uint32_t>(to);
    if (const auto it = messages_.find(key); it != messages_.end()) return it->second;
    for (ValueId v : m_.results(first)) {
      const auto sent = sent_.find(static_cast<std::uint64_t>(v.value) << 32 | static_cast<std::uint32_t>(to));
      if (sent != sent_.end() && position_[sent->second.index()] < position_[then.index()]) return sent->second;
    }
    const ValueId token = element_behind(first);
    const std::string name = m_.name_of(token) + "." + std::to_string(to);
    return messages_[key] = add(first, "send", token, {{"device", std::int64_t{to}}}, to, name);
  }

  // A small value that is there when `first` is done.
  ValueId element_behind(OpId first) {
    constexpr std::int64_t kSmall = 4;
    const bool stores = m_.op(first).result_count == 0;
    const ValueId v = stores ? m_.operand(first, 0) : m_.result(first);
    if (!changes_[v.index()]) {
      throw_model_error(ErrorClass::not_implemented, "order-across-devices",
                        fmt::format("{}: an op of another device is to run behind it, but what it stores is made before the loop: there is "
                                    "nothing that could say when it is done",
                                    print_op(m_, first)));
    }
    const Shape shape = m_.type_of(v).shape;
    if (!stores && elements_of(shape) <= kSmall) return v;
    const std::string name = m_.name_of(v) + ".done";
    const std::int32_t device = devices_[first.index()];
    Ints axes(shape.size());
    std::iota(axes.begin(), axes.end(), 0);
    const Ints zeros(shape.size(), 0), ones(shape.size(), 1);
    const Attributes one{{"start", zeros}, {"stop", ones}, {"step", ones}, {"axis", axes}};
    const OpId element = shape.empty() ? add(first, "identity", v, {}, device, name) : add(first, "slice", v, one, device, name);
    if (stores) after_.emplace_back(first, element);
    return m_.result(element);
  }

  OpId add(OpId behind, std::string_view op, ValueId operand, const Attributes& attributes, std::int32_t device, const std::string& name) {
    const OpId added = infer_and_add(m_, m_.main_graph(), op, {{operand}}, attributes, {}, false, {}, name);
    m_.op(added).location = m_.op(behind).location;
    devices_.push_back(device);
    behind_[behind.value].push_back(added);
    return added;
  }

  void put_behind() {
    std::vector<OpId> ops;
    for (OpId o : std::vector<OpId>(graph().ops.begin(), graph().ops.begin() + static_cast<std::ptrdiff_t>(old_ops_))) {
      ops.push_back(o);
      if (const auto it = behind_.find(o.value); it != behind_.end()) ops.insert(ops.end(), it->second.begin(), it->second.end());
    }
    graph().ops = std::move(ops);
  }

  Module& m_;
  std::vector<std::int32_t>& devices_;
  bool windowed_;
  std::vector<bool> changes_, in_loop_;
  std::vector<std::size_t> position_;
  std::size_t old_ops_ = 0;
  std::vector<std::pair<OpId, OpId>> after_;
  // By op: what runs before it by the user's order; what was added behind it.
  std::unordered_map<std::uint32_t, std::vector<OpId>> before_, behind_;
  // By value or op, and device: what brings it there.
  std::unordered_map<std::uint64_t, OpId> sent_, messages_;
};

}  // namespace

void send_order(Module& module, std::vector<std::int32_t>& devices, const Policy& policy) { Order(module, devices, policy).run(); }

}  // namespace pando::project
