// NumPy's files: .npy (one array), .npz (a ZIP archive of .npy members, as numpy.savez writes it: not compressed).
#pragma once

#include "ir/host_tensor.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pando::ranks {

// Refuses (value) what is no array in C order of a type that tensors have.
ir::HostTensor read_npy(const std::string& file);
// Of the same array, by its header; refuses the same.
ir::Shape shape_of_npy(const std::string& file);

// The members of an archive; each is read when it is asked for.
class NpzReader {
 public:
  explicit NpzReader(const std::string& file);
  const std::string& file() const { return file_; }
  std::set<std::string> names() const;
  bool has(const std::string& name) const { return members_.contains(name); }
  ir::HostTensor read(const std::string& name) const;
  ir::Shape shape_of(const std::string& name) const;

 private:
  // Where the member's bytes are; how many.
  std::pair<std::uint64_t, std::uint64_t> place_of(const std::string& name) const;

  std::string file_;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> members_;  // where its header begins; size
};

// Equal arrays give equal bytes: members are in the order given and carry no time.
void write_npz(const std::string& file, const std::vector<std::pair<std::string, ir::HostTensor>>& arrays);

}  // namespace pando::ranks
