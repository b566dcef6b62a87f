#include "exec/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace pando::exec {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kHugePage = 2u << 20;

std::uint64_t page_up(std::uint64_t n) { return (n + kPage - 1) / kPage * kPage; }

// Whole pages of an image: those are mapped from its file; the rest is copied.
std::uint64_t mapped_bytes(const tile::Image& image) {
  return image.begin % kPage == 0 ? image.bytes.size() / kPage * kPage : 0;
}

// Bytes of the pages of all tiles that some allocation touches (allocations are sorted).
std::uint64_t allocated_pages(const tile::Program& program) {
  std::uint64_t total = 0, covered = 0;
  TileId tile;
  for (const tile::Allocation& a : program.allocations) {
    if (a.tile != tile) covered = 0;
    tile = a.tile;
    const std::uint64_t begin = std::max(a.offset / kPage * kPage, covered), end = page_up(a.offset + a.size);
    if (a.size > 0 && end > begin) total += end - begin;
    covered = std::max(covered, end);
  }
  return total;
}

// A file of `bytes` bytes in memory, or -1.
int memory_file(std::uint64_t bytes) {
  const int file = memfd_create("pando-image", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0) return file;
  if (file >= 0) close(file);
  return -1;
}

bool write_all(int file, const char* data, std::uint64_t bytes, std::uint64_t at) {
  while (bytes > 0) {
    const ssize_t n = pwrite(file, data, bytes, static_cast<off_t>(at));
    if (n <= 0) return false;
    data += n, at += static_cast<std::uint64_t>(n), bytes -= static_cast<std::uint64_t>(n);
  }
  return true;
}

}  // namespace

Mapping::Mapping(std::uint64_t bytes, const char* what) : size_(std::max(page_up(bytes), kPage)) {
  void* p = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    fail(ErrorKind::stream_memory_allocation_error, "host-memory", "the host has no {} bytes of address space for {}", size_, what);
  data_ = static_cast<char*>(p);
}

Mapping::~Mapping() {
  if (data_) munmap(data_, size_);
}

Mapping::Mapping(Mapping&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

TileMemory::TileMemory(const tile::Program& program, bool whole_tiles) : program_(program) {
  std::uint64_t highest = 1;
  for (const std::uint64_t bytes : program.tile_bytes) highest = std::max(highest, bytes);
  for (const tile::Image& image : program.images) highest = std::max(highest, image.begin + image.bytes.size());
  if (whole_tiles && program.machine.bounded_memory) highest = std::max(highest, program.machine.bytes_per_tile());
  tile_size_ = program.machine.bounded_memory ? std::max(highest, program.machine.bytes_per_tile()) : highest;
  stride_ = (page_up(highest) / kPage | 1) * kPage;
  const std::uint64_t total = stride_ * program.machine.tiles();
  const std::uint64_t used = allocated_pages(program);
  for (unsigned r = 0; r < program.replication; ++r) {
    replicas_.emplace_back(total, "the tiles");
    // Memory whose pages are mostly used is faster in huge pages; where many are not, it would cost far more of it.
    if (program.images.empty() && used * 4 > total * 3 && total > 8 * kHugePage)
      madvise(replicas_.back().data(), replicas_.back().size(), MADV_HUGEPAGE);
    map_images(r);
  }
}

TileMemory::~TileMemory() {
  for (const int file : files_)
    if (file >= 0) close(file);
}

// Few tiles: one map per tile and image. Each costs two of the 65,530 maps that a process may have; beyond kMostSingleMaps
// several tiles share a map of a file that holds several copies.
void TileMemory::map_images(unsigned replica) {
  constexpr std::size_t kMostSingleMaps = 8192;
  std::size_t maps = 0;
  for (const tile::Image& image : program_.images) maps += image.tiles.size();
  if (maps * program_.replication > kMostSingleMaps) return map_grouped(replica);
  files_.resize(program_.images.size(), -1);
  for (std::size_t i = 0; i < program_.images.size(); ++i) {
    const tile::Image& image = program_.images[i];
    const std::uint64_t mapped = mapped_bytes(image);
    if (files_[i] < 0 && mapped > 0) {
      files_[i] = memory_file(mapped);
      if (files_[i] < 0 || !write_all(files_[i], image.bytes.data(), mapped, 0))
        fail(ErrorKind::stream_memory_allocation_error, "host-memory", "the host has no {} bytes for an image", mapped);
    }
    map_single(replica, image, files_[i]);
  }
}

void TileMemory::map_single(unsigned replica, const tile::Image& image, int file) {
  const std::uint64_t mapped = mapped_bytes(image);
  for (const TileId t : image.tiles) {
    char* const begin = at(replica, t, image.begin);
    if (mapped > 0 && mmap(begin, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file, 0) == MAP_FAILED)
      fail(ErrorKind::stream_memory_allocation_error, "host-memory", "cannot map the image of tile {}", t.value);
    std::memcpy(begin + mapped, image.bytes.data() + mapped, image.bytes.size() - mapped);
  }
}

// A file holds the images of kCopies neighbouring tiles at their places; runs of tiles with the same images map it at once.
void TileMemory::map_grouped(unsigned replica) {
  constexpr std::size_t kCopies = 64;
  std::vector<std::vector<std::uint32_t>> images_of(program_.machine.tiles());
  for (std::uint32_t i = 0; i < program_.images.size(); ++i)
    for (const TileId t : program_.images[i].tiles) images_of[t.index()].push_back(i);
  std::vector<std::pair<std::vector<std::uint32_t>, int>> files;  // few distinct sets of images
  for (std::size_t t = 0; t < images_of.size();) {
    std::size_t end = t + 1;
    while (end < images_of.size() && end - t < kCopies && images_of[end] == images_of[t]) ++end;
    const auto& set = images_of[t];
    if (!set.empty()) {
      auto it = std::find_if(files.begin(), files.end(), [&](const auto& f) { return f.first == set; });
      if (it == files.end()) {
        const int file = memory_file(kCopies * stride_);
        bool ok = file >= 0;
        files_.push_back(file);
        for (std::size_t c = 0; c < kCopies; ++c)
          for (const std::uint32_t i : set)
            ok = ok && write_all(file, program_.images[i].bytes.data(), program_.images[i].bytes.size(), c * stride_ + program_.images[i].begin);
        if (!ok) fail(ErrorKind::stream_memory_allocation_error, "host-memory", "the host has no memory for the images' copies");
        it = files.insert(files.end(), {set, file});
      }
      char* const begin = tile(replica, TileId(static_cast<std::uint32_t>(t)));
      if (mmap(begin, (end - t) * stride_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, it->second, 0) == MAP_FAILED)
        fail(ErrorKind::stream_memory_allocation_error, "host-memory", "cannot map the images of tiles {} to {}", t, end - 1);
    }
    t = end;
  }
}

void TileMemory::reset_images(unsigned replica, TileId t) {
  for (const tile::Image& image : program_.images) {
    if (std::find(image.tiles.begin(), image.tiles.end(), t) == image.tiles.end()) continue;
    const std::uint64_t mapped = mapped_bytes(image);
    char* const begin = at(replica, t, image.begin);
    if (mapped > 0) madvise(begin, mapped, MADV_DONTNEED);  // drops this tile's copies: the file's bytes show again
    std::memcpy(begin + mapped, image.bytes.data() + mapped, image.bytes.size() - mapped);
  }
}

}  // namespace pando::exec
