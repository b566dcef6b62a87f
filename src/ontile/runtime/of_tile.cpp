// The interpreter of a tile for users' vertices: what include/pando/python.hpp calls.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "runtime/python.h"

#define EXPORT extern "C" PANDO_PYTHON_EXPORT

// As in include/pando/python.hpp, which is for the tile's own compiler.
struct PandoPythonOfTile {
  char* base;
  uint64_t size;
  unsigned tile;
  int* state;
  char* text;
  unsigned text_bytes, printed;
  char message[400];
};

namespace {

using OfTile = PandoPythonOfTile;

enum { kNone, kAlive, kGone };
enum { kDone, kRaised, kCannot };

// What is written last is kept for the error: the traceback's end.
struct Call {
  OfTile* it;
  char last[300];
  unsigned last_bytes;
};

void keep_last(Call& call, const char* text, uint32_t bytes) {
  const uint32_t room = sizeof call.last;
  if (bytes >= room) {
    std::memcpy(call.last, text + bytes - room, room);
    call.last_bytes = room;
    return;
  }
  const uint32_t kept = std::min(call.last_bytes, room - bytes);
  std::memmove(call.last, call.last + call.last_bytes - kept, kept);
  std::memcpy(call.last + kept, text, bytes);
  call.last_bytes = kept + bytes;
}

void write(void* context, const char* text, uint32_t bytes) {
  Call& call = *static_cast<Call*>(context);
  keep_last(call, text, bytes);
  OfTile& it = *call.it;
  if (!it.text) return;
  const uint32_t now = std::min(bytes, it.text_bytes - 1 - it.printed);
  std::memcpy(it.text + it.printed, text, now);
  it.printed += now;
  it.text[it.printed] = 0;
}

uint32_t seed(void* context) { return static_cast<uint32_t>((static_cast<Call*>(context)->it->tile + 1ull) * 0xbf58476d1ce4e5b9ull >> 32); }

const PandoPythonHost kHost = [] {
  PandoPythonHost host = {};
  host.write = write;
  host.seed = seed;
  return host;
}();

PandoPython python_of(Call& call) {
  PandoPython python = {};
  python.base = call.it->base;
  python.size = call.it->size;
  python.host = &kHost;
  python.context = &call;
  return python;
}

int cannot(OfTile& it, const char* why) {
  std::snprintf(it.message, sizeof it.message, "Python: %s", why);
  return kCannot;
}

int gone(OfTile& it, const char* why) {
  *it.state = kGone;
  char text[200];
  std::snprintf(text, sizeof text, "this tile's interpreter has ended: %s", why);
  return cannot(it, text);
}

// An interpreter that can be called; else why not.
int enter(OfTile& it, PandoPython& python) {
  if (*it.state == kGone) return cannot(it, "this tile's interpreter has ended before");
  if (*it.state == kAlive) return kDone;
  if (pando_python_boot(&python, static_cast<uint32_t>(PANDO_PYTHON_END - pando_python_heap_begin())) != 0) return gone(it, python.why);
  *it.state = kAlive;
  return kDone;
}

unsigned bytes_of(char type) {
  switch (type) {
    case 'b':
    case 'B': return 1;
    case 'e':
    case 'h':
    case 'H': return 2;
    case 'd':
    case 'q':
    case 'Q': return 8;
    default: return 4;
  }
}

}  // namespace

EXPORT int pando_python_of_tile_view(OfTile* it, const char* name, const void* data, unsigned long long elements, char type,
                                     int is_writable) {
  Call call = {it, {}, 0};
  PandoPython python = python_of(call);
  const uint64_t bytes = elements * bytes_of(type), at = static_cast<uint64_t>(static_cast<const char*>(data) - it->base);
  if (bytes > 0 && (at >= it->size || bytes > it->size - at)) {
    std::snprintf(it->message, sizeof it->message, "Python: '%s' is not in this tile's memory", name);
    return kCannot;
  }
  if (const int answer = enter(*it, python)) return answer;
  const auto address = bytes > 0 ? static_cast<uint32_t>(at) : PANDO_PYTHON_HEADER_BYTES;
  return pando_python_set_view(&python, name, address, static_cast<uint32_t>(elements), type, is_writable) ? gone(*it, python.why) : kDone;
}

EXPORT int pando_python_of_tile_set(OfTile* it, const char* name, int value) {
  Call call = {it, {}, 0};
  PandoPython python = python_of(call);
  if (const int answer = enter(*it, python)) return answer;
  return pando_python_set_int(&python, name, value) ? gone(*it, python.why) : kDone;
}

EXPORT int pando_python_of_tile_run(OfTile* it, const char* source) {
  Call call = {it, {}, 0};
  PandoPython python = python_of(call);
  if (const int answer = enter(*it, python)) return answer;
  const int ending = pando_python_run(&python, source, static_cast<uint32_t>(std::strlen(source)), "<codelet>", 9, 0);
  if (ending == PANDO_PYTHON_ENDED) return gone(*it, python.why);
  if (ending == PANDO_PYTHON_DONE || (ending == PANDO_PYTHON_EXITED && pando_python_exit_status(&python) == 0)) return kDone;
  std::snprintf(it->message, sizeof it->message, "Python: %s %.*s",
                ending == PANDO_PYTHON_EXITED ? "SystemExit" : "an exception came to the top: ...", static_cast<int>(call.last_bytes),
                call.last);
  return kRaised;
}

EXPORT void pando_python_of_tile_leave(OfTile* it) {
  if (*it->state != kAlive) return;
  Call call = {it, {}, 0};
  PandoPython python = python_of(call);
  if (pando_python_drop_views(&python) != 0) *it->state = kGone;
}
