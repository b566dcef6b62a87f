#include "ranks/data/data.h"

#include "base/sizes.h"
#include "ir/error.h"
#include "ir/meaning/made_data.h"
#include "ir/text/print.h"
#include "ranks/data/pieces.h"
#include "transform/distribute/parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace pando::ranks {

using namespace ir;

namespace {

// What a run writes beside its variables: such a file may be the next run's input.
constexpr std::string_view kOutput = "output/";

HostTensor piece_of(const HostTensor& whole, const Shape& start, const Shape& shape, const std::string& name) {
  return transform::part_of(whole, start, box_of(whole.shape(), start, shape, name)).reshaped(shape);
}

Shape with_blocks(std::int64_t n, const Shape& shape) {
  Shape all{n};
  all.insert(all.end(), shape.begin(), shape.end());
  return all;
}

std::string some_of(const std::set<std::string>& names) {
  constexpr std::size_t kShown = 12;
  std::string some;
  std::size_t shown = 0;
  for (auto n = names.begin(); n != names.end() && shown < kShown; ++n, ++shown) some += (some.empty() ? "" : ", ") + print_name(*n);
  return names.empty() ? "none" : some + (names.size() > kShown ? " ..." : "");
}

void check_made(const std::string& name, DType dtype, const Shape& shape, std::int64_t blocks) {
  const auto bytes = static_cast<std::uint64_t>(elements_of(shape)) * size_of(dtype);
  check_host_memory(
      saturating_mul(bytes, static_cast<std::uint64_t>(blocks)), ErrorKind::poplar_error,
      fmt::format("{} blocks of {} bytes are made for stream '{}'; an --input may have fewer, a run begins again at the first", blocks,
                  bytes, name));
}

}  // namespace

void Data::add_file(const std::string& what) {
  const std::size_t equals = what.find('=');
  if (equals != std::string::npos) {
    files_[what.substr(0, equals)] = what.substr(equals + 1);
  } else if (what.ends_with(".npz")) {
    archives_.insert(archives_.begin(), NpzReader(what));
  } else {
    reject(ErrorClass::value, "input", "'{}': an input is FILE.npz or NAME=FILE.npy", what);
  }
}

std::set<std::string> Data::with_wholes(const std::set<std::string>& names) const {
  std::set<std::string> known = names;
  for (const std::string& name : names) {
    if (!pieces_) break;
    if (const auto* piece = pieces_->variable(name)) known.insert(piece->whole);
    for (const auto* piece : pieces_->stream(name)) known.insert(piece->whole);
  }
  return known;
}

void Data::reject_unknown(const std::set<std::string>& names) const {
  const std::set<std::string> known = with_wholes(names);
  const auto check = [&](const char* option, const std::string& name) {
    const auto meant = [&](const std::string& k) { return name.starts_with('*') ? k.ends_with(name.substr(1)) : k == name; };
    if (std::any_of(known.begin(), known.end(), meant)) return;
    reject(ErrorClass::value, "unknown-name", "{} {}: the program has no variable or stream of that name; it has {}", option, name,
           some_of(known));
  };
  for (const auto& [name, file] : files_) check("--input", name);
  for (const std::string& name : zeros_) check("--zeros", name);
  for (const NpzReader& archive : archives_) {
    const std::set<std::string> there = archive.names();
    if (std::any_of(there.begin(), there.end(), [&](const std::string& name) { return known.contains(name); })) continue;
    reject(ErrorClass::value, "unknown-name", "--input {}: its arrays, {}, are not variables or streams of the program, which has {}",
           archive.file(), some_of(there), some_of(known));
  }
}

std::string Data::unknown_arrays(const std::set<std::string>& names) const {
  const std::set<std::string> known = with_wholes(names);
  std::string text;
  for (const NpzReader& archive : archives_) {
    std::set<std::string> unknown;
    for (const std::string& name : archive.names())
      if (!known.contains(name) && !name.starts_with(kOutput)) unknown.insert(name);
    if (unknown.empty()) continue;
    text += fmt::format("{}--input {}: the program has no variable or stream {}: not read", text.empty() ? "" : "; ", archive.file(),
                        some_of(unknown));
  }
  return text;
}

std::string Data::fingerprint() const {
  std::string text = seed_ ? fmt::format("seed {}\n", *seed_) : "";
  for (const std::string& names : zeros_) text += fmt::format("zeros {}\n", names);
  for (const NpzReader& archive : archives_) text += "archive\n" + archive.fingerprint();
  for (const auto& [name, file] : files_) text += fmt::format("{} {}\n", name, fingerprint_of_npy(file));
  return text;
}

std::optional<HostTensor> Data::find(const std::string& name, DType dtype) const {
  std::optional<HostTensor> t;
  if (const auto a = arrays_.find(name); a != arrays_.end()) {
    t = a->second;
  } else if (const auto f = files_.find(name); f != files_.end()) {
    t = read_npy(f->second);
  } else {
    for (const NpzReader& archive : archives_) {
      if (!t && archive.has(name)) t = archive.read(name);
    }
  }
  if (t && t->dtype() != dtype) t = t->converted(dtype);
  return t;
}

std::optional<Shape> Data::shape_of(const std::string& name) const {
  if (const auto a = arrays_.find(name); a != arrays_.end()) return a->second.shape();
  if (const auto f = files_.find(name); f != files_.end()) return shape_of_npy(f->second);
  for (const NpzReader& archive : archives_) {
    if (archive.has(name)) return archive.shape_of(name);
  }
  return std::nullopt;
}

bool Data::begins_with_zeros(const std::string& name) const {
  return std::any_of(zeros_.begin(), zeros_.end(),
                     [&](const std::string& z) { return z.starts_with('*') ? name.ends_with(z.substr(1)) : name == z; });
}

bool Data::has_whole(const std::string& name, const Shape& shape) const {
  const std::optional<Shape> there = shape_of(name);
  if (there && *there != shape)
    reject(ErrorClass::value, "array-shape", "'{}' is an array of shape {}; {} is wanted", name, to_string(*there), to_string(shape));
  return there || begins_with_zeros(name) || seed_;
}

std::optional<HostTensor> Data::whole(const std::string& name, DType dtype, const Shape& shape) const {
  if (!has_whole(name, shape)) return std::nullopt;
  std::optional<HostTensor> t = find(name, dtype);
  if (!t && begins_with_zeros(name)) t.emplace(dtype, shape);
  if (!t && seed_) make_data(*seed_, name, t.emplace(dtype, shape));
  return t;
}

bool Data::has_blocks(const std::string& name, const Shape& shape) const {
  const std::optional<Shape> there = shape_of(name);
  if (there && (there->size() != shape.size() + 1 || *there != with_blocks((*there)[0], shape) || (*there)[0] < 1)) {
    reject(ErrorClass::value, "array-shape", "stream '{}' takes blocks of shape {}, one after the other: an array of shape {} is no such",
           name, to_string(shape), to_string(*there));
  }
  return there || seed_;
}

std::optional<HostTensor> Data::blocks(const std::string& name, DType dtype, const Shape& shape, std::int64_t wanted) const {
  if (!has_blocks(name, shape)) return std::nullopt;
  std::optional<HostTensor> t = find(name, dtype);
  if (!t && seed_) make_data(*seed_, name, t.emplace(dtype, with_blocks(wanted, shape)));
  return t;
}

bool Data::has_variable(const std::string& name, const Shape& shape) const {
  if (shape_of(name) == shape) return true;
  const transform::PieceTable::Entry* piece = pieces_ ? pieces_->variable(name) : nullptr;
  if (!piece) return has_whole(name, shape);
  const Shape& all = pieces_->shape_of(piece->whole);
  if (!has_whole(piece->whole, all)) return false;
  box_of(all, piece->start, shape, name);
  return true;
}

bool Data::has_stream(const std::string& name, DType dtype, const Shape& shape, std::int64_t wanted) const {
  const auto loads = pieces_ ? pieces_->stream(name) : std::vector<const transform::PieceTable::Entry*>();
  if (!shape_of(loads.empty() ? name : loads[0]->whole) && seed_) check_made(name, dtype, shape, wanted);
  if (loads.empty()) return has_blocks(name, shape);
  const Shape& all = pieces_->shape_of(loads[0]->whole);
  if (!has_blocks(loads[0]->whole, all)) return false;
  for (const auto* load : loads) {
    Shape start{0};
    start.insert(start.end(), load->start.begin(), load->start.end());
    box_of(with_blocks(1, all), start, with_blocks(1, shape), name);
  }
  return true;
}

std::optional<HostTensor> Data::variable(const std::string& name, DType dtype, const Shape& shape) const {
  if (auto t = find(name, dtype); t && t->shape() == shape) return t;
  const transform::PieceTable::Entry* piece = pieces_ ? pieces_->variable(name) : nullptr;
  if (!piece) return whole(name, dtype, shape);
  const auto all = whole(piece->whole, dtype, pieces_->shape_of(piece->whole));
  if (!all) return std::nullopt;
  return piece_of(*all, piece->start, shape, name);
}

std::optional<HostTensor> Data::stream(const std::string& name, DType dtype, const Shape& shape, std::int64_t wanted) const {
  const auto loads = pieces_ ? pieces_->stream(name) : std::vector<const transform::PieceTable::Entry*>();
  if (loads.empty()) return blocks(name, dtype, shape, wanted);
  const auto n = static_cast<std::int64_t>(loads.size());
  const std::int64_t steps = (wanted + n - 1) / n;
  const auto all = blocks(loads[0]->whole, dtype, pieces_->shape_of(loads[0]->whole), steps);
  if (!all) return std::nullopt;
  const std::int64_t there = all->shape()[0];
  HostTensor out(dtype, with_blocks(there * n, shape));
  for (std::int64_t i = 0; i < there * n; ++i) {
    Shape start{i / n};
    const Shape& inner = loads[static_cast<std::size_t>(i % n)]->start;
    start.insert(start.end(), inner.begin(), inner.end());
    Shape to(shape.size() + 1);
    to[0] = i;
    transform::put_part(out, piece_of(*all, start, with_blocks(1, shape), name), to);
  }
  return out;
}

}  // namespace pando::ranks
