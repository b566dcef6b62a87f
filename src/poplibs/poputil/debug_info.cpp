#include "poputil/DebugInfo.hpp"

#include <sstream>

namespace poputil {

using poplar::ProfileValue;

namespace {

ProfileValue::Map as_map(const std::vector<ArgType>& args) {
  ProfileValue::Map map;
  for (const ArgType& arg : args) map.emplace(arg.n, arg.pv);
  return map;
}

}  // namespace

template <> ProfileValue toProfileValue(const int& v) { return ProfileValue(v); }
template <> ProfileValue toProfileValue(const unsigned int& v) { return ProfileValue(v); }
template <> ProfileValue toProfileValue(const unsigned long& v) { return ProfileValue(v); }
template <> ProfileValue toProfileValue(const unsigned char& v) { return ProfileValue(v); }
template <> ProfileValue toProfileValue(const bool& v) { return ProfileValue(v); }
template <> ProfileValue toProfileValue(const float& v) { return ProfileValue(v); }
template <> ProfileValue toProfileValue(const double& v) { return ProfileValue(v); }
template <> ProfileValue toProfileValue(const long long& v) { return ProfileValue(v); }
template <> ProfileValue toProfileValue(const unsigned long long& v) { return ProfileValue(v); }
template <> ProfileValue toProfileValue(const std::string& v) { return ProfileValue(v); }
template <> ProfileValue toProfileValue(const poplar::ComputeSet& t) {
  return ProfileValue::Map{{"type", ProfileValue("ComputeSet")}, {"id", ProfileValue(t.getId())}};
}
template <> ProfileValue toProfileValue(const poplar::OptionFlags& t) { return poplar::getAsProfileValue(t); }
template <> ProfileValue toProfileValue(const poplar::program::Copy&) { return ProfileValue("Copy"); }
template <> ProfileValue toProfileValue(const poplar::program::Sequence&) { return ProfileValue("Sequence"); }
template <> ProfileValue toProfileValue(const poplar::Tensor& t) {
  if (!t.valid()) return ProfileValue("<invalid>");
  ProfileValue::Vector shape;
  for (const std::size_t size : t.shape()) shape.emplace_back(size);
  return ProfileValue::Map{{"type", ProfileValue("Tensor")},
                           {"elementType", ProfileValue(t.elementType().toString())},
                           {"shape", ProfileValue(std::move(shape))},
                           {"variables", ProfileValue(t.getVarStr())}};
}
template <> ProfileValue toProfileValue(const poplar::Type& t) { return ProfileValue(t.toString()); }
template <> ProfileValue toProfileValue(const poplar::TensorCloneMethod& t) { return ProfileValue(poplar::toString(t)); }
template <> ProfileValue toProfileValue(const std::vector<bool>& vec) {
  ProfileValue::Map map;
  for (std::size_t i = 0; i < vec.size(); ++i) map.emplace(std::to_string(i), ProfileValue(static_cast<bool>(vec[i])));
  return map;
}

OpDebugInfo::OpDebugInfo(const poplar::DebugContext& debugContext, std::string api) : poplar::DebugInfo(debugContext, "poplibs") {
  add("api", ProfileValue(std::move(api)));
}

void OpDebugInfo::add(std::string name, const std::vector<ArgType>& args) {
  if (reading::debugInfoIsRead()) setValue(std::move(name), ProfileValue(as_map(args)));
}

void OpDebugInfo::add(std::string name, ProfileValue pv) {
  if (reading::debugInfoIsRead()) setValue(std::move(name), std::move(pv));
}

PoplibsOpDebugInfo::PoplibsOpDebugInfo(const poplar::DebugContext& debugContext, const std::vector<ArgType>& args, const std::string& api)
    : OpDebugInfo(debugContext, api) {
  add("args", args);
}

void PoplibsOpDebugInfo::addOutputs(const std::vector<ArgType>& outputs) { add("outputs", outputs); }

void PoplibsOpDebugInfo::addOutput(const poplar::Tensor& output) {
  if (reading::debugInfoIsRead()) add("output", toProfileValue(output));
}

}  // namespace poputil
