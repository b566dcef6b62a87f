// <poplar_test/Util.hpp>: memory of the host beside a tensor, streams between them, conversions.
#include <gmock/gmock.h>

#include <boost/multi_array.hpp>
#include <poplar/MetadataCreation.hpp>
#include <poplar_test/Util.hpp>

#include "setting.h"

namespace api {
namespace {

using namespace poplar;
using poplar_test::allocateHostMemoryForTensor;
using poplar_test::HostMemory;
using testing::ElementsAre;

TEST(HostMemory, GoesUpAndComesBackScaled) {
  Setting s;
  s.add_codelets();
  const Tensor x = s.variable(FLOAT, {2, 3}, "x"), y = s.variable(FLOAT, {2, 3}, "y");
  s.scale(x.flatten(), y.flatten(), 2);
  program::Sequence up, down;
  std::vector<std::pair<std::string, HostMemory>> streams;
  std::unique_ptr<char[]> raw_x = allocateHostMemoryForTensor(x, "x", s.graph, up, boost::none, streams);
  auto raw_y = allocateHostMemoryForTensor(y, "y", s.graph, boost::none, down, streams);
  EXPECT_EQ(streams.size(), 2u);
  EXPECT_EQ(streams[0].second.size(), 24u);

  boost::multi_array<double, 2> values(boost::extents[2][3]);
  for (unsigned i = 0; i < 6; ++i) values.data()[i] = i + 0.5;
  poplar_test::copy(s.graph.getTarget(), values, FLOAT, raw_x.get());
  Engine engine(s.graph, program::Sequence{up, program::Execute(s.set), down});
  engine.load(s.device);
  poplar_test::attachStreams(engine, streams);
  engine.run();
  boost::multi_array<double, 2> results(boost::extents[2][3]);
  poplar_test::copy(s.graph.getTarget(), FLOAT, raw_y.get(), results);
  for (unsigned i = 0; i < 6; ++i) EXPECT_EQ(results.data()[i], 2 * i + 1.0);
}

TEST(HostMemory, HasRoomForEachReplica) {
  Setting s(2, 2);
  const Tensor x = s.variable(HALF, {5}, "x");
  std::size_t bytes = 0;
  allocateHostMemoryForTensor(s.graph.getTarget(), x, s.graph.getReplicationFactor(), bytes);
  EXPECT_EQ(bytes, 2u * 2 * 5);
  const Tensor huge = s.graph.addVariable(FLOAT, {std::size_t{1} << 40});
  EXPECT_THROW(allocateHostMemoryForTensor(s.graph.getTarget(), huge, 1u << 31, bytes), overflow_error);
}

TEST(HostMemory, IsOfOneGraph) {
  Setting s(1, 1);
  Graph other(s.device);
  const Tensor x = other.addVariable(FLOAT, {4}, "x");
  program::Sequence prog;
  std::vector<std::pair<std::string, HostMemory>> streams;
  EXPECT_THROW(allocateHostMemoryForTensor(x, "up", s.graph, prog, boost::none, streams), poplar_error);
  EXPECT_THROW(allocateHostMemoryForTensor(x, "down", s.graph, boost::none, prog, streams), poplar_error);
  EXPECT_TRUE(streams.empty());
}

template <class T>
std::vector<T> there_and_back(const Type& type, const std::vector<T>& values) {
  const Target target = Target::createCPUTarget();
  std::vector<char> raw(values.size() * target.getTypeSize(type));
  poplar_test::copy(target, values, type, raw.data());
  std::vector<T> back(values.size());
  poplar_test::copy(target, type, raw.data(), back.data(), back.size());
  return back;
}

TEST(HostMemory, ConvertsElements) {
  EXPECT_THAT(there_and_back<double>(HALF, {0.1, 65504}), ElementsAre(0.0999755859375, 65504));
  EXPECT_THAT(there_and_back<std::uint64_t>(UNSIGNED_INT, {7, 1u << 31}), ElementsAre(7, 1u << 31));
  EXPECT_THAT(there_and_back<unsigned long long>(UNSIGNED_LONGLONG, {1ull << 63}), ElementsAre(1ull << 63));
  EXPECT_THAT(there_and_back<int>(INT, {-3, 4}), ElementsAre(-3, 4));
  EXPECT_THAT(there_and_back<long>(LONGLONG, {-3}), ElementsAre(-3));
  EXPECT_THAT(there_and_back<float>(BOOL, {0, 2}), ElementsAre(0, 1));
  EXPECT_THAT(there_and_back<float>(UNSIGNED_CHAR, {200}), ElementsAre(200));
}

TEST(HostMemory, ConvertsSeveralArrays) {
  const Target target = Target::createCPUTarget();
  std::vector<boost::multi_array<double, 2>> values, back;
  std::vector<std::unique_ptr<char[]>> raw;
  for (const unsigned rows : {1, 3}) {
    values.emplace_back(boost::extents[rows][2]);
    back.emplace_back(boost::extents[rows][2]);
    for (unsigned i = 0; i < 2 * rows; ++i) values.back().data()[i] = rows + i;
    raw.emplace_back(new char[2 * rows * 2]);
  }
  poplar_test::copy<double, 2>(target, HALF, values, raw);
  poplar_test::copy<double, 2>(target, HALF, raw, back);
  EXPECT_EQ(back, values);
  raw.pop_back();
  EXPECT_THROW((poplar_test::copy<double, 2>(target, HALF, values, raw)), std::out_of_range);
}

TEST(HostMemory, QuartersHaveMetadata) {
  const Target target = Target::createCPUTarget();
  const QuarterMetadata metadata(QuarterMetadata::Format::F143, -2);
  const std::vector<float> values{0.25f, -7.5f};
  std::vector<char> raw(2);
  poplar_test::copy(target, values, QUARTER, metadata, raw.data());
  std::vector<float> back(2);
  poplar_test::copy(target, QUARTER, metadata, raw.data(), back);
  EXPECT_EQ(back, values);
}

TEST(HostMemory, MetadataOfQuartersGoUpAndComeDownWithThem) {
  const QuarterMetadata fixed(QuarterMetadata::Format::F143, 1), given(QuarterMetadata::Format::F152, -2);
  Setting s;
  const Tensor x = s.variable(QUARTER, {2}, "x"), y = s.variable(QUARTER, {2}, "y");
  const Tensor c = s.graph.addVariable(QUARTER, createConstantMetadataTensor(s.graph, fixed.getFormat(), fixed.getScale()), {2}, "c");
  s.graph.setTileMapping(c, 1);
  program::Sequence up, down;
  poplar_test::StreamMap streams;
  const auto raw_x = allocateHostMemoryForTensor(x, "x", s.graph, up, boost::none, streams);
  const auto raw_y = allocateHostMemoryForTensor(y, "y", s.graph, boost::none, down, streams);
  const auto raw_c = allocateHostMemoryForTensor(c, "c", s.graph, up, down, streams);
  const std::vector<float> values{0.25f, -7};
  poplar_test::copy(s.graph.getTarget(), values, QUARTER, given, raw_x.get());
  poplar_test::copy(s.graph.getTarget(), values, QUARTER, fixed, raw_c.get());
  Engine engine(s.graph, program::Sequence{up, program::Copy(x, y), program::Copy(x.getMetadata(), y.getMetadata()), down});
  engine.load(s.device);
  poplar_test::attachStreams(engine, streams);
  engine.run();
  for (const auto& [raw, expected] : {std::pair{raw_y.get(), given}, {raw_c.get(), fixed}}) {
    QuarterMetadata found;
    std::vector<float> back(2);
    poplar_test::copy(s.graph.getTarget(), QUARTER, found, raw, back);
    EXPECT_EQ(found, expected);
    EXPECT_EQ(found.toString(), expected == given ? "{F152, -2}" : "{F143, 1}");
    EXPECT_EQ(back, values);
  }
}

TEST(HostMemory, QuartersThatAreTooGreatAreTheGreatestOrNoNumber) {
  const QuarterMetadata metadata(QuarterMetadata::Format::F143, 0);
  const std::vector<float> values{240, 247.9f, 248, -1000, std::numeric_limits<float>::infinity()};
  const auto converted = [&](bool nanoo) {
    std::vector<char> raw(values.size());
    convertToDeviceType(QUARTER, metadata, gccs::ArrayRef(values), raw.data(), nanoo);
    std::vector<float> back(values.size());
    convertFromDeviceType(QUARTER, metadata, raw.data(), gccs::ArrayRef(back));
    return back;
  };
  EXPECT_THAT(converted(false), ElementsAre(240, 240, 240, -240, 240));
  EXPECT_THAT(converted(true), ElementsAre(240, 240, testing::IsNan(), testing::IsNan(), testing::IsNan()));
}

}  // namespace
}  // namespace api
