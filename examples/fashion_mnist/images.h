// The images of Fashion-MNIST as Debian's package dataset-fashion-mnist has them (gzip'ed IDX files), and batches of them.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "shape.h"

struct Images {
  std::vector<unsigned char> pixels;  // [image][kPixels]
  std::vector<unsigned char> labels;  // [image]
  std::size_t size() const { return labels.size(); }
};

// The bytes after an IDX file's header of `dimensions` sizes; checks the magic number and the size.
inline std::vector<unsigned char> read_idx(const std::string& path, unsigned dimensions) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file) throw std::runtime_error("cannot open " + path + " (Debian package dataset-fashion-mnist)");
  const auto number = [&] {
    unsigned char b[4] = {};
    gzread(file, b, 4);
    return std::uint32_t(b[0]) << 24 | std::uint32_t(b[1]) << 16 | std::uint32_t(b[2]) << 8 | b[3];
  };
  const bool right_kind = number() == (0x0800u | dimensions);
  std::size_t size = right_kind ? 1 : 0;
  for (unsigned d = 0; d < dimensions && right_kind; ++d) size *= number();
  std::vector<unsigned char> bytes(size);
  const int got = right_kind ? gzread(file, bytes.data(), unsigned(size)) : -1;
  gzclose(file);
  if (got < 0 || std::size_t(got) != size) throw std::runtime_error(path + " is not the IDX file that was expected");
  return bytes;
}

inline Images read_images(const std::string& folder, const std::string& name) {
  Images images{read_idx(folder + "/" + name + "-images-idx3-ubyte.gz", 3), read_idx(folder + "/" + name + "-labels-idx1-ubyte.gz", 1)};
  if (images.pixels.size() != images.size() * kPixels) throw std::runtime_error(name + ": images and labels do not match");
  return images;
}

// Hands out batches, forever; shuffles before every round if asked to. The last batch of a round is filled up with unlabelled
// images.
class Batches {
 public:
  Batches(const Images& images, bool shuffled) : images_(images), shuffled_(shuffled), order_(images.size()) {
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = std::uint32_t(i);
  }

  std::size_t images() const { return images_.size(); }
  std::size_t per_round() const { return (images_.size() + kBatch - 1) / kBatch; }

  // The next batch: pixels as [pixel][sample] (the samples of a pixel are neighbours, as the codelets want them), then labels.
  void next(unsigned char* out) {
    if (next_ == 0 && shuffled_) std::shuffle(order_.begin(), order_.end(), random_);
    unsigned char* labels = out + std::size_t(kPixels) * kBatch;
    for (unsigned s = 0; s < kBatch; ++s) {
      const std::size_t index = order_[std::min(next_ + s, order_.size() - 1)];
      const unsigned char* image = &images_.pixels[index * kPixels];
      for (unsigned p = 0; p < kPixels; ++p) out[p * kBatch + s] = image[p];
      labels[s] = next_ + s < order_.size() ? images_.labels[index] : kNoLabel;
    }
    next_ = next_ + kBatch < order_.size() ? next_ + kBatch : 0;
  }

 private:
  const Images& images_;
  bool shuffled_;
  std::vector<std::uint32_t> order_;
  std::mt19937 random_{1};
  std::size_t next_ = 0;
};
