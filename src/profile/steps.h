// Executed steps of a report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pando::profile {

// Terms of the cycle model, kept apart.
struct Cycles {
  std::uint64_t compute = 0, exchange = 0, local_copy = 0, sync = 0, global_exchange = 0, host = 0;
  std::uint64_t wait = 0;  // for the other streams of a sync
  std::uint64_t total() const { return compute + exchange + local_copy + sync + global_exchange + host + wait; }
  friend bool operator==(const Cycles&, const Cycles&) = default;
};
Cycles operator+(const Cycles& a, const Cycles& b);
Cycles operator*(const Cycles& a, std::uint64_t n);
struct StepCycles {  // one static step, summed over its executions
  std::string stream, name, kind;
  std::uint64_t executions = 0;
  Cycles cycles;
  std::uint64_t vertices = 0, unestimated_vertices = 0;
  std::uint64_t exchanged_bytes = 0;
  double tile_balance = 0;  // mean over tiles / slowest tile, 0..1
  std::uint32_t order = 0;  // that of its part of Report::program
  // Flat: begin, end, cycles of each tile from begin to end ... Only if they were asked for.
  std::vector<std::uint64_t> tile_cycles;
  std::uint64_t flops = 0;
  // Of a compute step: its slowest tile, the slowest vertex on it, and how many workers of the tile have a vertex.
  std::uint32_t slowest_tile = 0;
  std::string slowest_codelet;
  std::uint64_t slowest_cycles = 0;
  std::uint32_t used_workers = 0;
  std::uint32_t profile = 0;  // index in Report::tile_profiles from 1; 0: all tiles of the stream have the cycles of the terms
};

// While a report is made, and of most files, they are in memory. Of a file with very many they are read when they are asked for, a block at
// a time.
class Steps {
 public:
  static constexpr std::size_t kBlock = 65'536, kBlocksKept = 4;
  // The steps [begin, end).
  using Read = std::function<std::vector<StepCycles>(std::size_t begin, std::size_t end)>;

  Steps() = default;
  Steps(std::initializer_list<StepCycles> steps) : own_(steps) {}
  // `count` steps, which `read` gives whenever they are asked for.
  Steps(std::size_t count, Read read);

  std::size_t size() const { return read_ ? count_of_read() : own_.size(); }
  bool empty() const { return size() == 0; }
  // A reference to a step that was read is good until kBlocksKept other blocks have been asked for. One thread at a time.
  const StepCycles& operator[](std::size_t i) const { return read_ ? of_read(i) : own_[i]; }

  class const_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = StepCycles;
    using difference_type = std::ptrdiff_t;
    using pointer = const StepCycles*;
    using reference = const StepCycles&;
    const_iterator() = default;
    const_iterator(const Steps& steps, std::size_t i) : steps_(&steps), i_(i) {}
    reference operator*() const { return (*steps_)[i_]; }
    pointer operator->() const { return &(*steps_)[i_]; }
    const_iterator& operator++() { return ++i_, *this; }
    const_iterator operator++(int) { return {*steps_, i_++}; }
    friend bool operator==(const const_iterator& a, const const_iterator& b) { return a.i_ == b.i_; }

   private:
    const Steps* steps_ = nullptr;
    std::size_t i_ = 0;
  };
  const_iterator begin() const { return {*this, 0}; }
  const_iterator end() const { return {*this, size()}; }

  // To change them: all of them come into memory.
  std::vector<StepCycles>& all();
  StepCycles& operator[](std::size_t i) { return all()[i]; }
  auto begin() { return all().begin(); }
  auto end() { return all().end(); }
  StepCycles& back() { return all().back(); }
  void push_back(StepCycles step) { all().push_back(std::move(step)); }
  StepCycles& emplace_back() { return all().emplace_back(); }
  void clear() { *this = Steps(); }
  void resize(std::size_t count) { all().resize(count); }

 private:
  struct Reading;
  std::size_t count_of_read() const;
  const StepCycles& of_read(std::size_t i) const;

  std::vector<StepCycles> own_;
  std::shared_ptr<Reading> read_;  // copies share what it has read
};

}  // namespace pando::profile
