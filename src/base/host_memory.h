// How much memory this process may take.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace pando {

// In bytes: PANDO_HOST_MEMORY if it is set; else the host's memory, or less where a control group of the process (a container, a job of a
// batch system) has a limit. Throws invalid_option if PANDO_HOST_MEMORY is no number of bytes.
std::uint64_t host_memory();

// The least limit of the groups that `groups`, a /proc/PID/cgroup, names, and of those above them, where `root` is /sys/fs/cgroup; the
// greatest number if there is none. Both versions of control groups are read.
std::uint64_t memory_limit_of_groups(std::string_view groups, const std::filesystem::path& root);

}  // namespace pando
