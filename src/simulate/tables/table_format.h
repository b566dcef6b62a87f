// Files in which other planners and benchmarks keep what they measured, read into a machine. One file of formats/ for each kind.
#pragma once

#include "simulate/cluster.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pando::simulate {

// `device`: which one is meant, where a file has several.
struct TableFile {
  std::string path, text, device;
};

// What files say of a machine.
struct TableRows {
  // Rows of the member `measured` of a machine's file, by table: {"products": [...], "collectives": [...]}.
  nlohmann::ordered_json measured = nlohmann::ordered_json::object();
  // The machine as far as it is known; numbers are replaced.
  Cluster machine;
  // Names of members that were replaced.
  std::vector<std::string> members;
  // What was left, and why.
  std::vector<std::string> notes;
  // How many rows each reason left out.
  std::map<std::string, int> left;

  void row(const char* table, nlohmann::ordered_json r) { measured[table].push_back(std::move(r)); }
  template <class T>
  void set(const char* name, T& member, T value) {
    member = std::move(value);
    members.emplace_back(name);
  }
  // A level of the network, with bytes a second of a device and the share of them by the size of a message. Null: the machine does not have
  // the level.
  NetworkLevel* set_level(std::size_t level, double bytes_per_second, std::vector<std::pair<double, double>> shares = {{1, 1}});
};

struct TableFormat {
  std::string name, doc;
  // By what the text looks like.
  bool (*fits)(const TableFile& file) = nullptr;
  // Rejects (poplar_error, id table-file) what is not as the format has it, with the place.
  void (*read)(const TableFile& file, TableRows& rows) = nullptr;
};

// In the order of their names.
const std::vector<TableFormat>& table_formats();
const TableFormat& format_of(const TableFile& file);

// The machine `like` with what the files say of theirs: a table that they have replaces that of the machine. `notes`: a line for each file,
// and for what was left of it. Rejects (poplar_error, id table-file) files of no known format, and rows that cannot be (measured_json.h).
Cluster with_tables(const Cluster& like, const std::vector<TableFile>& files, std::vector<std::string>& notes);

[[noreturn]] void reject_table(const TableFile& file, const std::string& why);
// A JSON object; null: it is none.
nlohmann::ordered_json object_of(const TableFile& file);

}  // namespace pando::simulate
