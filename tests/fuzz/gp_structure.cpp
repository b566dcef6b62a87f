// Codelet object files whose descriptions are changed and whose checksums fit again: rejected, or vertices of them are laid out, compiled
// and run; never a crash. Their code is replaced by some that does nothing, since native code is believed.
//
//   fuzz_gp [--seed S|new] [--runs N] [--seconds T]
#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <iostream>
#include <sstream>

#include "codelet/hand_made.h"
#include "codelet/store/gp_file.h"
#include "codelets.h"
#include "compile/compile.h"
#include "exec/runner.h"
#include "graph/graph.h"
#include "random.h"
#include "structure.h"

namespace pando::fuzz {
namespace {

// The header of a .gp (codelet/store/gp_file.h).
constexpr std::size_t kDescriptionSizeAt = 16, kSumAt = 40, kHead = 48;

// Descriptions as popc writes them, without code: they lack a symbol, so that nothing is loaded.
std::vector<GpFile> good_files() {
  Library library;
  add_codelets(library);
  std::vector<GpFile> files(4);
  for (std::uint32_t i = 0; i < library.size(); ++i) {
    Codelet c = library[CodeletId(i)];
    c.kernel = nullptr;
    c.entry = "pando_kernel:" + c.name;
    files[i % files.size()].description.codelets.push_back(std::move(c));
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    GpDescription& d = files[i].description;
    d.undefined = {"missing"};
    d.defined = {"a", "b"};
    d.target = "ipu2";
    d.globals_size = 64 * i;
    d.globals_align = 8;
    d.dependencies = {{"a.cpp", 17}};
    d.codelets.resize(std::min<std::size_t>(d.codelets.size(), 2 * i + 1));
    if (i == 2) d.codelets[0].reserved = {4096, 512, "image"};
    if (i == 3) d.codelets[0].shared_ranges = {{8192, 64, ""}};
    files[i].bitcode = std::string(24, 'b');
  }
  return files;
}

// A number of the description, whatever it is, by its meaning.
void change_meaning(GpDescription& d, Random& random) {
  Codelet& c = d.codelets[random.below(d.codelets.size())];
  const auto number = [&] {
    return static_cast<std::uint32_t>(random.chance(50) ? random.below(64) : kNumbers[random.below(std::size(kNumbers))]);
  };
  Field none;
  Field& f = c.fields.empty() ? none : c.fields[random.below(c.fields.size())];
  switch (random.below(18)) {
    case 0: c.host_size = number(); break;
    case 1: c.host_align = number(); break;
    case 2: f.host_offset = number(); break;
    case 3: f.host_size = number(); break;
    case 4: f.min_align = number(); break;
    case 5: f.kind = static_cast<FieldKind>(random.below(5)); break;
    case 6: f.shape = static_cast<FieldShape>(random.below(5)); break;
    case 7: f.layout = static_cast<FieldLayout>(random.below(11)); break;
    case 8: f.inner_layout = static_cast<FieldLayout>(random.below(11)); break;
    case 9: f.type = static_cast<ElementType>(random.below(16)); break;
    case 10: f.scalar_rows = !f.scalar_rows; break;
    case 11: f.interleaved = !f.interleaved; break;
    case 12: c.code_bytes = number(); break;
    case 13: c.stack_bytes = number(); break;
    case 14:
      c.reserved = {kNumbers[random.below(std::size(kNumbers))], kNumbers[random.below(std::size(kNumbers))],
                    random.chance(50) ? "image" : ""};
      break;
    case 15: d.globals_size = kNumbers[random.below(std::size(kNumbers))]; break;
    case 16: d.globals_align = number(); break;
    default: c.fields.push_back(f);
  }
}

std::string changed(const GpFile& good, Random& random) {
  if (random.chance(50)) {
    GpFile file = good;
    for (std::uint64_t n = random.between(1, 3); n > 0; --n) change_meaning(file.description, random);
    return write_gp(file);
  }
  std::string bytes = write_gp(good);
  std::uint64_t description = 0;
  std::memcpy(&description, &bytes[kDescriptionSizeAt], 8);
  if (random.chance(10)) {  // the sizes of the parts, too, which have to add up
    const std::uint64_t less = random.below(description);
    description -= less;
    std::uint64_t bitcode = 24 + less;
    std::memcpy(&bytes[kDescriptionSizeAt], &description, 8);
    std::memcpy(&bytes[kDescriptionSizeAt + 8], &bitcode, 8);
  } else {
    change_numbers(bytes, kHead, kHead + description, random);
  }
  const std::uint64_t sum = content_hash(std::string_view(bytes).substr(kHead), content_hash(std::string_view(bytes).substr(0, kSumAt)));
  std::memcpy(&bytes[kSumAt], &sum, 8);
  return bytes;
}

// Vertices of what was read, in a program that runs them.
void use(const GpDescription& description, Random& random) {
  std::vector<Codelet> codelets = description.codelets;
  for (Codelet& c : codelets) c.kernel = no_work;
  graph::Graph g(*find_machine("tiny4"), 1);
  g.library().add_builtin("nothing", codelets);
  g.images.emplace_back("image", std::string(64, 'i'));
  const ComputeSetId set = g.add_compute_set("set");
  for (const Codelet& c : codelets) {
    const VertexId v = g.add_vertex(set, c.name);
    const TileId tile(static_cast<std::uint32_t>(random.below(4)));
    g.set_tile_mapping(v, tile);
    for (const Field& f : c.fields) {
      const std::size_t n = f.shape == FieldShape::scalar ? 1 : random.between(1, 9);
      const auto fresh = [&](std::size_t elements) {
        const graph::View view = g.view(g.add_variable(f.type, {elements}, f.name));
        g.set_tile_mapping(view, tile);
        return view;
      };
      if (!f.is_edge())
        g.set_initial_value({v, f.name, {}}, f.type, std::string(n * size_of(f.type), '\1'), n);
      else if (f.shape == FieldShape::scalar)
        g.connect({v, f.name, {}}, fresh(1).index(0));
      else if (f.shape == FieldShape::vector)
        g.connect({v, f.name, {}}, fresh(n));
      else
        g.connect({v, f.name, {}},
                  std::vector<graph::View>{f.scalar_rows ? fresh(1).index(0) : fresh(n), f.scalar_rows ? fresh(1).index(0) : fresh(2)});
    }
  }
  const std::vector<graph::ProgramPtr> programs = {graph::make_program(graph::Execute{set, {}})};
  graph::verify(g, programs);
  compile::Options options;
  options.bounded_memory = true;
  const compile::Result result = compile::compile(g, programs, options);
  if (result.out_of_memory) return;
  exec::Options how;
  how.threads = 1;
  exec::Runner runner(result.program, g.library(), how);
  runner.run(0);
}

struct Counts {
  std::uint64_t files = 0, read = 0, used = 0, ran = 0;
  std::string error;  // the last one
};

void take(const std::string& bytes, Random& random, Counts& counts) {
  ++counts.files;
  try {
    const GpFile file = read_gp(bytes, "changed.gp");
    ++counts.read;
    static_cast<void>(describe(file.description));
    // Code is not run, and what names features of processors would be compiled again.
    if (!file.description.objects.empty() || file.description.undefined.empty()) return;
    Library().load_bytes(bytes, "changed.gp");
    if (random.below(8) != 0) return;
    ++counts.used;
    use(file.description, random);
    ++counts.ran;
  } catch (const std::exception& e) {
    if (std::string(e.what()).empty()) std::abort();
    counts.error = e.what();
  }
}

int run(std::uint64_t seed, std::uint64_t runs, double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<GpFile> good = good_files();
  Counts counts, of_good;
  for (const GpFile& file : good) {
    for (int n = 0; n < 40; ++n) {
      Random random(static_cast<std::uint64_t>(n));
      take(write_gp(file), random, of_good);
    }
  }
  if (of_good.read != of_good.files || of_good.ran != of_good.used || of_good.used == 0)
    return std::cout << fmt::format("of {} good files {} are read; of {} used {} ran: {}\n", of_good.files, of_good.read, of_good.used,
                                    of_good.ran, of_good.error),
           1;
  for (std::uint64_t i = 0; i < runs; ++i) {
    if (i % 256 == 0 && std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > seconds) break;
    Random random(seed + i);
    take(changed(good[random.below(good.size())], random), random, counts);
  }
  std::cout << fmt::format("{} changed files, {} of them read, {} used, {} ran to their end; no crash\n", counts.files, counts.read,
                           counts.used, counts.ran);
  return 0;
}

}  // namespace
}  // namespace pando::fuzz

int main(int argc, char** argv) { return pando::fuzz::run_arguments(argc, argv, pando::fuzz::run); }
