#include "profile/plan/plan.h"

#include <fmt/format.h>

#include <cmath>

#include "profile/damage/damaged.h"

namespace pando::profile {

namespace {

const Json& member(const Json& object, const char* name, const char* where) {
  const auto it = object.is_object() ? object.find(name) : object.end();
  if (!object.is_object() || it == object.end()) damaged(where, fmt::format("'{}' is missing", name));
  return *it;
}
const Json& list(const Json& object, const char* name, const char* where) {
  const Json& json = member(object, name, where);
  if (!json.is_array()) damaged(where, fmt::format("'{}' is not a list", name));
  return json;
}
std::string text(const Json& json, const char* where) {
  if (!json.is_string()) damaged(where, "not a text");
  return json.get<std::string>();
}
double number(const Json& json, const char* where) {
  if (!json.is_number() || !std::isfinite(json.get<double>())) damaged(where, "not a number");
  return json.get<double>();
}
std::uint64_t whole(const Json& json, const char* where) {
  if (!json.is_number_unsigned()) damaged(where, "not a whole number");
  return json.get<std::uint64_t>();
}
bool flag(const Json& json, const char* where) {
  if (!json.is_boolean()) damaged(where, "not true or false");
  return json.get<bool>();
}
std::uint32_t index(const Json& json, std::size_t end, const char* where) {
  const std::uint64_t value = whole(json, where);
  if (value >= end) damaged(where, fmt::format("{} is named, there are {}", value, end));
  return static_cast<std::uint32_t>(value);
}
std::vector<std::string> texts(const Json& object, const char* name) {
  std::vector<std::string> all;
  for (const Json& j : list(object, name, "plan")) all.push_back(text(j, name));
  return all;
}

Json events_json(const DevicePlan& p) {
  // By column: many events are few lists.
  Json device = Json::array(), name = Json::array(), transfer = Json::array(), begin = Json::array(), seconds = Json::array();
  for (const PlanEvent& e : p.events) {
    device.push_back(e.device), name.push_back(e.name), transfer.push_back(e.transfer), begin.push_back(e.begin),
        seconds.push_back(e.seconds);
  }
  return {{"device", device}, {"name", name}, {"transfer", transfer}, {"begin", begin}, {"seconds", seconds}};
}

void read_events(DevicePlan& p, const Json& events) {
  constexpr const char* kWhere = "plan.events";
  const Json &device = list(events, "device", kWhere), &name = list(events, "name", kWhere), &transfer = list(events, "transfer", kWhere),
             &begin = list(events, "begin", kWhere), &seconds = list(events, "seconds", kWhere);
  for (const Json* column : {&name, &transfer, &begin, &seconds}) {
    if (column->size() != device.size()) damaged(kWhere, fmt::format("lists of {} and {} events", device.size(), column->size()));
  }
  for (std::size_t i = 0; i < device.size(); ++i) {
    p.events.push_back({index(device[i], p.devices.size(), "plan.events.device"), index(name[i], p.names.size(), "plan.events.name"),
                        flag(transfer[i], "plan.events.transfer"), number(begin[i], "plan.events.begin"),
                        number(seconds[i], "plan.events.seconds")});
  }
}

}  // namespace

void add_event(DevicePlan& plan, const PlanEvent& event) {
  if (plan.events.size() < kMostPlanEvents)
    plan.events.push_back(event);
  else
    ++plan.events_lost;
}

std::string plan_json(const DevicePlan& p) {
  Json points = Json::array(), devices = Json::array();
  for (const PlanPoint& x : p.points)
    points.push_back({{"strategy", x.strategy}, {"seconds", x.seconds}, {"bytes", x.bytes}, {"frontier", x.frontier}});
  for (const PlanDevice& d : p.devices)
    devices.push_back(
        {{"name", d.name}, {"computing", d.computing}, {"transferring", d.transferring}, {"end", d.end}, {"memory", d.memory}});
  const Json json{{"title", p.title},     {"machine", p.machine},     {"text", p.text},
                  {"why_not", p.why_not}, {"seconds", p.seconds},     {"memory_limit", p.memory_limit},
                  {"points", points},     {"kinds", p.kinds},         {"devices", devices},
                  {"names", p.names},     {"events", events_json(p)}, {"events_lost", p.events_lost}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

DevicePlan plan_of_json(std::string_view bytes) {
  const Json json = Json::parse(bytes, nullptr, false);
  if (!json.is_object()) damaged("plan", "not a JSON object");
  DevicePlan p;
  p.title = text(member(json, "title", "plan"), "plan.title"), p.machine = text(member(json, "machine", "plan"), "plan.machine");
  p.text = text(member(json, "text", "plan"), "plan.text"), p.why_not = text(member(json, "why_not", "plan"), "plan.why_not");
  p.seconds = number(member(json, "seconds", "plan"), "plan.seconds");
  p.memory_limit = number(member(json, "memory_limit", "plan"), "plan.memory_limit");
  for (const Json& x : list(json, "points", "plan"))
    p.points.push_back({text(member(x, "strategy", "plan.points"), "plan.points.strategy"),
                        number(member(x, "seconds", "plan.points"), "plan.points.seconds"),
                        number(member(x, "bytes", "plan.points"), "plan.points.bytes"),
                        flag(member(x, "frontier", "plan.points"), "plan.points.frontier")});
  p.kinds = texts(json, "kinds");
  for (const Json& x : list(json, "devices", "plan")) {
    PlanDevice& d = p.devices.emplace_back();
    d.name = text(member(x, "name", "plan.devices"), "plan.devices.name");
    d.computing = number(member(x, "computing", "plan.devices"), "plan.devices.computing");
    d.transferring = number(member(x, "transferring", "plan.devices"), "plan.devices.transferring");
    d.end = number(member(x, "end", "plan.devices"), "plan.devices.end");
    for (const Json& m : list(x, "memory", "plan.devices")) d.memory.push_back(number(m, "plan.devices.memory"));
    if (d.memory.size() != p.kinds.size())
      damaged("plan.devices.memory", fmt::format("{} numbers, there are {} kinds", d.memory.size(), p.kinds.size()));
  }
  p.names = texts(json, "names");
  read_events(p, member(json, "events", "plan"));
  p.events_lost = whole(member(json, "events_lost", "plan"), "plan.events_lost");
  return p;
}

}  // namespace pando::profile
