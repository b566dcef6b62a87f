#include "ontile/machine_program.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include <pando/host.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/exceptions.hpp>

#include "base/files/store.h"
#include "ontile/port/exchange.h"
#include "ontile/protocol.h"
#include "ontile/runtime/python.h"

namespace pando::ontile {
namespace {

using namespace poplar;
using namespace poplar::program;

// Each tile has room to receive all of it: 40 bytes of each tile of a whole IPU, or 16 where tiles have disks.
constexpr std::uint32_t kWindowBytes = 65536, kWindowBesideDisk = 32768;
constexpr std::uint32_t kLeastSlot = 16, kMiddleSlot = 2048, kLargeSlot = 16384;  // a message's first 16 bytes come together

std::string codelet_file() {
  if (const char* chosen = std::getenv("IPU_ONTILE_GP"); chosen && *chosen) return chosen;
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&codelet_file), &info) == 0 || !info.dli_fname) return "ontile.gp";
  const std::string library = info.dli_fname;
  return library.substr(0, library.rfind('/') + 1) + "ontile.gp";
}

unsigned ipus_in_use(const MachineShape& s) { return (s.tiles + s.tiles_per_ipu - 1) / s.tiles_per_ipu; }
unsigned tiles_of(const MachineShape& s, unsigned ipu) { return std::min(s.tiles_per_ipu, s.tiles - ipu * s.tiles_per_ipu); }

class Builder {
 public:
  Builder(const MachineShape& shape, const Target& target, const BootedImage& image)
      : shape_(shape), graph_(target), modes_(exchange_modes(shape)) {
    graph_.addCodelets(codelet_file());
    set_image(graph_, "python", image.memory.data(), image.memory.size());
    set_image(graph_, "python header", image.header.data(), image.header.size());
    add_variables();
  }

  Graph& graph() { return graph_; }

  std::vector<Program> programs() {
    const DataStream command = graph_.addHostToDeviceFIFO("command", UNSIGNED_CHAR, kCommandBytes);
    const DataStream seats = graph_.addHostToDeviceFIFO("seats", UNSIGNED_INT, seats_.numElements());
    const DataStream outcome = graph_.addDeviceToHostFIFO("outcome", UNSIGNED_INT, kOutcomeWords);
    const DataStream states = graph_.addDeviceToHostFIFO("states", UNSIGNED_INT, status_.numElements());
    const DataStream texts = graph_.addDeviceToHostFIFO("texts", CHAR, out_.numElements());
    const DataStream text = graph_.addDeviceToHostFIFO("text", CHAR, kOutBytes);
    const Sequence step{Copy(command, commands_[0]),
                        spread(commands_),
                        Execute(act()),
                        RepeatWhileTrue(Sequence{Execute(summarise()), Execute(join_rows()), Execute(decide())}, outcome_[kGo],
                                        Sequence{moves(), Execute(go_on())}),
                        Copy(outcome_, outcome),
                        If(outcome_[kUniform], Copy(out_.slice(0, kOutBytes), text), Sequence{Copy(status_, states), Copy(out_, texts)})};
    std::vector<Program> all{step, Copy(seats, seats_)};
    if (shape_.data_bytes > 0) all.push_back(Copy(graph_.addHostToDeviceFIFO("data", CHAR, data_.numElements()), data_));
    return all;
  }

 private:
  // What all tiles read is there once for an IPU: its tiles then read it where it lies. The first IPU's goes to the others.
  Sequence spread(const std::vector<Tensor>& of_ipus) {
    Sequence out;
    if (of_ipus.size() < 2) return out;
    const std::vector<Tensor> others(of_ipus.begin() + 1, of_ipus.end());
    out.add(Copy(of_ipus[0].broadcast(static_cast<unsigned>(others.size()), 0), concat(others)));
    return out;
  }
  unsigned ipu_of(unsigned tile) const { return tile / shape_.tiles_per_ipu; }

  // What is there once for an IPU lies on neighbouring tiles, from the first one on: no tile has room for all of it.
  enum Role : unsigned { kPlan, kCommand, kFirstPart };
  unsigned tile_for(unsigned role, unsigned ipu) const { return ipu * shape_.tiles_per_ipu + role % tiles_of(shape_, ipu); }

  // [tiles * words], `words` a tile.
  Tensor per_tile(const Type& type, std::size_t words, const char* name) {
    const Tensor t = graph_.addVariable(type, {shape_.tiles * words}, name);
    for (unsigned i = 0; i < shape_.tiles; ++i) graph_.setTileMapping(t.slice(i * words, (i + 1) * words), i);
    return t;
  }
  Tensor on_tile(const Type& type, std::size_t words, const char* name, unsigned tile = 0) {
    const Tensor t = graph_.addVariable(type, {words}, name);
    graph_.setTileMapping(t, tile);
    return t;
  }
  Tensor constant(const std::vector<unsigned>& values, const char* name, unsigned ipu = 0) {
    const Tensor t = graph_.addConstant(UNSIGNED_INT, {values.size()}, ArrayRef<unsigned>(values), name);
    graph_.setTileMapping(t, tile_for(kPlan, ipu));
    return t;
  }

  void add_variables() {
    seats_ = per_tile(UNSIGNED_INT, kSeatWords, "seats");
    status_ = per_tile(UNSIGNED_INT, kStatusWords, "status");
    out_ = per_tile(CHAR, kOutBytes, "out");
    offer_bytes_ = modes_.back().slot;
    offer_ = per_tile(UNSIGNED_CHAR, offer_bytes_, "offer");
    data_ = per_tile(CHAR, std::max(shape_.data_bytes, 1u), "data");
    disk_ = per_tile(UNSIGNED_CHAR, disk_bytes(), "disk");
    if (shape_.lent_blocks > 0) {
      lent_ = per_tile(UNSIGNED_CHAR, shape_.lent_blocks * kBlockBytes, "memory lent to others");
      answer_ = per_tile(UNSIGNED_CHAR, kBlockBytes, "answer to an errand");
    }
    std::uint32_t window = 0;
    for (const ExchangeMode& m : modes_) window = std::max(window, m.slot * m.group);
    outcome_ = on_tile(UNSIGNED_INT, kOutcomeWords, "outcome", tile_for(kPlan, 0));
    graph_.setInitialValue(outcome_, ArrayRef<unsigned>(std::vector<unsigned>(kOutcomeWords, 0)));
    for (unsigned i = 0; i < ipus_in_use(shape_); ++i) {
      const unsigned n = tiles_of(shape_, i), hub = tile_for(kPlan, i);
      tiles_of_ipu_.push_back(n);
      rows_.push_back(on_tile(UNSIGNED_INT, (n + kRowTiles - 1) / kRowTiles * kSummaryWords, "summaries of rows", hub));
      summaries_.push_back(on_tile(UNSIGNED_INT, kSummaryWords, "summary", hub));
      from_.push_back(on_tile(UNSIGNED_SHORT, n, "from", hub));
      to_.push_back(on_tile(UNSIGNED_SHORT, n, "to", hub));
      match_.push_back(on_tile(UNSIGNED_SHORT, n, "match", hub));
      pairs_.push_back(on_tile(UNSIGNED_INT, 2 * n, "pairs", hub));
      commands_.push_back(on_tile(UNSIGNED_CHAR, kCommandBytes, "command", tile_for(kCommand, i)));
      windows_.push_back(graph_.addVariable(UNSIGNED_CHAR, {window}, "window"));
      for (std::uint32_t at = 0; at < window; at += kWindowPart)
        graph_.setTileMapping(windows_[i].slice(at, std::min(window, at + kWindowPart)), tile_for(kFirstPart + at / kWindowPart, i));
      controls_.push_back(on_tile(UNSIGNED_INT, kControlWords, "control", hub));
    }
    std::vector<unsigned> modes;
    unsigned cases = 0;
    for (const ExchangeMode& m : modes_) {
      modes.insert(modes.end(), {m.slot, m.group});
      const unsigned groups = (std::min(shape_.tiles, shape_.tiles_per_ipu) + m.group - 1) / m.group;
      group_table_.insert(group_table_.end(), {groups, cases});
      cases += groups * ipus_in_use(shape_);
    }
    group_table_.insert(group_table_.end(), {1, cases});
    errand_plan_.assign(kErrandPlanWords, 0);
    while (modes_[errand_plan_[kErrandMode]].slot < kErrandBytes) ++errand_plan_[kErrandMode];
    if (shape_.lent_blocks > 0) errand_plan_[kErrandCase] = cases + 1;
    errand_plan_[kAnswerGroups] = (std::min(shape_.tiles, shape_.tiles_per_ipu) + kAnswerGroup - 1) / kAnswerGroup;
    // Each IPU has its own: none waits for another one before all answers come together.
    for (unsigned i = 0; i < ipus_in_use(shape_); ++i) modes_of_ipu_.push_back(constant(modes, "modes", i));
  }

  template <class Slice>
  ComputeSet on_all_tiles(const char* vertex, const Slice& connect) {
    const ComputeSet set = graph_.addComputeSet(vertex);
    for (unsigned i = 0; i < shape_.tiles; ++i) {
      const VertexRef v = graph_.addVertex(set, vertex);
      graph_.setTileMapping(v, i);
      connect(v, i);
    }
    return set;
  }

  ComputeSet act() {
    return on_all_tiles("InterpreterAct", [&](const VertexRef& v, unsigned i) {
      connect_state(v, i);
      graph_.connect(v["command"], commands_[ipu_of(i)]);
      graph_.connect(v["data"], data_.slice(i * data_bytes(), (i + 1) * data_bytes()));
      graph_.connect(v["disk"], disk_.slice(i * disk_bytes(), (i + 1) * disk_bytes()));
    });
  }
  ComputeSet go_on() {
    return on_all_tiles("InterpreterGoOn", [&](const VertexRef& v, unsigned i) {
      connect_state(v, i);
      const unsigned ipu = ipu_of(i), in_ipu = i % shape_.tiles_per_ipu;
      graph_.connect(v["command"], commands_[ipu].slice(0, kCommandWords * 4));
      connect_window(v, ipu);
      graph_.connect(v["control"], controls_[ipu]);
      graph_.connect(v["pair"], pairs_[ipu].slice(2 * in_ipu, 2 * in_ipu + 2));
    });
  }
  void connect_state(const VertexRef& v, unsigned i) {
    graph_.connect(v["seat"], seats_.slice(i * kSeatWords, (i + 1) * kSeatWords));
    graph_.connect(v["status"], status_.slice(i * kStatusWords, (i + 1) * kStatusWords));
    graph_.connect(v["out"], out_.slice(i * kOutBytes, (i + 1) * kOutBytes));
    graph_.connect(v["offer"], offer_.slice(i * offer_bytes_, (i + 1) * offer_bytes_));
  }
  void connect_window(const VertexRef& v, unsigned ipu) {
    const auto bytes = static_cast<std::uint32_t>(windows_[ipu].numElements());
    std::vector<Tensor> parts;
    for (std::uint32_t at = 0; at < bytes; at += kWindowPart) parts.push_back(windows_[ipu].slice(at, std::min(bytes, at + kWindowPart)));
    graph_.connect(v["window"], ArrayRef<Tensor>(parts));
  }
  std::size_t data_bytes() const { return data_.numElements() / shape_.tiles; }
  std::uint32_t disk_bytes() const { return std::max(disk_region_bytes(shape_.disk_blocks), 1u); }

  // On the first tile of each row.
  ComputeSet summarise() {
    const ComputeSet set = graph_.addComputeSet("ExchangeSummary");
    for (unsigned ipu = 0; ipu < tiles_of_ipu_.size(); ++ipu)
      for (unsigned begin = 0; begin < tiles_of_ipu_[ipu]; begin += kRowTiles) {
        const unsigned end = std::min(begin + kRowTiles, tiles_of_ipu_[ipu]), first = ipu * shape_.tiles_per_ipu;
        const VertexRef v =
            graph_.addVertex(set, "ExchangeSummary",
                             {{"statuses", status_.slice((first + begin) * kStatusWords, (first + end) * kStatusWords)},
                              {"modes", modes_of_ipu_[ipu]},
                              {"summary", rows_[ipu].slice(begin / kRowTiles * kSummaryWords, (begin / kRowTiles + 1) * kSummaryWords)},
                              {"from", from_[ipu].slice(begin, end)},
                              {"to", to_[ipu].slice(begin, end)}});
        graph_.setTileMapping(v, first + begin);
      }
    return set;
  }
  ComputeSet join_rows() {
    const ComputeSet set = graph_.addComputeSet("ExchangeJoin");
    for (unsigned ipu = 0; ipu < tiles_of_ipu_.size(); ++ipu)
      graph_.setTileMapping(
          graph_.addVertex(set, "ExchangeJoin", {{"rows", rows_[ipu]}, {"modes", modes_of_ipu_[ipu]}, {"summary", summaries_[ipu]}}),
          tile_for(kPlan, ipu));
    return set;
  }
  ComputeSet decide() {
    const ComputeSet set = graph_.addComputeSet("ExchangeDecide");
    const VertexRef v = graph_.addVertex(set, "ExchangeDecide",
                                         {{"summaries", concat(summaries_)},
                                          {"modes", modes_of_ipu_[0]},
                                          {"groups", constant(group_table_, "groups")},
                                          {"tiles_of_ipu", constant(tiles_of_ipu_, "tiles of an IPU")},
                                          {"errand_plan", constant(errand_plan_, "errand plan")},
                                          {"outcome", outcome_},
                                          {"control", controls_[0]}});
    graph_.setTileMapping(v, tile_for(kPlan, 0));
    return set;
  }

  using Cases = std::vector<std::pair<std::int32_t, Program>>;

  // A case for each group of each mode: what its tiles offer goes into the window. One more pairs tiles, and one is for errands.
  Sequence moves() {
    Cases cases;
    for (std::size_t m = 0; m < modes_.size(); ++m) add_moves(cases, m);
    cases.push_back({static_cast<std::int32_t>(group_table_.back()), match()});
    if (shape_.lent_blocks > 0) cases.push_back({static_cast<std::int32_t>(errand_plan_[kErrandCase]), errand()});
    return {spread(controls_), Switch::switchWithBoundsChecking(outcome_[kCase], cases), spread(windows_)};
  }

  // The bytes of a group of an IPU's tiles into the first window.
  Program move_to_window(const Tensor& from, unsigned ipu) {
    const std::size_t bytes = from.numElements();
    Sequence move{Copy(from, windows_[ipu].slice(0, bytes))};
    if (ipu > 0) move.add(Copy(windows_[ipu].slice(0, bytes), windows_[0].slice(0, bytes)));
    return move;
  }
  void add_moves(Cases& cases, std::size_t m) {
    const Tensor offers = offer_.reshape({shape_.tiles, offer_bytes_});
    for (unsigned ipu = 0; ipu < tiles_of_ipu_.size(); ++ipu)
      for (unsigned g = 0; g < group_table_[2 * m]; ++g) {
        const unsigned first = ipu * shape_.tiles_per_ipu + g * modes_[m].group;
        const unsigned end = std::min(first + modes_[m].group, ipu * shape_.tiles_per_ipu + tiles_of_ipu_[ipu]);
        if (first >= end) continue;
        const Tensor from = offers.slice({first, 0}, {end, modes_[m].slot}).flatten();
        cases.push_back({static_cast<std::int32_t>(group_table_[2 * m + 1] + ipu * group_table_[2 * m] + g), move_to_window(from, ipu)});
      }
  }

  // A request comes to all tiles, who lends carries it out, and the answer comes to all tiles.
  Sequence errand() {
    Cases asked, answered;
    add_moves(asked, errand_plan_[kErrandMode]);
    for (unsigned ipu = 0; ipu < tiles_of_ipu_.size(); ++ipu)
      for (unsigned g = 0; g * kAnswerGroup < tiles_of_ipu_[ipu]; ++g) {
        const std::size_t first = ipu * shape_.tiles_per_ipu + g * kAnswerGroup;
        const std::size_t end = std::min<std::size_t>(first + kAnswerGroup, ipu * shape_.tiles_per_ipu + tiles_of_ipu_[ipu]);
        const Tensor from = answer_.slice(first * kBlockBytes, end * kBlockBytes);
        answered.push_back({static_cast<std::int32_t>(ipu * errand_plan_[kAnswerGroups] + g), move_to_window(from, ipu)});
      }
    const ComputeSet lend = on_all_tiles("LentMemory", [&](const VertexRef& v, unsigned i) {
      const std::size_t bytes = shape_.lent_blocks * kBlockBytes;
      connect_window(v, ipu_of(i));
      graph_.connect(v["control"], controls_[ipu_of(i)]);
      graph_.connect(v["memory"], lent_.slice(i * bytes, (i + 1) * bytes));
      graph_.connect(v["answer"], answer_.slice(i * kBlockBytes, (i + 1) * kBlockBytes));
    });
    return {Switch::switchWithBoundsChecking(outcome_[kErrandFrom], asked), spread(windows_), Execute(lend),
            Switch::switchWithBoundsChecking(outcome_[kErrandTo], answered)};
  }

  Sequence match() {
    const ComputeSet match = graph_.addComputeSet("ExchangeMatch"), pairs = graph_.addComputeSet("ExchangePairs");
    const Tensor all_to = concat(to_), all_matches = concat(match_);
    for (unsigned i = 0; i < to_.size(); ++i) {
      const VertexRef m = graph_.addVertex(match, "ExchangeMatch", {{"to", all_to}, {"from", from_[i]}, {"match", match_[i]}});
      const VertexRef p = graph_.addVertex(pairs, "ExchangePairs", {{"match", all_matches}, {"to", to_[i]}, {"pairs", pairs_[i]}});
      for (const VertexRef& v : {m, p}) {
        graph_.setTileMapping(v, tile_for(kPlan, i));
        graph_.setInitialValue(v["first_tile"], i * shape_.tiles_per_ipu);
      }
    }
    return {Execute(match), Execute(pairs)};
  }

  const MachineShape shape_;
  Graph graph_;
  const std::vector<ExchangeMode> modes_;
  Tensor seats_, status_, out_, offer_, data_, disk_, lent_, answer_, outcome_;
  std::vector<Tensor> modes_of_ipu_, commands_, windows_, controls_, rows_, summaries_, from_, to_, match_, pairs_;  // of each IPU
  std::vector<unsigned> tiles_of_ipu_, group_table_, errand_plan_;
  std::uint32_t offer_bytes_ = 0;
};

std::string key_of(const MachineShape& s, const Target& target, const BootedImage& image) {
  std::uint64_t h = 0xcbf29ce484222325ull;
  const auto add = [&](const std::string& text) {
    for (const unsigned char c : text) h = (h ^ c) * 0x100000001b3ull;
  };
  add(image.header);
  add(image.memory);
  std::ifstream codelets(codelet_file(), std::ios::binary);
  add(std::string(std::istreambuf_iterator<char>(codelets), {}));
  for (const ExchangeMode& m : exchange_modes(s)) add(fmt::format("{} x {}", m.group, m.slot));
  return fmt::format("pando python {} {} {} {} {} {} {} {} {} {} {:016x}", s.ipus, s.tiles_per_ipu, s.tiles, s.data_bytes, s.disk_blocks,
                     s.lent_blocks, kCommandBytes, target.getTargetArchString(), target.getBytesPerTile(), pando_python_version(), h);
}

}  // namespace

std::vector<ExchangeMode> exchange_modes(const MachineShape& s) {
  const unsigned tiles = std::min(s.tiles, s.tiles_per_ipu);
  const std::uint32_t window = s.disk_blocks + s.lent_blocks > 0 ? kWindowBesideDisk : kWindowBytes;
  const std::uint32_t slot = std::clamp(window / tiles / 8 * 8, kLeastSlot, kLargeSlot);
  std::vector<ExchangeMode> modes{{slot, std::min(tiles, window / slot)}};
  if (slot < kMiddleSlot) modes.push_back({kMiddleSlot, std::min(window / kMiddleSlot, 32u)});
  if (slot < kLargeSlot && s.tiles <= s.tiles_per_ipu) modes.push_back({kLargeSlot, std::min(window / kLargeSlot, 4u)});
  return modes;
}

poplar::Executable session_executable(const MachineShape& shape, const Target& target, const BootedImage& image, bool* cached) {
  const Store store = Store::of_user("python", "the machine's program is");
  const std::string key = key_of(shape, target, image);
  const std::string entry =
      fmt::format("{}x{}-{}-{}-{}.poplar_exec", shape.ipus, shape.tiles, shape.data_bytes, shape.disk_blocks, shape.lent_blocks);
  *cached = false;
  if (const auto kept = store.find(entry, key)) {
    try {
      std::istringstream in(*kept);
      Executable executable = Executable::deserialize(in);
      *cached = true;
      return executable;
    } catch (const poplar_error&) {
      // Damaged, or from another version: it is made again.
    }
  }
  Builder builder(shape, target, image);
  const std::vector<Program> programs = builder.programs();
  Executable executable = compileGraph(builder.graph(), programs);
  std::ostringstream out;
  executable.serialize(out);
  store.put(entry, out.str(), key);
  return executable;
}

}  // namespace pando::ontile
