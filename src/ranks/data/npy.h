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

// Rejects (value) what is no array in C order of a type that tensors have.
ir::HostTensor read_npy(const std::string& file);
// Of the same array, by its header; rejects the same.
ir::Shape shape_of_npy(const std::string& file);
// Size and checksum of the file: of a large one, of its ends and of a part of each MiB.
std::string fingerprint_of_npy(const std::string& file);

// The members of an archive; each is read when it is asked for. Rejects (value) a member whose bytes do not fit its checksum, and an
// archive whose directory is damaged.
class NpzReader {
 public:
  explicit NpzReader(const std::string& file);
  const std::string& file() const { return file_; }
  std::set<std::string> names() const;
  bool has(const std::string& name) const { return members_.contains(name); }
  ir::HostTensor read(const std::string& name) const;
  ir::Shape shape_of(const std::string& name) const;
  // Its members' names, sizes and checksums: the same for equal arrays, wherever the file is.
  std::string fingerprint() const;

 private:
  struct Member {
    std::uint64_t header = 0, size = 0;  // where its header begins; bytes
    std::uint32_t checksum = 0;
    std::string file;  // its name, with .npy
  };
  std::uint64_t data_of(const Member& member) const;  // where they begin

  std::string file_;
  std::map<std::string, Member> members_;
};

// Equal arrays give equal bytes: members are in the order given and carry no time.
void write_npz(const std::string& file, const std::vector<std::pair<std::string, ir::HostTensor>>& arrays);

}  // namespace pando::ranks
