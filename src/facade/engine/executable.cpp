#include "poplar/Executable.hpp"

#include <sstream>

#include "base/archive.h"
#include "facade/builtin/builtin_codelets.h"
#include "facade/state/state.h"

namespace pando::facade {

using poplar::core::ExecutableState;

poplar::Executable Access::executable(std::unique_ptr<ExecutableState> state) {
  poplar::Executable e;
  e.state_ = std::move(state);
  return e;
}
std::unique_ptr<ExecutableState>& Access::slot(poplar::Executable& e) { return e.state_; }
const ExecutableState& Access::state(const poplar::Executable& e) {
  if (!e.state_) fail(ErrorKind::poplar_error, "no-executable", "this executable is default-constructed, or was moved from");
  return *e.state_;
}

}  // namespace pando::facade

namespace poplar {

using core::ExecutableState;
using pando::ErrorKind;
using pando::fail;
using pando::facade::Access;

namespace {

constexpr std::uint64_t kMagic = 0x31455845444e4150;  // "PANDEXE1"
constexpr std::uint64_t kLongestHeader = 64 << 20;

// What an executable file has before the tile program.
struct Header {
  std::string package;
  std::string target;
  std::vector<std::pair<std::string, std::string>> options;
  std::vector<std::uint64_t> graph_info;
  std::string out_of_memory;
};

template <class A, class H>
void header_members(A& a, H& h) {
  a(h.package, h.target, h.options, h.graph_info, h.out_of_memory);
}

std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}

std::uint64_t read_word(std::istream& in) {
  char bytes[8] = {};
  in.read(bytes, 8);
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, 8);
  return in ? word : ~std::uint64_t{0};
}

void write_word(std::ostream& out, std::uint64_t word) { out.write(reinterpret_cast<const char*>(&word), 8); }

[[noreturn]] void corrupt() {
  fail(ErrorKind::graph_object_load_error, "executable-corrupt", "the executable's header is damaged or cut off");
}

Header read_header(std::istream& in) {
  if (read_word(in) != kMagic) fail(ErrorKind::graph_object_load_error, "executable-foreign", "the data are no executable of this library");
  const std::uint64_t size = read_word(in), sum = read_word(in);
  if (size > kLongestHeader) corrupt();
  std::string bytes(size, '\0');
  if (!in.read(bytes.data(), static_cast<std::streamsize>(size)) || checksum(bytes) != sum) corrupt();
  Header h;
  pando::ArchiveReader reader(bytes);
  header_members(reader, h);
  if (!reader.ok() || h.graph_info.size() != 5) corrupt();
  return h;
}

// The modules of the program, in their order; codelets must come out with the numbers that the program uses.
pando::Library load_library(const pando::tile::Program& program) {
  pando::Library library;
  for (std::size_t i = 0; i < program.modules.size(); ++i) {
    if (program.modules[i].empty())
      pando::facade::add_builtin_codelets(library);  // the only ones that have no file
    else
      library.load_bytes(program.modules[i].get(), "module " + std::to_string(i));
  }
  library.link("0");
  for (std::size_t i = 0; i < program.codelet_names.size(); ++i) {
    const pando::CodeletId id(static_cast<std::uint32_t>(i));
    if (i >= library.size() || library[id].name != program.codelet_names[i])
      fail(ErrorKind::graph_object_load_error, "executable-codelets", "codelet {} of the executable is '{}', its modules have '{}'", i,
           program.codelet_names[i], i < library.size() ? library[id].name : "none");
  }
  return library;
}

}  // namespace

Executable::Executable() = default;
Executable::~Executable() = default;
Executable::Executable(Executable&&) noexcept = default;
Executable& Executable::operator=(Executable&&) noexcept = default;

void Executable::serialize(std::ostream& out) const {
  const ExecutableState& s = Access::state(*this);
  const pando::profile::GraphInfo& g = s.graph_info;
  const Header header{packageHash().cloneAsString(),
                      Access::state(s.target).key,
                      {s.options.begin(), s.options.end()},
                      {g.variables, g.vertices, g.compute_sets, g.edges, g.programs},
                      s.out_of_memory};
  pando::ArchiveWriter writer;
  header_members(writer, header);
  write_word(out, kMagic);
  write_word(out, writer.bytes().size());
  write_word(out, checksum(writer.bytes()));
  out.write(writer.bytes().data(), static_cast<std::streamsize>(writer.bytes().size()));
  pando::tile::write(*s.program, out);
  if (!out) fail(ErrorKind::file_load_error, "executable-write", "the executable cannot be written: the stream failed");
}

Executable Executable::deserialize(std::istream& in, bool checkPackageHash) {
  const Header h = read_header(in);
  if (checkPackageHash && h.package != packageHash().cloneAsString())
    fail(ErrorKind::graph_object_load_error, "executable-version", "the executable was made by '{}', this is '{}'", h.package,
         packageHash().cloneAsString());
  auto s = std::make_unique<ExecutableState>();
  std::istringstream target(h.target);
  s->target = Target(target);
  for (const auto& [name, value] : h.options) s->options.set(name, value);
  s->graph_info = {h.graph_info[0], h.graph_info[1], h.graph_info[2], h.graph_info[3], h.graph_info[4]};
  s->out_of_memory = h.out_of_memory;
  s->program = std::make_shared<const pando::tile::Program>(pando::tile::read(in));
  s->library = load_library(*s->program);
  pando::tile::check_bounds(*s->program, s->library);
  return Access::executable(std::move(s));
}

Executable Executable::deserialize(std::unique_ptr<std::istream> in, bool checkPackageHash) {
  if (!in) fail(ErrorKind::graph_object_load_error, "null-stream", "the stream of an executable is null");
  return deserialize(*in, checkPackageHash);
}

}  // namespace poplar
