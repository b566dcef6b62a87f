// Python inside C++ codelets:
//
//   #pragma IPUpy_start [X=input<float>, output, stdout=printBuf]
//   for i in range(len(output)): output[i] = int(X[i])
//   #pragma IPUpy_end
//
// becomes calls of libIPUpy.hpp, in as many lines: the Python names become arrays over the fields' elements (int unless <float> or
// <char>), what is printed goes to the field of `stdout`. src/ontile/ipupyc/ipupyc.py is the same program in Python, for tiles.
#pragma once

#include <string>
#include <string_view>

namespace pando::popc {

bool has_inline_python(std::string_view source);

// The source with its blocks replaced, after two lines that include the headers. Throws std::runtime_error that begins with
// "FILE:LINE: " for a block that does not end, a malformed list, a line that is indented less than its block ...
std::string expand_inline_python(std::string_view source, const std::string& file);

}  // namespace pando::popc
