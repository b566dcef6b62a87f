#include "codelet/runtime/checked_access.h"

#include "base/error.h"
#include "codelet/runtime/tile_context.h"
#include "codelet/store/codelet.h"

#include <cstring>
#include <string>

namespace pando {

namespace {

enum Form : unsigned { kElement, kVector, kRows };

// A piece of memory that a field stands for: its elements; the elements of one of its rows; the table of its rows.
struct FieldPiece {
  const char *begin = nullptr, *end = nullptr;
  std::uint64_t field = 0, row = 0;
  bool is_table = false;
  bool valid() const { return begin != nullptr; }
};

template <class T>
T at(const char* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

FieldPiece of_vector(const PandoCheckedField& f, const VectorEdge& edge) {
  const char* begin = static_cast<const char*>(edge.data);
  return {begin, begin + edge.size * f.element_bytes, 0, 0, false};
}

// A base lies in one piece, begins one, or is the end of one.
class Search {
 public:
  explicit Search(const char* base) : base_(base) {}

  void run(const TileContext& c) {
    const std::uint64_t n = c.checked->count;
    for (std::uint64_t i = 0; i < n && !begins_.valid(); ++i) field(c, (c.checked_hint + i) % n);
  }
  // Of a table of rows, the rows that are read one after the other come first.
  FieldPiece begins_, holds_, ends_, empty_;

 private:
  void field(const TileContext& c, std::uint64_t i) {
    const PandoCheckedField& f = c.checked->fields[i];
    const char* slot = c.checked_vertex + f.offset;
    if (f.form == kElement) {
      const char* begin = at<const char*>(slot);
      look({begin, begin + f.element_bytes, 0, 0, false}, i, 0);
      return;
    }
    const auto edge = at<VectorEdge>(slot);
    if (f.form == kVector) {
      look(of_vector(f, edge), i, 0);
      return;
    }
    const auto* rows = static_cast<const VectorEdge*>(edge.data);
    const char* table = static_cast<const char*>(edge.data);
    look({table, table + edge.size * sizeof(VectorEdge), 0, 0, true}, i, 0);
    for (std::uint64_t r = 0; r < edge.size && !begins_.valid(); ++r) look(of_vector(f, rows[r]), i, r);
  }
  void look(FieldPiece p, std::uint64_t field, std::uint64_t row) {
    p.field = field;
    p.row = row;
    if (p.begin == p.end) {
      if (p.begin == base_ && !empty_.valid()) empty_ = p;
    } else if (p.begin == base_) {
      begins_ = p;
    } else if (p.begin < base_ && base_ < p.end) {
      holds_ = p;
    } else if (p.end == base_) {
      ends_ = p;
    }
  }

  const char* base_;
};

// What a base is used for.
FieldPiece piece_of(const char* base, int exact, TileContext& c) {
  if (c.checked == nullptr || c.checked->count == 0 || base == nullptr) return {};
  Search s(base);
  s.run(c);
  FieldPiece found = s.begins_.valid() ? s.begins_ : s.holds_.valid() ? s.holds_ : s.empty_.valid() && exact ? s.empty_ : s.ends_;
  if (found.valid()) c.checked_hint = found.field;
  return found;
}

std::string element_text(const FieldPiece& p, const PandoCheckedField& f, const char* address, unsigned long long bytes) {
  const auto unit = static_cast<std::int64_t>(p.is_table ? sizeof(VectorEdge) : f.element_bytes);
  const char* last = address + bytes - 1;
  const std::int64_t off = (address < p.begin ? address : last < p.end ? address : last) - p.begin;
  const std::int64_t index = off < 0 ? -((-off + unit - 1) / unit) : off / unit;
  const std::int64_t size = (p.end - p.begin) / unit;
  if (p.is_table) return fmt::format("row {} of field '{}', which has {}", index, f.name, size);
  if (f.form == kRows) return fmt::format("element {} of row {} of field '{}', which has {}", index, p.row, f.name, size);
  return fmt::format("element {} of field '{}', which has {}", index, f.name, size);
}

std::string place_text(const char* place) { return place ? fmt::format(", at {}", place) : std::string(); }

// Of clang's runtime for -fsanitize=bounds: where, of what type.
struct ArrayType {
  std::uint16_t kind, info;
  char name[1];
};
struct ArrayFault {
  const char* file;
  std::uint32_t line, column;
  const ArrayType *array, *index;
};

}  // namespace

void checked_vertex(const PandoCheckedVertex* description, const char* vertex) {
  TileContext& c = tile_context();
  c.checked = description;
  c.checked_vertex = vertex;
  c.checked_hint = 0;
}

PandoCheckedRange checked_range(const char* base, int exact) {
  const FieldPiece p = piece_of(base, exact, tile_context());
  if (!p.valid()) return {0, ~0ull};
  PandoCheckedRange range{reinterpret_cast<std::uintptr_t>(p.begin), reinterpret_cast<std::uintptr_t>(p.end)};
  if (exact || p.begin != base) return range;
  // The end of what lies before, from which code may walk back.
  TileContext& c = tile_context();
  for (std::uint64_t i = 0; i < c.checked->count; ++i) {
    const PandoCheckedField& f = c.checked->fields[i];
    if (f.form != kVector) continue;
    const FieldPiece before = of_vector(f, at<VectorEdge>(c.checked_vertex + f.offset));
    if (before.end == base && before.begin != before.end) range.begin = reinterpret_cast<std::uintptr_t>(before.begin);
  }
  return range;
}

void checked_access(const char* base, const char* address, unsigned long long bytes, int writes, const char* place) {
  TileContext& c = tile_context();
  const FieldPiece p = piece_of(base, 1, c);
  const char* verb = writes ? "wrote" : "read";
  const std::string what = p.valid() ? element_text(p, c.checked->fields[p.field], address, bytes)
                                     : fmt::format("the address {}", static_cast<const void*>(address));
  fail(ErrorKind::application_runtime_error, "checked-access", "it {} {}{}", verb, what, place_text(place));
}

void checked_index(const void* array, unsigned long long index) {
  const auto& fault = *static_cast<const ArrayFault*>(array);
  const std::string place = fault.file && fault.line ? fmt::format("{}:{}", fault.file, fault.line) : std::string();
  fail(ErrorKind::application_runtime_error, "checked-access", "it used element {} of an array of type {}{}", static_cast<long long>(index),
       fault.array->name, place_text(place.empty() ? nullptr : place.c_str()));
}

}  // namespace pando
