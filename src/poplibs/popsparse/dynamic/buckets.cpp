#include "poplibs/popsparse/dynamic/buckets.h"

#include <algorithm>
#include <deque>

#include "poplibs/popsparse/bucket.h"
#include "poplibs/poputil/reject.h"

namespace popsparse {
namespace {

using poputil::reject;

// Blocks [begin, end) of a home, all in one bucket.
struct Stretch {
  std::size_t home = 0, begin = 0, end = 0;
};

// Hands out the room of buckets.
class Rooms {
 public:
  explicit Rooms(const SparsePlan& plan)
      : plan_(plan), stretches_(plan.parts()), blocks_(plan.parts()), words_(plan.parts(), kBucketHeader) {}

  // As much of the stretch as the bucket has room for; what is left stays in it.
  void take(std::size_t bucket, Stretch& stretch) {
    const std::size_t words = plan_.bucket_words - words_[bucket];
    if (words < kGroupHeader + kBlockWords) return;
    const std::size_t most = std::min(plan_.bucket_blocks - blocks_[bucket], (words - kGroupHeader) / kBlockWords);
    const std::size_t taken = std::min(most, stretch.end - stretch.begin);
    if (taken == 0) return;
    stretches_[bucket].push_back({stretch.home, stretch.begin, stretch.begin + taken});
    blocks_[bucket] += taken, words_[bucket] += kGroupHeader + kBlockWords * taken;
    distance_ = std::max(distance_, (bucket + plan_.parts() - stretch.home) % plan_.parts());
    stretch.begin += taken;
  }

  const std::vector<Stretch>& in(std::size_t bucket) const { return stretches_[bucket]; }
  std::size_t distance() const { return distance_; }

 private:
  const SparsePlan& plan_;
  std::vector<std::vector<Stretch>> stretches_;
  std::vector<std::size_t> blocks_, words_;
  std::size_t distance_ = 0;
};

void put_two_words(std::vector<std::size_t>& words, std::size_t value) { words.push_back(value & 0xffff), words.push_back(value >> 16); }

}  // namespace

template <class T>
Buckets<T> fill(const char* function, const SparsePlan& plan, const Blocks<T>& blocks) {
  // The blocks of each part, in the order of the matrix.
  std::vector<std::vector<std::size_t>> of_part(plan.parts());
  for (std::size_t i = 0; i < blocks.places.size(); ++i)
    of_part[plan.part(blocks.places[i].row / plan.rows, blocks.places[i].column / plan.columns)].push_back(i);

  Rooms rooms(plan);
  std::vector<Stretch> own(plan.parts());
  for (std::size_t p = 0; p < plan.parts(); ++p) own[p] = {p, 0, of_part[p].size()};
  const auto bucket_of = [&](std::size_t p) { return plan.spills ? (p + 1) % plan.parts() : p; };
  for (std::size_t p = 0; p < plan.parts(); ++p) rooms.take(bucket_of(p), own[p]);
  std::deque<Stretch> waiting;
  for (std::size_t round = 0; round < 2; ++round)
    for (std::size_t p = 0; p < plan.parts(); ++p) {
      if (round == 0 && own[p].begin != own[p].end) waiting.push_back(own[p]);
      const std::size_t next = (bucket_of(p) + 1) % plan.parts();
      while (!waiting.empty()) {
        rooms.take(next, waiting.front());
        if (waiting.front().begin != waiting.front().end) break;
        waiting.pop_front();
      }
    }
  if (!waiting.empty())
    reject("popsparse-full", "{}: {} blocks do not fit {} buckets of {}; a larger metaInfoBucketOversizeProportion makes room", function,
           blocks.places.size(), plan.parts(), plan.bucket_blocks);

  Buckets<T> out;
  const std::size_t area = plan.problem.shape.area();
  for (std::size_t b = 0; b < plan.parts(); ++b) {
    const std::size_t end_of_words = (b + 1) * plan.bucket_words, end_of_values = (b + 1) * plan.bucket_values();
    out.words.push_back(rooms.in(b).size());
    out.words.push_back(rooms.distance());
    for (const Stretch& s : rooms.in(b)) {
      put_two_words(out.words, s.home);
      put_two_words(out.words, s.end - s.begin);
      for (std::size_t k = s.begin; k < s.end; ++k) {
        const std::size_t i = of_part[s.home][k];
        out.words.push_back(blocks.places[i].row % plan.rows);
        out.words.push_back(blocks.places[i].column % plan.columns);
        const auto from = blocks.values.begin() + static_cast<std::ptrdiff_t>(i * area);
        out.values.insert(out.values.end(), from, from + static_cast<std::ptrdiff_t>(area));
      }
    }
    out.words.resize(end_of_words);
    out.values.resize(end_of_values);
  }
  return out;
}

template <class T>
Blocks<T> empty(const char* function, const SparsePlan& plan, const std::vector<std::size_t>& words, const std::vector<T>& values) {
  if (words.size() != plan.parts() * plan.bucket_words || values.size() != plan.parts() * plan.bucket_values())
    reject("popsparse-sizes", "{}: {} elements of metaInfo and {} values; expected {} and {}", function, words.size(), values.size(),
           plan.parts() * plan.bucket_words, plan.parts() * plan.bucket_values());
  const auto broken = [&](std::size_t bucket) {
    reject("popsparse-bucket", "{}: metaInfo of bucket {} does not say where blocks of this matrix lie", function, bucket);
  };
  const Shape& shape = plan.problem.shape;
  std::vector<std::pair<Place, std::size_t>> found;
  for (std::size_t b = 0; b < plan.parts(); ++b) {
    const std::size_t end = (b + 1) * plan.bucket_words;
    std::size_t at = b * plan.bucket_words + kBucketHeader, value = b * plan.bucket_values();
    for (std::size_t g = words[b * plan.bucket_words]; g > 0; --g) {
      if (at + kGroupHeader > end) broken(b);
      const std::size_t home = words[at] | words[at + 1] << 16, count = words[at + 2] | words[at + 3] << 16;
      at += kGroupHeader;
      if (home >= plan.parts() || count > (end - at) / kBlockWords) broken(b);
      for (std::size_t i = 0; i < count; ++i, at += kBlockWords, value += shape.area()) {
        const Place place{home / plan.column_parts * plan.rows + words[at], home % plan.column_parts * plan.columns + words[at + 1]};
        if (place.row >= shape.block_rows() || place.column >= shape.block_columns() ||
            value + shape.area() > (b + 1) * plan.bucket_values())
          broken(b);
        found.emplace_back(place, value);
      }
    }
  }
  std::sort(found.begin(), found.end());
  Blocks<T> out;
  for (const auto& [place, value] : found) {
    out.places.push_back(place);
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(value);
    out.values.insert(out.values.end(), from, from + static_cast<std::ptrdiff_t>(shape.area()));
  }
  return out;
}

template Buckets<float> fill(const char*, const SparsePlan&, const Blocks<float>&);
template Buckets<double> fill(const char*, const SparsePlan&, const Blocks<double>&);
template Blocks<float> empty(const char*, const SparsePlan&, const std::vector<std::size_t>&, const std::vector<float>&);
template Blocks<double> empty(const char*, const SparsePlan&, const std::vector<std::size_t>&, const std::vector<double>&);

}  // namespace popsparse
