// Vertices at equal strides: what is found is what the descriptors say, and runs as they do.
#include "exec/steps/strided.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>

#include "codelet/hand_made.h"
#include "exec/runner.h"
#include "poplar/exceptions.hpp"
#include "tile/hand_made.h"

namespace pando::exec {
namespace {

using testing::HasSubstr;
using tile::Op;

struct Vec {
  float* data;
  std::uint64_t size;
};
struct Halve {
  Vec in;
  std::uint32_t times;
  Vec out;
};

std::atomic<std::uint64_t> listed{0}, strided{0};

void halve(const Halve& v) {
  for (std::uint64_t i = 0; i < v.out.size; ++i) {
    if (std::isnan(v.in.data[i])) throw std::runtime_error("not a number");
    v.out.data[i] = v.out.data[i] + std::ldexp(v.in.data[i], -static_cast<int>(v.times));
  }
}

bool over_list(char* first, std::uint64_t stride, std::uint64_t count, std::uint64_t* at) {
  for (*at = 0; *at < count; ++*at) halve(*reinterpret_cast<const Halve*>(first + *at * stride));
  listed += count;
  return true;
}

bool in_strides(const char* first, const EdgeStride* strides, std::uint64_t inner, std::uint64_t outer, std::uint64_t* at) {
  const auto moved = [&](float* data, const EdgeStride& s, std::uint64_t v) {
    const std::int64_t bytes = s.inner * static_cast<std::int64_t>(v % inner) + s.outer * static_cast<std::int64_t>(v / inner);
    return reinterpret_cast<float*>(reinterpret_cast<char*>(data) + bytes);
  };
  for (*at = 0; *at < inner * outer; ++*at) {
    Halve v = *reinterpret_cast<const Halve*>(first);
    v.in.data = moved(v.in.data, strides[0], *at);
    v.out.data = moved(v.out.data, strides[1], *at);
    halve(v);
  }
  strided += inner * outer;
  return true;
}

Codelet halve_codelet() {
  Codelet c = hand_made_codelet<Halve>(
      "Halve",
      {hand_made_field("in", FieldKind::input), hand_made_field("times", FieldKind::state, FieldShape::scalar, ElementType::unsigned_int),
       hand_made_field("out", FieldKind::inout)},
      over_list);
  c.strided = in_strides;
  return c;
}

constexpr unsigned kTiles = 40;
constexpr std::uint64_t kTileBytes = 8192;

struct Place {
  unsigned tile, elements, times;
  std::uint64_t in, out;
};

class Hand : public tile::HandMade {
 public:
  Hand() : HandMade(1, kTiles, kTileBytes) {
    const ModuleId module = library.add_builtin("test", {halve_codelet()});
    codelet = library.module(module).codelets[0];
    stream = add_ipu(0);
  }

  void add(const std::vector<Place>& places) {
    std::vector<tile::HandMadeVertex> vertices;
    for (const Place& p : places)
      vertices.push_back(
          {codelet, TileId(p.tile), {{TileId(p.tile), p.elements, p.in}, {TileId(p.tile), p.elements, p.out}}, tile::bytes_of(p.times)});
    emit(stream, Op::compute, add_compute(stream, vertices));
  }

  std::unique_ptr<Runner> runner(unsigned threads, bool in_rows) {
    program.codelet_names = {library[codelet].name};
    Options options;
    options.threads = threads;
    options.strided_vertices = in_rows;
    return std::make_unique<Runner>(std::make_shared<tile::Program>(program), library, options);
  }

  CodeletId codelet;
  StreamId stream;
};

// The descriptors of a program's only group, as the executor would fill them, in memory that begins at 0.
class Found {
 public:
  explicit Found(const std::vector<Place>& places) : places_(places) {
    hand_.add(places);
    descriptors_.resize(places.size());
    std::memset(static_cast<void*>(descriptors_.data()), 0, descriptors_.size() * sizeof(Halve));  // what is between the fields, too
    for (std::size_t i = 0; i < places.size(); ++i) {
      descriptors_[i].in = {address(places[i], places[i].in), places[i].elements};
      descriptors_[i].times = places[i].times;
      descriptors_[i].out = {address(places[i], places[i].out), places[i].elements};
    }
    rows = find_strided(hand_.program, hand_.library[hand_.codelet], hand_.program.vertices, reinterpret_cast<char*>(descriptors_.data()),
                        sizeof(Halve));
  }

  // Every vertex once, in order, with its own fields.
  void expect_whole() const {
    std::uint32_t next = 0;
    for (const StridedVertices& r : rows) {
      ASSERT_EQ(r.first, next);
      next += r.count();
      const Halve& first = descriptors_[r.first];
      for (std::uint32_t v = 0; v < r.count(); ++v) {
        const Halve& one = descriptors_[r.first + v];
        ASSERT_EQ(one.times, first.times);
        ASSERT_EQ(one.out.size, first.out.size);
        ASSERT_EQ(bytes(one.in) - bytes(first.in), distance(r, 0, v));
        ASSERT_EQ(bytes(one.out) - bytes(first.out), distance(r, 1, v));
      }
    }
    ASSERT_EQ(next, rows.empty() ? 0 : places_.size());
  }

  std::vector<StridedVertices> rows;

 private:
  static float* address(const Place& p, std::uint64_t offset) { return reinterpret_cast<float*>(p.tile * kTileBytes + offset + 4096); }
  static std::int64_t bytes(const Vec& v) { return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(v.data)); }
  static std::int64_t distance(const StridedVertices& r, std::size_t edge, std::uint32_t v) {
    return r.strides[edge].inner * (v % r.inner) + r.strides[edge].outer * (v / r.inner);
  }

  Hand hand_;
  std::vector<Place> places_;
  std::vector<Halve> descriptors_;
};

std::vector<Place> grid(unsigned tiles, unsigned of_tile, unsigned elements = 5) {
  std::vector<Place> out;
  for (unsigned t = 0; t < tiles; ++t)
    for (unsigned v = 0; v < of_tile; ++v) out.push_back({t, elements, 1, v * 128, v * 128 + 64});
  return out;
}

TEST(Strided, WorkersOfTilesAreRows) {
  const Found found(grid(kTiles, 6));
  ASSERT_EQ(found.rows.size(), 1u);
  EXPECT_EQ(found.rows[0].inner, 6u);
  EXPECT_EQ(found.rows[0].outer, kTiles);
  found.expect_whole();
  const Found one_each(grid(kTiles, 1));
  ASSERT_EQ(one_each.rows.size(), 1u);
  EXPECT_EQ(one_each.rows[0].inner, kTiles);
  one_each.expect_whole();
}

TEST(Strided, WhatDiffersIsARowOfItsOwn) {
  std::vector<Place> places = grid(kTiles, 6);
  places[60].times = 2;
  places[130].elements = 4;
  const Found found(places);
  found.expect_whole();
  EXPECT_GT(found.rows.size(), 3u);
  EXPECT_LT(found.rows.size(), 10u);
}

TEST(Strided, FewAndUnlikeVerticesStayAsTheyAre) {
  EXPECT_TRUE(Found(grid(1, 6)).rows.empty());
  std::vector<Place> places = grid(kTiles, 6);
  for (std::size_t i = 0; i < places.size(); i += 2) places[i].elements = 3;
  EXPECT_TRUE(Found(places).rows.empty());
}

TEST(Strided, OperandsThatShareMemoryStayAsTheyAre) {
  std::vector<Place> places = grid(kTiles, 6, 16);
  EXPECT_FALSE(Found(places).rows.empty());
  for (Place& p : places) p.out = p.in + 60;
  EXPECT_TRUE(Found(places).rows.empty());
  for (Place& p : places) p.out = p.in;
  EXPECT_TRUE(Found(places).rows.empty());
}

TEST(Strided, RowsOfAnyLayoutAreWhole) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    std::vector<Place> places = grid(1 + random() % kTiles, 1 + random() % 7, random() % 17);
    for (unsigned changes = random() % 6; changes > 0; --changes) {
      Place& p = places[random() % places.size()];
      switch (random() % 4) {
        case 0: p.in += 4; break;
        case 1: p.elements = random() % 9; break;
        case 2: p.times = 7; break;
        default: p.out += 4 * (random() % 3);
      }
    }
    if (random() % 3 == 0) places.erase(places.begin() + static_cast<std::ptrdiff_t>(random() % places.size()));
    if (places.empty()) continue;
    SCOPED_TRACE(seed);
    Found(places).expect_whole();
  }
}

TEST(Strided, RunAsTheyDoOneByOne) {
  Hand p;
  std::vector<Place> places = grid(kTiles, 6);
  places[77].times = 4;
  p.add(places);
  p.end_all();
  const auto memory_after = [&](unsigned threads, bool in_rows) {
    auto r = p.runner(threads, in_rows);
    std::string out;
    for (unsigned t = 0; t < kTiles; ++t)
      for (unsigned i = 0; i < 192; ++i) reinterpret_cast<float*>(r->tile_base(0, TileId(t)))[i] = static_cast<float>(t * 192 + i);
    r->run(0);
    r->run(0);
    for (unsigned t = 0; t < kTiles; ++t) out.append(r->tile_base(0, TileId(t)), kTileBytes);
    return out;
  };
  listed = strided = 0;
  const std::string expected = memory_after(1, false);
  EXPECT_EQ(listed, 2 * places.size());
  EXPECT_EQ(strided, 0u);
  for (const unsigned threads : {1u, 2u, 3u}) EXPECT_TRUE(memory_after(threads, true) == expected) << threads << " threads";
  EXPECT_GT(strided, 4 * places.size());
}

TEST(Strided, AVertexThatThrowsIsNamed) {
  Hand p;
  p.add(grid(kTiles, 6));
  p.end_all();
  for (const bool in_rows : {false, true}) {
    auto r = p.runner(2, in_rows);
    reinterpret_cast<float*>(r->tile_base(0, TileId(23)) + 4 * 128)[2] = std::nanf("");
    try {
      r->run(0);
      FAIL() << "nothing is thrown";
    } catch (const poplar::poplar_error& e) {
      EXPECT_THAT(e.what(), HasSubstr("not a number"));
      EXPECT_THAT(e.what(), HasSubstr("tile 23"));
      EXPECT_THAT(e.what(), HasSubstr("vertex " + std::to_string(23 * 6 + 4))) << in_rows;
    }
  }
}

}  // namespace
}  // namespace pando::exec
