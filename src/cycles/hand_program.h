// Tile programs written by hand, a step at a time: for the tests and benchmarks of the cycle model. Every IPU has one stream
// over all its tiles.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codelet/hand_made.h"
#include "tile/program.h"

namespace pando::cycles {

class HandProgram {
 public:
  explicit HandProgram(Machine machine) {
    program_->machine = std::move(machine);
    const Machine& m = program_->machine;
    program_->programs = 1;
    program_->tile_bytes.resize(m.tiles());
    for (std::uint32_t i = 0; i < m.ipus; ++i) {
      tile::Stream s;
      s.name = "ipu" + std::to_string(i) + ".compute";
      s.ipu = IpuId(i);
      for (std::uint32_t t = 0; t < m.tiles_per_ipu; ++t) s.tiles.push_back(TileId(i * m.tiles_per_ipu + t));
      s.entries = {0};
      program_->streams.push_back(std::move(s));
    }
  }

  CodeletId codelet(const std::string& name, VertexKind kind) {
    Codelet c = hand_made_codelet(name, {});
    c.kind = kind;
    codelets_.push_back(c);
    program_->codelet_names.push_back(name);
    return CodeletId(static_cast<std::uint32_t>(codelets_.size() - 1));
  }

  tile::NameId name(const std::string& text) {
    program_->names.push_back(text);
    return tile::NameId(static_cast<std::uint32_t>(program_->names.size() - 1));
  }

  struct Work {
    CodeletId codelet;
    std::uint32_t tile = 0;
    std::uint64_t cycles = 0;
  };
  // Vertices of one codelet must be together, sorted by tile.
  tile::Instruction& compute(std::uint32_t stream, const std::string& step_name, const std::vector<Work>& work) {
    tile::ComputeStep step;
    step.stream = StreamId(stream);
    for (const Work& w : work) {
      if (step.groups.empty() || step.groups.back().codelet != w.codelet)
        step.groups.push_back({w.codelet, static_cast<std::uint32_t>(program_->vertices.size()), 0});
      ++step.groups.back().count;
      program_->vertices.push_back({.tile = TileId(w.tile), .cycles = w.cycles});
    }
    program_->computes.push_back(std::move(step));
    return add(stream, tile::Op::compute, program_->computes.size() - 1, step_name);
  }

  // Taken part in by `streams`; they sync if they are several.
  void exchange(const std::vector<std::uint32_t>& streams, const std::string& step_name, std::vector<tile::Move> receive,
                std::vector<tile::Move> arrange = {}) {
    program_->exchanges.push_back({tile::NameId(), std::move(receive), std::move(arrange)});
    step(streams, tile::Op::exchange, program_->exchanges.size() - 1, step_name);
  }

  void transfer(const std::vector<std::uint32_t>& streams, const std::string& step_name, tile::Transfer transfer) {
    program_->transfers.push_back(std::move(transfer));
    step(streams, tile::Op::transfer, program_->transfers.size() - 1, step_name);
  }

  void sync(const std::vector<std::uint32_t>& streams) { step(streams, tile::Op::sync, 0, "sync"); }

  std::shared_ptr<tile::Program> program() const { return program_; }
  Library library() const {
    Library library;
    library.add_builtin("by hand", codelets_);
    return library;
  }

 private:
  tile::Instruction& add(std::uint32_t stream, tile::Op op, std::size_t a, const std::string& step_name) {
    tile::Instruction i;
    i.op = op;
    i.a = static_cast<std::uint32_t>(a);
    i.order = order_++;
    i.name = name(step_name);
    program_->streams[stream].code.push_back(i);
    return program_->streams[stream].code.back();
  }
  void step(const std::vector<std::uint32_t>& streams, tile::Op op, std::size_t a, const std::string& step_name) {
    tile::SyncId sync;
    if (streams.size() > 1) {
      tile::Sync m;
      for (std::uint32_t s : streams) m.streams.push_back(StreamId(s));
      program_->syncs.push_back(m);
      sync = tile::SyncId(static_cast<std::uint32_t>(program_->syncs.size() - 1));
    }
    std::uint32_t order = order_;
    for (std::uint32_t s : streams) {
      tile::Instruction& i = add(s, op, a, step_name);
      i.sync = sync;
      i.order = order;
    }
  }

  std::shared_ptr<tile::Program> program_ = std::make_shared<tile::Program>();
  std::vector<Codelet> codelets_;
  std::uint32_t order_ = 0;
};

inline tile::Move move(std::uint32_t from, std::uint32_t to, std::uint64_t source, std::uint64_t destination, std::uint32_t bytes) {
  tile::Move m;
  m.source_tile = TileId(from);
  m.destination_tile = TileId(to);
  m.source = source;
  m.destination = destination;
  m.bytes = bytes;
  return m;
}

}  // namespace pando::cycles
