#include "ontile/disk_image.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include <poplar/exceptions.hpp>

#include "ontile/protocol.h"
#include "ontile/reject.h"

namespace pando::ontile {

namespace {

// Then the KiB in decimal, and in the last columns the checksum of what is before it.
constexpr std::string_view kHead = "pando disks 2, KiB of each tile: ";
constexpr std::string_view kHeadOfFirstVersion = "pando disks, ";
constexpr std::size_t kHeadBytes = 64;
constexpr unsigned kLeastKib = 4, kMostKib = 192;
constexpr std::uint32_t kMostTiles = 1 << 20;
constexpr std::size_t kEntryBytes = 8 + kBlockBytes;
constexpr std::uint64_t kFreeGarbage = 1 << 20;  // a log that is not longer than this and its content is not written anew

// Of a group of blocks. It is found again behind a damaged one: it lies at a multiple of 8, and checks itself.
struct GroupHead {
  std::uint64_t magic = 0x70756f7247444e50;  // "PNDGroup"
  std::uint64_t number = 0, count = 0, checksum = 0, head_checksum = 0;
};

[[noreturn]] void fail(std::string_view what, const std::string& path) {
  reject<poplar::file_load_error>("disk-image", "cannot {} {}: {}", what, path, std::strerror(errno));
}

std::uint64_t checksum_of(std::string_view entries) {
  std::uint64_t h = 0xcbf29ce484222325ull ^ entries.size();
  for (; entries.size() >= 8; entries.remove_prefix(8)) {
    std::uint64_t word;
    std::memcpy(&word, entries.data(), 8);
    h = (h ^ word) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 29;
  }
  return h;
}

// Up to `bytes` from `at`: fewer at the file's end.
std::string read_from(int file, std::uint64_t at, std::size_t bytes, const std::string& path) {
  std::string out(bytes, '\0');
  std::size_t got = 0;
  while (got < bytes) {
    const ssize_t n = ::pread(file, out.data() + got, bytes - got, static_cast<off_t>(at + got));
    if (n < 0) fail("read", path);
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  out.resize(got);
  return out;
}

std::string head_of(unsigned kib) {
  std::string head = fmt::format("{}{}", kHead, kib);
  head.resize(kHeadBytes - 17, ' ');
  return head + fmt::format("{:016x}\n", checksum_of(head));
}

std::uint64_t checksum_of(const GroupHead& head) {
  return checksum_of(std::string_view(reinterpret_cast<const char*>(&head), offsetof(GroupHead, head_checksum)));
}

void add_entry(std::string& group, std::uint32_t tile, std::uint32_t block, std::string_view bytes) {
  const std::uint32_t place[] = {tile, block};
  group.append(reinterpret_cast<const char*>(place), sizeof place).append(bytes);
}

void check_size(unsigned kib) {
  if (kib < kLeastKib || kib > kMostKib)
    reject<poplar::invalid_option>("disk-size", "a tile's disk has {} to {} KiB, not {}", kLeastKib, kMostKib, kib);
}

// Of one session, until it is closed or the process ends.
void lock(int file, const std::string& path) {
  struct stat about = {};
  if (::fstat(file, &about) == 0 && !S_ISREG(about.st_mode)) reject<poplar::file_load_error>("disk-image", "{} is no file", path);
  const bool free = ::flock(file, LOCK_EX | LOCK_NB) == 0 && ::fstat(file, &about) == 0 && about.st_nlink > 0;
  if (!free) reject<poplar::file_load_error>("disk-image", "{} is in use by another session", path);
}

[[noreturn]] void damaged(const std::string& path, std::uint64_t at, std::string_view what) {
  reject<poplar::file_load_error>("disk-image-damaged", "{} is damaged: {} at byte {}; nothing was written to it", path, what, at);
}

[[noreturn]] void damaged_group(const std::string& path, std::uint64_t at, std::uint64_t group, std::string_view what) {
  reject<poplar::file_load_error>("disk-image-damaged",
                                  "{} is damaged: group {}, from byte {} on, {}; what is before it is whole; nothing was written to it",
                                  path, group, at, what);
}

}  // namespace

DiskImage::DiskImage(std::string path, unsigned kib) : path_(std::move(path)), kib_(kib) {
  if (kib_ != 0) check_size(kib_);
  if (path_.empty()) {
    if (kib_ == 0) kib_ = kDefaultKib;
    return;
  }
  try {
    open();
  } catch (...) {
    if (file_ >= 0) ::close(file_);
    throw;
  }
}

DiskImage::~DiskImage() {
  if (file_ >= 0) ::close(file_);
}

std::uint32_t DiskImage::blocks() const { return kib_ * 1024 / kBlockBytes; }

void DiskImage::open() {
  file_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);  // which a FIFO or device does not keep waiting
  if (file_ >= 0) {
    lock(file_, path_);
    read();
    return;
  }
  if (errno != ENOENT) fail("open", path_);
  if (kib_ == 0) kib_ = kDefaultKib;
  rewrite();
}

void DiskImage::read_head() {
  const std::string head = read_from(file_, 0, kHeadBytes, path_);
  if (head.starts_with(kHeadOfFirstVersion))
    reject<poplar::file_load_error>("disk-image", "{} is an image of an earlier version, which had no checksums", path_);
  unsigned kib = 0;
  const bool is_image = head.size() == kHeadBytes && head.starts_with(kHead) &&
                        std::from_chars(head.data() + kHead.size(), head.data() + head.size(), kib).ec == std::errc();
  if (!is_image) reject<poplar::file_load_error>("disk-image", "{} is no image of tiles' disks", path_);
  if (head != head_of(kib)) damaged(path_, 0, "its first line does not fit its checksum");
  check_size(kib);
  if (kib_ != 0 && kib_ != kib) reject<poplar::invalid_option>("disk-size", "{} holds disks of {} KiB, not of {}", path_, kib, kib_);
  kib_ = kib;
}

void DiskImage::read() {
  read_head();
  struct stat about = {};
  if (::fstat(file_, &about) != 0) fail("read", path_);
  const auto size = static_cast<std::uint64_t>(about.st_size);
  end_ = kHeadBytes;
  while (const std::uint64_t bytes = read_group(size)) {
    end_ += bytes;
    ++groups_;
  }
  if (end_ == size) return;
  const std::string rest = read_from(file_, end_, size - end_, path_);
  check_is_cut_off(rest);
  cut_off(rest);
}

// The bytes of the group at the end of what was read, whose blocks it takes; 0 if the file has no whole one there.
std::uint64_t DiskImage::read_group(std::uint64_t size) {
  GroupHead head;
  if (size - end_ < sizeof head) return 0;
  std::memcpy(&head, read_from(file_, end_, sizeof head, path_).data(), sizeof head);
  const std::uint64_t left = size - end_ - sizeof head;
  if (head.magic != GroupHead().magic || head.head_checksum != checksum_of(head))
    damaged_group(path_, end_, groups_, "has a head that does not fit its checksum");
  if (head.number != groups_) damaged(path_, end_, fmt::format("group {} is where group {} belongs", head.number, groups_));
  if (head.count > left / kEntryBytes) return 0;
  const std::string entries = read_from(file_, end_ + sizeof head, head.count * kEntryBytes, path_);
  if (checksum_of(entries) != head.checksum) damaged_group(path_, end_, groups_, "does not fit its checksum");
  for (std::size_t at = 0; at < entries.size(); at += kEntryBytes) {
    std::uint32_t place[2];
    std::memcpy(place, entries.data() + at, sizeof place);
    if (place[0] >= kMostTiles || place[1] >= blocks())
      damaged(path_, end_ + sizeof head + at, fmt::format("block {} of tile {}, where disks have {} blocks", place[1], place[0], blocks()));
    blocks_[{place[0], place[1]}].bytes = entries.substr(at + sizeof place, kBlockBytes);
  }
  return sizeof head + entries.size();
}

// The rest of the file, no whole group, is the beginning of one: it begins as the next one would, and no group is in it.
void DiskImage::check_is_cut_off(const std::string& rest) const {
  GroupHead next;
  next.number = groups_;
  constexpr std::size_t kKnown = offsetof(GroupHead, count);
  if (std::memcmp(rest.data(), &next, std::min(rest.size(), kKnown)) != 0) damaged(path_, end_, "something that is no group");
  GroupHead head;
  for (std::size_t at = 8; at + sizeof head <= rest.size(); at += 8) {
    std::memcpy(&head, rest.data() + at, sizeof head);
    if (head.magic == GroupHead().magic && head.head_checksum == checksum_of(head))
      damaged(path_, end_, fmt::format("group {} is shorter than it says, and group {} follows", groups_, head.number));
  }
}

// Kept, under the first name that is free, before it goes.
void DiskImage::cut_off(const std::string& rest) {
  std::string tail = path_ + ".tail";
  const auto make = [&] { return ::open(tail.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600); };
  int file = make();
  for (unsigned n = 2; file < 0 && errno == EEXIST; ++n) {
    tail = fmt::format("{}.tail{}", path_, n);
    file = make();
  }
  if (file < 0) fail("write", tail);
  bool kept = true;
  for (std::size_t done = 0; kept && done < rest.size();) {
    const ssize_t n = ::write(file, rest.data() + done, rest.size() - done);
    kept = n > 0;
    done += kept ? static_cast<std::size_t>(n) : 0;
  }
  kept = kept && ::fsync(file) == 0;
  const int why = errno;
  ::close(file);
  if (!kept) {
    ::unlink(tail.c_str());
    errno = why;
    fail("write", tail);
  }
  if (::ftruncate(file_, static_cast<off_t>(end_)) != 0 || ::fdatasync(file_) != 0) fail("write", path_);
  notice_ = fmt::format("the last write to {} was cut off after {} bytes: they are in {}; the disks are as they were before that write",
                        path_, rest.size(), tail);
}

// With the head before the entries. None: nothing.
std::string DiskImage::group_of(const std::string& entries) {
  if (entries.empty()) return {};
  GroupHead head;
  head.number = groups_++;
  head.count = entries.size() / kEntryBytes;
  head.checksum = checksum_of(entries);
  head.head_checksum = checksum_of(head);
  return std::string(reinterpret_cast<const char*>(&head), sizeof head) + entries;
}

void DiskImage::put(std::uint32_t tile, std::uint32_t block, std::string_view bytes) {
  blocks_[{tile, block}] = {std::string(bytes), true};
}

void DiskImage::each_block(const std::function<void(std::uint32_t, std::uint32_t, std::string_view)>& take) const {
  for (const auto& [place, block] : blocks_) take(place.first, place.second, block.bytes);
}

// On the file's disk when it returns.
void DiskImage::append(int file, const std::string& bytes, const std::string& path) {
  // What an earlier try left goes first.
  if (::ftruncate(file, static_cast<off_t>(end_)) != 0) fail("write", path);
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::pwrite(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(end_ + done));
    if (n < 0) {
      const int why = errno;
      if (::ftruncate(file, static_cast<off_t>(end_)) != 0) static_cast<void>(end_);  // what is left is a cut-off write
      errno = why;
      fail("write", path);
    }
    done += static_cast<std::size_t>(n);
  }
  if (::fdatasync(file) != 0) fail("write", path);
  end_ += bytes.size();
}

void DiskImage::rewrite() {
  std::string entries;
  for (const auto& [place, block] : blocks_) add_entry(entries, place.first, place.second, block.bytes);
  const std::string partial = path_ + ".new";
  // Not through a link that somebody put there; the user's own, as the old one was.
  const int file = ::open(partial.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  if (file < 0) fail("write", partial);
  const std::uint64_t old_end = std::exchange(end_, 0), old_groups = std::exchange(groups_, 0);
  bool is_mine = false;
  try {
    lock(file, partial);
    is_mine = true;
    struct stat old = {};
    if (::fchmod(file, file_ >= 0 && ::fstat(file_, &old) == 0 ? old.st_mode & 0777 : 0600) != 0) fail("write", partial);
    append(file, head_of(kib_) + group_of(entries), partial);
    if (std::rename(partial.c_str(), path_.c_str()) != 0) fail("replace", path_);
  } catch (...) {
    end_ = old_end;
    groups_ = old_groups;
    if (is_mine) ::unlink(partial.c_str());  // half of it is none
    ::close(file);
    throw;
  }
  if (file_ >= 0) ::close(file_);
  file_ = file;
  // The new name has to be on the disk too.
  const std::size_t slash = path_.rfind('/');
  const int folder = ::open(slash == std::string::npos ? "." : path_.substr(0, slash + 1).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

void DiskImage::append_group(const std::string& entries) {
  const std::uint64_t before = groups_;
  try {
    append(file_, group_of(entries), path_);
  } catch (...) {
    groups_ = before;
    throw;
  }
}

void DiskImage::write_back() {
  if (path_.empty()) return;
  std::string entries;
  for (const auto& [place, block] : blocks_)
    if (block.is_new) add_entry(entries, place.first, place.second, block.bytes);
  if (entries.empty()) return;
  const std::uint64_t content = blocks_.size() * kEntryBytes;
  if (end_ + entries.size() > 2 * content + kFreeGarbage)
    rewrite();
  else
    append_group(entries);
  for (auto& [place, block] : blocks_) block.is_new = false;
}

}  // namespace pando::ontile
