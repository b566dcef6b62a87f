// The op libraries' estimates of their vertices beside the counts of the same vertices' code.
//   estimators_bench [--all]    --all: also the codelets that no operation here uses, and why the others are not counted
//
// The libraries' codelets are linked once more, with the code that counts them (build/bench/LIB.gp). The same operations run twice, once
// with the estimators and once without: what loads a library's codelets before the library does keeps its estimators out.
#include <nlohmann/json.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplin/Cholesky.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/TriangularSolve.hpp>
#include <poplin/codelets.hpp>
#include <popnn/Loss.hpp>
#include <popnn/Pooling.hpp>
#include <popnn/codelets.hpp>
#include <popops/AllTrue.hpp>
#include <popops/Cast.hpp>
#include <popops/DynamicSlice.hpp>
#include <popops/Encoding.hpp>
#include <popops/Fill.hpp>
#include <popops/GatherStatistics.hpp>
#include <popops/NaN.hpp>
#include <popops/ScaledAdd.hpp>
#include <popops/Sort.hpp>
#include <popops/TopK.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

#include "bench.h"

namespace {

using namespace poplar;
using program::Sequence;
namespace fs = std::filesystem;

constexpr const char* kLibraries[] = {"popops", "poplin", "popnn"};
constexpr double kClose = 0.15;
constexpr unsigned kDivision = 40;  // slots of a division of integers in software: `nop` in the instructions

fs::path build_folder() { return fs::read_symlink("/proc/self/exe").parent_path().parent_path(); }

std::string output_of(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  std::string all;
  char buffer[4096];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) all.append(buffer, n);
  if (pclose(pipe) != 0) throw std::runtime_error(command + " failed");
  return all;
}

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// LIB.gp with the code that counts, newer than the library's own; beside it LIB.txt: the instructions that are counted.
fs::path counted(const std::string& library) {
  const fs::path build = build_folder(), out = build / "bench" / (library + ".gp"), own = build / "lib" / (library + ".gp");
  const fs::path text = build / "bench" / (library + ".txt");
  if (fs::exists(out) && fs::last_write_time(out) > fs::last_write_time(own)) return out;
  fmt::print("popc {} with counts\n", library);
  std::fflush(stdout);
  const std::string rest = fmt::format("'{0}/codelets/{1}'/*.gp -L'{0}/lib' -lpando_kernels -o", build.string(), library);
  output_of(fmt::format("'{}/bin/popc' --print-count {} /dev/null > '{}'", build.string(), rest, text.string()));
  output_of(fmt::format("'{}/bin/popc' -O3 {} '{}'", build.string(), rest, out.string()));
  return out;
}

// Why codelets are not counted, by name; empty for those that are.
std::map<std::string, std::string> reasons_of(const std::string& library) {
  std::map<std::string, std::string> out;
  std::istringstream lines(output_of(fmt::format("'{}/bin/popc' --describe '{}'", build_folder().string(), counted(library).string())));
  constexpr std::string_view kReason = "  not counted: ";
  std::string name;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t kind = line.find("vertex "), size = line.find(" size ");
    if (line[0] != ' ' && kind != std::string::npos && size != std::string::npos)
      out[name = line.substr(kind + 7, size - kind - 7)] = "";
    else if (line.starts_with(kReason))
      out[name] = line.substr(kReason.size(), line.find(" (line") - kReason.size());
  }
  return out;
}

// What the instructions of each function show that an estimator of a tile's own vertex does not have, by "popops::Fill<half>".
std::map<std::string, std::string> differences_of(const std::string& library) {
  std::map<std::string, std::string> out;
  std::istringstream lines(text_of(counted(library).replace_extension(".txt")));
  constexpr std::string_view kFunction = "function ", kCompute = "::compute()";
  std::string name;
  unsigned nops = 0;
  bool narrow = false;
  const auto end = [&] {
    if (name.empty()) return;
    std::string& why = out[name];
    if (nops >= kDivision) why += fmt::format("; {} divisions of integers", nops / kDivision);
    if (narrow) why += "; stores of less than a word";
  };
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kFunction)) {
      end();
      name.clear(), nops = 0, narrow = false;
      if (!line.ends_with(kCompute)) continue;
      for (const char c : line.substr(kFunction.size(), line.size() - kFunction.size() - kCompute.size()))
        if (c != ' ' || name.empty() || name.back() != ',') name += c;
      for (std::size_t at = 0; (at = name.find("_Float16", at)) != std::string::npos;) name.replace(at, 8, "half");
    } else {
      nops += line.find("    nop") == 0;
      narrow = narrow || line.find(" andc") != std::string::npos || line.find("sort") != std::string::npos;
    }
  }
  end();
  return out;
}

// Operations of all kinds whose codelets can be counted.
class Program {
 public:
  explicit Program(Graph& graph) : graph_(graph) {
    for (const Type& type : {FLOAT, HALF}) add_of_numbers(type);
    add_indices();
  }
  Sequence sequence;

 private:
  Tensor tensor(const Type& type, const std::vector<std::size_t>& shape) {
    const Tensor t = graph_.addVariable(type, shape);
    poputil::mapTensorLinearly(graph_, t);
    popops::fill(graph_, t, sequence, 1);
    return t;
  }

  void add_of_numbers(const Type& type) {
    const Tensor x = tensor(type, {64, 48}), y = tensor(type, {64, 48}), factor = tensor(type, {});
    popops::cast(graph_, x, type == FLOAT ? HALF : FLOAT, sequence);
    popops::cast(graph_, x, INT, sequence);
    popops::hasNaN(graph_, x, sequence);
    popops::scaledAddTo(graph_, x, y, 0.5f, sequence);
    popops::scaledAddTo(graph_, x, y, factor, sequence);
    popops::iota(graph_, x.flatten(), 0u, sequence);
    popops::sort(graph_, x, 1, sequence);
    popops::topK(graph_, sequence, x, popops::TopKParams(5, true, popops::SortOrder::NONE));
    popops::encodeOneHot(graph_, tensor(UNSIGNED_INT, {64}), x, sequence);
    const Tensor at = tensor(UNSIGNED_INT, {1});
    const Tensor slice = popops::dynamicSlice(graph_, x, at, {0}, {1}, sequence);
    popops::dynamicUpdate(graph_, x, slice, at, {0}, {1}, sequence);
    popnn::argMax(graph_, x, sequence);
    popnn::argMin(graph_, x, sequence);
    popnn::topK(graph_, x, *values_.emplace_back(std::make_unique<Tensor>()), 3, true, sequence);
    for (const popnn::PoolingType kind : {popnn::PoolingType::MAX, popnn::PoolingType::AVG}) {
      const popnn::pooling::PoolParams params(kind, {16, 16}, {2, 2}, {2, 2}, {0, 0}, {0, 0}, 16, 2, type);
      const Tensor in = tensor(type, {2, 16, 16, 16}), out = popnn::pooling::pool(graph_, params, in, sequence);
      popnn::pooling::poolInputGradient(graph_, params, in, out, tensor(type, out.shape()), false, sequence);
    }
    const Tensor square = tensor(type, {32, 32});
    poplin::cholesky(graph_, square, true, sequence);
    poplin::triangularSolve(graph_, square, tensor(type, {32, 8}), true, true, false, sequence);
    for (const Type& partials : {FLOAT, type})
      poplin::matMul(graph_, tensor(type, {8, 4096}), tensor(type, {4096, 16}), sequence, type, {},
                     {{"partialsType", partials.toString()}});
    const Tensor loss = tensor(type, {64}), deltas = tensor(type, {64, 48});
    for (const popnn::LossType kind : {popnn::SUM_SQUARED_LOSS}) sequence.add(popnn::calcLoss(graph_, x, y, loss, deltas, kind));
  }

  void add_indices() {
    const Tensor i = tensor(INT, {3000}), u = tensor(UNSIGNED_INT, {3000});
    popops::cast(graph_, i, FLOAT, sequence);
    popops::iota(graph_, i, 3, sequence);
    popops::iota(graph_, u, 3u, sequence);
    popops::allTrue(graph_, tensor(BOOL, {3000}), sequence);
  }

  Graph& graph_;
  std::vector<std::unique_ptr<Tensor>> values_;
};

struct Cost {
  std::uint64_t vertices = 0, cycles = 0;
  std::string source;
};

// By codelet, from the report of a run.
std::map<std::string, Cost> costs(bool with_estimators) {
  IPUModel model("ipu2");
  model.numIPUs = 1;
  model.tilesPerIPU = 4;
  const Device device = model.createDevice();
  Graph graph(device.getTarget());
  if (!with_estimators)
    for (const char* library : kLibraries) graph.addCodelets(counted(library).string());
  popops::addCodelets(graph);
  poplin::addCodelets(graph);
  popnn::addCodelets(graph);
  const fs::path folder = build_folder() / "bench" / (with_estimators ? "estimated" : "counted");
  fs::create_directories(folder);
  Program program(graph);
  {
    Engine engine(graph, program.sequence, {{"autoReport.all", "true"}, {"autoReport.directory", folder.string()}});
    engine.load(device);
    engine.run(0);
  }
  const std::string text = output_of(
      fmt::format("'{}/bin/pando' report '{}' --json codelets --top 100000", build_folder().string(), (folder / "profile.pando").string()));
  const nlohmann::json report = nlohmann::json::parse(text);
  std::map<std::string, Cost> out;
  for (const nlohmann::json& row : report.at("rows")) out[row.at("codelet")] = {row.at("executions"), row.at("cycles"), row.at("source")};
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  return pando::bench::exit_status("estimators_bench", [&] {
    const bool all = argc > 1 && std::string_view(argv[1]) == "--all";
    const std::map<std::string, Cost> estimated = costs(true), counts = costs(false);
    std::map<std::string, std::string> differences;
    for (const char* library : kLibraries) differences.merge(differences_of(library));
    unsigned close = 0, rows = 0;
    fmt::print("{:<44} {:>8} {:>10} {:>9} {:>8}   {}\n", "codelet", "vertices", "estimated", "counted", "off",
               "what its code does that the estimator's does not");
    for (const auto& [name, estimate] : estimated) {
      const auto at = counts.find(name);
      if (at == counts.end() || at->second.source != "counted" || estimate.source != "estimated by the program") continue;
      const double off = static_cast<double>(estimate.cycles) / static_cast<double>(at->second.cycles) - 1;
      const bool is_close = std::abs(off) <= kClose;
      fmt::print("{:<44} {:>8} {:>10} {:>9} {:>+6.0f} %   {}\n", name, estimate.vertices, estimate.cycles, at->second.cycles, 100 * off,
                 is_close ? "" : "an element at a time" + differences[name]);
      ++rows;
      close += is_close;
    }
    if (rows == 0) throw std::runtime_error("no codelet has both an estimate and a count");
    for (const char* library : kLibraries) {
      std::map<std::string, unsigned> reasons;
      unsigned counted_codelets = 0;
      for (const auto& [name, why] : reasons_of(library)) {
        if (why.empty()) {
          ++counted_codelets;
          if (all && !estimated.contains(name)) fmt::print("not run: {}\n", name);
        } else {
          ++reasons[why];
        }
      }
      fmt::print("{}: {} codelets are counted\n", library, counted_codelets);
      for (const auto& [why, n] : reasons)
        if (all) fmt::print("  {:>4} are not: {}\n", n, why);
    }
    pando::bench::print_figure({.what = "estimates of vertices within 15 % of their counts",
                                .unit = "codelets",
                                .ours = static_cast<double>(close),
                                .peer = static_cast<double>(rows),
                                .peer_name = "codelets that are counted"});
  });
}
