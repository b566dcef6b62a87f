#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/json_depth.h"
#include "profile/damage/damaged.h"
#include "profile/file/container.h"

namespace pando::profile {

namespace {

constexpr std::size_t kHead = 12, kFoot = 28;
constexpr std::uint64_t kMostDeflated = 1032;  // bytes that zlib can make of one

template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return value;
}

struct ColumnState {
  Holds holds = Holds::number;
  std::string table;
  std::vector<Chunk> chunks;
  bool is_read = false;
  std::vector<std::uint64_t> values;
};
struct TableState {
  std::uint64_t rows = 0;
  std::map<std::string, ColumnState, std::less<>> columns;
};

std::uint64_t whole(const Json& json, std::string_view where) {
  if (!json.is_number_unsigned()) damaged(where, std::string("expected a whole number, found ") + json.type_name());
  const auto value = json.get<std::uint64_t>();
  if (value > kLargestNumber) damaged(where, fmt::format("{} is too large", value));
  return value;
}

const Json& part(const Json& object, const char* name, std::string_view where) {
  if (!object.is_object() || !object.contains(name)) damaged(where, fmt::format("'{}' is missing", name));
  return object[name];
}

Holds holds_of(const Json& json, std::string_view where) {
  for (const Holds h : {Holds::number, Holds::real, Holds::text, Holds::row, Holds::maybe_row, Holds::end})
    if (json == name_of(h)) return h;
  damaged(where, fmt::format("columns hold number, real, text, row, maybe_row or end, not {}", json.dump()));
}

// What a file begins and ends with: where its index is.
Json footer_of(std::string_view bytes) {
  if (!Container::is_one(bytes))
    fail(ErrorKind::parse_error, "report-foreign", "this is not a report of Pando: it does not begin with {}", kMagic);
  if (bytes.size() < kHead + kFoot)
    fail(ErrorKind::parse_error, "report-cut", "the report is cut off: it has {} bytes, the shortest one {}", bytes.size(), kHead + kFoot);
  const auto version = number_at<std::uint32_t>(bytes, kMagic.size());
  if (version != kFileVersion)
    fail(ErrorKind::parse_error, "report-version", "the report has version {}, this Pando reads version {} (and 3, as JSON)", version,
         kFileVersion);
  if (bytes.substr(bytes.size() - kEndMagic.size()) != kEndMagic)
    fail(ErrorKind::parse_error, "report-cut",
         "the report is cut off after {} bytes: it does not end with {}. The program that wrote it was stopped, or the file was copied in "
         "part",
         bytes.size(), kEndMagic);
  const std::size_t foot = bytes.size() - kFoot;
  return {number_at<std::uint64_t>(bytes, foot), number_at<std::uint32_t>(bytes, foot + 8), number_at<std::uint32_t>(bytes, foot + 12),
          number_at<std::uint32_t>(bytes, foot + 16)};
}

}  // namespace

struct Container::State {
  std::string bytes;
  std::string writer;
  std::size_t chunk_rows = kChunkRows;
  std::map<std::string, FilePiece, std::less<>> documents;
  std::map<std::string, TableState, std::less<>> tables;
  bool has_strings = false;
  std::vector<std::string> strings;

  std::string inflate(const FilePiece& p, std::string_view what) const;
  FilePiece piece_of(const Json& list, std::size_t least, std::string_view where) const;
  // The index; where it lies.
  Json index_of(FilePiece* at = nullptr) const;
  void read_index(const Json& index);
  void read_table(const std::string& name, const Json& json);
  std::size_t rows_of_chunk(const TableState& t, std::size_t chunk) const {
    return static_cast<std::size_t>(std::min<std::uint64_t>(chunk_rows, t.rows - chunk * chunk_rows));
  }
  void read_chunk(const TableState& t, const ColumnState& c, std::size_t chunk, std::string_view what,
                  std::vector<std::uint64_t>& out) const;
  // Of values from row `first` on; `last`: the one before them, of a column of ends.
  void check_values(const ColumnState& c, const std::vector<std::uint64_t>& values, std::string_view what, std::uint64_t first = 0,
                    std::uint64_t last = 0);
  // All of a column, a chunk at a time; nothing is kept.
  void check_column(const TableState& t, const ColumnState& c, std::string_view what);
  void read_strings();
  const ColumnState* find(std::string_view table, std::string_view column, const TableState** t) const;
};

std::string Container::State::inflate(const FilePiece& p, std::string_view what) const {
  const auto* from = reinterpret_cast<const Bytef*>(bytes.data()) + p.offset;
  if (crc32(0, from, static_cast<uInt>(p.stored)) != p.crc)
    damaged(what, fmt::format("its checksum does not fit the bytes {} to {} of the file", p.offset, p.offset + p.stored));
  std::string out(p.bytes, '\0');
  uLongf size = static_cast<uLongf>(p.bytes);
  if (uncompress(reinterpret_cast<Bytef*>(out.data()), &size, from, static_cast<uLong>(p.stored)) != Z_OK || size != p.bytes)
    damaged(what, fmt::format("the bytes {} to {} of the file do not inflate to {} bytes", p.offset, p.offset + p.stored, p.bytes));
  return out;
}

FilePiece Container::State::piece_of(const Json& list, std::size_t least, std::string_view where) const {
  if (!list.is_array() || list.size() < least) damaged(where, fmt::format("expected a list of {} numbers", least));
  FilePiece p{whole(list[0], where), whole(list[1], where), whole(list[2], where), 0};
  const std::uint64_t crc = whole(list[3], where);
  p.crc = static_cast<std::uint32_t>(crc);
  if (crc > 0xffff'ffff || p.offset < kHead || p.stored > bytes.size() || p.offset > bytes.size() - p.stored)
    damaged(where, fmt::format("it names the bytes {} to {}; the file has {}", p.offset, p.offset + p.stored, bytes.size()));
  if (p.stored > 0xffff'ffff || p.bytes > p.stored * kMostDeflated)
    damaged(where, fmt::format("{} bytes cannot inflate to {}", p.stored, p.bytes));
  return p;
}

void Container::State::read_table(const std::string& name, const Json& json) {
  TableState& table = tables[name];
  table.rows = whole(part(json, "rows", name), name);
  const Json& columns = part(json, "columns", name);
  if (!columns.is_object()) damaged(name, "'columns' is not an object");
  const std::uint64_t chunks = (table.rows + chunk_rows - 1) / chunk_rows;
  for (const auto& [column, spec] : columns.items()) {
    const std::string where = name + "." + column;
    ColumnState& c = table.columns[column];
    c.holds = holds_of(part(spec, "holds", where), where);
    if (spec.contains("table")) {
      if (!spec["table"].is_string()) damaged(where, "'table' is not a text");
      c.table = spec["table"].get<std::string>();
    }
    const Json& list = part(spec, "chunks", where);
    if (!list.is_array() || list.size() != chunks)
      damaged(where, fmt::format("{} rows have {} chunks, found {}", table.rows, chunks, list.is_array() ? list.size() : 0));
    for (std::size_t i = 0; i < list.size(); ++i) {
      Chunk k{piece_of(list[i], 7, where), 0, 0, false};
      const std::uint64_t width = whole(list[i][4], where);
      k.base = whole(list[i][5], where);
      k.sums = whole(list[i][6], where) != 0;
      if (width != 1 && width != 2 && width != 4 && width != 8) damaged(where, fmt::format("numbers have {} bytes", width));
      k.width = static_cast<unsigned>(width);
      if (k.piece.bytes != rows_of_chunk(table, i) * width)
        damaged(where, fmt::format("chunk {} has {} bytes, its {} rows have {}", i, k.piece.bytes, rows_of_chunk(table, i),
                                   rows_of_chunk(table, i) * width));
      c.chunks.push_back(k);
    }
  }
  if (const TableSpec* spec = find_table(name))
    for (const ColumnSpec& c : spec->columns) {
      const auto it = table.columns.find(c.name);
      if (it == table.columns.end() && c.optional) continue;
      if (it == table.columns.end()) damaged(name, fmt::format("the column '{}' is missing", c.name));
      if (it->second.holds != c.holds || it->second.table != c.table)
        damaged(name + "." + std::string(c.name), fmt::format("expected a column that holds {}", name_of(c.holds)));
    }
}

void Container::State::read_index(const Json& index) {
  const Json& name = part(index, "writer", "its index");
  if (!name.is_string()) damaged("its index", "'writer' is not a text");
  writer = name.get<std::string>();
  chunk_rows = static_cast<std::size_t>(whole(part(index, "chunk_rows", "its index"), "chunk_rows"));
  if (chunk_rows == 0 || chunk_rows > 1u << 24) damaged("chunk_rows", fmt::format("{} rows", chunk_rows));
  const Json& list = part(index, "documents", "its index");
  if (!list.is_object()) damaged("its index", "'documents' is not an object");
  for (const auto& [n, p] : list.items()) documents[n] = piece_of(p, 4, n);
  const Json& all = part(index, "tables", "its index");
  if (!all.is_object()) damaged("its index", "'tables' is not an object");
  for (const auto& [n, t] : all.items()) read_table(n, t);
}

Json Container::State::index_of(FilePiece* at) const {
  const FilePiece place = piece_of(footer_of(bytes), 4, "its footer");
  if (at) *at = place;
  const std::string text = inflate(place, "its index");
  if (json_nests_too_deep(text)) damaged("its index", "JSON that nests too deep");
  Json index = Json::parse(text, nullptr, false);
  if (index.is_discarded()) damaged("its index", "not JSON");
  return index;
}

Container Container::parse(std::string bytes) {
  auto state = std::make_shared<State>();
  state->bytes = std::move(bytes);
  state->read_index(state->index_of());
  Container c;
  c.state_ = std::move(state);
  return c;
}

// The document comes where the index was, or where it was itself if the index follows it; then come the index and the end.
std::string Container::with_document(std::string bytes, const std::string& name, std::string_view json) {
  State state;
  state.bytes = std::move(bytes);
  FilePiece at;
  Json index = state.index_of(&at);
  state.read_index(index);
  std::uint64_t end = at.offset;
  if (const auto old = state.documents.find(name); old != state.documents.end() && old->second.offset + old->second.stored == end)
    end = old->second.offset;
  std::string out = std::move(state.bytes);
  out.resize(end);
  FilePiece piece;
  out += deflated(json, out.size(), piece);
  index["documents"][name] = {piece.offset, piece.stored, piece.bytes, piece.crc};
  out += deflated(index.dump(-1, ' ', false, Json::error_handler_t::replace), out.size(), piece);
  return out + footer_text(piece);
}

const std::string& Container::writer() const { return state_->writer; }

std::string Container::document(std::string_view name) const {
  const auto it = state_->documents.find(name);
  if (it == state_->documents.end()) return {};
  std::string text = state_->inflate(it->second, name);
  if (json_nests_too_deep(text)) damaged(name, "JSON that nests too deep");
  return text;
}

std::uint64_t Container::rows(std::string_view table) const {
  const auto it = state_->tables.find(table);
  return it == state_->tables.end() ? 0 : it->second.rows;
}

void Container::State::read_chunk(const TableState& t, const ColumnState& c, std::size_t chunk, std::string_view what,
                                  std::vector<std::uint64_t>& out) const {
  const Chunk& k = c.chunks[chunk];
  const std::string raw = inflate(k.piece, what);
  std::uint64_t sum = k.base;
  const std::size_t n = rows_of_chunk(t, chunk);
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t v = 0;
    for (unsigned b = 0; b < k.width; ++b) v |= static_cast<std::uint64_t>(static_cast<unsigned char>(raw[i * k.width + b])) << (8 * b);
    if (c.holds == Holds::real) {
      out.push_back(v);
      continue;
    }
    if (v > kLargestNumber || (k.sums ? sum : k.base) + v > kLargestNumber)
      damaged(what, fmt::format("the number of row {} is too large", i));
    out.push_back(k.sums ? sum += v : k.base + v);
  }
}

void Container::State::read_strings() {
  if (has_strings) return;
  const auto it = documents.find("strings");
  if (it == documents.end()) damaged("strings", "the document is missing");
  const Json list = Json::parse(inflate(it->second, "strings"), nullptr, false);
  if (!list.is_array() || list.empty()) damaged("strings", "expected a list of texts");
  for (const Json& s : list) {
    if (!s.is_string()) damaged("strings", "expected a list of texts");
    strings.push_back(s.get<std::string>());
  }
  has_strings = true;
}

void Container::State::check_values(const ColumnState& c, const std::vector<std::uint64_t>& values, std::string_view what,
                                    std::uint64_t first, std::uint64_t last) {
  std::uint64_t limit = kLargestNumber;
  if (c.holds == Holds::number || c.holds == Holds::real) return;
  if (c.holds == Holds::text) {
    read_strings();
    limit = strings.size() - 1;
  } else {
    const auto it = tables.find(c.table);
    const std::uint64_t rows = it == tables.end() ? 0 : it->second.rows;
    if (c.holds == Holds::row && rows == 0 && !values.empty()) damaged(what, fmt::format("'{}' has no rows", c.table));
    limit = c.holds == Holds::row ? rows - 1 : rows;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] > limit) damaged(what, fmt::format("row {} holds {}, the most is {}", first + i, values[i], limit));
    if (c.holds == Holds::end && values[i] < std::exchange(last, values[i]))
      damaged(what, fmt::format("row {} ends before the row before it", first + i));
  }
}

void Container::State::check_column(const TableState& t, const ColumnState& c, std::string_view what) {
  std::vector<std::uint64_t> values;
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < c.chunks.size(); ++i) {
    values.clear();
    read_chunk(t, c, i, what, values);
    check_values(c, values, what, i * chunk_rows, last);
    if (!values.empty()) last = values.back();
  }
}

const ColumnState* Container::State::find(std::string_view table, std::string_view column, const TableState** t) const {
  const auto it = tables.find(table);
  if (it == tables.end()) return nullptr;
  *t = &it->second;
  const auto c = it->second.columns.find(column);
  if (c == it->second.columns.end()) damaged(table, fmt::format("the column '{}' is missing", column));
  return &c->second;
}

const std::vector<std::uint64_t>& Container::column(std::string_view table, std::string_view column) const {
  static const std::vector<std::uint64_t> kNone;
  const TableState* t = nullptr;
  auto* c = const_cast<ColumnState*>(state_->find(table, column, &t));
  if (c == nullptr) return kNone;
  if (!c->is_read) {
    const std::string what = fmt::format("{}.{}", table, column);
    std::vector<std::uint64_t> values;
    values.reserve(t->rows);
    for (std::size_t i = 0; i < c->chunks.size(); ++i) state_->read_chunk(*t, *c, i, what, values);
    state_->check_values(*c, values, what);
    c->values = std::move(values);
    c->is_read = true;
  }
  return c->values;
}

bool Container::has(std::string_view table, std::string_view column) const {
  const auto it = state_->tables.find(table);
  return it != state_->tables.end() && it->second.columns.find(column) != it->second.columns.end();
}

std::vector<double> Container::reals(std::string_view table, std::string_view column) const {
  std::vector<double> out;
  for (const std::uint64_t bits : this->column(table, column)) out.push_back(std::bit_cast<double>(bits));
  return out;
}

std::vector<std::uint64_t> Container::slice(std::string_view table, std::string_view column, std::uint64_t begin, std::uint64_t end) const {
  const TableState* t = nullptr;
  const ColumnState* c = state_->find(table, column, &t);
  if (c == nullptr || begin >= end) return {};
  if (end > t->rows) damaged(table, fmt::format("rows {} to {} are asked for, there are {}", begin, end, t->rows));
  if (c->is_read) return {c->values.begin() + static_cast<std::ptrdiff_t>(begin), c->values.begin() + static_cast<std::ptrdiff_t>(end)};
  const std::string what = fmt::format("{}.{}", table, column);
  std::vector<std::uint64_t> values;
  values.reserve(end - begin);
  const std::size_t first = begin / state_->chunk_rows, last = (end - 1) / state_->chunk_rows;
  for (std::size_t i = first; i <= last; ++i) state_->read_chunk(*t, *c, i, what, values);
  state_->check_values(*c, values, what, first * state_->chunk_rows);
  const auto from = values.begin() + static_cast<std::ptrdiff_t>(begin - first * state_->chunk_rows);
  return {from, from + static_cast<std::ptrdiff_t>(end - begin)};
}

const std::string& Container::text(std::uint64_t id) const {
  state_->read_strings();
  if (id >= state_->strings.size()) damaged("strings", fmt::format("text {} is named, there are {}", id, state_->strings.size()));
  return state_->strings[id];
}

void Container::check() const {
  for (const auto& [name, piece] : state_->documents)
    if (Json::parse(document(name), nullptr, false).is_discarded()) damaged(name, "not JSON");
  for (const auto& [name, table] : state_->tables)
    for (const auto& [column, c] : table.columns)
      if (table.rows > kMostRowsKept)
        state_->check_column(table, c, fmt::format("{}.{}", name, column));
      else
        this->column(name, column);
}

void Container::forget() const {
  for (auto& [name, table] : state_->tables)
    for (auto& [column, c] : table.columns) c.is_read = false, c.values = {};
}

}  // namespace pando::profile
