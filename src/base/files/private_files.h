// Files that the program writes for later runs, and believes then. Only the user can have put anything there.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace pando {

// Does the folder belong to the user, and can nobody else put things into it or into its place? Each folder above belongs to the user or to
// root, and others cannot write there, or it is one like /tmp, where they cannot touch what is not theirs. Links are followed first.
bool is_private_folder(const std::filesystem::path& folder);

// The whole of a file of the user's in a private folder; nothing if there is none, if it is a link, FIFO or device, or if others can write
// it.
std::optional<std::string> read_private_file(const std::filesystem::path& path);

// Replaces the file at once or not at all, and leaves nothing else. Makes the folders above, for the user alone; the file is readable by
// nobody else, whatever the umask. Returns why it was not written; "": it was.
std::string write_private_file(const std::filesystem::path& path, const std::string& content);

}  // namespace pando
