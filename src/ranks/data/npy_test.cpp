#include "ranks/data/npy.h"

#include "base/files/temporary.h"
#include "ranks/data/data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace pando::ranks {
namespace {

using namespace ir;

TEST(Npy, arrays_come_back_and_equal_archives_are_equal_bytes) {
  const std::string file = temporary_file(".npz"), second = temporary_file(".npz");
  std::vector<std::pair<std::string, HostTensor>> arrays;
  for (DType t : {DType::float16, DType::float32, DType::int32, DType::uint8, DType::boolean, DType::int64}) {
    HostTensor x(t, {2, 3});
    for (std::int64_t i = 0; i < 6; ++i) x.set(i, static_cast<double>(i % 2));
    arrays.emplace_back("a/" + std::string(name_of(t)), x);
  }
  arrays.emplace_back("scalar", HostTensor::filled(DType::float32, {}, 2.5));
  arrays.emplace_back("empty", HostTensor(DType::float32, {0, 4}));
  write_npz(file, arrays);
  write_npz(second, arrays);
  const NpzReader reader(file);
  for (const auto& [name, t] : arrays) {
    ASSERT_TRUE(reader.has(name));
    EXPECT_EQ(reader.read(name), t) << name;
  }
  const auto bytes = [](const std::string& f) {
    std::ifstream in(f, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_EQ(bytes(file), bytes(second));
  // Cut at every length: an error, never a crash.
  const std::string all = bytes(file);
  for (std::size_t n = 0; n < all.size(); n += 7) {
    std::ofstream(second, std::ios::binary | std::ios::trunc) << all.substr(0, n);
    try {
      const NpzReader cut(second);
      for (const auto& [name, t] : arrays) {
        if (cut.has(name)) cut.read(name);
      }
    } catch (const std::exception&) {}
  }
  std::filesystem::remove(file);
  std::filesystem::remove(second);
}

TEST(Npy, a_flipped_bit_of_an_archive_changes_no_array) {
  const std::string file = temporary_file(".npz"), damaged = temporary_file(".npz");
  HostTensor x(DType::float32, {2, 3});
  for (std::int64_t i = 0; i < 6; ++i) x.set(i, static_cast<double>(i));
  const std::vector<std::pair<std::string, HostTensor>> arrays{{"first", x}, {"second", HostTensor::filled(DType::int32, {4}, 7)}};
  write_npz(file, arrays);
  std::ifstream in(file, std::ios::binary);
  const std::string all(std::istreambuf_iterator<char>(in), {});
  std::size_t rejected = 0;
  for (std::size_t bit = 0; bit < 8 * all.size(); bit += 3) {
    std::string bytes = all;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    std::ofstream(damaged, std::ios::binary | std::ios::trunc) << bytes;
    try {
      const NpzReader reader(damaged);
      for (const auto& [name, t] : arrays) {
        if (reader.has(name)) EXPECT_EQ(reader.read(name), t) << name << ", bit " << bit;
      }
    } catch (const std::exception&) { ++rejected; }
  }
  EXPECT_GT(rejected, all.size() * 8 / 3 / 2);
  std::filesystem::remove(file);
  std::filesystem::remove(damaged);
}

TEST(Data, names_decide_what_a_seed_makes_and_pieces_are_cut) {
  Data data;
  EXPECT_FALSE(data.variable("w", DType::float32, {4}));
  data.set_seed(1);
  const HostTensor w = *data.variable("w", DType::float32, {4, 2});
  transform::PieceTable pieces;
  pieces.whole_tensors["w"] = {DType::float32, {4, 2}};
  pieces.variables.push_back({"w.2", "w", {2, 0}});
  data.set_pieces(pieces);
  const HostTensor part = *data.variable("w.2", DType::float32, {2, 2});
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(part.number(i), w.number(4 + i));
  EXPECT_THROW(data.variable("w.2", DType::float32, {3, 2}), std::exception);
  data.add_array("v", HostTensor(DType::float32, {3}));
  EXPECT_THROW(data.variable("v", DType::float32, {4}), std::exception);
  EXPECT_THROW(data.add_file("data.txt"), std::exception);
}

}  // namespace
}  // namespace pando::ranks
