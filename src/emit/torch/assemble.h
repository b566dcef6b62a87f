// Programs of devices as a folder of files.
#pragma once

#include "emit/emit.h"
#include "emit/torch/program_text.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace pando::emit {

// Tensors in NAME.bin, one behind the other; NAME.json says where.
class TensorFile {
 public:
  // `allowed`: a further number of the entry.
  void add(const std::string& name, const ir::HostTensor& t, const double* allowed = nullptr);
  // What nobody writes: equal bytes are there once.
  void share(const std::string& name, const ir::HostTensor& t);
  bool empty() const { return entries_.empty(); }
  void put(const std::string& name, std::vector<File>& files) const;

 private:
  void enter(const std::string& name, const ir::HostTensor& t, std::size_t at, const double* allowed);

  std::vector<std::string> entries_;
  std::string bytes_;
  // Where shared bytes begin, by their checksum.
  std::multimap<std::uint64_t, std::size_t> shared_;
};

struct Rank {
  std::int32_t device = 0;
  std::size_t program = 0;
  ProgramText text;
};

// Everything by which programs may differ.
std::string program_key(const ir::TypeTable& types, const ProgramText& program);

// `write(device, as_key)`: the text of one device's program, or what stands for it: devices with equal program keys share a file.
std::vector<Rank> ranks_of(const ir::TypeTable& types, const std::vector<std::int32_t>& devices,
                           const std::function<ProgramText(std::int32_t device, bool as_key)>& write, std::vector<ProgramText>& programs);

void add_programs(const ir::TypeTable& types, const std::vector<ProgramText>& programs, const std::vector<Rank>& ranks, Emitted& out);
void add_layout(const ir::TypeTable& types, const std::vector<Rank>& ranks, const Options& options, Emitted& out);
// runtime.py, run.py, check.py, launch.sh; of functions.py what the programs use.
void add_support(const std::vector<ProgramText>& programs, std::size_t ranks, Emitted& out);

// A file of python/.
std::string_view python_file(std::string_view name);

}  // namespace pando::emit
