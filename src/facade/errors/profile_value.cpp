#include "poplar/ProfileValue.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace poplar {
namespace {

using pando::ErrorKind;

const char* name_of(ProfileValue::Type type) {
  switch (type) {
    case ProfileValue::Type::NUMBER: return "a number";
    case ProfileValue::Type::STRING: return "a string";
    case ProfileValue::Type::BOOL: return "a boolean";
    case ProfileValue::Type::VECTOR: return "a list";
    case ProfileValue::Type::MAP: return "a map";
  }
  return "nothing";
}

void expect(ProfileValue::Type found, ProfileValue::Type expected) {
  if (found != expected)
    pando::fail(ErrorKind::type_error, "profile-value-type", "the profile value is {}, not {}", name_of(found), name_of(expected));
}

nlohmann::ordered_json to_json(const ProfileValue& v) {
  switch (v.type()) {
    case ProfileValue::Type::NUMBER: {
      const double n = v.asNumber();
      if (std::fabs(n) < 0x1p53 && n == static_cast<double>(static_cast<long long>(n))) return static_cast<long long>(n);
      return n;
    }
    case ProfileValue::Type::STRING: return v.asString();
    case ProfileValue::Type::BOOL: return v.asBool();
    case ProfileValue::Type::VECTOR: {
      auto list = nlohmann::ordered_json::array();
      for (const ProfileValue& e : v.asVector()) list.push_back(to_json(e));
      return list;
    }
    case ProfileValue::Type::MAP: {
      auto map = nlohmann::ordered_json::object();
      for (const auto& [key, value] : v.asMap()) map[key] = to_json(value);
      return map;
    }
  }
  return nullptr;
}

}  // namespace

ProfileValue::ProfileValue(String v) : type_(Type::STRING), string_(new String(std::move(v))) {}
ProfileValue::ProfileValue(const char* v) : ProfileValue(String(v)) {}
ProfileValue::ProfileValue(StringRef v) : ProfileValue(v.cloneAsString()) {}
ProfileValue::ProfileValue(Vector v) : type_(Type::VECTOR), vector_(new Vector(std::move(v))) {}
ProfileValue::ProfileValue(Map v) : type_(Type::MAP), map_(new Map(std::move(v))) {}

ProfileValue::ProfileValue(const ProfileValue& o) : type_(o.type_) {
  switch (type_) {
    case Type::NUMBER: number_ = o.number_; break;
    case Type::BOOL: boolean_ = o.boolean_; break;
    case Type::STRING: string_ = new String(*o.string_); break;
    case Type::VECTOR: vector_ = new Vector(*o.vector_); break;
    case Type::MAP: map_ = new Map(*o.map_); break;
  }
}

ProfileValue::ProfileValue(ProfileValue&& o) noexcept : type_(Type::NUMBER), number_(0) { *this = std::move(o); }

ProfileValue& ProfileValue::operator=(const ProfileValue& o) {
  ProfileValue copy(o);
  return *this = std::move(copy);
}

ProfileValue& ProfileValue::operator=(ProfileValue&& o) noexcept {
  if (this == &o) return *this;
  clear();
  type_ = o.type_;
  switch (type_) {
    case Type::NUMBER: number_ = o.number_; break;
    case Type::BOOL: boolean_ = o.boolean_; break;
    case Type::STRING: string_ = o.string_; break;
    case Type::VECTOR: vector_ = o.vector_; break;
    case Type::MAP: map_ = o.map_; break;
  }
  o.type_ = Type::NUMBER;
  o.number_ = 0;
  return *this;
}

ProfileValue::~ProfileValue() { clear(); }

void ProfileValue::clear() noexcept {
  if (type_ == Type::STRING) delete string_;
  if (type_ == Type::VECTOR) delete vector_;
  if (type_ == Type::MAP) delete map_;
  type_ = Type::NUMBER;
  number_ = 0;
}

const ProfileValue::String& ProfileValue::asString() const { return expect(type_, Type::STRING), *string_; }
ProfileValue::Number ProfileValue::asNumber() const { return expect(type_, Type::NUMBER), number_; }
ProfileValue::Boolean ProfileValue::asBool() const { return expect(type_, Type::BOOL), boolean_; }
const ProfileValue::Vector& ProfileValue::asVector() const { return expect(type_, Type::VECTOR), *vector_; }
ProfileValue::Vector& ProfileValue::asVector() { return expect(type_, Type::VECTOR), *vector_; }
const ProfileValue::Map& ProfileValue::asMap() const { return expect(type_, Type::MAP), *map_; }
ProfileValue::Map& ProfileValue::asMap() { return expect(type_, Type::MAP), *map_; }

std::uint64_t ProfileValue::sumUint() const {
  std::uint64_t sum = 0;
  for (const ProfileValue& v : asVector()) sum += static_cast<std::uint64_t>(v.asNumber());
  return sum;
}

const ProfileValue& ProfileValue::operator[](std::size_t i) const {
  const Vector& list = asVector();
  if (i >= list.size()) pando::fail(ErrorKind::index_error, "profile-value-index", "element {} of a list of {}", i, list.size());
  return list[i];
}

const ProfileValue& ProfileValue::operator[](const std::string& key) const {
  const Map& map = asMap();
  const auto it = map.find(key);
  if (it == map.end()) pando::fail(ErrorKind::index_error, "profile-value-key", "the map has no entry '{}'", key);
  return it->second;
}

std::size_t ProfileValue::size() const { return type_ == Type::MAP ? map_->size() : asVector().size(); }

bool operator==(const ProfileValue& a, const ProfileValue& b) {
  if (a.type_ != b.type_) return false;
  switch (a.type_) {
    case ProfileValue::Type::NUMBER: return a.number_ == b.number_;
    case ProfileValue::Type::BOOL: return a.boolean_ == b.boolean_;
    case ProfileValue::Type::STRING: return *a.string_ == *b.string_;
    case ProfileValue::Type::VECTOR: return *a.vector_ == *b.vector_;
    case ProfileValue::Type::MAP: return *a.map_ == *b.map_;
  }
  return false;
}

void serializeToJSON(std::ostream& out, const ProfileValue& value, bool prettyPrint) {
  out << to_json(value).dump(prettyPrint ? 2 : -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::ostream& operator<<(std::ostream& out, const ProfileValue& value) {
  serializeToJSON(out, value);
  return out;
}

}  // namespace poplar
