#include "popc/options.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "codelet/store/cpu_features.h"

namespace pando::popc {

namespace {

// Names of targets whose vertices run as host code: the CPU itself, and the IPUs that are emulated.
const std::set<std::string> kTargets = {"cpu", "ipu1", "ipu2", "ipu21"};

bool starts_with(const std::string& s, const char* prefix) { return s.rfind(prefix, 0) == 0; }

std::string known_target(std::string name) {
  name = name.substr(0, name.find(':'));  // "ipu2:cpp": a variant
  if (kTargets.count(name) == 0) throw std::runtime_error("unknown target '" + name + "'; targets: " + known_targets(", "));
  return name;
}

// Hexadecimal behind 0x, as programs print it.
std::uint64_t address_of(const std::string& text) {
  const bool is_hexadecimal = starts_with(text, "0x") || starts_with(text, "0X");
  const char *const begin = text.data() + (is_hexadecimal ? 2 : 0), *const end = text.data() + text.size();
  std::uint64_t address = 0;
  const auto [stop, error] = std::from_chars(begin, end, address, is_hexadecimal ? 16 : 10);
  if (error == std::errc() && stop == end) return address;
  throw std::runtime_error("--source-of: '" + text + "' is no address; a number is expected, such as 0x1f40");
}

// A comma list, or a JSON array of strings and of objects with a "name".
std::vector<std::string> read_targets(const std::string& text) {
  std::vector<std::string> out;
  if (!starts_with(text, "[")) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      out.push_back(known_target(text.substr(begin, end - begin)));
      begin = end + 1;
    }
    return out;
  }
  const auto list = nlohmann::json::parse(text, nullptr, false);
  if (!list.is_array()) throw std::runtime_error("--target: malformed JSON: " + text);
  for (const auto& entry : list) {
    if (entry.is_object() && entry.contains("arch"))
      out.push_back(known_target(entry["arch"].get<std::string>()));
    else if (entry.is_string())
      out.push_back(known_target(entry.get<std::string>()));
    else
      throw std::runtime_error("--target: expected a string or an object with \"arch\": " + entry.dump());
  }
  return out;
}

// Code is compiled once. A host among the targets, and it sees a host; else it sees the first of the IPUs.
void choose_view(const std::string& text, Options& o) {
  const std::vector<std::string> targets = read_targets(text);
  const bool host = targets.empty() || std::find(targets.begin(), targets.end(), "cpu") != targets.end();
  o.ipu_version = host ? 0 : static_cast<unsigned>(std::stoul(targets.front().substr(3)));
}

// A comma list, sorted: worst first.
std::vector<std::string> read_levels(const std::string& text) {
  std::vector<std::string> out;
  std::string known;
  for (const ProcessorLevel& level : processor_levels()) {
    known += (known.empty() ? "" : ", ") + std::string(level.name);
    if (("," + text + ",").find("," + std::string(level.name) + ",") != std::string::npos) out.emplace_back(level.name);
  }
  if (out.empty() || static_cast<std::size_t>(std::count(text.begin(), text.end(), ',')) + 1 != out.size())
    throw std::runtime_error("--levels: '" + text + "' was found, a comma list of different levels was expected; levels: " +
                             (known.empty() ? "none for this kind of processor" : known));
  return out;
}

// Words of popc's own may begin with one dash or with two.
std::string with_two_dashes(const std::string& a) {
  static const std::set<std::string> kWords = {
      "target",      "list-targets", "version",           "help",   "expand-python", "describe", "source-of", "levels", "emit-llvm", "S",
      "print-count", "checked",      "list-instructions", "triple", "sysroot"};
  if (!starts_with(a, "-")) return a;
  const std::string word = a.substr(starts_with(a, "--") ? 2 : 1), name = word.substr(0, word.find('='));
  return kWords.count(name) ? "--" + word : a;
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
  static const std::set<std::string> kTwoWords = {"-I", "-D", "-U", "-include", "-isystem", "-iquote", "-idirafter", "-Xclang", "-mllvm"};
  Options o;
  std::size_t i = 0;
  const auto value = [&](const std::string& flag) -> const std::string& {
    if (++i >= arguments.size()) throw std::runtime_error("missing argument after '" + flag + "'");
    return arguments[i];
  };
  for (; i < arguments.size(); ++i) {
    const std::string a = with_two_dashes(arguments[i]);
    if (a == "-" || !starts_with(a, "-"))
      o.inputs.push_back(a);
    else if (a == "-o")
      o.output = value(a);
    else if (a == "--target")
      choose_view(value(a), o);
    else if (starts_with(a, "--target="))
      choose_view(a.substr(9), o);
    else if (starts_with(a, "--levels="))
      o.levels = read_levels(a.substr(9));
    else if (starts_with(a, "--triple="))
      o.triple = a.substr(9);
    else if (starts_with(a, "--sysroot="))
      o.sysroot = a.substr(10);
    else if (a == "--list-targets")
      o.action = Action::list_targets;
    else if (a == "--list-instructions")
      o.action = Action::list_instructions;
    else if (a == "--version")
      o.action = Action::version;
    else if (a == "--help" || a == "-h")
      o.action = Action::help;
    else if (a == "--expand-python")
      o.action = Action::expand_python;
    else if (a == "--describe")
      o.action = Action::describe;
    else if (starts_with(a, "--source-of=")) {
      o.action = Action::source_of;
      o.address = address_of(a.substr(12));
    } else if (a == "--S")
      o.action = o.action == Action::print_ir ? o.action : Action::print_assembly;
    else if (a == "--emit-llvm")
      o.action = Action::print_ir;
    else if (a == "--print-count")
      o.action = Action::print_count;
    else if (a == "-c")
      o.bitcode_only = true;
    else if (a == "-MF")
      o.depfile = value(a);
    else if (a == "-l")
      o.libraries.push_back(value(a));
    else if (starts_with(a, "-l"))
      o.libraries.push_back(a.substr(2));
    else if (a == "-L")
      o.library_folders.push_back(value(a));
    else if (starts_with(a, "-L"))
      o.library_folders.push_back(a.substr(2));
    else if (a == "-X")
      o.clang_flags.push_back(value(a));
    else if (starts_with(a, "-X="))
      o.clang_flags.push_back(a.substr(3));
    else if (starts_with(a, "-X-"))
      o.clang_flags.push_back(a.substr(2));
    else if (a == "-x")
      o.is_c = value(a) == "c";
    else if (a == "-fno-short-loops")
      o.short_loops = false;
    else if (a == "-fno-strided")
      o.strided = false;
    else if (a == "-fno-count")
      o.counts = false;
    else if (a == "--checked")
      o.checked = true;
    else if (starts_with(a, "-O"))
      o.level = a.size() > 2 ? a[2] : '1';
    else if (starts_with(a, "-o"))
      o.output = a.substr(2);
    else {
      o.own_march = o.own_march || starts_with(a, "-march=");
      o.clang_flags.push_back(a);
      if (kTwoWords.count(a)) o.clang_flags.push_back(value(a));
    }
  }
  if (o.checked) o.short_loops = o.strided = false;  // second copies of the same code
  if (o.own_march && !o.levels.empty()) throw std::runtime_error("both -march and --levels were given; one is expected");
  if (o.triple.empty() != o.sysroot.empty())
    throw std::runtime_error(std::string(o.triple.empty() ? "--sysroot" : "--triple") +
                             " was given alone; --triple and --sysroot are expected together");
  if (!o.triple.empty() && !o.levels.empty()) throw std::runtime_error("both --triple and --levels were given; one is expected");
  return o;
}

std::string known_targets(const std::string& between) {
  std::string all;
  for (const std::string& name : kTargets) all += (all.empty() ? "" : between) + name;
  return all;
}

std::string target_of(const Options& options) { return options.ipu_version == 0 ? "cpu" : "ipu" + std::to_string(options.ipu_version); }

std::string help_text() {
  return R"(popc: compiles codelets (C++ and C, with clang) and links .gp files.

  popc [flags] inputs... -o out.gp     inputs: .cpp .c .S, what popc wrote (.gp, .o ...), - for C++ text on standard input
  popc --describe file.gp              prints the vertices and fields of a .gp
  popc --source-of=ADDRESS file.gp     prints FILE:LINE of an address of its code, if it was compiled with -g
  popc --expand-python file.cpp        prints the source with its inline Python replaced by calls of libIPUpy.hpp

  -o FILE              the output (a.gp); -: standard output
  -O0 ... -O3 -Os      how much to optimise (-O3)
  -fno-short-loops     loops have no second copy for few iterations
  --checked            accesses through edges are compared with their sizes: what is outside ends the run with an error that names
                       vertex, field, element and tile, and the line of the source. Also of .gp files, which keep their bitcode
  -fno-strided         no second entry for vertices whose operands lie at equal strides
  -fno-count           no code that counts the cycles of vertices
  -g -I -D -U -W -std  as clang
  --target NAMES       targets, as a comma list or a JSON array; vertices of all of them run as host code. Without a host among them
                       __IPU__ and __IPU_ARCH_VERSION__ are defined
  --list-targets       prints the targets
  --list-instructions  prints the instructions of workers that assembly may have: name, operands, pipe, slots, meaning
  --levels=L1,L2,...   code for each of these levels of x86-64 (x86-64-v2, x86-64-v3, x86-64-v4) beside each other, from one pass of the
                       front end, which sees the lowest; loading takes the best that the processor runs. Else: code for this processor
  --triple=T --sysroot=FOLDER
                       code for another architecture (aarch64-linux-gnu), whose headers and libraries lie in FOLDER, for any of its processors
  -S                   writes assembly text instead of a .gp
  --emit-llvm          writes LLVM IR text instead of a .gp
  --print-count        prints the instructions of a tile that each function is counted as, in bundles, instead of writing a .gp
  -X FLAG, -XFLAG      a flag for clang; -Xclang and -mllvm as clang
  -x c                 standard input is C
  -c                   no code yet: the .gp is for a later popc that links it with others
  -lNAME -LFOLDER      the codelets call libNAME.so, found in FOLDER or beside libpoplar.so; loaded with the .gp
  -MF FILE             writes a makefile rule that names the files read
  --version            prints the version
)";
}

}  // namespace pando::popc
