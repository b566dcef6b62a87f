#include "ir/types/attributes.h"

#include "base/check.h"
#include "ir/types/hash.h"

#include <algorithm>

namespace pando::ir {

namespace {

struct Hash {
  std::size_t operator()(bool v) const { return v; }
  std::size_t operator()(std::int64_t v) const { return std::hash<std::int64_t>()(v); }
  std::size_t operator()(double v) const { return std::hash<double>()(v); }
  std::size_t operator()(const std::string& v) const { return std::hash<std::string>()(v); }
  std::size_t operator()(DType v) const { return static_cast<std::size_t>(v); }
  template <class Tag, class Rep>
  std::size_t operator()(const Id<Tag, Rep>& v) const {
    return v.value;
  }
  template <class T>
  std::size_t operator()(const std::vector<T>& v) const {
    std::size_t h = v.size();
    for (const T& x : v) h = mixed(h, (*this)(x));
    return h;
  }
};

std::size_t hash_of(const Attributes& a) {
  std::size_t h = 0;
  for (const auto& [name, value] : a.items()) {
    h = mixed(h, std::hash<std::string>()(name));
    h = mixed(h, std::visit(Hash(), value) + value.index());
  }
  return h;
}

const Ints kNoInts;
const Floats kNoFloats;
const std::string kNoText;

}  // namespace

void Attributes::set(std::string_view name, AttributeValue value) {
  auto it = std::lower_bound(items_.begin(), items_.end(), name, [](const auto& item, std::string_view n) { return item.first < n; });
  if (it != items_.end() && it->first == name) {
    it->second = std::move(value);
  } else {
    items_.emplace(it, std::string(name), std::move(value));
  }
}

const AttributeValue* Attributes::find(std::string_view name) const {
  for (const auto& [n, value] : items_) {
    if (n == name) return &value;
  }
  return nullptr;
}

bool Attributes::flag(std::string_view name, bool otherwise) const {
  const AttributeValue* v = find(name);
  return v ? std::get<bool>(*v) : otherwise;
}

std::int64_t Attributes::integer(std::string_view name, std::int64_t otherwise) const {
  const AttributeValue* v = find(name);
  return v ? std::get<std::int64_t>(*v) : otherwise;
}

double Attributes::number(std::string_view name, double otherwise) const {
  const AttributeValue* v = find(name);
  if (!v) return otherwise;
  if (const auto* i = std::get_if<std::int64_t>(v)) return static_cast<double>(*i);
  return std::get<double>(*v);
}

const std::string& Attributes::text(std::string_view name) const {
  const AttributeValue* v = find(name);
  return v ? std::get<std::string>(*v) : kNoText;
}

const Ints& Attributes::ints(std::string_view name) const {
  const AttributeValue* v = find(name);
  return v ? std::get<Ints>(*v) : kNoInts;
}

const Floats& Attributes::floats(std::string_view name) const {
  const AttributeValue* v = find(name);
  return v ? std::get<Floats>(*v) : kNoFloats;
}

DType Attributes::dtype(std::string_view name, DType otherwise) const {
  const AttributeValue* v = find(name);
  return v ? std::get<DType>(*v) : otherwise;
}

AttributesId AttributesTable::intern(const Attributes& attributes) {
  const std::size_t h = hash_of(attributes);
  auto [begin, end] = by_hash_.equal_range(h);
  for (auto it = begin; it != end; ++it) {
    if (all_[it->second.index()] == attributes) return it->second;
  }
  const AttributesId id(static_cast<AttributesId::rep>(all_.size()));
  all_.push_back(attributes);
  by_hash_.emplace(h, id);
  return id;
}

}  // namespace pando::ir
