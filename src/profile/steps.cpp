#include "profile/steps.h"

#include <algorithm>
#include <deque>

namespace pando::profile {

struct Steps::Reading {
  std::size_t count = 0;
  Read read;
  struct Block {
    std::size_t number = 0;
    std::vector<StepCycles> steps;
  };
  std::deque<Block> kept;  // the one that was read last is the first

  std::vector<StepCycles> of(std::size_t number) const { return read(number * kBlock, std::min(count, (number + 1) * kBlock)); }
};

Steps::Steps(std::size_t count, Read read) : read_(std::make_shared<Reading>()) {
  read_->count = count;
  read_->read = std::move(read);
}

std::size_t Steps::count_of_read() const { return read_->count; }

const StepCycles& Steps::of_read(std::size_t i) const {
  const std::size_t number = i / kBlock;
  for (const Reading::Block& block : read_->kept)
    if (block.number == number) return block.steps[i % kBlock];
  if (read_->kept.size() == kBlocksKept) read_->kept.pop_back();
  read_->kept.push_front({number, read_->of(number)});
  return read_->kept.front().steps[i % kBlock];
}

std::vector<StepCycles>& Steps::all() {
  if (!read_) return own_;
  own_.reserve(read_->count);
  for (std::size_t number = 0; number * kBlock < read_->count; ++number) {
    std::vector<StepCycles> block = read_->of(number);
    own_.insert(own_.end(), std::make_move_iterator(block.begin()), std::make_move_iterator(block.end()));
  }
  read_.reset();
  return own_;
}

}  // namespace pando::profile
