// Attributes: what an op is told beside its operands. A sorted list of named values; equal lists of a module have one id.
#pragma once

#include "ir/types/dtype.h"
#include "ir/types/ids.h"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace pando::ir {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<double>;
using Strings = std::vector<std::string>;
using AttributeValue = std::variant<bool, std::int64_t, double, std::string, Ints, Floats, Strings, DType, BlobId, HostStreamId, BufferId>;

class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<std::string, AttributeValue>> items) {
    for (const auto& [name, value] : items) set(name, value);
  }

  void set(std::string_view name, AttributeValue value);
  const AttributeValue* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }

  // The value, or `otherwise` when it is absent; a value of another kind is a broken invariant (the verifier has checked kinds).
  bool flag(std::string_view name, bool otherwise = false) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise = 0) const;
  // Accepts an integer too.
  double number(std::string_view name, double otherwise = 0) const;
  const std::string& text(std::string_view name) const;
  const Ints& ints(std::string_view name) const;
  const Floats& floats(std::string_view name) const;
  DType dtype(std::string_view name, DType otherwise = DType::float32) const;

  const std::vector<std::pair<std::string, AttributeValue>>& items() const { return items_; }
  bool empty() const { return items_.empty(); }
  friend bool operator==(const Attributes&, const Attributes&) = default;

 private:
  std::vector<std::pair<std::string, AttributeValue>> items_;
};

class AttributesTable {
 public:
  AttributesTable() { intern({}); }
  AttributesId intern(const Attributes& attributes);
  const Attributes& operator[](AttributesId id) const { return all_[id.index()]; }
  std::size_t size() const { return all_.size(); }

 private:
  // References to attributes last while the table grows.
  std::deque<Attributes> all_;
  std::unordered_multimap<std::size_t, AttributesId> by_hash_;
};

}  // namespace pando::ir
