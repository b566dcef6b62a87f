#ifndef poputil_OptionParsing_hpp
#define poputil_OptionParsing_hpp

#include <poplar/OptionFlags.hpp>
#include <poplar/StringRef.hpp>
#include <poplar/exceptions.hpp>

#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#if __cplusplus >= 201703L
#include <optional>
#endif

namespace poplibs {

// How options become values. All throw poplar::invalid_option for a text that is no such value.
namespace parse {

/// The whole text as a number: decimal, or hexadecimal after 0x.
template <typename T> T asInteger(const poplar::StringRef& str) {
  const std::string text = str.cloneAsString();
  std::istringstream in(text);
  T value;
  in >> (text.find("0x") == std::string::npos ? std::dec : std::hex) >> value;
  if (in.fail() || in.peek() != std::istringstream::traits_type::eof()) throw poplar::invalid_option("Not a valid integer");
  return value;
}

/// The whole text as a number.
template <typename T> T asFloatingPoint(const poplar::StringRef& str) {
  std::istringstream in(str.cloneAsString());
  T value;
  in >> value;
  if (in.fail() || in.peek() != std::istringstream::traits_type::eof()) throw poplar::invalid_option("Not a floating point number");
  return value;
}

/// The keys: "['a', 'b']".
template <typename Map> inline std::string describeKeys(const Map& map) {
  std::string text;
  for (const auto& entry : map) text += (text.empty() ? "'" : ", '") + entry.first + "'";
  return "[" + text + "]";
}
template <typename T> static inline std::string describeEnumValues(const std::map<std::string, T>& valueMap) {
  return describeKeys(valueMap);
}

/// What the map has for the text.
template <typename T> T asEnum(const poplar::StringRef& value, const std::map<std::string, T>& map) {
  const auto it = map.find(value.cloneAsString());
  if (it == map.end()) throw poplar::invalid_option("Not one of the values: " + describeEnumValues(map));
  return it->second;
}

/// "true" or "false".
inline bool asBool(const poplar::StringRef& value) {
  if (value == "true") return true;
  if (value == "false") return false;
  throw poplar::invalid_option("Not one of the values: ['false', 'true']");
}

}  // namespace parse

/// Takes the text of one option and sets a variable of the caller, which must live as long. parseValue throws
/// poplar::invalid_option for a text that it does not take.
class OptionHandler {
  std::function<void(poplar::StringRef)> valueHandler;

 public:
  /// From any function of a StringRef.
  template <typename T, class = typename std::enable_if<!std::is_same<typename std::decay<T>::type, OptionHandler>::value>::type>
  OptionHandler(T&& valueHandler) : valueHandler(std::forward<T>(valueHandler)) {}

  void parseValue(poplar::StringRef value) const { valueHandler(value); }

  template <typename T, typename ValueMapT = std::map<std::string, T>>
  static inline OptionHandler createWithEnum(T& output, ValueMapT&& valueMap) {
    const std::map<std::string, T> map(std::forward<ValueMapT>(valueMap));
    return OptionHandler([map, &output](poplar::StringRef value) { output = parse::asEnum<T>(value, map); });
  }
  template <typename T> static inline OptionHandler createWithInteger(T& output) {
    return OptionHandler([&output](poplar::StringRef value) { output = parse::asInteger<T>(value); });
  }
  template <typename T> static inline OptionHandler createWithBool(T& output) {
    return OptionHandler([&output](poplar::StringRef value) { output = static_cast<T>(parse::asBool(value)); });
  }

  template <typename T>
  static inline void ensureValueIsWithinBounds(T value, const T& lowerBound, bool lowerBoundIsInclusive, const T& upperBound,
                                               bool upperBoundIsInclusive) {
    // Written so that NaN fails.
    if (!(lowerBoundIsInclusive ? value >= lowerBound : value > lowerBound))
      throw poplar::invalid_option("Value must be greater than " + std::string(lowerBoundIsInclusive ? "or equal to " : "") +
                                   std::to_string(lowerBound));
    if (!(upperBoundIsInclusive ? value <= upperBound : value < upperBound))
      throw poplar::invalid_option("Value must be less than " + std::string(upperBoundIsInclusive ? "or equal to " : "") +
                                   std::to_string(upperBound));
  }

  /// The default lower bound is the smallest positive number.
  template <typename T>
  static inline OptionHandler createWithDouble(T& output, double lowerBound = std::numeric_limits<double>::min(),
                                               bool lowerBoundIsInclusive = true, double upperBound = std::numeric_limits<double>::max(),
                                               bool upperBoundIsInclusive = true) {
    return OptionHandler([&output, lowerBound, lowerBoundIsInclusive, upperBound, upperBoundIsInclusive](poplar::StringRef value) {
      const double number = parse::asFloatingPoint<double>(value);
      ensureValueIsWithinBounds(number, lowerBound, lowerBoundIsInclusive, upperBound, upperBoundIsInclusive);
      output = static_cast<T>(number);
    });
  }
  static inline OptionHandler createWithString(std::string& output) {
    return OptionHandler([&output](poplar::StringRef value) { output = value.cloneAsString(); });
  }
  /// Integers with commas between them; they are appended.
  template <typename T> static inline OptionHandler createWithList(std::vector<T>& output) {
    return OptionHandler([&output](poplar::StringRef values) {
      std::istringstream in(values.cloneAsString());
      for (std::string element; std::getline(in, element, ',');) {
        try {
          output.push_back(parse::asInteger<T>(element));
        } catch (const poplar::invalid_option&) { throw poplar::invalid_option("Not a comma-separated list of integers"); }
      }
    });
  }
};

/// The options that a function knows, each with its handler.
class OptionSpec {
  using value_type = std::pair<const std::string, OptionHandler>;
  using map_type = std::map<const std::string, OptionHandler>;
  using initializer_list_t = std::initializer_list<value_type>;
  map_type handlers;

 public:
  OptionSpec(initializer_list_t&& handlers) : handlers(handlers.begin(), handlers.end()) {}

  /// Throws poplar::invalid_option, which lists the valid options, for an option that is none of them (unless \p ignoreUnknown),
  /// and for a value that its handler does not take.
  void parse(poplar::StringRef option, poplar::StringRef value, bool ignoreUnknown = false) const {
    const auto it = handlers.find(option.cloneAsString());
    if (it == handlers.end()) {
      if (ignoreUnknown) return;
      throw poplar::invalid_option("Unrecognised option '" + option.cloneAsString() + "'. Valid options: " + parse::describeKeys(handlers));
    }
    try {
      it->second.parseValue(value);
    } catch (const poplar::invalid_option& e) {
      throw poplar::invalid_option("Invalid value '" + value.cloneAsString() + "' for option '" + option.cloneAsString() +
                                   "': " + e.what());
    }
  }
  /// All of them.
  void parse(const poplar::OptionFlags& options, bool ignoreUnknown = false) const {
    for (const auto& option : options) parse(option.first, option.second, ignoreUnknown);
  }
};

#if __cplusplus >= 201703L
template <typename T>
inline OptionHandler createOptionalDoubleHandler(std::optional<T>& output, double lowerBound = std::numeric_limits<double>::min(),
                                                 bool lowerBoundIsInclusive = true, double upperBound = std::numeric_limits<double>::max(),
                                                 bool upperBoundIsInclusive = true) {
  return OptionHandler([&output, lowerBound, lowerBoundIsInclusive, upperBound, upperBoundIsInclusive](poplar::StringRef value) {
    double number;
    OptionHandler::createWithDouble(number, lowerBound, lowerBoundIsInclusive, upperBound, upperBoundIsInclusive).parseValue(value);
    output = static_cast<T>(number);
  });
}

/// One of the map's keys, or "none" for no value.
template <typename T, typename ValueMapT = std::map<std::string, T>>
inline OptionHandler createOptionalEnumHandler(std::optional<T>& output, ValueMapT&& valueMap) {
  const std::map<std::string, T> map(std::forward<ValueMapT>(valueMap));
  return OptionHandler([map, &output](poplar::StringRef value) {
    if (value == "none")
      output = std::nullopt;
    else
      output = parse::asEnum<T>(value, map);
  });
}
#endif

}  // namespace poplibs

#endif
