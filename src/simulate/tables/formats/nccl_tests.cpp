// What all_reduce_perf, all_gather_perf and their kin of nccl-tests (and rccl-tests) print.
#include "simulate/tables/table_format.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <set>
#include <sstream>

namespace pando::simulate {

namespace {

struct PerfProgram {
  const char *name, *collective;
};
// Sizes that they print are those of rows: of the whole tensor, for reductions and all-to-all each device's operand.
constexpr PerfProgram kPerfPrograms[] = {
    {"all_reduce_perf", "all_reduce"}, {"all_gather_perf", "all_gather"}, {"reduce_scatter_perf", "reduce_scatter"},
    {"alltoall_perf", "all_to_all"},   {"broadcast_perf", "broadcast"},   {"reduce_perf", "reduce"},
    {"sendrecv_perf", "send"}};

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string w; in >> w;) words.push_back(w);
  return words;
}

bool is_nccl_tests(const TableFile& file) {
  return file.text.find("algbw") != std::string::npos && file.text.find("busbw") != std::string::npos;
}

// By what the output says, or else by the file's name.
const char* collective_of(const TableFile& file) {
  const std::string name = std::filesystem::path(file.path).filename().string();
  for (const std::string* text : {&file.text, &name})
    for (const PerfProgram& p : kPerfPrograms) {
      const std::size_t at = text->find(p.name);
      // "reduce_perf" is a part of "all_reduce_perf".
      if (at != std::string::npos && (at == 0 || (*text)[at - 1] != '_')) return p.collective;
    }
  reject_table(file,
               "neither the output nor the file's name says which program of nccl-tests ran; a name such as all_reduce_perf.txt does");
}

void read_nccl_tests(const TableFile& file, TableRows& rows) {
  const std::string collective = collective_of(file);
  std::set<std::string> hosts;
  std::int64_t ranks = 0, number = 0;
  std::istringstream in(file.text);
  for (std::string line; std::getline(in, line);) {
    ++number;
    const std::vector<std::string> w = words_of(line);
    // "#  Rank  0 Group  0 Pid 1234 on host device  0 [0x07] NVIDIA H100"
    if (w.size() > 4 && w[0] == "#" && w[1] == "Rank") {
      ++ranks;
      for (std::size_t i = 0; i + 1 < w.size(); ++i)
        if (w[i] == "on") hosts.insert(w[i + 1]);
      continue;
    }
    // size count type redop root time algbw busbw ...
    if (w.size() < 8 || w[0][0] == '#') continue;
    double bytes = 0, us = 0;
    const auto number_of = [](const std::string& text, double& to) {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
      return error == std::errc() && end == text.data() + text.size();
    };
    if (!number_of(w[0], bytes)) continue;
    if (!number_of(w[5], us)) reject_table(file, fmt::format("line {}: the time is '{}'; microseconds are expected", number, w[5]));
    if (bytes == 0) continue;
    if (ranks < 2) reject_table(file, fmt::format("line {}: no two lines '# Rank ...' before it say which devices took part", number));
    const auto nodes = static_cast<std::int64_t>(std::max<std::size_t>(1, hosts.size()));
    rows.row("collectives",
             {{"collective", collective}, {"bytes", bytes}, {"devices", ranks}, {"nodes", nodes}, {"beside", 1}, {"seconds", us * 1e-6}});
  }
}

}  // namespace

TableFormat format_nccl_tests() { return {"nccl-tests", "what its programs print", is_nccl_tests, read_nccl_tests}; }

}  // namespace pando::simulate
