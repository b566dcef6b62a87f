// Files that the user names, read whole: nothing that waits for somebody, or has no end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace pando {

// Sources and descriptions are smaller; results and models may be larger.
constexpr std::uint64_t kMostTextBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostModelBytes = std::uint64_t{1} << 36;

// What is wrong with a file that is to be read: "it is a folder", "it is no regular file", "it has N bytes; at most M are read", or the
// system's words; "": nothing. Opens it without waiting. Standard input and other descriptors of the process (/dev/fd/N) may be pipes.
std::string why_unreadable(const std::filesystem::path& path, std::uint64_t most);

// The whole file. Returns why it was not read; "": it was.
std::string read_input_file(const std::filesystem::path& path, std::string& content, std::uint64_t most = kMostTextBytes);

}  // namespace pando
