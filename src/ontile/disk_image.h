// A copy of the disks of a machine's tiles, in a file of the host.
//
//   DiskImage image("disk.img", 64);                 // as much of the file as there is
//   image.put(tile, block, bytes);
//   image.write_back();                              // a kill at any moment leaves this or the image before
//
// The file: kDataBegin bytes of text, then the disks one after the other. Blocks of zeros are holes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pando::ontile {

class DiskImage {
 public:
  static constexpr std::uint64_t kDataBegin = 4096;
  static constexpr unsigned kDefaultKib = 64;

  // `kib` of each tile; 0: as the file says, or kDefaultKib if there is no file. Throws poplar::file_load_error if the file cannot be
  // read or is no image, and invalid_option if it is one of disks of another size.
  DiskImage(std::string path, unsigned kib);

  unsigned kib() const { return kib_; }
  std::uint32_t blocks() const;  // of a tile
  void put(std::uint32_t tile, std::uint32_t block, std::string_view bytes);
  // What is not zero: one block after the other.
  void each_block(const std::function<void(std::uint32_t tile, std::uint32_t block, std::string_view bytes)>& take) const;
  // Throws poplar_error.
  void write_back() const;

 private:
  void read();

  std::string path_;
  unsigned kib_;
  std::map<std::uint32_t, std::string> disks_;  // of tiles with anything on them
};

}  // namespace pando::ontile
