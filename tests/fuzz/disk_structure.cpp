// Images of tiles' disks that are damaged, cut off or changed with checksums that fit again: rejected, with the file as it was, or opened,
// written and opened again with the same blocks; never a crash, never blocks that no write put there.
//
//   fuzz_disk [--seed S|new] [--runs N] [--seconds T]
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>

#include "ontile/disk_image.h"
#include "ontile/protocol.h"
#include "random.h"
#include "structure.h"

namespace pando::fuzz {
namespace {

using ontile::DiskImage;
using Blocks = std::map<std::pair<std::uint32_t, std::uint32_t>, std::string>;

// The layout of the file (ontile/disk_image.cpp).
constexpr std::size_t kHeadBytes = 64, kGroupHead = 40, kEntryBytes = 8 + ontile::kBlockBytes;

std::uint64_t sum_of(std::string_view entries) {
  std::uint64_t h = 0xcbf29ce484222325ull ^ entries.size();
  for (; entries.size() >= 8; entries.remove_prefix(8)) {
    std::uint64_t word;
    std::memcpy(&word, entries.data(), 8);
    h = (h ^ word) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 29;
  }
  return h;
}

std::string read_all(const std::string& path) {
  std::string bytes;
  const int file = open(path.c_str(), O_RDONLY);
  struct stat about = {};
  if (file < 0 || fstat(file, &about) != 0) return {};
  bytes.resize(static_cast<std::size_t>(about.st_size));
  if (read(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) bytes.clear();
  close(file);
  return bytes;
}
void write_all(const std::string& path, const std::string& bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
  close(file);
}

std::string block(Random& random) { return std::string(ontile::kBlockBytes, static_cast<char>('a' + random.below(26))); }

// A file of some groups; `history[n]` is what disks hold after n of them.
std::string good_file(const std::string& path, Random& random, std::vector<Blocks>& history) {
  std::filesystem::remove(path);
  DiskImage image(path, 4);
  history = {{}};
  for (std::uint64_t groups = random.below(5); groups > 0; --groups) {
    Blocks now = history.back();
    for (std::uint64_t n = random.between(1, 3); n > 0; --n) {
      const std::pair<std::uint32_t, std::uint32_t> place(random.below(3), random.below(image.blocks()));
      image.put(place.first, place.second, now[place] = block(random));
    }
    image.write_back();
    history.push_back(std::move(now));
  }
  return read_all(path);
}

Blocks blocks_of(const DiskImage& image) {
  Blocks out;
  image.each_block([&](std::uint32_t tile, std::uint32_t block, std::string_view bytes) { out[{tile, block}] = bytes; });
  return out;
}

// The checksums of all groups that can be found, made to fit.
void make_fit(std::string& bytes) {
  for (std::size_t at = kHeadBytes; at + kGroupHead <= bytes.size();) {
    std::uint64_t count = 0;
    std::memcpy(&count, &bytes[at + 16], 8);
    count = std::min<std::uint64_t>(count, (bytes.size() - at - kGroupHead) / kEntryBytes);
    const std::uint64_t sum = sum_of(std::string_view(bytes).substr(at + kGroupHead, count * kEntryBytes));
    std::memcpy(&bytes[at + 24], &sum, 8);
    const std::uint64_t head = sum_of(std::string_view(bytes).substr(at, 32));
    std::memcpy(&bytes[at + 32], &head, 8);
    at += kGroupHead + count * kEntryBytes;
  }
}

// How the bytes were changed: what is known of the result follows from it.
enum class Change { cut, bit, numbers_that_fit };

Change change(std::string& bytes, Random& random) {
  switch (random.below(3)) {
    case 0: bytes.resize(random.below(bytes.size() + 1)); return Change::cut;
    case 1: {
      bytes[random.below(bytes.size())] ^= static_cast<char>(1 << random.below(8));
      return Change::bit;
    }
    default: {
      // Heads of groups and places of blocks: the rest is contents.
      for (std::size_t at = kHeadBytes; at + kGroupHead + 8 < bytes.size(); at += kGroupHead + kEntryBytes)
        change_numbers(bytes, at, at + kGroupHead + 8, random);
      if (random.chance(10)) change_numbers(bytes, 0, kHeadBytes, random);
      make_fit(bytes);
      return Change::numbers_that_fit;
    }
  }
}

struct Counts {
  std::uint64_t files = 0, read = 0;
};

// Empty, or what is wrong.
std::string take(const std::string& path, const std::string& bytes, Change how, const std::vector<Blocks>& history, Counts& counts) {
  ++counts.files;
  write_all(path, bytes);
  Blocks seen;
  try {
    DiskImage image(path, 0);
    ++counts.read;
    seen = blocks_of(image);
    image.put(1, 2, std::string(ontile::kBlockBytes, 'z'));
    image.write_back();
  } catch (const std::exception& e) {
    if (std::string(e.what()).empty()) return "an error without words";
    return read_all(path) == bytes ? "" : std::string("rejected and written to: ") + e.what();
  }
  if (how != Change::numbers_that_fit && std::find(history.begin(), history.end(), seen) == history.end())
    return "blocks that no write put there";
  // A bit of any group but the last one is no torn write.
  if (how == Change::bit && history.size() > 2 && seen != history.back() && seen != history[history.size() - 2])
    return "an early group was lost";
  seen[{1, 2}] = std::string(ontile::kBlockBytes, 'z');
  return blocks_of(DiskImage(path, 0)) == seen ? "" : "what was written is not what is read";
}

int run(std::uint64_t seed, std::uint64_t runs, double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  const bool in_memory = std::filesystem::exists("/dev/shm");
  std::string folder = (in_memory ? "/dev/shm" : std::filesystem::temp_directory_path().string()) + "/pando-fuzz-XXXXXX";
  if (!mkdtemp(folder.data())) return 1;
  const std::string path = folder + "/disks";
  Counts counts;
  std::string wrong;
  constexpr int kOfAFile = 40;
  for (std::uint64_t i = 0; i < runs && wrong.empty(); i += kOfAFile) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > seconds) break;
    Random random(seed + i);
    std::vector<Blocks> history;
    const std::string good = good_file(path, random, history);
    for (int n = 0; n < kOfAFile && wrong.empty(); ++n) {
      std::string bytes = good;
      const Change how = change(bytes, random);
      if (wrong = take(path, bytes, how, history, counts); !wrong.empty())
        std::cout << fmt::format("seed {}, change {}: {}\n", seed + i, n, wrong);
    }
  }
  std::filesystem::remove_all(folder);
  std::cout << fmt::format("{} changed images, {} of them read\n", counts.files, counts.read);
  return !wrong.empty() || counts.read == 0 || counts.read == counts.files;
}

}  // namespace
}  // namespace pando::fuzz

int main(int argc, char** argv) { return pando::fuzz::run_arguments(argc, argv, pando::fuzz::run); }
