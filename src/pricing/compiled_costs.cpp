#include "pricing/compiled_costs.h"

#include "base/archive.h"
#include "base/process/stop.h"
#include "ir/op_row.h"
#include "ir/text/print.h"

#include <fmt/format.h>
#include <poplar/exceptions.hpp>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <optional>

namespace pando::pricing {

using namespace ir;

namespace {

// Ticks of each op of a window, or why it cannot be compiled.
struct Price {
  std::vector<std::uint64_t> ticks;
  std::string why;
};

// "12 0 340" or "! out of memory".
std::string to_text(const Price& p) { return p.why.empty() ? fmt::format("{}\n", fmt::join(p.ticks, " ")) : fmt::format("! {}\n", p.why); }

std::optional<Price> price_from(std::string_view text, std::size_t ops) {
  if (text.empty() || text.back() != '\n') return std::nullopt;
  text.remove_suffix(1);
  if (text.starts_with("! ")) return Price{{}, std::string(text.substr(2))};
  Price p;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    std::uint64_t ticks = 0;
    const auto [next, error] = std::from_chars(at, end, ticks);
    if (error != std::errc() || (next != end && *next != ' ')) return std::nullopt;
    p.ticks.push_back(ticks);
    at = next + 1;
  }
  return p.ticks.size() == ops ? std::optional(p) : std::nullopt;
}

// Is it the window's own fault? A full disk, no memory or a compiler that is not there may be other ones next time.
bool is_of_window(const std::exception& e) {
  return dynamic_cast<const poplar::poplar_error*>(&e) && !dynamic_cast<const poplar::runtime_error*>(&e) &&
         !dynamic_cast<const poplar::file_load_error*>(&e) && !dynamic_cast<const poplar::no_environment*>(&e);
}

// One line, as reasons are counted by their text.
std::string one_line(std::string text) {
  constexpr std::size_t kMost = 160;
  while (text.ends_with('\n')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

}  // namespace

struct CompiledCostModel::Prices {
  std::unique_ptr<WindowRunner> runner;
  Store store;
  std::unordered_map<std::string, Price> known;
  std::int64_t compiled = 0, found = 0, priced = 0;
  std::map<std::string, std::map<std::string, std::int64_t>> by_formula;  // reason, name of op

  const Price& of(Window window);
  void price(const WindowCutter& cutter, const Core& core, std::unordered_map<OpId, double>& seconds, const Module& module);
  void left_out(const Module& module, OpId op, const std::string& why) { ++by_formula[why][std::string(module.row(op).name)]; }
};

// Equal texts are equal windows: devices, names and types are in the text.
const Price& CompiledCostModel::Prices::of(Window window) {
  std::string text = ir::print(window.module);
  if (const auto it = known.find(text); it != known.end()) return it->second;
  // The key is one line.
  std::string key = fmt::format("{} | {}", runner->key(), text);
  std::replace(key.begin(), key.end(), '\n', ';');
  const std::string entry = fmt::format("{:016x}{:016x}", checksum(key), checksum(fmt::format("2{}", key)));
  const std::size_t ops = window.ops.size();
  if (const auto kept = store.find(entry, key)) {
    if (auto p = price_from(*kept, ops)) {
      ++found;
      return known.emplace(std::move(text), std::move(*p)).first->second;
    }
  }
  Price p;
  bool keep = true;
  try {
    p.ticks = runner->run(std::move(window));
  } catch (const Stopped&) { throw; } catch (const std::exception& e) {
    p.why = one_line(e.what());
    keep = is_of_window(e);
  }
  ++compiled;
  if (keep) store.put(entry, to_text(p), key);
  return known.emplace(std::move(text), std::move(p)).first->second;
}

// What cannot be compiled together is tried in halves, down to single ops.
void CompiledCostModel::Prices::price(const WindowCutter& cutter, const Core& core, std::unordered_map<OpId, double>& seconds,
                                      const Module& module) {
  Window window = cutter.cut(core);
  const std::vector<OpId> ops = window.ops;
  const Price& p = of(std::move(window));
  if (p.why.empty()) {
    for (std::size_t i = 0; i < ops.size(); ++i) seconds[ops[i]] = static_cast<double>(p.ticks[i]) / runner->ticks_per_second();
    priced += static_cast<std::int64_t>(ops.size());
    return;
  }
  if (core.ops.size() == 1) return left_out(module, core.ops[0], p.why);
  const auto middle = core.ops.begin() + static_cast<std::ptrdiff_t>(core.ops.size() / 2);
  price(cutter, {{core.ops.begin(), middle}, core.crosses}, seconds, module);
  price(cutter, {{middle, core.ops.end()}, core.crosses}, seconds, module);
}

namespace {

class InModule : public simulate::ModuleCosts {
 public:
  InModule(const simulate::CostModel& otherwise, const Module& module, std::unordered_map<OpId, double> seconds)
      : otherwise_(otherwise), module_(module), seconds_(std::move(seconds)) {}
  double seconds(OpId op) const override {
    const auto it = seconds_.find(op);
    return it != seconds_.end() ? it->second : otherwise_.seconds(module_, op);
  }

 private:
  const simulate::CostModel& otherwise_;
  const Module& module_;
  std::unordered_map<OpId, double> seconds_;
};

}  // namespace

CompiledCostModel::CompiledCostModel(const simulate::CostModel& otherwise, std::unique_ptr<WindowRunner> runner, Store store)
    : otherwise_(otherwise), prices_(std::make_unique<Prices>(std::move(runner), std::move(store))) {}
CompiledCostModel::~CompiledCostModel() = default;

std::unique_ptr<simulate::ModuleCosts> CompiledCostModel::of_module(const Module& module) const {
  std::unordered_map<OpId, double> seconds;
  for (std::uint32_t g = 0; g < module.graph_count(); ++g) {
    const Cores cores = cores_of(module, GraphId(g));
    for (const auto& [op, why] : cores.left_out) prices_->left_out(module, op, why);
    const WindowCutter cutter(module, GraphId(g));
    for (const Core& core : cores.cores) {
      check_stop();
      prices_->price(cutter, core, seconds, module);
    }
  }
  return std::make_unique<InModule>(otherwise_, module, std::move(seconds));
}

std::string CompiledCostModel::report() const {
  const Prices& p = *prices_;
  std::string text = fmt::format("priced by what was compiled: {} op{} in {} distinct piece{}, {} of them known from earlier runs\n",
                                 p.priced, p.priced == 1 ? "" : "s", p.compiled + p.found, p.compiled + p.found == 1 ? "" : "s", p.found);
  for (const auto& [why, ops] : p.by_formula) {
    std::string list;
    std::int64_t all = 0;
    for (const auto& [name, n] : ops) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", n, name), all += n;
    text += fmt::format("priced by formula: {} op{} ({}): {}\n", all, all == 1 ? "" : "s", list, why);
  }
  return text;
}

}  // namespace pando::pricing
