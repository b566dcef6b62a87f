#include <fmt/format.h>

#include "tile/program.h"
#include "tile/step.h"
#include "tile/text.h"

namespace pando::tile {
namespace {

// Restricts the text to one tile if `only` is set.
class Printer {
 public:
  Printer(const Program& program, const Library& library, const PrintOptions& options)
      : program_(program), library_(library), only_(options.only_tile), memory_(options.memory) {}

  std::string run() {
    header();
    for (std::size_t s = 0; s < program_.streams.size(); ++s)
      if (shows(program_.streams[s])) stream(s);
    if (!only_) syncs();
    if (!only_) channels();
    for (std::size_t c = 0; c < program_.computes.size(); ++c) compute(c);
    for (std::size_t x = 0; x < program_.exchanges.size(); ++x) exchange(x);
    for (std::size_t h = 0; h < program_.transfers.size(); ++h) transfer(h);
    if (!only_) tables();
    initial();
    if (memory_) memory();
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }
  bool shows(TileId tile) const { return !only_ || *only_ == tile; }
  bool shows(const Move& m) const { return !only_ || m.source_tile == *only_ || m.destination_tile == *only_; }
  bool shows(const Stream& s) const { return !only_ || std::binary_search(s.tiles.begin(), s.tiles.end(), *only_); }

  void header() {
    const Machine& m = program_.machine;
    line("tile program for {}: {} IPU{} of {} tile{}, replication {}, programs {}", m.name, m.ipus, m.ipus == 1 ? "" : "s", m.tiles_per_ipu,
         m.tiles_per_ipu == 1 ? "" : "s", program_.replication, program_.programs);
    if (program_.out_of_memory) line("compiled out of memory: for reports and models");
    if (only_) line("only tile {}", only_->value);
  }

  void stream(std::size_t index) {
    const Stream& s = program_.streams[index];
    line("stream s{} {}{}: tiles {}", index, s.name, s.io ? " (io)" : "", text_of(s.tiles));
    for (std::size_t i = 0; i < s.code.size(); ++i) {
      for (std::size_t p = 0; p < s.entries.size(); ++p)
        if (s.entries[p] == i) line("  program {}:", p);
      const Instruction& in = s.code[i];
      const std::string sync = in.sync.valid() ? fmt::format(" sync y{}", in.sync.value) : "";
      line("  {:4} #{} {}{}{}", i, in.order, text_of(program_, in), sync, quoted(program_, in.name));
    }
  }

  void syncs() {
    for (std::size_t m = 0; m < program_.syncs.size(); ++m) {
      std::string streams;
      for (const StreamId s : program_.syncs[m].streams) streams += fmt::format(" s{}", s.value);
      line("sync y{}:{}", m, streams);
    }
  }

  static std::string list_of(const char* title, const std::vector<ExchangeId>& exchanges) {
    std::string text = title;
    for (const ExchangeId x : exchanges) text += fmt::format(" x{}", x.value);
    return text;
  }

  void channels() {
    for (std::size_t k = 0; k < program_.channels.size(); ++k) {
      const Channel& c = program_.channels[k];
      if (c.sends == 0) {
        line("channel k{}{}: unused", k, quoted(program_, c.name));
        continue;
      }
      line("channel k{}{}: s{} -> s{}, {} bytes, capacity {}", k, quoted(program_, c.name), c.sender.value, c.receiver.value, c.bytes,
           c.capacity);
      if (c.capacity == 0) {
        line("  {}", list_of("direct", c.direct));
        continue;
      }
      line("  slots of {} bytes: {}", c.out_slot, list_of("store", c.store));
      line("  slots of {} bytes: cross x{}, {}", c.in_slot, c.cross.value, list_of("take", c.take));
    }
  }

  void compute(std::size_t index) {
    const ComputeStep& step = program_.computes[index];
    if (only_ && !has_part(step)) return;
    line("compute c{}{}: s{}, compute set {}", index, quoted(program_, step.name), step.stream.value, step.compute_set.value);
    for (const Move& m : step.bound)
      if (shows(m)) line("  bind {}", text_of(m));
    for (const VertexGroup& group : step.groups) vertices(group);
    if (step.result && shows(step.result->tile)) line("  result {}", text_of(*step.result));
  }

  bool has_part(const ComputeStep& step) const {
    for (const VertexGroup& group : step.groups)
      for (std::uint32_t i = 0; i < group.count; ++i)
        if (shows(program_.vertices[group.first + i].tile)) return true;
    return step.result && shows(step.result->tile);
  }

  // One line per vertex for one tile; one line per codelet and tile for all.
  void vertices(const VertexGroup& group) {
    const Codelet& codelet = library_[group.codelet];
    const VertexInstance* const first = program_.vertices.data() + group.first;
    if (!only_) line("  {} x {}", codelet.name, group.count);
    for (std::uint32_t i = 0; i < group.count;) {
      std::uint32_t end = i + 1;
      while (end < group.count && first[end].tile == first[i].tile) ++end;
      if (!only_) {
        std::string list;
        for (std::uint32_t k = i; k < end; ++k) list += fmt::format(" v{}", first[k].vertex.value);
        line("    t{}:{}", first[i].tile.value, list);
      } else if (shows(first[i].tile)) {
        for (std::uint32_t k = i; k < end; ++k) line("  {}", text_of(program_, codelet, first[k]));
      }
      i = end;
    }
  }

  void moves(const std::vector<Move>& list, const char* word, const char* word_at_source) {
    for (const Move& m : list) {
      if (!shows(m)) continue;
      const bool sends = only_ && m.destination_tile != *only_;
      line("  {} {}", sends ? word_at_source : word, text_of(m));
    }
  }

  bool shows_any(const std::vector<Move>& list) const {
    for (const Move& m : list)
      if (shows(m)) return true;
    return false;
  }

  void exchange(std::size_t index) {
    const Exchange& x = program_.exchanges[index];
    if (only_ && !shows_any(x.receive) && !shows_any(x.arrange)) return;
    line("exchange x{}{}: receive {} bytes, arrange {} bytes", index, quoted(program_, x.name), total_bytes(x.receive),
         total_bytes(x.arrange));
    moves(x.receive, "recv", "send");
    moves(x.arrange, "arrange", "arrange");
  }

  std::string subject(const Transfer& t) const {
    switch (t.kind) {
      case Transfer::Kind::fifo: return fmt::format("fifo \"{}\"", program_.fifos[t.index].handle);
      case Transfer::Kind::remote: return fmt::format("remote \"{}\"", program_.remote_buffers[t.index].handle);
      case Transfer::Kind::host_function: return fmt::format("host function \"{}\"", program_.host_functions[t.index].handle);
      case Transfer::Kind::handle: return "handle";
      case Transfer::Kind::print: return fmt::format("print \"{}\"", program_.prints[t.index].title);
      case Transfer::Kind::error: return fmt::format("error \"{}\"", program_.prints[t.index].title);
    }
    return "";
  }

  void transfer(std::size_t index) {
    const Transfer& t = program_.transfers[index];
    if (only_ && !shows_any(t.moves)) return;
    line("transfer h{}{}: {} {} device, {}, {} bytes", index, quoted(program_, t.name), subject(t), t.to_device ? "to" : "from",
         pando::name_of(t.type), t.host_bytes);
    for (const Location& row : t.rows)
      if (shows(row.tile)) line("  row {} of {} bytes", text_of(row), t.row_bytes);
    moves(t.moves, t.to_device ? "recv" : "send", "send");
  }

  void tables() {
    for (const FifoInfo& f : program_.fifos)
      line("fifo \"{}\" {} device: {} x {}, depth {}{}", f.handle, f.to_device ? "to" : "from", f.elements, pando::name_of(f.type), f.depth,
           f.broadcast ? ", broadcast" : "");
    for (const RemoteInfo& r : program_.remote_buffers)
      line("remote \"{}\": {} rows of {} x {}", r.handle, r.repeats, r.elements, pando::name_of(r.type));
    for (const HandleInfo& h : program_.handles)
      line("handle \"{}\": {} bytes{}{}", h.name, h.bytes, h.write.valid() ? fmt::format(", write h{}", h.write.value) : "",
           h.read.valid() ? fmt::format(", read h{}", h.read.value) : "");
    for (std::size_t f = 0; f < program_.functions.size(); ++f) line("function f{} \"{}\"", f, program_.functions[f]);
    for (std::size_t r = 0; r < program_.replica_maps.size(); ++r) {
      std::string pairs;
      for (const auto& [from, to] : program_.replica_maps[r]) pairs += fmt::format(" {}->{}", from, to);
      line("map r{}:{}", r, pairs);
    }
  }

  void initial() {
    if (shows_any(program_.initial_moves)) line("initial data: {} bytes", program_.initial_data.size());
    moves(program_.initial_moves, "init", "init");
    for (std::size_t i = 0; i < program_.images.size(); ++i) {
      const Image& image = program_.images[i];
      if (only_ && !std::binary_search(image.tiles.begin(), image.tiles.end(), *only_)) continue;
      line("image {}: {} bytes at {:#x} of tiles {}", i, image.bytes.size(), image.begin, text_of(image.tiles));
    }
    for (std::size_t m = 0; m < program_.globals.size(); ++m)
      for (std::size_t t = 0; t < program_.globals[m].size(); ++t)
        if (program_.globals[m][t] != ~std::uint64_t{0} && shows(TileId(static_cast<std::uint32_t>(t))))
          line("globals of module {}: t{}@{:#x}", m, t, program_.globals[m][t]);
    for (const Location& l : program_.replica_index)
      if (shows(l.tile)) line("replica index {}", text_of(l));
  }

  void memory() {
    TileId tile;
    for (const Allocation& a : program_.allocations) {
      if (!shows(a.tile)) continue;
      if (a.tile != tile)
        line("memory t{}: {} bytes", a.tile.value, a.tile.index() < program_.tile_bytes.size() ? program_.tile_bytes[a.tile.index()] : 0);
      tile = a.tile;
      const bool declared = a.category == Category::vertex_code && !a.estimated;
      const std::string live = a.always_live ? "always" : text_of(program_.live_ranges[a.live]);
      line("  [{:#x}, {:#x}) {}{}{}, live {}", a.offset, a.offset + a.size, name_of(a.category), quoted(program_, a.name),
           a.estimated ? " (estimate)"
           : declared  ? " (declared)"
                       : "",
           live);
    }
  }

  const Program& program_;
  const Library& library_;
  const std::optional<TileId> only_;
  const bool memory_;
  std::string out_;
};

}  // namespace

std::string print(const Program& program, const Library& library, const PrintOptions& options) {
  return Printer(program, library, options).run();
}

}  // namespace pando::tile
