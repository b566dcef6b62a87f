#include "exec/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/host_memory.h"
#include "base/sizes.h"
#include "exec/address_space.h"
#include "exec/touched_memory.h"

namespace pando::exec {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kHugePage = 2u << 20;

std::uint64_t page_up(std::uint64_t n) { return (n + kPage - 1) / kPage * kPage; }

// Whole pages of an image: a reset drops the tile's copies of them. The rest shares pages with other data, and is written again.
std::uint64_t droppable_bytes(const tile::Image& image) { return image.begin % kPage == 0 ? image.bytes.size() / kPage * kPage : 0; }

// The quick figure decides for nearly all programs.
void check_touched(const tile::Program& program, const Library& library, std::uint64_t at_most) {
  if (saturating_mul(at_most, program.replication) <= host_memory()) return;
  check_host_memory(saturating_mul(touched_bytes(program, library), program.replication), ErrorKind::stream_memory_allocation_error,
                    "what the program writes to tile memory");
}

// A file in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::uint64_t bytes) : MemoryFile(memfd_create("pando-image", MFD_CLOEXEC), bytes) {
    if (file_ < 0 || ftruncate(file_, static_cast<off_t>(bytes)) != 0) no_room();
  }
  ~MemoryFile() {
    if (file_ >= 0) close(file_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return file_; }
  void write(std::string_view data, std::uint64_t at) {
    while (!data.empty()) {
      const ssize_t n = pwrite(file_, data.data(), data.size(), static_cast<off_t>(at));
      if (n <= 0) no_room();
      data.remove_prefix(static_cast<std::size_t>(n));
      at += static_cast<std::uint64_t>(n);
    }
  }

 private:
  MemoryFile(int file, std::uint64_t bytes) : file_(file), bytes_(bytes) {}  // whole: what throws after it closes the file
  [[noreturn]] void no_room() const {
    fail(ErrorKind::stream_memory_allocation_error, "host-memory", "the host has no {} bytes for images of tiles", bytes_);
  }

  const int file_;
  const std::uint64_t bytes_;
};

// Neighbouring tiles that have the same images.
struct Run {
  std::size_t begin = 0, end = 0;
};
struct ImageSet {
  std::vector<Run> runs;
  std::size_t longest = 0;
};

// By their images, indices into the program's.
using ImageSets = std::map<std::vector<std::uint32_t>, ImageSet>;

// The runs of tiles. None is so long that its copies in one file take longer to write than the maps that they save.
ImageSets image_sets(const tile::Program& program) {
  constexpr std::size_t kLongestRun = 16;
  if (program.images.empty()) return {};
  std::vector<std::vector<std::uint32_t>> images_of(program.machine.tiles());
  for (std::uint32_t i = 0; i < program.images.size(); ++i) {
    if (program.images[i].bytes.empty()) continue;
    for (const TileId t : program.images[i].tiles) images_of[t.index()].push_back(i);
  }
  ImageSets sets;
  for (std::size_t begin = 0, end = 0; begin < images_of.size(); begin = end) {
    for (end = begin + 1; end < images_of.size() && end - begin < kLongestRun && images_of[end] == images_of[begin];) ++end;
    if (images_of[begin].empty()) continue;
    ImageSet& set = sets[images_of[begin]];
    set.runs.push_back({begin, end});
    set.longest = std::max(set.longest, end - begin);
  }
  return sets;
}

// More than a process may have: the maps that failed would be somebody else's.
void check_maps(const ImageSets& sets, unsigned replication) {
  constexpr std::uint64_t kMostMaps = 60'000;
  std::uint64_t maps = 2;  // the tiles, and their vertices
  for (const auto& [images, set] : sets) maps += set.runs.size();
  if (saturating_mul(maps, replication) > kMostMaps)
    fail(ErrorKind::stream_memory_allocation_error, "host-maps",
         "tile memory takes {} maps of the process in each of {} replicas; together it may have {}", maps, replication, kMostMaps);
}

// A file holds the images of several neighbouring tiles at their places, and one map covers these tiles: a map costs microseconds,
// and a process may have 65,530. What lies before the first tile's images and behind the last one's is not mapped: a page of a file that is
// written costs two, and the CPU's one tile may be large.
void map_images(const TileMemory& memory, const tile::Program& program, const ImageSets& sets) {
  for (const auto& [images, set] : sets) {
    std::uint64_t begin = ~std::uint64_t{0}, end = 0;
    for (const std::uint32_t i : images) {
      const tile::Image& image = program.images[i];
      begin = std::min(begin, image.begin / kPage * kPage);
      end = std::max(end, page_up(image.begin + image.bytes.size()));
    }
    const auto bytes_of = [&](std::size_t tiles) { return (tiles - 1) * memory.stride() + end - begin; };
    MemoryFile file(bytes_of(set.longest));
    for (std::size_t c = 0; c < set.longest; ++c)
      for (const std::uint32_t i : images) file.write(program.images[i].bytes, c * memory.stride() + program.images[i].begin - begin);
    for (unsigned replica = 0; replica < program.replication; ++replica)
      for (const Run& run : set.runs)
        if (mmap(memory.at(replica, TileId(static_cast<std::uint32_t>(run.begin)), begin), bytes_of(run.end - run.begin),
                 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file.descriptor(), 0) == MAP_FAILED)
          fail(ErrorKind::stream_memory_allocation_error, "host-memory", "cannot map the images of tiles {} to {}", run.begin, run.end - 1);
  }
}

}  // namespace

Mapping::Mapping(std::uint64_t bytes, const char* what) : size_(std::max(page_up(bytes), kPage)) {
  data_ = map_lazily(size_);
  if (!data_)
    fail(ErrorKind::stream_memory_allocation_error, "host-memory", "the host has no {} bytes of address space for {}", size_, what);
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

TileMemory::TileMemory(const tile::Program& program, const Library& library, bool whole_tiles) : program_(program) {
  std::uint64_t highest = 1;
  for (const std::uint64_t bytes : program.tile_bytes) highest = std::max(highest, bytes);
  for (const tile::Image& image : program.images) highest = std::max(highest, image.begin + image.bytes.size());
  if (whole_tiles && program.machine.bounded_memory) highest = std::max(highest, program.machine.bytes_per_tile());
  tile_size_ = program.machine.bounded_memory ? std::max(highest, program.machine.bytes_per_tile()) : highest;
  stride_ = (page_up(highest) / kPage | 1) * kPage;
  const std::uint64_t total = stride_ * program.machine.tiles();
  const std::uint64_t used = touched_bytes_at_most(program);
  check_touched(program, library, used);
  const ImageSets images = image_sets(program);
  check_maps(images, program.replication);
  for (unsigned r = 0; r < program.replication; ++r) {
    replicas_.emplace_back(total, "the tiles");
    // Memory whose pages are mostly used is faster in huge pages; where many are not, it would cost far more of it.
    if (program.images.empty() && used * 4 > total * 3 && total > 8 * kHugePage)
      madvise(replicas_.back().data(), replicas_.back().size(), MADV_HUGEPAGE);
  }
  map_images(*this, program, images);
}

void TileMemory::reset_images(unsigned replica, TileId t) {
  for (const tile::Image& image : program_.images) {
    if (std::find(image.tiles.begin(), image.tiles.end(), t) == image.tiles.end()) continue;
    const std::uint64_t dropped = droppable_bytes(image);
    char* const begin = at(replica, t, image.begin);
    if (dropped > 0) madvise(begin, dropped, MADV_DONTNEED);  // the file's bytes show again
    std::memcpy(begin + dropped, image.bytes.data() + dropped, image.bytes.size() - dropped);
  }
}

}  // namespace pando::exec
