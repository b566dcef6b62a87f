#include "search/programs/strategy_text.h"

#include "base/error.h"
#include "pando/model_error.hpp"
#include "schedule/synthesised.h"
#include "transform/distribute/device_order.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

namespace pando::search {

namespace {

struct Degree {
  std::string_view word;
  std::int32_t transform::Strategy::* member;
  std::int32_t otherwise;
};
constexpr Degree kDegrees[] = {
    {"data", &transform::Strategy::data, 1},
    {"tensor", &transform::Strategy::tensor, 1},
    {"pipeline", &transform::Strategy::pipeline, 1},
    {"expert", &transform::Strategy::expert, 1},
    {"context", &transform::Strategy::context, 1},
    {"microbatches", &transform::Strategy::microbatches, 1},
    {"stages-per-rank", &transform::Strategy::stages_per_rank, 1},
    {"zero", &transform::Strategy::zero, 0},
};

struct Offload {
  std::string_view word;
  bool transform::Strategy::* member;
};
constexpr Offload kOffloads[] = {{"weights", &transform::Strategy::offload_weights},
                                 {"optimizer", &transform::Strategy::offload_optimizer},
                                 {"activations", &transform::Strategy::offload_activations}};

constexpr std::string_view kRecomputeWords[] = {"none", "selective", "full"};

// Word and value; the value is empty where a word stands alone.
std::vector<std::pair<std::string, std::string>> words_of(const transform::Strategy& s) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Degree& d : kDegrees) {
    if (s.*d.member != d.otherwise) all.emplace_back(d.word, std::to_string(s.*d.member));
  }
  if (s.pipeline > 1) all.emplace_back("schedule", s.schedule);
  if (!s.layers_per_stage.empty()) all.emplace_back("layers", fmt::format("{}", fmt::join(s.layers_per_stage, "/")));
  if (s.recompute != transform::Recompute::none)
    all.emplace_back("recompute", std::string(kRecomputeWords[static_cast<std::size_t>(s.recompute)]));
  if (!s.recomputed_layers.empty()) all.emplace_back("recompute-layers", fmt::format("{}", fmt::join(s.recomputed_layers, "/")));
  if (s.sequence_parallel) all.emplace_back("sequence-parallel", "");
  if (!s.cut.empty()) {
    std::string cuts;
    for (const auto& [name, dim] : s.cut) cuts += fmt::format("{}{}:{}", cuts.empty() ? "" : ";", name, dim);
    all.emplace_back("cut", cuts);
  }
  if (!s.order.empty()) all.emplace_back("order", fmt::format("{}", fmt::join(s.order, "/")));
  std::vector<std::string_view> off;
  for (const Offload& o : kOffloads) {
    if (s.*o.member) off.push_back(o.word);
  }
  if (!off.empty()) all.emplace_back("offload", fmt::format("{}", fmt::join(off, "/")));
  return all;
}

std::vector<std::string_view> split(std::string_view text, std::string_view at) {
  std::vector<std::string_view> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(at), text.size());
    if (end > 0) all.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

[[noreturn]] void refuse_value(std::string_view word, std::string_view value, std::string_view expected) {
  fail(ErrorKind::poplar_error, "strategy-value", "'{}={}': {} is expected", word, value, expected);
}

std::int32_t number(std::string_view word, std::string_view value) {
  std::int32_t n = -1;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (error != std::errc() || end != value.data() + value.size() || n < 0 || n > 1'000'000) refuse_value(word, value, "a number");
  return n;
}

void read_schedule(std::string_view value, transform::Strategy& s) {
  const auto& names = schedule::names();
  s.schedule = std::string(value);
  if (value.ends_with(".csv")) {
    s.table = table_from(s.schedule);
    return;
  }
  if (std::find(names.begin(), names.end(), value) == names.end() && !schedule::is_synthesised(value)) {
    refuse_value("schedule", value,
                 fmt::format("one of {}, synthesised:MEMORY, or a table (a file's name that ends in .csv)", fmt::join(names, ", ")));
  }
  s.table.reset();
}

void read_cuts(std::string_view value, transform::Strategy& s) {
  s.cut.clear();
  for (std::string_view item : split(value, ";")) {
    const std::size_t colon = item.rfind(':');
    std::int32_t dim = -2;
    if (colon != std::string_view::npos) {
      const auto [end, error] = std::from_chars(item.data() + colon + 1, item.data() + item.size(), dim);
      if (error != std::errc() || end != item.data() + item.size()) dim = -2;
    }
    if (colon == 0 || dim < -1) refuse_value("cut", value, "name:dimension (-1: whole), with ; between them,");
    s.cut[std::string(item.substr(0, colon))] = dim;
  }
}

void read_order(std::string_view value, transform::Strategy& s) {
  s.order.clear();
  for (std::string_view axis : split(value, "/")) s.order.emplace_back(axis);
  try {
    strides_of(s);
  } catch (const ModelError&) {
    refuse_value("order", value, "data, expert, context, tensor, pipeline, each once at most, with / between them,");
  }
}

void read_offload(std::string_view value, transform::Strategy& s) {
  for (std::string_view what : split(value, "/")) {
    const auto* found = std::find_if(std::begin(kOffloads), std::end(kOffloads), [&](const Offload& o) { return o.word == what; });
    if (found == std::end(kOffloads)) refuse_value("offload", value, "weights, optimizer, activations, with / between them,");
    s.*found->member = true;
  }
}

void read_word(std::string_view word, std::string_view value, transform::Strategy& s) {
  for (const Degree& d : kDegrees) {
    if (d.word != word) continue;
    s.*d.member = number(word, value);
    if (d.otherwise == 1 && s.*d.member < 1) refuse_value(word, value, "a number of 1 or more");
    return;
  }
  if (word == "schedule") return read_schedule(value, s);
  if (word == "offload") return read_offload(value, s);
  if (word == "cut") return read_cuts(value, s);
  if (word == "order") return read_order(value, s);
  if (word == "layers" || word == "recompute-layers") {
    auto& list = word == "layers" ? s.layers_per_stage : s.recomputed_layers;
    list.clear();
    for (std::string_view n : split(value, "/")) list.push_back(static_cast<std::uint32_t>(number(word, n)));
    return;
  }
  if (word == "recompute") {
    const auto* found = std::find(std::begin(kRecomputeWords), std::end(kRecomputeWords), value);
    if (found == std::end(kRecomputeWords)) refuse_value(word, value, "none, selective or full");
    s.recompute = static_cast<transform::Recompute>(found - std::begin(kRecomputeWords));
    return;
  }
  if (word == "sequence-parallel" && value.empty()) {
    s.sequence_parallel = true;
    return;
  }
  fail(ErrorKind::poplar_error, "strategy-word",
       "'{}' is no word of a strategy; these are: data, tensor, pipeline, expert, context, microbatches, stages-per-rank, zero, schedule, "
       "layers, recompute, recompute-layers, sequence-parallel, offload, cut, order",
       word);
}

}  // namespace

std::string to_string(const transform::Strategy& s) {
  std::string text;
  for (const auto& [word, value] : words_of(s)) {
    text += fmt::format("{}{}{}{}", text.empty() ? "" : " ", word, value.empty() ? "" : "=", value);
  }
  return text.empty() ? "data=1" : text;
}

std::string to_options(const transform::Strategy& s) {
  std::string text;
  for (const auto& [word, value] : words_of(s)) {
    std::string list = value;
    const bool is_table = word == "schedule" && s.table;
    if (!is_table) std::replace(list.begin(), list.end(), word == "cut" ? ';' : '/', ',');
    if (word == "cut") list = '\'' + list + '\'';
    text += fmt::format("{}--{}{}{}", text.empty() ? "" : " ",
                        word == "layers" ? "layers-per-stage"
                        : is_table       ? "table"
                                         : word,
                        list.empty() ? "" : " ", list);
  }
  return text;
}

schedule::Table table_from(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) fail(ErrorKind::poplar_error, "strategy-value", "'schedule={}': the file cannot be read", file);
  std::stringstream text;
  text << in.rdbuf();
  return schedule::read_csv(text.str(), file);
}

transform::Strategy parse_words(std::string_view text, transform::Strategy s) {
  for (std::string_view item : split(text, " ,")) {
    const std::size_t equal = std::min(item.find('='), item.size());
    read_word(item.substr(0, equal), item.substr(std::min(equal + 1, item.size())), s);
  }
  return s;
}

}  // namespace pando::search
