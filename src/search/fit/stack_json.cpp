#include "search/fit/stack_json.h"

#include "base/error.h"
#include "base/files/input_file.h"
#include "base/source_location.h"
#include "base/text/similar_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace pando::search {

namespace {

using Json = nlohmann::ordered_json;

class StackReader {
 public:
  StackReader(const Json& j, const std::string& file) : j_(j), file_(file) {}

  Stack read() {
    if (!j_.is_object()) reject("an object is expected");
    const std::vector<std::string> known = {"name",        "doc",          "source",        "op_seconds",        "microbatch_seconds",
                                            "pace",        "logit_bytes",  "loss_bytes",    "attention_forward", "attention_backward",
                                            "unfused",     "waits",        "context_bytes", "allocator",         "without_reserve",
                                            "stops_early", "gather_bytes", "reduce_bytes",  "shard_bytes",       "sum_bytes"};
    for (const auto& [member, value] : j_.items()) {
      if (std::ranges::find(known, member) != known.end()) continue;
      const auto near = similar_names(member, known);
      reject(fmt::format("no member '{}'{}", member, near.empty() ? "" : fmt::format("; the nearest is '{}'", near.front())));
    }
    Stack s;
    s.name = text("name"), s.doc = text("doc"), s.source = text("source");
    if (s.name.empty()) reject("member 'name' is missing");
    s.pace = number("pace", 1, 1e-3, 1e3);
    for (const auto& [name, member] : simulate::kSoftwareNumbers)
      s.*member = number(name, 0, 0, std::string_view(name).starts_with("attention") ? 2 : 1e3);
    s.context_bytes = number("context_bytes", 0, 0, 1e15);
    s.allocator = number("allocator", 1, 1, 10);
    s.waits = flag("waits"), s.stops_early = flag("stops_early");
    if (j_.contains("unfused")) {
      if (!j_["unfused"].is_object()) reject("'unfused' is an object: ops and their two factors");
      for (const auto& [op, factors] : j_["unfused"].items()) {
        const std::string what = "unfused of " + op;
        if (!factors.is_array() || factors.size() != 2) reject(fmt::format("'{}' is {}; two numbers are expected", what, factors.dump()));
        s.unfused.push_back({op, checked(factors[0], what, 0, 1e3), checked(factors[1], what, 0, 1e3)});
      }
    }
    s.op_seconds = by_machine("op_seconds");
    s.microbatch_seconds = by_machine("microbatch_seconds");
    if (j_.contains("without_reserve")) {
      const Json& list = j_["without_reserve"];
      if (!list.is_array() || !std::ranges::all_of(list, [](const Json& x) { return x.is_string(); }))
        reject("'without_reserve' is a list of machines");
      for (const Json& machine : list) s.without_reserve.push_back(machine.get<std::string>());
    }
    return s;
  }

 private:
  [[noreturn]] void reject(const std::string& why) const { fail_at(ErrorKind::poplar_error, "stack-file", {file_}, "{}", why); }

  std::string text(const char* member) const {
    if (!j_.contains(member)) return "";
    if (!j_[member].is_string()) reject(fmt::format("'{}' is {}; a text is expected", member, j_[member].dump()));
    return j_[member].get<std::string>();
  }
  bool flag(const char* member) const {
    if (!j_.contains(member)) return false;
    if (!j_[member].is_boolean()) reject(fmt::format("'{}' is {}; true or false is expected", member, j_[member].dump()));
    return j_[member].get<bool>();
  }
  std::vector<std::pair<std::string, double>> by_machine(const char* member) const {
    std::vector<std::pair<std::string, double>> all;
    if (!j_.contains(member)) return all;
    if (!j_[member].is_object()) reject(fmt::format("'{}' is an object: machines and seconds", member));
    for (const auto& [machine, seconds] : j_[member].items())
      all.emplace_back(machine, checked(seconds, fmt::format("{} of {}", member, machine), 0, 1));
    return all;
  }
  double checked(const Json& value, const std::string& what, double least, double most) const {
    const double n = value.is_number() ? value.get<double>() : std::nan("");
    if (!(n >= least && n <= most))
      reject(fmt::format("'{}' is {}; a number from {:g} to {:g} is expected", what, value.dump(), least, most));
    return n;
  }
  double number(const char* member, double otherwise, double least, double most) const {
    return j_.contains(member) ? checked(j_[member], member, least, most) : otherwise;
  }

  const Json& j_;
  const std::string& file_;
};

}  // namespace

std::string to_json(const Stack& s) {
  const auto by_machine = [](const std::vector<std::pair<std::string, double>>& seconds_of) {
    Json j = Json::object();
    for (const auto& [machine, seconds] : seconds_of) j[machine] = seconds;
    return j;
  };
  Json unfused = Json::object();
  for (const simulate::Unfused& u : s.unfused) unfused[u.op] = {u.forward, u.backward};
  const Json j = {{"name", s.name},
                  {"doc", s.doc},
                  {"source", s.source},
                  {"op_seconds", by_machine(s.op_seconds)},
                  {"microbatch_seconds", by_machine(s.microbatch_seconds)},
                  {"pace", s.pace},
                  {"logit_bytes", s.logit_bytes},
                  {"loss_bytes", s.loss_bytes},
                  {"attention_forward", s.attention_forward},
                  {"attention_backward", s.attention_backward},
                  {"gather_bytes", s.gather_bytes},
                  {"reduce_bytes", s.reduce_bytes},
                  {"shard_bytes", s.shard_bytes},
                  {"sum_bytes", s.sum_bytes},
                  {"unfused", unfused},
                  {"stops_early", s.stops_early},
                  {"waits", s.waits},
                  {"context_bytes", s.context_bytes},
                  {"allocator", s.allocator},
                  {"without_reserve", s.without_reserve}};
  return j.dump(2) + "\n";
}

Stack stack_from_json(std::string_view text, const std::string& file) {
  const Json j = Json::parse(text, nullptr, false);
  if (j.is_discarded()) fail_at(ErrorKind::poplar_error, "stack-file", {file}, "it is not JSON");
  return StackReader(j, file).read();
}

Stack stack_of(const std::string& name_or_file) {
  if (!name_or_file.ends_with(".json")) return stack_named(name_or_file);
  std::string text;
  if (const std::string why = read_input_file(name_or_file, text); !why.empty())
    fail(ErrorKind::file_load_error, "stack-file", "cannot read {}: {}", name_or_file, why);
  return stack_from_json(text, name_or_file);
}

}  // namespace pando::search
