#include "machine/machine.h"

#include <gtest/gtest.h>

namespace pando {
namespace {

const Machine& machine(const char* name) {
  const Machine* m = find_machine(name);
  EXPECT_NE(m, nullptr) << name;
  return *m;
}

// Public programs print numbers that follow from these (tutorial 6: 64373 on ipu1, 53807 on ipu2).
TEST(Machine, ObservableNumbers) {
  EXPECT_EQ(machine("ipu1").tiles_per_ipu, 1216u);
  for (const char* name : {"ipu2", "bow", "ipu21"}) EXPECT_EQ(machine(name).tiles_per_ipu, 1472u) << name;
  EXPECT_EQ(machine("tiny4").tiles_per_ipu, 4u);
  EXPECT_EQ(machine("cpu").tiles_per_ipu, 1u);
  for (const Machine& m : all_machines()) {
    EXPECT_EQ(m.workers, 6u) << m.name;
    EXPECT_EQ(m.exchange_bytes_per_cycle, 4u) << m.name;
    EXPECT_EQ(m.data_path_bits, 64u) << m.name;
    EXPECT_EQ(m.float_vector_width, 2u) << m.name;
    EXPECT_EQ(m.half_vector_width, 4u) << m.name;
    EXPECT_EQ(m.rpt_count_max, 4095u) << m.name;
    EXPECT_EQ(m.stride_bits, 10u) << m.name;
    EXPECT_EQ(m.atomic_store_bytes, 4u) << m.name;
    EXPECT_EQ(m.ipus, 1u) << m.name;
  }
}

TEST(Machine, Memory) {
  const Machine& mk2 = machine("ipu2");
  ASSERT_EQ(mk2.regions.size(), 2u);
  EXPECT_EQ(mk2.regions[0].end, 208u * 1024);
  EXPECT_TRUE(mk2.regions[0].executable);
  EXPECT_FALSE(mk2.regions[0].interleaved);
  EXPECT_EQ(mk2.regions[1].end - mk2.regions[1].begin, 416u * 1024);
  EXPECT_TRUE(mk2.regions[1].interleaved);
  EXPECT_FALSE(mk2.regions[1].executable);
  EXPECT_EQ(mk2.bytes_per_tile(), 624u * 1024);
  EXPECT_EQ(machine("tiny4").bytes_per_tile(), mk2.bytes_per_tile());
  EXPECT_EQ(machine("ipu1").bytes_per_tile(), 256u * 1024);
  EXPECT_FALSE(machine("cpu").bounded_memory);
  EXPECT_EQ(machine("cpu").bytes_per_tile(), 0u);
}

// Laws that every file of machines/ has to keep, the ones added later too.
TEST(Machine, EveryMachineIsSound) {
  for (const Machine& m : all_machines()) {
    SCOPED_TRACE(m.name);
    EXPECT_FALSE(m.arch.empty());
    EXPECT_FALSE(m.doc.empty());
    EXPECT_GT(m.clock_hz, 0);
    EXPECT_GT(m.tiles_per_ipu, 0u);
    std::uint64_t end = 0;
    for (const MemoryRegion& r : m.regions) {
      EXPECT_EQ(r.begin, end) << r.name;
      EXPECT_GT(r.end, r.begin) << r.name;
      EXPECT_EQ(r.begin % m.memory_element_bytes, 0u) << r.name;
      EXPECT_EQ(r.end % m.memory_element_bytes, 0u) << r.name;
      end = r.end;
    }
    EXPECT_EQ(m.bounded_memory, !m.regions.empty());
    if (m.bounded_memory) { EXPECT_TRUE(m.regions.front().executable); }
    if (m.fabric_columns != 0) { EXPECT_EQ(m.fabric_columns * m.fabric_rows * m.fabric_lanes, m.tiles_per_ipu); }
  }
}

TEST(Machine, NamesAreSortedAndFound) {
  const std::vector<Machine>& all = all_machines();
  ASSERT_GE(all.size(), 6u);
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_LT(all[i - 1].name, all[i].name);
  for (const Machine& m : all) EXPECT_EQ(find_machine(m.name), &m);
  EXPECT_EQ(find_machine("ipu9"), nullptr);
  EXPECT_EQ(find_machine(""), nullptr);
}

TEST(Machine, TilesOfSeveralIpus) {
  Machine m = machine("ipu2");
  m.ipus = 32;
  EXPECT_EQ(m.tiles(), 47104u);
  EXPECT_EQ(m.ipu_of(TileId(1471)), IpuId(0));
  EXPECT_EQ(m.ipu_of(TileId(1472)), IpuId(1));
  EXPECT_EQ(m.ipu_of(TileId(47103)), IpuId(31));
}

// An identity of the published peaks with units, widths and clock; it says that the numbers agree, not that they are reached.
TEST(Machine, PublishedPeaks) {
  struct Row {
    const char* name;
    double f16, f32;
  };
  for (const Row& row : {Row{"ipu1", 124.5e12, 31.1e12}, Row{"ipu2", 250e12, 62.5e12}, Row{"bow", 348.6e12, 87.1e12}}) {
    EXPECT_NEAR(machine(row.name).peak_flops_f16() / row.f16, 1.0, 0.01) << row.name;
    EXPECT_NEAR(machine(row.name).peak_flops_f32() / row.f32, 1.0, 0.01) << row.name;
  }
  EXPECT_NEAR(machine("ipu21").peak_flops_f16() / 280e12, 1.0, 0.01);
}

}  // namespace
}  // namespace pando
