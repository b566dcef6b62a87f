// One node of the search, and what can be concluded at it. Private to the allocator.
#pragma once

#include <cstdint>
#include <vector>

#include "allocate/problem.h"
#include "allocate/sections.h"

namespace pando::allocate {

// Offsets in the search count units: the largest number of bytes that divides all sizes, bounds and alignments. In units most
// problems fit 32 bits, which doubles what one vector instruction does.
template <class Word>
struct UnitBuffer {
  Word size = 0;
  Word lowest = 0;
  Word highest_end = 0;
  Word align = 1;
};

template <class Word>
struct UnitProblem {
  std::vector<UnitBuffer<Word>> buffers;
  Word capacity = 0;
  const Sections* sections = nullptr;
};

// The open part of a partial placement: buffers not yet placed, that conflict directly or through each other. Items are sorted
// by first section.
//
// `ground` is where an item lands if dropped on what is placed below it (and on its lower bound). `release` >= `ground` is the
// lowest offset not yet refuted. An item may be placed only while both are equal: above its ground it would float, unless a
// later buffer supports it.
//
// `asleep`: placing the item here was tried before a sibling of this node. A placement that has it here has been visited, so
// it must wait until a buffer that conflicts with it is placed below it.
template <class Word>
struct Node {
  std::vector<std::uint32_t> buffer;  // per item
  std::vector<Word> ground;
  std::vector<Word> release;
  std::vector<std::uint8_t> asleep;
  std::vector<std::uint32_t> by_release;              // items, sorted
  std::uint32_t first_section = 0, last_section = 0;  // half open
  // Per section, indexed from 0: the latest start of the first of the open buffers, such that all of them still fit.
  std::vector<Word> latest;

  void clear() {
    buffer.clear();
    ground.clear();
    release.clear();
    asleep.clear();
  }
  std::size_t size() const { return buffer.size(); }
};

// Raises releases until nothing changes, or finds that the node has no completion. Scratch arrays live here, so that a node is
// small.
template <class Word>
class Propagator {
 public:
  Propagator(const UnitProblem<Word>& problem, const AllocationOptions& options);

  bool propagate(Node<Word>& node);
  // The section at which the last propagate() found too much load, or none.
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::uint32_t overfull_section() const { return overfull_; }

 private:
  void sort_by_release(Node<Word>& node) const;
  void stack_sections(const Node<Word>& node);
  bool some_section_overfull(const Node<Word>& node);
  Word raised(const Node<Word>& node, std::size_t item) const;

  const UnitProblem<Word>& problem_;
  const AllocationOptions& options_;
  std::vector<Word> top_;         // per section: a lower bound of the height of its stack
  std::vector<Word> lowest_end_;  // per section: the least end of an open buffer
  std::vector<Word> second_end_;  // and the second least
  std::uint32_t overfull_ = kNone;
};

template <class Word>
Word align_up(Word offset, Word align) {
  return align == 1 ? offset : (offset + align - 1) / align * align;
}

}  // namespace pando::allocate
