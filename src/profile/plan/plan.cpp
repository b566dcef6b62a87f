#include "profile/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
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

// By column: many rows are few lists. `skips`: without the column, a reader has zeros.
template <class Rows, class F>
void add_column(Json& to, const char* name, const Rows& rows, bool skips, F value) {
  if (skips) return;
  Json& column = to[name] = Json::array();
  for (const auto& row : rows) column.push_back(value(row));
}
template <class Rows, class F>
bool all_zero(const Rows& rows, F value) {
  return std::all_of(rows.begin(), rows.end(), [&](const auto& row) { return value(row) == 0; });
}

Json events_json(const DevicePlan& p) {
  Json out = Json::object();
  using E = PlanEvent;
  add_column(out, "device", p.events, false, [](const E& e) { return e.device; });
  add_column(out, "name", p.events, false, [](const E& e) { return e.name; });
  add_column(out, "transfer", p.events, false, [](const E& e) { return e.transfer; });
  add_column(out, "begin", p.events, false, [](const E& e) { return e.begin; });
  add_column(out, "seconds", p.events, false, [](const E& e) { return e.seconds; });
  add_column(out, "kind", p.events, p.event_kinds.empty(), [](const E& e) { return e.kind; });
  const auto bytes = [](const E& e) { return e.bytes; };
  add_column(out, "bytes", p.events, all_zero(p.events, bytes), bytes);
  const bool no_host = all_zero(p.events, [](const E& e) { return e.host_seconds; });
  add_column(out, "host_begin", p.events, no_host, [](const E& e) { return e.host_begin; });
  add_column(out, "host_seconds", p.events, no_host, [](const E& e) { return e.host_seconds; });
  return out;
}

Json messages_json(const DevicePlan& p) {
  Json out = Json::object();
  using M = PlanMessage;
  add_column(out, "from", p.messages, false, [](const M& m) { return m.from; });
  add_column(out, "to", p.messages, false, [](const M& m) { return m.to; });
  add_column(out, "name", p.messages, false, [](const M& m) { return m.name; });
  add_column(out, "bytes", p.messages, false, [](const M& m) { return m.bytes; });
  add_column(out, "sent", p.messages, false, [](const M& m) { return m.sent; });
  add_column(out, "received", p.messages, false, [](const M& m) { return m.received; });
  const bool no_host = all_zero(p.messages, [](const M& m) { return m.host_received; });
  add_column(out, "host_sent", p.messages, no_host, [](const M& m) { return m.host_sent; });
  add_column(out, "host_received", p.messages, no_host, [](const M& m) { return m.host_received; });
  return out;
}

Json values_json(const DevicePlan& p) {
  Json out = Json::array();
  for (const PlanValue& v : p.values)
    out.push_back({{"name", v.name}, {"kind", v.kind}, {"shape", v.shape}, {"bytes", v.bytes}, {"devices", v.devices}});
  return out;
}

// The lists of a table by column, all of one length.
class Columns {
 public:
  Columns(const Json& table, const char* where, const char* first)
      : table_(table), where_(where), rows_(list(table, first, where).size()) {}
  std::size_t rows() const { return rows_; }
  const Json& operator[](const char* name) const {
    const Json& column = list(table_, name, where_);
    if (column.size() != rows_) damaged(where_, fmt::format("lists of {} and {} rows", rows_, column.size()));
    return column;
  }
  // Null: the table has no such column.
  const Json* maybe(const char* name) const { return table_.contains(name) ? &(*this)[name] : nullptr; }

 private:
  const Json& table_;
  const char* where_;
  std::size_t rows_;
};
double number_at(const Json* column, std::size_t i, const char* where) { return column ? number((*column)[i], where) : 0; }

void read_events(DevicePlan& p, const Json& events) {
  const Columns c(events, "plan.events", "device");
  const Json &device = c["device"], &name = c["name"], &transfer = c["transfer"], &begin = c["begin"], &seconds = c["seconds"];
  const Json *kind = c.maybe("kind"), *bytes = c.maybe("bytes"), *host_begin = c.maybe("host_begin"),
             *host_seconds = c.maybe("host_seconds");
  for (std::size_t i = 0; i < c.rows(); ++i) {
    p.events.push_back({index(device[i], p.devices.size(), "plan.events.device"), index(name[i], p.names.size(), "plan.events.name"),
                        flag(transfer[i], "plan.events.transfer"), number(begin[i], "plan.events.begin"),
                        number(seconds[i], "plan.events.seconds"), kind ? index((*kind)[i], p.event_kinds.size(), "plan.events.kind") : 0,
                        number_at(bytes, i, "plan.events.bytes"), number_at(host_begin, i, "plan.events.host_begin"),
                        number_at(host_seconds, i, "plan.events.host_seconds")});
  }
}

void read_messages(DevicePlan& p, const Json& messages) {
  const Columns c(messages, "plan.messages", "from");
  const Json &from = c["from"], &to = c["to"], &name = c["name"], &bytes = c["bytes"], &sent = c["sent"], &received = c["received"];
  const Json *host_sent = c.maybe("host_sent"), *host_received = c.maybe("host_received");
  for (std::size_t i = 0; i < c.rows(); ++i) {
    p.messages.push_back({index(from[i], p.devices.size(), "plan.messages.from"), index(to[i], p.devices.size(), "plan.messages.to"),
                          index(name[i], p.names.size(), "plan.messages.name"), whole(bytes[i], "plan.messages.bytes"),
                          number(sent[i], "plan.messages.sent"), number(received[i], "plan.messages.received"),
                          number_at(host_sent, i, "plan.messages.host_sent"), number_at(host_received, i, "plan.messages.host_received")});
  }
}

void read_values(DevicePlan& p, const Json& values) {
  for (const Json& v : values) {
    constexpr const char* kWhere = "plan.values";
    PlanValue& value = p.values.emplace_back();
    value.name = text(member(v, "name", kWhere), kWhere), value.kind = text(member(v, "kind", kWhere), kWhere);
    value.shape = text(member(v, "shape", kWhere), kWhere), value.bytes = number(member(v, "bytes", kWhere), kWhere);
    for (const Json& d : list(v, "devices", kWhere)) value.devices.push_back(index(d, p.devices.size(), "plan.values.devices"));
  }
}

}  // namespace

void add_event(DevicePlan& plan, const PlanEvent& event) {
  if (plan.events.size() < kMostPlanEvents)
    plan.events.push_back(event);
  else
    ++plan.events_lost;
}

void add_message(DevicePlan& plan, const PlanMessage& message) {
  if (plan.messages.size() < kMostPlanEvents)
    plan.messages.push_back(message);
  else
    ++plan.messages_lost;
}

std::string plan_json(const DevicePlan& p) {
  Json points = Json::array(), devices = Json::array();
  for (const PlanPoint& x : p.points)
    points.push_back({{"strategy", x.strategy}, {"seconds", x.seconds}, {"bytes", x.bytes}, {"frontier", x.frontier}});
  for (const PlanDevice& d : p.devices)
    devices.push_back(
        {{"name", d.name}, {"computing", d.computing}, {"transferring", d.transferring}, {"end", d.end}, {"memory", d.memory}});
  Json json{{"title", p.title},     {"machine", p.machine},     {"text", p.text},
            {"why_not", p.why_not}, {"seconds", p.seconds},     {"memory_limit", p.memory_limit},
            {"points", points},     {"kinds", p.kinds},         {"devices", devices},
            {"names", p.names},     {"events", events_json(p)}, {"events_lost", p.events_lost}};
  if (!p.event_kinds.empty()) json["event_kinds"] = p.event_kinds;
  if (!p.messages.empty()) json["messages"] = messages_json(p), json["messages_lost"] = p.messages_lost;
  if (!p.values.empty()) json["values"] = values_json(p);
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
  if (json.contains("event_kinds")) p.event_kinds = texts(json, "event_kinds");
  read_events(p, member(json, "events", "plan"));
  if (json.contains("messages")) {
    read_messages(p, json["messages"]);
    p.messages_lost = whole(member(json, "messages_lost", "plan"), "plan.messages_lost");
  }
  if (json.contains("values")) read_values(p, list(json, "values", "plan"));
  p.events_lost = whole(member(json, "events_lost", "plan"), "plan.events_lost");
  return p;
}

}  // namespace pando::profile
