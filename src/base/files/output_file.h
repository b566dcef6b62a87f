// Files that the user asked for: an error never leaves half of one, nor takes away what was there before.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace pando {

// A file that is written at its `place` first and gets its name by keep(); until then, and if that never comes, what had the name stays.
// What is no ordinary file of one name (a device, a pipe, a link), or stands in a folder where nothing can be made, is its own place.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::filesystem::path& place() const { return place_; }
  // Call it when the place is written and closed. Returns why there is no file; "": there is.
  std::string keep();

 private:
  std::filesystem::path path_, place_;
};

// The whole of a file. Returns why it was not written, as "No space left on device"; "": it was.
std::string write_output_file(const std::filesystem::path& path, std::string_view content);

}  // namespace pando
