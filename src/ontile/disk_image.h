// A copy of the disks of a machine's tiles, in a file of the host.
//
//   DiskImage image("disk.img", 64);                 // what the file holds, or blank disks
//   image.put(tile, block, bytes);
//   image.write_back();                              // a kill at any moment leaves all of these puts, or none
//
// The file is a log: a line of text, then groups of blocks, each group with its number and checksums; of a block that is there twice the
// later one counts. A last group that is longer than the file is a write that was cut off: it is moved to a file beside the image,
// FILE.tail, when the image is opened, and notice() says so. Everything else that does not fit its checksum is damage: the image is
// rejected, and stays as it is. When most of the log is of the past, a new log is written beside the old one, which it then replaces.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace pando::ontile {

class DiskImage {
 public:
  static constexpr unsigned kDefaultKib = 64;

  // `kib` of each tile; 0: as the file says, or kDefaultKib if there is no file. Without a path nothing is kept. Throws
  // poplar::file_load_error if the file cannot be read or made, is no image, or is another session's, and invalid_option if its disks have
  // another size.
  DiskImage(std::string path, unsigned kib);
  ~DiskImage();
  DiskImage(const DiskImage&) = delete;
  DiskImage& operator=(const DiskImage&) = delete;

  // What was cut off the image when it was opened, and where it is kept; empty: nothing.
  const std::string& notice() const { return notice_; }

  unsigned kib() const { return kib_; }
  std::uint32_t blocks() const;  // of a tile
  void put(std::uint32_t tile, std::uint32_t block, std::string_view bytes);
  // Every block that was ever put, in the order of tiles and blocks.
  void each_block(const std::function<void(std::uint32_t tile, std::uint32_t block, std::string_view bytes)>& take) const;
  // Throws poplar::file_load_error. What was put is then written the next time.
  void write_back();

 private:
  using Place = std::pair<std::uint32_t, std::uint32_t>;  // tile, block
  struct Block {
    std::string bytes;
    bool is_new = false;
  };

  void open();
  void read();
  void read_head();
  std::uint64_t read_group(std::uint64_t size);
  void check_is_cut_off(const std::string& rest) const;
  void cut_off(const std::string& rest);
  std::string group_of(const std::string& entries);
  void rewrite();
  void append_group(const std::string& entries);
  void append(int file, const std::string& group, const std::string& path);

  std::string path_;
  unsigned kib_;
  int file_ = -1;
  std::uint64_t end_ = 0;     // of the log
  std::uint64_t groups_ = 0;  // in it
  std::string notice_;
  std::map<Place, Block> blocks_;
};

}  // namespace pando::ontile
