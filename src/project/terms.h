// Values as terms: ops are uninterpreted, equal terms are one. Two programs that give the same terms are equal whatever the ops compute.
#pragma once

#include "project/program.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace pando::project {

class Terms {
 public:
  struct Value {
    std::uint32_t id = 0;
    friend bool operator==(const Value&, const Value&) = default;
  };
  static bool is_empty(Value v) { return v.id == 0; }

  explicit Terms(const ir::Module& module) : module_(module) {}

  Value initial(const Buffer& b) { return leaf((b.kind == BufferKind::sum ? "zeros of " : "initial ") + b.name); }
  Value input(const Stream& s, std::int64_t message) { return input(s.host, s.type, message * s.slices + s.slice); }
  Value input(const std::string& stream, ir::TypeId, std::int64_t slice) {
    return leaf("slice " + std::to_string(slice) + " of " + stream);
  }
  std::vector<Value> evaluate(ir::OpId op, const std::vector<Value>& operands);
  // "wup(D(...), WC)" down to a depth; for messages.
  std::string to_string(Value v, int depth = 3) const;

 private:
  struct Term {
    std::uint32_t symbol = 0, begin = 0, count = 0, result = 0;
  };
  Value leaf(const std::string& name);
  Value term(std::uint32_t symbol, std::uint32_t result, const std::vector<Value>& operands);
  std::uint32_t symbol(const std::string& text);
  bool is(Value v, std::uint32_t symbol, std::uint32_t result, const std::vector<Value>& operands) const;

  const ir::Module& module_;
  // Term 0 is the empty one.
  std::vector<Term> terms_{{}};
  std::vector<Value> operands_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
  std::vector<std::string> symbols_;
  std::unordered_map<std::string, std::uint32_t> symbol_ids_;
  // By op: its symbol, 1 more.
  std::vector<std::uint32_t> op_symbols_;
};

}  // namespace pando::project
