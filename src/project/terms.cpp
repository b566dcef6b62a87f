#include "project/terms.h"

#include "ir/text/print.h"

namespace pando::project {

namespace {

std::uint64_t mix(std::uint64_t h, std::uint64_t x) {
  h ^= x + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccdULL;
}

}  // namespace

std::uint32_t Terms::symbol(const std::string& text) {
  const auto [it, is_new] = symbol_ids_.emplace(text, symbols_.size());
  if (is_new) symbols_.push_back(text);
  return it->second;
}

Terms::Value Terms::leaf(const std::string& name) { return term(symbol(name), 0, {}); }

bool Terms::is(Value v, std::uint32_t symbol, std::uint32_t result, const std::vector<Value>& operands) const {
  const Term& t = terms_[v.id];
  if (t.symbol != symbol || t.result != result || t.count != operands.size()) return false;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands_[t.begin + i] != operands[i]) return false;
  }
  return true;
}

Terms::Value Terms::term(std::uint32_t symbol, std::uint32_t result, const std::vector<Value>& operands) {
  std::uint64_t h = mix(mix(1, symbol), result);
  for (Value v : operands) h = mix(h, v.id);
  const auto [begin, end] = by_hash_.equal_range(h);
  for (auto it = begin; it != end; ++it) {
    if (is({it->second}, symbol, result, operands)) return {it->second};
  }
  const auto id = static_cast<std::uint32_t>(terms_.size());
  terms_.push_back({symbol, static_cast<std::uint32_t>(operands_.size()), static_cast<std::uint32_t>(operands.size()), result});
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  by_hash_.emplace(h, id);
  return {id};
}

std::vector<Terms::Value> Terms::evaluate(ir::OpId op, const std::vector<Value>& operands) {
  if (op_symbols_.size() <= op.index()) op_symbols_.resize(module_.op_count(), 0);
  std::uint32_t& known = op_symbols_[op.index()];
  if (known == 0) known = symbol(ir::print_call(module_, op, std::vector<std::string>(module_.operands(op).size(), "_"))) + 1;
  std::vector<Value> results;
  for (std::uint32_t i = 0; i < module_.op(op).result_count; ++i) results.push_back(term(known - 1, i, operands));
  return results;
}

std::string Terms::to_string(Value v, int depth) const {
  const Term& t = terms_[v.id];
  const std::string& symbol = symbols_[t.symbol];
  if (t.count == 0) return symbol;
  std::string operands;
  for (std::uint32_t i = 0; i < t.count; ++i) {
    operands += (i ? ", " : "") + (depth == 0 ? std::string("...") : to_string(operands_[t.begin + i], depth - 1));
  }
  // Between the bracket and what is behind the places of the operands, one sign and a comma each.
  const std::size_t open = symbol.find('(') + 1;
  return symbol.substr(0, open) + operands + symbol.substr(open + 3 * t.count - 2);
}

}  // namespace pando::project
