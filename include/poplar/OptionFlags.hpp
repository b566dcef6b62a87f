#ifndef poplar_OptionFlags_hpp
#define poplar_OptionFlags_hpp

#include <poplar/Export.hpp>
#include <poplar/ProfileValue.hpp>
#include <poplar/StringRef.hpp>

#include <initializer_list>
#include <istream>
#include <map>
#include <ostream>
#include <string>
#include <utility>

namespace poplar {

/// Options as text: an ordered map from name to value.
class POPLAR_EXPORT OptionFlags {
  using Map = std::map<std::string, std::string>;

 public:
  using OptionFlag = Map::value_type;
  using iterator = Map::iterator;
  using const_iterator = Map::const_iterator;
  using initializer_list = std::initializer_list<OptionFlag>;

  OptionFlags() = default;
  OptionFlags(initializer_list flags) : map_() { set(flags); }

  /// Adds the option, or replaces its value.
  void set(StringRef option, StringRef value);
  void set(initializer_list flags);
  /// The option's value; throws index_error if it is not set.
  StringRef at(StringRef option) const;
  bool contains(StringRef option) const { return find(option) != end(); }
  const_iterator find(StringRef option) const { return map_.find(option.cloneAsString()); }
  void clear() { map_.clear(); }
  void erase(StringRef option) { map_.erase(option.cloneAsString()); }
  bool empty() const { return map_.empty(); }
  std::size_t size() const { return map_.size(); }

  iterator begin() { return map_.begin(); }
  iterator end() { return map_.end(); }
  const_iterator begin() const { return map_.begin(); }
  const_iterator end() const { return map_.end(); }

  friend bool operator==(const OptionFlags& a, const OptionFlags& b) { return a.map_ == b.map_; }
  friend bool operator!=(const OptionFlags& a, const OptionFlags& b) { return !(a == b); }
  friend bool operator<(const OptionFlags& a, const OptionFlags& b) { return a.map_ < b.map_; }

 private:
  Map map_;
};

/// Adds the members of a JSON object of strings (numbers and booleans become their text). Throws parse_error.
POPLAR_EXPORT void readJSON(StringRef json, OptionFlags& flags);
POPLAR_EXPORT void readJSON(std::istream& json, OptionFlags& flags);
/// The same of the value of an environment variable; does nothing if there is none of that name.
POPLAR_EXPORT void readJSONFromEnv(StringRef variable, OptionFlags& flags);
POPLAR_EXPORT std::ostream& operator<<(std::ostream& out, const OptionFlags& flags);
/// A map of strings.
POPLAR_EXPORT ProfileValue getAsProfileValue(const OptionFlags& flags);

}  // namespace poplar

#endif
