#include <fmt/format.h>

#include <istream>
#include <iterator>
#include <ostream>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/json_depth.h"
#include "profile/damage/damaged.h"
#include "profile/report.h"

// One description per struct serves both directions: `fields(archive, value)` names each member once; Writer fills an object,
// Reader takes one apart and knows the path of what it reads, for messages.
namespace pando::profile {

namespace {

template <class Archive>
void fields(Archive& a, TargetInfo& v) {
  a("name", v.name), a("ipus", v.ipus), a("tiles_per_ipu", v.tiles_per_ipu), a("tiles", v.tiles), a("workers", v.workers);
  a("replicas", v.replicas), a("bytes_per_tile", v.bytes_per_tile), a("clock_hz", v.clock_hz);
}
template <class Archive>
void fields(Archive& a, GraphInfo& v) {
  a("variables", v.variables), a("vertices", v.vertices), a("compute_sets", v.compute_sets), a("edges", v.edges), a("programs", v.programs);
}
template <class Archive>
void fields(Archive& a, CategoryBytes& v) {
  a("category", v.category), a("estimated", v.estimated), a("bytes", v.bytes);
}
template <class Archive>
void fields(Archive& a, TileMemory& v) {
  a("used", v.used), a("with_gaps", v.with_gaps), a("by_category", v.by_category);
}
template <class Archive>
void fields(Archive& a, LiveStep& v) {
  a("order", v.order), a("name", v.name), a("live_bytes", v.live_bytes), a("worst_tile_bytes", v.worst_tile_bytes);
}
template <class Archive>
void fields(Archive& a, StreamLiveness& v) {
  a("stream", v.stream), a("always_live_bytes", v.always_live_bytes), a("steps", v.steps);
}
template <class Archive>
void fields(Archive& a, LargestVariable& v) {
  a("name", v.name), a("category", v.category), a("bytes", v.bytes), a("tiles", v.tiles);
}
template <class Archive>
void fields(Archive& a, CodeletVertices& v) {
  a("codelet", v.codelet), a("tiles", v.tiles);
}
template <class Archive>
void fields(Archive& a, ComputeSetVertices& v) {
  a("name", v.name), a("codelets", v.codelets);
}
template <class Archive>
void fields(Archive& a, ProgramStep& v) {
  a("order", v.order), a("name", v.name), a("kind", v.kind), a("inside", v.inside);
}
template <class Archive>
void fields(Archive& a, LoweredVariable& v) {
  a("name", v.name), a("category", v.category), a("always_live_bytes", v.always_live_bytes), a("live", v.live);
}
template <class Archive>
void fields(Archive& a, Cycles& v) {
  a("compute", v.compute), a("exchange", v.exchange), a("local_copy", v.local_copy), a("sync", v.sync);
  a("global_exchange", v.global_exchange), a("host", v.host), a("wait", v.wait);
}
template <class Archive>
void fields(Archive& a, StepCycles& v) {
  a("stream", v.stream), a("name", v.name), a("kind", v.kind), a("executions", v.executions), a("cycles", v.cycles);
  a("vertices", v.vertices), a("unestimated_vertices", v.unestimated_vertices), a("exchanged_bytes", v.exchanged_bytes);
  a("tile_balance", v.tile_balance), a("order", v.order), a("tile_cycles", v.tile_cycles);
}
template <class Archive>
void fields(Archive& a, CodeletCycles& v) {
  a("codelet", v.codelet), a("instances", v.instances), a("cycles", v.cycles), a("estimated", v.estimated);
}
template <class Archive>
void fields(Archive& a, StreamTotals& v) {
  a("stream", v.stream), a("cycles", v.cycles), a("finish", v.finish);
}
template <class Archive>
void fields(Archive& a, BlockCycles& v) {
  a("name", v.name), a("stream", v.stream), a("stream_copy", v.stream_copy), a("begin", v.begin), a("end", v.end);
}
template <class Archive>
void fields(Archive& a, BlockStream& v) {
  a("stream", v.stream), a("ipu", v.ipu), a("io", v.io), a("tiles", v.tiles);
}
template <class Archive>
void fields(Archive& a, Report& v) {
  a("target", v.target), a("graph", v.graph), a("categories", v.categories), a("tiles", v.tiles), a("liveness", v.liveness);
  a("largest", v.largest), a("program", v.program), a("compute_sets", v.compute_sets), a("variables", v.variables),
      a("out_of_memory", v.out_of_memory), a("executed", v.executed), a("runs", v.runs);
  a("total_cycles", v.total_cycles), a("streams", v.streams), a("steps", v.steps), a("codelets", v.codelets);
  a("blocks", v.blocks), a("blocks_lost", v.blocks_lost), a("block_streams", v.block_streams);
}

// Writes value by value: a long report is never there as a whole.
struct Writer {
  std::ostream& out;
  const char* comma = "";

  template <class T>
  void operator()(const char* name, T& value) {
    out << std::exchange(comma, ",") << '"' << name << "\":";
    write(std::as_const(value), out);
  }

  template <class T>
  static void write(const T& value, std::ostream& out) {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
      out << Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
    } else {
      out << '{';
      Writer writer{out};
      fields(writer, const_cast<T&>(value));  // which is not changed: one description serves readers, too
      out << '}';
    }
  }
  template <class T>
  static void write(const std::vector<T>& values, std::ostream& out) {
    write_all(values, out);
  }
  template <class T>
  static void write(const Rows<T>& values, std::ostream& out) {
    write_all(values, out);
  }
  template <class List>
  static void write_all(const List& values, std::ostream& out) {
    const char* comma = "";
    out << '[';
    for (const auto& v : values) {
      out << std::exchange(comma, ",");
      write(v, out);
    }
    out << ']';
  }
};

[[noreturn]] void wrong(const std::string& path, const char* expected, const Json& found) {
  fail(ErrorKind::parse_error, "report-wrong-type", "profile report: {}: expected {}, found {}", path, expected, found.type_name());
}

struct Reader {
  const Json& object;
  std::string path;

  template <class T>
  void operator()(const char* name, T& value) {
    std::string here = path.empty() ? name : path + "." + name;
    auto found = object.find(name);
    if (found == object.end()) fail(ErrorKind::parse_error, "report-missing-part", "profile report: '{}' is missing", here);
    read(*found, here, value);
  }

  template <class T>
  static void read(const Json& json, const std::string& path, T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      if (!json.is_boolean()) wrong(path, "true or false", json);
      value = json.get<bool>();
    } else if constexpr (std::is_floating_point_v<T>) {
      if (!json.is_number()) wrong(path, "a number", json);
      value = json.get<T>();
    } else if constexpr (std::is_arithmetic_v<T>) {
      if (!json.is_number_unsigned()) wrong(path, "a whole number that is not negative", json);
      auto number = json.get<std::uint64_t>();
      value = static_cast<T>(number);
      if (value != number) fail(ErrorKind::parse_error, "report-number-too-big", "profile report: {}: {} is too big", path, number);
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (!json.is_string()) wrong(path, "a string", json);
      value = json.get<std::string>();
    } else {
      if (!json.is_object()) wrong(path, "an object", json);
      Reader reader{json, path};
      fields(reader, value);
    }
  }
  template <class T>
  static void read(const Json& json, const std::string& path, Rows<T>& rows) {
    read(json, path, rows.all());
  }
  template <class T>
  static void read(const Json& json, const std::string& path, std::vector<T>& values) {
    if (!json.is_array()) wrong(path, "an array", json);
    values.resize(json.size());
    for (std::size_t i = 0; i < values.size(); ++i) read(json[i], path + "[" + std::to_string(i) + "]", values[i]);
  }
};

template <class T>
void check_ranges(const std::vector<T>& ranges, const std::string& part) {
  if (ranges.size() % 3 != 0)
    fail(ErrorKind::parse_error, "report-inconsistent", "profile report: {} has {} numbers, expected three for each range", part,
         ranges.size());
}

void check_program(const Report& r) {
  for (std::size_t i = 0; i < r.program.size(); ++i) {
    if (r.program[i].inside > i)
      fail(ErrorKind::parse_error, "report-inconsistent", "profile report: program[{}].inside is {}, expected a part before it", i,
           r.program[i].inside);
    if (i > 0 && r.program[i].order < r.program[i - 1].order)
      fail(ErrorKind::parse_error, "report-inconsistent", "profile report: program[{}].order is {}, that of the part before it is {}", i,
           r.program[i].order, r.program[i - 1].order);
  }
  for (std::size_t i = 0; i < r.compute_sets.size(); ++i)
    for (std::size_t c = 0; c < r.compute_sets[i].codelets.size(); ++c)
      check_ranges(r.compute_sets[i].codelets[c].tiles, fmt::format("compute_sets[{}].codelets[{}].tiles", i, c));
  for (std::size_t i = 0; i < r.variables.size(); ++i) check_ranges(r.variables[i].live, fmt::format("variables[{}].live", i));
  for (std::size_t i = 0; i < r.steps.size(); ++i) {
    const std::vector<std::uint64_t>& tiles = r.steps[i].tile_cycles;
    check_ranges(tiles, fmt::format("steps[{}].tile_cycles", i));
    for (std::size_t k = 0; k < tiles.size(); k += 3)
      if (tiles[k] > tiles[k + 1] || tiles[k + 1] > r.target.tiles)
        fail(ErrorKind::parse_error, "report-inconsistent", "profile report: steps[{}].tile_cycles has tiles {} to {}, there are {}", i,
             tiles[k], tiles[k + 1], r.target.tiles);
  }
}

void check_consistent(const Report& r) {
  check_program(r);
  for (std::size_t i = 0; i < r.tiles.size(); ++i)
    if (r.tiles[i].by_category.size() != r.categories.size())
      fail(ErrorKind::parse_error, "report-inconsistent", "profile report: tiles[{}].by_category has {} numbers, there are {} categories",
           i, r.tiles[i].by_category.size(), r.categories.size());
  for (std::size_t i = 0; i < r.blocks.size(); ++i)
    if (r.blocks[i].stream >= r.block_streams.size())
      fail(ErrorKind::parse_error, "report-inconsistent", "profile report: blocks[{}].stream is {}, there are {} block_streams", i,
           r.blocks[i].stream, r.block_streams.size());
}

}  // namespace

void write_json(const Report& report, std::ostream& out) {
  out << fmt::format("{{\"format\":\"pando-report\",\"version\":{},", kJsonVersion);
  Writer writer{out};
  fields(writer, const_cast<Report&>(report));
  out << "}\n";
}

Report read_json(std::istream& in) {
  Json json;
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (json_nests_too_deep(text)) fail(ErrorKind::parse_error, "report-not-json", "profile report: JSON that nests too deep");
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& e) { fail(ErrorKind::parse_error, "report-not-json", "profile report: not JSON at byte {}", e.byte); }
  if (!json.is_object() || json.value("format", Json()) != "pando-report")
    fail(ErrorKind::parse_error, "report-foreign", "profile report: expected an object with \"format\": \"pando-report\"");
  Reader reader{json, ""};
  unsigned version = 0;
  reader("version", version);
  if (version != kJsonVersion)
    fail(ErrorKind::parse_error, "report-version", "profile report: version {}, this reader knows version {}", version, kJsonVersion);
  Report report;
  fields(reader, report);
  check_consistent(report);
  return report;
}

}  // namespace pando::profile
