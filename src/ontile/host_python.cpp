#include "ontile/host_python.h"

#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include <poplar/exceptions.hpp>

#include "ontile/protocol.h"
#include "ontile/reject.h"
#include "ontile/runtime/python.h"

namespace pando::ontile {

namespace {

constexpr std::size_t kPage = 4096;

PandoPython python_in(char* memory, std::uint64_t bytes) {
  PandoPython python = {};
  python.base = memory;
  python.size = bytes;
  return python;
}

}  // namespace

void HostPython::Free::operator()(char* memory) const { std::free(memory); }

HostPython::HostPython(std::uint64_t tile_bytes) : bytes_(tile_bytes) {
  const std::size_t bytes = (tile_bytes + 2 * kPage) / kPage * kPage;  // accesses may reach beyond the tile's last byte
  memory_.reset(static_cast<char*>(std::aligned_alloc(kPage, bytes)));
  if (!memory_) reject<poplar::poplar_error>("interpreter-memory", "the host has no {} bytes for a first interpreter", bytes);
  std::memset(memory_.get(), 0, bytes);
}

void HostPython::boot() {
  PandoPython python = python_in(memory_.get(), bytes_);
  const std::uint64_t begin = pando_python_heap_begin();
  if (begin >= kInterpreterEnd || pando_python_boot(&python, static_cast<std::uint32_t>(kInterpreterEnd - begin)) != 0)
    reject<poplar::poplar_error>("interpreter-start", "the interpreter does not start: {}", python.why);
}

BootedImage HostPython::image() {
  boot();
  const char* const memory = memory_.get();
  std::size_t end = kInterpreterEnd;
  while (end > kInterpreterBegin && memory[end - 1] == 0) --end;
  end = (end + kPage - 1) / kPage * kPage;
  return {{memory, kHeaderBytes}, {memory + kInterpreterBegin, end - kInterpreterBegin}};
}

bool HostPython::is_complete(std::string_view source) {
  boot();  // a text that is too long for the heap has ended the last one
  PandoPython python = python_in(memory_.get(), bytes_);
  return pando_python_is_complete(&python, source.data(), static_cast<std::uint32_t>(source.size())) != 0;
}

}  // namespace pando::ontile
