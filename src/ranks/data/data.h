// What the host gives a run: arrays by name, from files or made from a seed.
#pragma once

#include "ir/host_tensor.h"
#include "ranks/data/npy.h"
#include "transform/distribute/pieces.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pando::ranks {

class Data {
 public:
  // Later ones come first. NAME=FILE.npy is one array, FILE.npz several.
  void add_file(const std::string& what);
  void add_array(const std::string& name, ir::HostTensor array) { arrays_[name] = std::move(array); }
  // Names that no file has, or their ends behind a star ("*.m"), begin with zeros.
  void add_zeros(const std::string& names) { zeros_.push_back(names); }
  // What no file has is made: floats between -1 and 1, integers 1 to 3, from the seed and the name.
  void set_seed(std::uint64_t seed) { seed_ = seed; }
  // Names of parts stand for pieces of whole tensors.
  void set_pieces(transform::PieceTable pieces) { pieces_ = std::move(pieces); }
  const std::optional<transform::PieceTable>& pieces() const { return pieces_; }

  // A variable; none: nobody says what it holds. Rejects (value) an array of another shape.
  std::optional<ir::HostTensor> variable(const std::string& name, ir::DType dtype, const ir::Shape& shape) const;
  // Blocks of a stream, (n, shape): a run takes `wanted` of them, and begins again where there are fewer.
  std::optional<ir::HostTensor> stream(const std::string& name, ir::DType dtype, const ir::Shape& shape, std::int64_t wanted) const;
  // Whether variable() and stream() would give something; reject what these reject, but read headers alone and make nothing.
  bool has_variable(const std::string& name, const ir::Shape& shape) const;
  // Blocks that are made must be such as the host can hold.
  bool has_stream(const std::string& name, ir::DType dtype, const ir::Shape& shape, std::int64_t wanted) const;
  // Rejects (value) a NAME=FILE.npy or a name of zeros that means none of `names`, variables and streams of the program, nor a whole of
  // these, and a FILE.npz all of whose arrays are such.
  void reject_unknown(const std::set<std::string>& names) const;
  // Says which arrays of FILE.npz nobody will read, those of a run's outputs aside; "": none. A file may have more than a program takes, as
  // one of a step of training has for what runs on its weights.
  std::string unknown_arrays(const std::set<std::string>& names) const;
  // What ranks compare before they run: seed, zeros, and of each file what is in it, not where it is.
  std::string fingerprint() const;

 private:
  std::set<std::string> with_wholes(const std::set<std::string>& names) const;
  std::optional<ir::HostTensor> find(const std::string& name, ir::DType dtype) const;
  // Of what find() gives.
  std::optional<ir::Shape> shape_of(const std::string& name) const;
  bool begins_with_zeros(const std::string& name) const;
  bool has_whole(const std::string& name, const ir::Shape& shape) const;
  bool has_blocks(const std::string& name, const ir::Shape& shape) const;
  std::optional<ir::HostTensor> whole(const std::string& name, ir::DType dtype, const ir::Shape& shape) const;
  std::optional<ir::HostTensor> blocks(const std::string& name, ir::DType dtype, const ir::Shape& shape, std::int64_t wanted) const;

  std::vector<NpzReader> archives_;
  std::map<std::string, std::string> files_;
  std::map<std::string, ir::HostTensor> arrays_;
  std::vector<std::string> zeros_;
  std::optional<std::uint64_t> seed_;
  std::optional<transform::PieceTable> pieces_;
};

}  // namespace pando::ranks
