// The container of a report file: documents (JSON) and tables (columns of numbers), compressed in pieces that can be read one by
// one. docs/level/report.md describes the bytes.
//
//     "PANDORPT" 4 | piece | piece | ... | index | footer: where the index is, its CRC, "PANDOEND"
//
// The writer streams: a table keeps at most kChunkRows rows in memory. The reader inflates a piece when it is asked for, and checks what
// it reads: a damaged file is a parse_error that says what is wrong and where.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/file/schema.h"

namespace pando::profile {

inline constexpr std::string_view kMagic = "PANDORPT", kEndMagic = "PANDOEND";
inline constexpr unsigned kFileVersion = 4;
inline constexpr std::size_t kChunkRows = 65'536;
// A table with more rows is read a chunk at a time where that is possible.
inline constexpr std::uint64_t kMostRowsKept = 262'144;
inline constexpr std::uint64_t kLargestNumber = (std::uint64_t{1} << 53) - 1;

// Where a piece lies in the file.
struct FilePiece {
  std::uint64_t offset = 0, stored = 0, bytes = 0;  // compressed and as it is
  std::uint32_t crc = 0;                            // CRC-32 of the compressed bytes
};
// Rows of a column: value = base + number, or base + the sum of the numbers so far.
struct Chunk {
  FilePiece piece;
  unsigned width = 1;      // bytes of a number: 1, 2, 4 or 8
  std::uint64_t base = 0;  // of reals 0
  bool sums = false;
};

struct Report;
class ContainerWriter;

// The rows of one table, while it is written.
class TableWriter {
 public:
  // One value for each column, in the schema's order. Reals as bits: real_bits().
  void add(std::initializer_list<std::uint64_t> values);
  std::uint64_t rows() const { return rows_; }

 private:
  friend class ContainerWriter;
  TableWriter(ContainerWriter& file, const TableSpec& spec);
  void flush();

  ContainerWriter* file_;
  const TableSpec* spec_;
  std::uint64_t rows_ = 0;
  std::vector<std::vector<std::uint64_t>> buffered_;  // by column
  std::vector<std::vector<Chunk>> chunks_;
};

std::uint64_t real_bits(double value);
// The bytes of a piece that begins at an offset of the file; of the end of a file whose index is this piece.
std::string deflated(std::string_view bytes, std::uint64_t offset, FilePiece& piece);
std::string footer_text(const FilePiece& index);

class ContainerWriter {
 public:
  // `out` is written from where it stands; `writer` says which program writes.
  ContainerWriter(std::ostream& out, std::string writer);
  ~ContainerWriter();
  ContainerWriter(const ContainerWriter&) = delete;
  ContainerWriter& operator=(const ContainerWriter&) = delete;

  // Of the schema. The same one at each call.
  TableWriter& table(std::string_view name);
  // A JSON text.
  void document(std::string_view name, std::string_view json);
  // The text's number, for columns of texts. Bytes that are no UTF-8 become U+FFFD.
  std::uint64_t text(const std::string& text);
  const std::string& text(std::uint64_t id) const { return texts_[id]; }
  // From here on rows of the tables go to `take` instead of the file, which is not finished then.
  using TakeRow = std::function<void(const TableSpec& table, std::span<const std::uint64_t> values)>;
  void give_rows_to(TakeRow take) { take_row_ = std::move(take); }
  // Writes what is buffered, the texts and the index. Once, at the end.
  void finish();

 private:
  friend class TableWriter;
  FilePiece write_piece(std::string_view bytes);
  std::string index_text() const;

  std::ostream& out_;
  std::string writer_;
  std::uint64_t offset_ = 0;
  std::map<std::string, std::unique_ptr<TableWriter>, std::less<>> tables_;
  std::vector<std::pair<std::string, FilePiece>> documents_;
  std::unordered_map<std::string, std::uint64_t> text_ids_;  // looked up, never iterated
  std::vector<std::string> texts_;
  TakeRow take_row_;
};

// The rows of one table as a file of the report has them, in order; the texts that they name by `text(id)`. Neither advice is looked for
// nor anything compressed.
using TextOf = std::function<const std::string&(std::uint64_t id)>;
using TakeTexts = std::function<void(std::span<const std::uint64_t> values, const TextOf& text)>;
void each_row(const Report& report, std::string_view table, const TakeTexts& take);

// A report file in memory. Copies share it. Not for several threads at once: it keeps what it has inflated.
class Container {
 public:
  // Throws parse_error: no report, of another version (and who wrote it), cut off, damaged.
  static Container parse(std::string bytes);
  // The file with this document (JSON) instead of what it has of that name; nothing else is read. Throws as parse.
  static std::string with_document(std::string bytes, const std::string& name, std::string_view json);
  static bool is_one(std::string_view begin) { return begin.substr(0, kMagic.size()) == kMagic; }

  const std::string& writer() const;
  // The JSON text; empty if there is none of that name.
  std::string document(std::string_view name) const;
  // 0 for a table that the file does not have.
  std::uint64_t rows(std::string_view table) const;
  // A column of a table; of a table that the file does not have an empty one. Checked: rows and texts that it names are there.
  // Files of earlier versions of the program lack some.
  bool has(std::string_view table, std::string_view column) const;
  const std::vector<std::uint64_t>& column(std::string_view table, std::string_view column) const;
  std::vector<double> reals(std::string_view table, std::string_view column) const;
  // Rows [begin, end) of a column: only their chunks are inflated.
  std::vector<std::uint64_t> slice(std::string_view table, std::string_view column, std::uint64_t begin, std::uint64_t end) const;
  const std::string& text(std::uint64_t id) const;
  // Reads everything, and throws at the first fault. Keeps columns of up to kMostRowsKept rows.
  void check() const;
  // Drops the columns that it keeps; they are read again when they are asked for.
  void forget() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace pando::profile
