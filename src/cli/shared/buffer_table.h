// The buffers of an allocation problem as a CSV table: the format of the public MiniMalloc instances.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "allocate/allocate.h"

namespace pando::cli {

// The first line names the columns, in any order:
//   id           any text, different in each row
//   lower,upper  the buffer is live in steps [lower, upper)
//   size         bytes
//   alignment    (may be absent) the offset is a multiple of it
//   lowest       (may be absent) the offset is not below it
//   highest_end  (may be absent) offset + size is not above it; empty: no bound
//   fixed        (may be absent) the offset; empty: any
struct BufferTable {
  std::string header;
  std::vector<std::string> rows;  // as they stand in the file, without line ends
  std::vector<allocate::Buffer> buffers;
};

// Throws parse_error with the file's name and the line.
BufferTable parse_buffer_table(std::string_view text, std::string_view file);

// The table with one more column, `offset`.
std::string with_offsets(const BufferTable& table, const std::vector<std::uint64_t>& offsets);

}  // namespace pando::cli
