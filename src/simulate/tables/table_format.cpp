#include "simulate/tables/table_format.h"

#include "base/error.h"
#include "base/source_location.h"
#include "base/text/counted.h"
#include "simulate/cluster_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace pando::simulate {

using Json = nlohmann::ordered_json;

#define X(name) TableFormat format_##name();
#include "table_format_manifest.inc"
#undef X

const std::vector<TableFormat>& table_formats() {
  static const std::vector<TableFormat> all = {
#define X(name) format_##name(),
#include "table_format_manifest.inc"
#undef X
  };
  return all;
}

void reject_table(const TableFile& file, const std::string& why) { fail_at(ErrorKind::poplar_error, "table-file", {file.path}, "{}", why); }

Json object_of(const TableFile& file) {
  Json j = Json::parse(file.text, nullptr, false);
  return j.is_object() ? j : Json();
}

const TableFormat& format_of(const TableFile& file) {
  if (file.text.starts_with("PAR1"))
    reject_table(file, "it is a Parquet file; write it as CSV (pandas: read_parquet, then to_csv(index=False))");
  if (file.text.starts_with("version https://git-lfs"))
    reject_table(file, "it is a pointer of Git LFS, not the table; `git lfs pull` brings the table");
  std::string known;
  for (const TableFormat& f : table_formats()) {
    if (f.fits(file)) return f;
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", f.name, f.doc);
  }
  reject_table(file, fmt::format("it is of no format that is known: {}", known));
}

NetworkLevel* TableRows::set_level(std::size_t level, double bytes_per_second, std::vector<std::pair<double, double>> shares) {
  if (level >= machine.levels.size()) return nullptr;
  NetworkLevel& l = machine.levels[level];
  l.bytes_per_second = bytes_per_second;
  l.efficiency = {.points = std::move(shares)};
  members.emplace_back("levels");
  return &l;
}

Cluster with_tables(const Cluster& like, const std::vector<TableFile>& files, std::vector<std::string>& notes) {
  TableRows rows;
  rows.machine = like;
  std::vector<std::string> names;
  for (const TableFile& file : files) {
    const TableFormat& format = format_of(file);
    const auto count = [&] {
      std::size_t n = 0;
      for (const auto& [table, all] : rows.measured.items()) n += all.size();
      return n;
    };
    const std::size_t rows_before = count(), members_before = rows.members.size();
    std::vector<std::string> left;
    std::swap(left, rows.notes);
    format.read(file, rows);
    std::swap(left, rows.notes);
    for (const auto& [why, n] : std::exchange(rows.left, {})) left.push_back(fmt::format("{}: {}", counted(n, "row"), why));
    const std::size_t read = count() - rows_before, members = rows.members.size() - members_before;
    if (read + members == 0)
      reject_table(file, fmt::format("it has nothing of a machine ({}){}", format.name, left.empty() ? "" : ": " + left[0]));
    notes.push_back(fmt::format("{}: {}, {} and {}", file.path, format.name, counted(read, "row"), counted(members, "number")));
    for (const std::string& line : left) notes.push_back("  left out: " + line);
    names.push_back(std::filesystem::path(file.path).filename().string());
  }
  Cluster machine = rows.machine;
  const std::string from = fmt::format("{}", fmt::join(names, ", "));
  machine.name = like.name + " by " + from;
  machine.source = fmt::format("{}; the rest as of {}", from, like.name);
  for (const std::string& member : rows.members) {
    const auto known = std::ranges::find(machine.provenance, member, &std::pair<std::string, std::string>::first);
    if (known == machine.provenance.end())
      machine.provenance.emplace_back(member, from);
    else
      known->second = from;
  }
  if (rows.measured.empty()) return machine;
  // As text, so that rows are checked where those of users are.
  Json j = Json::parse(to_json(machine));
  if (!j.contains("measured")) j["measured"] = Json::object();
  for (const auto& [table, all] : rows.measured.items()) j["measured"][table] = all;
  j["measured"]["device"]["files"] = from;
  j["provenance"]["measured"] = from;
  return cluster_from_json(j.dump(), from);
}

}  // namespace pando::simulate
