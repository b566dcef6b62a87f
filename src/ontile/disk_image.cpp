#include "ontile/disk_image.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include <poplar/exceptions.hpp>

#include "ontile/protocol.h"

namespace pando::ontile {

namespace {

constexpr std::string_view kHead = "pando disks, KiB of each tile: ";
constexpr unsigned kMostKib = 192;

[[noreturn]] void fail(std::string_view what, const std::string& path) {
  throw poplar::file_load_error(fmt::format("cannot {} {}: {} [disk-image]", what, path, std::strerror(errno)));
}

class File {
 public:
  File(const std::string& path, int flags) : path_(path), number_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  ~File() {
    if (number_ >= 0) ::close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }
  // Up to `bytes` from `at`: fewer at the file's end.
  std::string read(std::uint64_t at, std::size_t bytes) const {
    std::string out(bytes, '\0');
    std::size_t got = 0;
    while (got < bytes) {
      const ssize_t n = ::pread(number_, out.data() + got, bytes - got, static_cast<off_t>(at + got));
      if (n < 0) fail("read", path_);
      if (n == 0) break;
      got += static_cast<std::size_t>(n);
    }
    out.resize(got);
    return out;
  }
  void write(std::uint64_t at, std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::pwrite(number_, bytes.data(), bytes.size(), static_cast<off_t>(at));
      if (n < 0) fail("write", path_);
      bytes.remove_prefix(static_cast<std::size_t>(n));
      at += static_cast<std::uint64_t>(n);
    }
  }

 private:
  const std::string& path_;
  int number_;
};

bool is_zero(std::string_view bytes) { return bytes.find_first_not_of('\0') == std::string_view::npos; }

void check_size(unsigned kib) {
  if (kib < 4 || kib > kMostKib) throw poplar::invalid_option(fmt::format("a tile's disk has 4 to {} KiB, not {}", kMostKib, kib));
}

}  // namespace

DiskImage::DiskImage(std::string path, unsigned kib) : path_(std::move(path)), kib_(kib) {
  if (!path_.empty()) read();
  if (kib_ == 0) kib_ = kDefaultKib;
  check_size(kib_);
}

std::uint32_t DiskImage::blocks() const { return kib_ * 1024 / kBlockBytes; }

void DiskImage::read() {
  const File file(path_, O_RDONLY);
  if (!file.is_open()) {
    if (errno != ENOENT) fail("open", path_);
    return;
  }
  const std::string head = file.read(0, kDataBegin);
  unsigned kib = 0;
  const bool is_image = head.size() == kDataBegin && head.starts_with(kHead) &&
                        std::from_chars(head.data() + kHead.size(), head.data() + head.size(), kib).ec == std::errc();
  if (!is_image) throw poplar::file_load_error(fmt::format("{} is no image of tiles' disks [disk-image]", path_));
  check_size(kib);
  if (kib_ != 0 && kib_ != kib) throw poplar::invalid_option(fmt::format("{} holds disks of {} KiB, not of {}", path_, kib, kib_));
  kib_ = kib;
  const std::uint64_t disk_bytes = std::uint64_t{kib} * 1024;
  // Holes are passed over.
  for (off_t at = static_cast<off_t>(kDataBegin); (at = ::lseek(file.number(), at, SEEK_DATA)) >= 0;) {
    const std::uint64_t tile = (static_cast<std::uint64_t>(at) - kDataBegin) / disk_bytes;
    std::string disk = file.read(kDataBegin + tile * disk_bytes, disk_bytes);
    disk.resize(disk_bytes, '\0');
    if (!is_zero(disk)) disks_[static_cast<std::uint32_t>(tile)] = std::move(disk);
    at = static_cast<off_t>(kDataBegin + (tile + 1) * disk_bytes);
  }
}

void DiskImage::put(std::uint32_t tile, std::uint32_t block, std::string_view bytes) {
  std::string& disk = disks_[tile];
  disk.resize(std::size_t{kib_} * 1024, '\0');
  bytes.copy(disk.data() + std::size_t{block} * kBlockBytes, kBlockBytes);
}

void DiskImage::each_block(const std::function<void(std::uint32_t, std::uint32_t, std::string_view)>& take) const {
  for (const auto& [tile, disk] : disks_)
    for (std::uint32_t block = 0; block < blocks(); ++block) {
      const std::string_view bytes(disk.data() + std::size_t{block} * kBlockBytes, kBlockBytes);
      if (!is_zero(bytes)) take(tile, block, bytes);
    }
}

void DiskImage::write_back() const {
  if (path_.empty()) return;
  const std::string partial = fmt::format("{}.new", path_);
  {
    const File file(partial, O_WRONLY | O_CREAT | O_TRUNC);
    if (!file.is_open()) fail("write", partial);
    std::string head = fmt::format("{}{}\n", kHead, kib_);
    head.resize(kDataBegin, '\n');
    file.write(0, head);
    const std::uint64_t disk_bytes = std::uint64_t{kib_} * 1024;
    each_block([&](std::uint32_t tile, std::uint32_t block, std::string_view bytes) {
      file.write(kDataBegin + tile * disk_bytes + std::uint64_t{block} * kBlockBytes, bytes);
    });
    if (!disks_.empty() && ::ftruncate(file.number(), static_cast<off_t>(kDataBegin + (disks_.rbegin()->first + 1) * disk_bytes)) != 0)
      fail("write", partial);
    if (::fsync(file.number()) != 0) fail("write", partial);
  }
  if (std::rename(partial.c_str(), path_.c_str()) != 0) fail("replace", path_);
  // The new name has to be on the disk too.
  const std::size_t slash = path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  const File place(folder, O_RDONLY | O_DIRECTORY);
  if (place.is_open()) ::fsync(place.number());
}

}  // namespace pando::ontile
