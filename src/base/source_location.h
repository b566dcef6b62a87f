// Places in what users write, for errors: one way to say them.
//
//     model.txt:3:7: expected ')', found ',' [sign-expected]
//     schedule.csv:2: cell 4 '1X0': expected F, I, W, B or a transfer behind the stage [schedule-text]
//     net.onnx: Conv 'conv1': operand 1 is missing [onnx-node]
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"

namespace pando {

struct SourceLocation {
  std::string source;    // a file's name, or what stands for one ("text")
  std::size_t line = 0;  // from 1; 0: not known
  std::size_t column = 0;
  std::string part = {};  // which op, node, cell of it, as the user knows it; may be empty
};

// "source:line:column: part" without what is not known.
std::string text_of(const SourceLocation& at);
// The line and column of a byte of a text; the end of the text is a place, too.
SourceLocation location_in(std::string_view text, std::size_t offset, std::string source);

template <class... Args>
[[noreturn]] void fail_at(ErrorKind kind, std::string_view id, const SourceLocation& at, fmt::format_string<Args...> format,
                          Args&&... args) {
  throw_error(kind, id, fmt::format("{}: {}", text_of(at), fmt::format(format, std::forward<Args>(args)...)));
}

// An error's text in two: what it says, and its id ("": it has none). For who says it again with a place or an id of its own.
std::string_view without_id(std::string_view what);
std::string_view id_of(std::string_view what);

}  // namespace pando
