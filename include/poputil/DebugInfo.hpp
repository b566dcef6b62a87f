#ifndef poputil_DebugInfo_hpp
#define poputil_DebugInfo_hpp

#include <poplar/ArrayRef.hpp>
#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/GraphElements.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/ProfileValue.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/TensorCloneMethod.hpp>
#include <poplar/Type.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

// __builtin_FUNCTION names the calling function.
#if defined(__clang__)
#define SUPPORTS_FUNCTION_BUILTINS __has_builtin(__builtin_FUNCTION)
#elif __GNUC__ >= 7
#define SUPPORTS_FUNCTION_BUILTINS 1
#else
#define SUPPORTS_FUNCTION_BUILTINS 0
#endif

namespace poputil {

// Arguments of operations as values of the stream of debug information. A library specialises this for its own types.
template <typename T> poplar::ProfileValue toProfileValue(const T& t);

template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const int& v);
template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const unsigned int& v);
template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const unsigned long& v);
template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const unsigned char& v);
template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const bool& v);
template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const float& v);
template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const double& v);
template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const long long& v);
template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const unsigned long long& v);
template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const std::string& v);
template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const poplar::ComputeSet& t);
template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const poplar::OptionFlags& t);
template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const poplar::program::Copy& t);
template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const poplar::program::Sequence& t);
template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const poplar::Tensor& t);
template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const poplar::Type& t);
template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const poplar::TensorCloneMethod& t);

// All overloads are declared first: values contain values.
template <typename T> poplar::ProfileValue toProfileValue(const T* t);
template <typename T> poplar::ProfileValue toProfileValue(T* const& t);
template <typename T> poplar::ProfileValue toProfileValue(const std::vector<T>& vec);
template <typename T> poplar::ProfileValue toProfileValue(const poplar::ArrayRef<T>& vec);
template <typename T1, typename T2> poplar::ProfileValue toProfileValue(const std::pair<T1, T2>& pair);
template <typename T, std::size_t N> poplar::ProfileValue toProfileValue(const std::array<T, N>& array);

/// What is pointed to, or "<nullptr>".
template <typename T> poplar::ProfileValue toProfileValue(const T* t) { return t ? toProfileValue(*t) : poplar::ProfileValue("<nullptr>"); }
template <typename T> poplar::ProfileValue toProfileValue(T* const& t) {
  return t ? toProfileValue(*t) : poplar::ProfileValue("<nullptr>");
}

namespace reading {
/// Elements by their numbers.
template <typename Range> poplar::ProfileValue::Map numbered(const Range& range) {
  poplar::ProfileValue::Map map;
  std::size_t i = 0;
  for (const auto& element : range) map.emplace(std::to_string(i++), toProfileValue(element));
  return map;
}
/// Does anybody read what operations say about themselves?
inline bool debugInfoIsRead() { return poplar::DebugInfo::isStreamerOpen(); }
}  // namespace reading

template <typename T> poplar::ProfileValue toProfileValue(const std::vector<T>& vec) { return reading::numbered(vec); }
template <> POPLAR_EXPORT poplar::ProfileValue toProfileValue(const std::vector<bool>& vec);
template <typename T> poplar::ProfileValue toProfileValue(const poplar::ArrayRef<T>& vec) {
  poplar::ProfileValue::Vector list;
  for (const T& element : vec) list.push_back(toProfileValue(element));
  return list;
}
template <typename T1, typename T2> poplar::ProfileValue toProfileValue(const std::pair<T1, T2>& pair) {
  poplar::ProfileValue::Map map;
  map.emplace("first", toProfileValue(pair.first));
  map.emplace("second", toProfileValue(pair.second));
  return map;
}
template <typename T, std::size_t N> poplar::ProfileValue toProfileValue(const std::array<T, N>& array) { return reading::numbered(array); }

/// An argument: its name and value.
class ArgType {
 public:
  std::string n;
  poplar::ProfileValue pv;
  ArgType(const std::string& name, const poplar::ProfileValue& value) : n(name), pv(value) {}
  ArgType(const std::pair<std::string, const poplar::ProfileValue>& p) : n(p.first), pv(p.second) {}
};

/// What an operation says about itself. Nothing is kept unless the stream of debug information is open.
class POPLAR_EXPORT OpDebugInfo : public poplar::DebugInfo {
 public:
  OpDebugInfo(const poplar::DebugContext& debugContext, std::string api);
  OpDebugInfo& operator=(const OpDebugInfo&) = delete;
  OpDebugInfo(const OpDebugInfo&) = delete;
  virtual ~OpDebugInfo() = default;
  void add(std::string name, const std::vector<ArgType>& args);
  void add(std::string name, poplar::ProfileValue pv);
};

/// The same for a function of the op libraries: `PoplibsOpDebugInfo di(debugContext, DI_ARGS(a, b));` at its beginning,
/// `di.addOutput(result);` at its end; `{di, "name"}` is the context of what it makes.
class POPLAR_EXPORT PoplibsOpDebugInfo : public OpDebugInfo {
 public:
#if SUPPORTS_FUNCTION_BUILTINS
  PoplibsOpDebugInfo(const poplar::DebugContext& debugContext, const std::vector<ArgType>& args = {},
                     const std::string& api = __builtin_FUNCTION());
#else
  PoplibsOpDebugInfo(const poplar::DebugContext& debugContext, const std::vector<ArgType>& args = {}, const std::string& api = "");
#endif
  PoplibsOpDebugInfo& operator=(const PoplibsOpDebugInfo&) = delete;
  PoplibsOpDebugInfo(const PoplibsOpDebugInfo&) = delete;
  virtual ~PoplibsOpDebugInfo() = default;
  void addOutputs(const std::vector<ArgType>& outputs);
  void addOutput(const poplar::Tensor& output);
};

}  // namespace poputil

#define DI_STR(S) #S
#define DI_XSTR(S) DI_STR(S)
#define DI_CONCAT_IMPL(x, y) x##y
#define DI_MACRO_CONCAT(x, y) DI_CONCAT_IMPL(x, y)

// The number of arguments, 1 to 16.
#define DI_NUM_ARGS(...) DI_NUM_ARGS_IMPL(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define DI_NUM_ARGS_IMPL(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, n, ...) n

// {"a", value of a}, {"b", value of b} ...
#define DI_KEY_VALUE_ARG_1(T) {DI_XSTR(T), poputil::toProfileValue(T)}
#define DI_KEY_VALUE_ARG_2(T, ...) DI_KEY_VALUE_ARG_1(T), DI_KEY_VALUE_ARG_1(__VA_ARGS__)
#define DI_KEY_VALUE_ARG_3(T, ...) DI_KEY_VALUE_ARG_1(T), DI_KEY_VALUE_ARG_2(__VA_ARGS__)
#define DI_KEY_VALUE_ARG_4(T, ...) DI_KEY_VALUE_ARG_1(T), DI_KEY_VALUE_ARG_3(__VA_ARGS__)
#define DI_KEY_VALUE_ARG_5(T, ...) DI_KEY_VALUE_ARG_1(T), DI_KEY_VALUE_ARG_4(__VA_ARGS__)
#define DI_KEY_VALUE_ARG_6(T, ...) DI_KEY_VALUE_ARG_1(T), DI_KEY_VALUE_ARG_5(__VA_ARGS__)
#define DI_KEY_VALUE_ARG_7(T, ...) DI_KEY_VALUE_ARG_1(T), DI_KEY_VALUE_ARG_6(__VA_ARGS__)
#define DI_KEY_VALUE_ARG_8(T, ...) DI_KEY_VALUE_ARG_1(T), DI_KEY_VALUE_ARG_7(__VA_ARGS__)
#define DI_KEY_VALUE_ARG_9(T, ...) DI_KEY_VALUE_ARG_1(T), DI_KEY_VALUE_ARG_8(__VA_ARGS__)
#define DI_KEY_VALUE_ARG_10(T, ...) DI_KEY_VALUE_ARG_1(T), DI_KEY_VALUE_ARG_9(__VA_ARGS__)
#define DI_KEY_VALUE_ARG_11(T, ...) DI_KEY_VALUE_ARG_1(T), DI_KEY_VALUE_ARG_10(__VA_ARGS__)
#define DI_KEY_VALUE_ARG_12(T, ...) DI_KEY_VALUE_ARG_1(T), DI_KEY_VALUE_ARG_11(__VA_ARGS__)
#define DI_KEY_VALUE_ARG_13(T, ...) DI_KEY_VALUE_ARG_1(T), DI_KEY_VALUE_ARG_12(__VA_ARGS__)
#define DI_KEY_VALUE_ARG_14(T, ...) DI_KEY_VALUE_ARG_1(T), DI_KEY_VALUE_ARG_13(__VA_ARGS__)
#define DI_KEY_VALUE_ARG_15(T, ...) DI_KEY_VALUE_ARG_1(T), DI_KEY_VALUE_ARG_14(__VA_ARGS__)
#define DI_KEY_VALUE_ARG_16(T, ...) DI_KEY_VALUE_ARG_1(T), DI_KEY_VALUE_ARG_15(__VA_ARGS__)
#define DI_KEY_VALUE_ARG(...) DI_MACRO_CONCAT(DI_KEY_VALUE_ARG_, DI_NUM_ARGS(__VA_ARGS__))(__VA_ARGS__)

/// Variables as arguments: DI_ARGS(t, dim). Their values are looked at only if somebody reads them.
#define DI_ARGS(...) \
  (poputil::reading::debugInfoIsRead() ? std::vector<poputil::ArgType>{DI_KEY_VALUE_ARG(__VA_ARGS__)} : std::vector<poputil::ArgType>())

#endif
