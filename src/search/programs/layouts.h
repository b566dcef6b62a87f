// Layouts of one program that a search asks for again and again: strategies that differ in stages, schedules, recomputation or the order of
// devices have the same.
#pragma once

#include "transform/distribute/layout/layout.h"
#include "transform/distribute/layout/layout_memo.h"

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <utility>

namespace pando::search {

class Layouts {
 public:
  // The program must outlive this.
  explicit Layouts(const transform::Program& program) : program_(program), memo_(program) {}

  // Rejects (value) what lay_out() rejects.
  std::shared_ptr<const transform::Layout> of(const transform::Strategy& strategy) {
    transform::LayoutKey key = transform::layout_key_of(strategy);
    if (const auto it = known_.find(key); it != known_.end()) {
      recent_.splice(recent_.begin(), recent_, it->second.place);
      return it->second.layout;
    }
    auto layout = std::make_shared<const transform::Layout>(transform::lay_out(program_, strategy, memo_));
    if (known_.size() == kMost) {
      known_.erase(recent_.back());
      recent_.pop_back();
    }
    recent_.push_front(key);
    known_.emplace(std::move(key), Known{layout, recent_.begin()});
    return layout;
  }

 private:
  // Of a program of thousands of ops, one takes about a megabyte.
  static constexpr std::size_t kMost = 64;
  struct Known {
    std::shared_ptr<const transform::Layout> layout;
    std::list<transform::LayoutKey>::iterator place;
  };
  const transform::Program& program_;
  transform::LayoutMemo memo_;
  std::map<transform::LayoutKey, Known> known_;
  // The one that was asked for last comes first.
  std::list<transform::LayoutKey> recent_;
};

}  // namespace pando::search
