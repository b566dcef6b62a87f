// Rows of a report of which there may be very many.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace pando::profile {

// While a report is made, and of most files, they are in memory. Of a file with very many they are read when they are asked for, a block at
// a time.
template <class T>
class Rows {
 public:
  static constexpr std::size_t kBlock = 65'536, kBlocksKept = 4;
  using value_type = T;
  // The rows [begin, end).
  using Read = std::function<std::vector<T>(std::size_t begin, std::size_t end)>;

  Rows() = default;
  Rows(std::initializer_list<T> rows) : own_(rows) {}
  // `count` rows, which `read` gives whenever they are asked for.
  Rows(std::size_t count, Read read) : read_(std::make_shared<Reading>()) { read_->count = count, read_->read = std::move(read); }

  std::size_t size() const { return read_ ? read_->count : own_.size(); }
  bool empty() const { return size() == 0; }
  // A reference to a row that was read is good until kBlocksKept other blocks have been asked for. One thread at a time.
  const T& operator[](std::size_t i) const { return read_ ? read_->row(i) : own_[i]; }
  const T& front() const { return (*this)[0]; }
  const T& back() const { return (*this)[size() - 1]; }

  class const_iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;
    const_iterator() = default;
    const_iterator(const Rows& rows, std::size_t i) : rows_(&rows), i_(i) {}
    reference operator*() const { return (*rows_)[i_]; }
    pointer operator->() const { return &(*rows_)[i_]; }
    reference operator[](difference_type n) const { return *(*this + n); }
    const_iterator& operator++() { return *this += 1; }
    const_iterator& operator--() { return *this += -1; }
    const_iterator operator++(int) { return std::exchange(*this, *this + 1); }
    const_iterator operator--(int) { return std::exchange(*this, *this + -1); }
    const_iterator& operator+=(difference_type n) { return i_ += static_cast<std::size_t>(n), *this; }
    const_iterator& operator-=(difference_type n) { return *this += -n; }
    friend const_iterator operator+(const_iterator a, difference_type n) { return a += n; }
    friend const_iterator operator+(difference_type n, const_iterator a) { return a += n; }
    friend const_iterator operator-(const_iterator a, difference_type n) { return a -= n; }
    friend difference_type operator-(const_iterator a, const_iterator b) { return static_cast<difference_type>(a.i_ - b.i_); }
    friend bool operator==(const_iterator a, const_iterator b) { return a.i_ == b.i_; }
    friend auto operator<=>(const_iterator a, const_iterator b) { return a.i_ <=> b.i_; }

   private:
    const Rows* rows_ = nullptr;
    std::size_t i_ = 0;
  };
  const_iterator begin() const { return {*this, 0}; }
  const_iterator end() const { return {*this, size()}; }

  // To change them: all of them come into memory.
  std::vector<T>& all() {
    if (!read_) return own_;
    own_.reserve(read_->count);
    for (std::size_t number = 0; number * kBlock < read_->count; ++number) {
      std::vector<T> block = read_->block(number);
      own_.insert(own_.end(), std::make_move_iterator(block.begin()), std::make_move_iterator(block.end()));
    }
    read_.reset();
    return own_;
  }
  T& operator[](std::size_t i) { return all()[i]; }
  auto begin() { return all().begin(); }
  auto end() { return all().end(); }
  T& back() { return all().back(); }
  void push_back(T row) { all().push_back(std::move(row)); }
  T& emplace_back() { return all().emplace_back(); }
  void clear() { *this = Rows(); }
  void resize(std::size_t count) { all().resize(count); }

 private:
  struct Reading {
    struct Block {
      std::size_t number = 0;
      std::vector<T> rows;
    };
    std::size_t count = 0;
    Read read;
    std::deque<Block> kept;  // the one that was read last is the first

    std::vector<T> block(std::size_t number) const { return read(number * kBlock, std::min(count, (number + 1) * kBlock)); }
    const T& row(std::size_t i) {
      const std::size_t number = i / kBlock;
      for (const Block& b : kept)
        if (b.number == number) return b.rows[i % kBlock];
      if (kept.size() == kBlocksKept) kept.pop_back();
      kept.push_front({number, block(number)});
      return kept.front().rows[i % kBlock];
    }
  };

  std::vector<T> own_;
  std::shared_ptr<Reading> read_;  // copies share what it has read
};

}  // namespace pando::profile
