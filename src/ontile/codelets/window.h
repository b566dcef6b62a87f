// The window of an IPU: what the last exchange moved. It lies in parts on neighbouring tiles, since no tile has room for all of it.
#pragma once

#include <poplar/Vertex.hpp>

#include <cstring>

#include "ontile/protocol.h"

namespace pando::ontile {

using WindowParts = poplar::Vector<poplar::Input<poplar::Vector<unsigned char>>>;

// [at, at + bytes) of the window; false if it is not all there.
inline bool read_window(const WindowParts& parts, unsigned long long at, void* to, unsigned long long bytes) {
  unsigned long long size = 0;
  for (unsigned i = 0; i < parts.size(); ++i) size += parts[i].size();
  if (at > size || bytes > size - at) return false;
  while (bytes > 0) {
    const unsigned long long place = at % kWindowPart, rest = kWindowPart - place, now = bytes < rest ? bytes : rest;
    memcpy(to, &parts[at / kWindowPart][place], now);
    to = static_cast<char*>(to) + now;
    at += now;
    bytes -= now;
  }
  return true;
}

}  // namespace pando::ontile
