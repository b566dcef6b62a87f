#include "base/host_memory.h"

#include <cstdlib>
#include <fstream>

#include <poplar/exceptions.hpp>

#include "base/files/testing.h"
#include "base/sizes.h"

namespace pando {
namespace {

struct HostMemory : InFreshFolder {
  void limit(const std::string& file, const std::string& bytes) const {
    std::filesystem::create_directories((root / file).parent_path());
    std::ofstream(root / file) << bytes << '\n';
  }
};

constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

TEST_F(HostMemory, TheLeastLimitOfAGroupAndThoseAboveItCounts) {
  const std::string second = "0::/jobs/7/step\n";
  EXPECT_EQ(memory_limit_of_groups(second, root), kUnlimited);
  limit("jobs/7/step/memory.max", "max");
  limit("jobs/8/memory.max", "1000");
  EXPECT_EQ(memory_limit_of_groups(second, root), kUnlimited);
  limit("jobs/7/memory.max", "8000000000");
  EXPECT_EQ(memory_limit_of_groups(second, root), 8000000000u);
  limit("jobs/memory.max", "6000000000");
  EXPECT_EQ(memory_limit_of_groups(second, root), 6000000000u);
  limit("memory.max", "5000000000");  // what a container sees as its root
  EXPECT_EQ(memory_limit_of_groups(second, root), 5000000000u);
}

TEST_F(HostMemory, GroupsOfTheFirstVersionCountToo) {
  const std::string both = "9:name=systemd:/x\n4:cpu,memory:/docker/a\n2:cpu:/docker/b\n0::/\n";
  limit("memory/docker/b/memory.limit_in_bytes", "1000");
  limit("memory/docker/a/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_EQ(memory_limit_of_groups(both, root), 9223372036854771712u);
  limit("memory/docker/a/memory.limit_in_bytes", "4096000");
  EXPECT_EQ(memory_limit_of_groups(both, root), 4096000u);
  limit("unified/memory.max", "4095999");
  EXPECT_EQ(memory_limit_of_groups(both, root), 4095999u);
  EXPECT_EQ(memory_limit_of_groups("no line of such a file\n:\n", root), kUnlimited);
}

TEST_F(HostMemory, TheVariableOverrulesTheHost) {
  const std::uint64_t of_host = host_memory();
  EXPECT_GT(of_host, 1u << 20);
  ::setenv("PANDO_HOST_MEMORY", "1000000", 1);
  EXPECT_EQ(host_memory(), 1000000u);
  EXPECT_NO_THROW(check_host_memory(1000000, ErrorKind::poplar_error, "a list"));
  EXPECT_THROW(check_host_memory(1000001, ErrorKind::stream_memory_allocation_error, "a list"), poplar::stream_memory_allocation_error);
  for (const char* bad : {"8G", "-1", "0", " 5", "99999999999999999999999"}) {
    ::setenv("PANDO_HOST_MEMORY", bad, 1);
    EXPECT_THROW(host_memory(), poplar::invalid_option) << bad;
  }
  ::setenv("PANDO_HOST_MEMORY", "", 1);
  EXPECT_EQ(host_memory(), of_host);
  ::unsetenv("PANDO_HOST_MEMORY");
}

}  // namespace
}  // namespace pando
