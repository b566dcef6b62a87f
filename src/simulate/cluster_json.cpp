#include "simulate/cluster_json.h"

#include "base/source_location.h"
#include "base/text/similar_names.h"
#include "simulate/ipu_cluster.h"
#include "simulate/measured_json.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace pando::simulate {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Efficiency& e) {
  if (e.share > 0) {
    Json j = {{"share", e.share}, {"half", e.half}};
    if (e.from > 0) j["from"] = e.from;
    return j;
  }
  return e.points;
}

Efficiency efficiency_of(const Json& j) {
  Efficiency e;
  if (j.is_object()) {
    e.share = j.at("share").get<double>();
    e.from = j.value("from", 0.0);
    e.half = j.at("half").get<double>();
  } else {
    e.points = j.get<std::vector<std::pair<double, double>>>();
  }
  return e;
}

// Every number of a cluster under its name: one list for both directions.
template <class C, class F>
void each_number(C& c, F f) {
  f("half_operations", c.half_operations), f("single_operations", c.single_operations), f("vector_operations", c.vector_operations);
  f("eight_bit_operations", c.eight_bit_operations), f("block_scaled", c.block_scaled);
  f("memory_bytes_per_second", c.memory_bytes_per_second), f("memory_bytes", c.memory_bytes), f("launch", c.launch);
  f("far_bytes", c.far_bytes), f("far_bytes_per_second", c.far_bytes_per_second), f("optimizer_bytes", c.optimizer_bytes);
  f("microbatch_seconds", c.microbatch_seconds), f("unaligned", c.unaligned);
  for (const auto& [name, number] : kSoftwareNumbers) f(name, c.*number);
  f("price_per_hour", c.price_per_hour);
}

template <class L, class F>
void each_number_of_level(L& l, F f) {
  f("devices", l.devices), f("bytes_per_second", l.bytes_per_second), f("latency", l.latency),
      f("shared_bytes_per_second", l.shared_bytes_per_second);
  f("reduces_in_network", l.reduces_in_network), f("slowdown", l.slowdown);
  f("through_first", l.through_first);
}

// What no machine and no level of a network is without.
const std::vector<std::string> kNeeded{
    "name", "half_operations", "single_operations", "vector_operations", "memory_bytes_per_second", "memory_bytes", "levels"};
const std::vector<std::string> kNeededOfLevel{"name", "devices", "bytes_per_second"};

std::vector<std::string> members_of_cluster() {
  std::vector<std::string> all{"name", "doc", "source", "matmul_efficiency", "memory_efficiency", "levels", "provenance", "measured"};
  Cluster c;
  each_number(c, [&](const char* name, const auto&) { all.emplace_back(name); });
  return all;
}
std::vector<std::string> members_of_level() {
  std::vector<std::string> all{"name", "efficiency"};
  NetworkLevel l;
  each_number_of_level(l, [&](const char* name, const auto&) { all.emplace_back(name); });
  return all;
}

// A misspelt member would be one that is left out.
void check_members(const Json& j, const std::string& what, const std::vector<std::string>& known, const std::vector<std::string>& needed,
                   const std::string& file) {
  if (!j.is_object())
    fail_at(ErrorKind::poplar_error, "cluster-file", {file}, "{} is not an object; pando calibrate writes such a file", what);
  for (const auto& [name, value] : j.items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::vector<std::string> near = similar_names(name, known);
    fail_at(ErrorKind::poplar_error, "cluster-file", {file}, "{} has a member '{}', which is not known; {} {}", what, name,
            near.empty() ? "known are" : "the nearest is", near.empty() ? fmt::format("{}", fmt::join(known, ", ")) : near[0]);
  }
  std::vector<std::string> missing;
  for (const std::string& name : needed) {
    if (!j.contains(name)) missing.push_back(name);
  }
  if (!missing.empty())
    fail_at(ErrorKind::poplar_error, "cluster-file", {file}, "{} lacks {}; pando calibrate writes such a file", what,
            fmt::join(missing, ", "));
}

void check_members(const Json& j, const std::string& file) {
  check_members(j, "the machine", members_of_cluster(), kNeeded, file);
  std::size_t number = 0;
  for (const Json& level : j["levels"]) {
    const std::string what = fmt::format("level {}", number++);
    check_members(level, what, members_of_level(), kNeededOfLevel, file);
    if (level.contains("efficiency") && level["efficiency"].is_object())
      check_members(level["efficiency"], "the efficiency of " + what, {"share", "half", "from"}, {"share", "half"}, file);
  }
  for (const std::string name : {"matmul_efficiency", "memory_efficiency"}) {
    if (j.contains(name) && j[name].is_object()) check_members(j[name], name, {"share", "half", "from"}, {"share", "half"}, file);
  }
}

// What is not there stays as it is.
template <class T>
void read_number(const Json& j, const char* name, T& to, const std::string& file) {
  if (!j.contains(name)) return;
  const Json& value = j[name];
  if (!value.is_number() && !value.is_boolean())
    fail_at(ErrorKind::poplar_error, "cluster-file", {file}, "{} is {}; a number is expected", name, value.dump());
  to = value.get<T>();
}

// A reason for each member that it names.
std::vector<std::pair<std::string, std::string>> provenance_of(const Json& j, const std::string& file) {
  check_members(j, "provenance", members_of_cluster(), {}, file);
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& [member, why] : j.items()) {
    if (!why.is_string())
      fail_at(ErrorKind::poplar_error, "cluster-file", {file}, "provenance of {} is {}; a text is expected", member, why.dump());
    all.emplace_back(member, why.get<std::string>());
  }
  return all;
}

void check(const Cluster& c, const std::string& file) {
  const auto positive = [&](double v, const char* what) {
    if (!(v > 0)) fail_at(ErrorKind::poplar_error, "cluster-file", {file}, "{} is {}; it must be more than 0", what, v);
  };
  positive(c.half_operations, "half_operations"), positive(c.single_operations, "single_operations"),
      positive(c.vector_operations, "vector_operations");
  positive(c.memory_bytes_per_second, "memory_bytes_per_second");
  const auto not_negative = [&](double v, const char* what) {
    if (!(v >= 0)) fail_at(ErrorKind::poplar_error, "cluster-file", {file}, "{} is {}; it must be 0 or more", what, v);
  };
  not_negative(c.launch, "launch"), not_negative(c.eight_bit_operations, "eight_bit_operations"),
      not_negative(static_cast<double>(c.memory_bytes), "memory_bytes"), not_negative(c.optimizer_bytes, "optimizer_bytes");
  for (const Efficiency* e : {&c.matmul_efficiency, &c.memory_efficiency}) {
    if (e->share <= 0 && e->points.empty()) fail_at(ErrorKind::poplar_error, "cluster-file", {file}, "an efficiency without points");
    for (const auto& [size, share] : e->points) positive(share, "a share of an efficiency");
  }
  std::int32_t below = 1;
  for (const NetworkLevel& l : c.levels) {
    positive(l.bytes_per_second, "bytes_per_second of a level");
    if (l.devices < below) {
      fail_at(ErrorKind::poplar_error, "cluster-file", {file, 0, 0, fmt::format("level '{}'", l.name)},
              "joins {} devices, fewer than the one before it", l.devices);
    }
    below = l.devices;
  }
}

}  // namespace

std::string to_json(const Cluster& c) {
  Json j = {{"name", c.name}, {"doc", c.doc}, {"source", c.source}};
  each_number(c, [&](const char* name, const auto& v) { j[name] = v; });
  j["matmul_efficiency"] = json_of(c.matmul_efficiency);
  j["memory_efficiency"] = json_of(c.memory_efficiency);
  j["levels"] = Json::array();
  for (const NetworkLevel& l : c.levels) {
    Json level = {{"name", l.name}};
    each_number_of_level(l, [&](const char* name, const auto& v) { level[name] = v; });
    level["efficiency"] = json_of(l.efficiency);
    j["levels"].push_back(std::move(level));
  }
  for (const auto& [member, why] : c.provenance) j["provenance"][member] = why;
  if (!c.measured.empty()) j["measured"] = to_json(c.measured);
  return j.dump(2) + "\n";
}

Cluster cluster_from_json(std::string_view text, const std::string& file) {
  try {
    const Json j = Json::parse(text);
    check_members(j, file);
    Cluster c;
    c.name = j.at("name").get<std::string>();
    c.doc = j.value("doc", "");
    c.source = j.value("source", "");
    each_number(c, [&](const char* name, auto& v) { read_number(j, name, v, file); });
    if (j.contains("matmul_efficiency")) c.matmul_efficiency = efficiency_of(j["matmul_efficiency"]);
    if (j.contains("memory_efficiency")) c.memory_efficiency = efficiency_of(j["memory_efficiency"]);
    for (const Json& level : j.value("levels", Json::array())) {
      NetworkLevel l;
      l.name = level.at("name").get<std::string>();
      each_number_of_level(l, [&](const char* name, auto& v) { read_number(level, name, v, file); });
      if (level.contains("efficiency")) l.efficiency = efficiency_of(level["efficiency"]);
      c.levels.push_back(std::move(l));
    }
    check(c, file);
    if (j.contains("provenance")) c.provenance = provenance_of(j["provenance"], file);
    if (j.contains("measured"))
      c.measured = measured_from_json(j["measured"], {c.half_operations, c.single_operations, c.eight_bit_operations, c.launch}, file);
    return c;
  } catch (const nlohmann::json::parse_error& e) {
    fail_at(ErrorKind::poplar_error, "cluster-file", location_in(text, e.byte - 1, file), "{}", e.what());
  } catch (const nlohmann::json::exception& e) { fail_at(ErrorKind::poplar_error, "cluster-file", {file}, "{}", e.what()); }
}

Cluster cluster_of(const std::string& name_or_file) {
  if (!name_or_file.ends_with(".json")) {
    if (const auto ipus = ipu_cluster_named(name_or_file)) return *ipus;
    return cluster_named(name_or_file);
  }
  std::ifstream in(name_or_file);
  if (!in) fail(ErrorKind::file_load_error, "cluster-file", "cannot read {}", name_or_file);
  return cluster_from_json(std::string(std::istreambuf_iterator<char>(in), {}), name_or_file);
}

}  // namespace pando::simulate
