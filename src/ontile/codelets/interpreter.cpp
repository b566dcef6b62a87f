// An interpreter takes a step: a new command (InterpreterAct), or the answer of an exchange (InterpreterGoOn). Both work on the
// same interpreter and fiber, so they are one file.
#include <pando/tile.hpp>
#include <poplar/Vertex.hpp>

#include <cstring>

#include "ontile/codelets/window.h"
#include "ontile/port/exchange.h"
#include "ontile/protocol.h"
#include "ontile/runtime/interrupts.h"
#include "ontile/runtime/python.h"

using namespace poplar;
using namespace pando::ontile;

namespace {

// What the vertex that runs now has connected; another one after each suspension.
struct Step {
  const unsigned char* command = nullptr;  // words, then text; an exchange needs the words only
  bool has_text = false;
  const unsigned* seat;
  unsigned* status;
  char* out;
  unsigned char* offer;
  unsigned offer_bytes;
  const char* data = nullptr;
  const WindowParts* window = nullptr;
  const unsigned* control = nullptr;
  const unsigned* pair = nullptr;
};

// Python can write to all of the tile's memory but the header: that is where native pointers are kept, and what they are good for.
// Whatever else is of the tile may have been destroyed, and is used with care.
struct Native {
  const Step* step;
  unsigned char* disk;   // its blocks, then a bit for each that was written since it was saved
  unsigned disk_blocks;  // 0: this tile has none
  unsigned line_given;   // how much of a line of standard input came so far
};
static_assert(sizeof(Native) <= PANDO_PYTHON_HEADER_BYTES - PANDO_PYTHON_HEADER_OF_CALLER);
Native& native() { return *reinterpret_cast<Native*>(pando::tile_base() + PANDO_PYTHON_HEADER_OF_CALLER); }
const Step* step() { return native().step; }

// Of one tile: mutable globals are in its memory.
State state;
unsigned ending, exit_status, length;
bool named, gone, prompted;
unsigned forced;  // an exchange_operation that overrules the machine's
unsigned long long looks_at_clock;
PandoPythonRequest request;

// Of one command: on the fiber's own stack, where Python does not reach.
struct Running {
  bool fuel_is_limited;
  long long fuel_left;
  unsigned interrupts_seen;
};

static_assert(kInterpreterBegin == PANDO_PYTHON_BEGIN && kInterpreterEnd == PANDO_PYTHON_END && kHeaderBytes == PANDO_PYTHON_HEADER_BYTES);

// Of one command. Python may catch the first ones, and everything.
constexpr unsigned kMostInterrupts = 3;
constexpr unsigned kEndingDone = 0, kEndingRaised = 1, kEndingExited = 2, kEndingEnded = 3, kEndingSkipped = 4;

// The machine is asked for the tile's memory at each native(), so what runs at every key takes the step as an argument.
unsigned command_word(const Step& now, unsigned which) {
  unsigned value;
  memcpy(&value, now.command + which * 4, 4);
  return value;
}
unsigned command_word(unsigned which) { return command_word(*step(), which); }
unsigned at_most(unsigned most, unsigned value) { return value < most ? value : most; }
const char* command_text(const Step& now) { return reinterpret_cast<const char*>(now.command) + kCommandWords * 4; }

void wait_for_host() {
  state = State::waits_for_host;
  pando::suspend();
  length = 0;
  state = State::idle;
}

void write(void*, const char* text, uint32_t bytes) {
  while (bytes > 0) {
    if (length >= kOutBytes) wait_for_host();
    const uint32_t now = bytes < kOutBytes - length ? bytes : kOutBytes - length;
    memcpy(step()->out + length, text, now);
    length += now;
    text += now;
    bytes -= now;
  }
}

// Each look at a counted clock is 10 us after the one before, and 1970 began 50 years before the first.
uint64_t clock_us(void* context) { return command_word(kCountedClock) ? looks_at_clock++ * 10 : pando_python_clock_us(context); }
uint64_t clock_ns(void* context) {
  return command_word(kCountedClock) ? 1577836800ull * 1000000000 + looks_at_clock++ * 10000 : pando_python_clock_ns(context);
}

// Standard input: a piece of a line, and what was read of it.
char input[kInputBytes];
unsigned input_bytes, input_at;

constexpr int kEndOfInput = -1, kControlC = 3;

bool is_interrupted(Running& running) {
  const unsigned now = pando_python_interrupts(command_word(kInterruptSlot));
  if (now == running.interrupts_seen) return false;
  running.interrupts_seen = now;
  return true;
}

int read(void* context) {
  if (input_at >= input_bytes || input_at >= kInputBytes) {
    state = State::waits_for_input;
    pando::suspend();
    state = State::idle;
    length = 0;
    if (is_interrupted(*static_cast<Running*>(context))) return kControlC;
    if (input_bytes == 0) return kEndOfInput;
  }
  return static_cast<unsigned char>(input[input_at++]);
}

void take_input() {
  input_bytes = at_most(kInputBytes, command_word(kTextBytes));
  input_at = 0;
  memcpy(input, command_text(*step()), input_bytes);
  unsigned& line_given = native().line_given;
  line_given = input_bytes == 0 || input[input_bytes - 1] == '\n' ? 0 : line_given + input_bytes;
}

uint32_t seed(void*) {
  unsigned long long x = pando::cycle_count() * 0x9e3779b97f4a7c15ull + (pando::tile_id() + 1ull) * 0xbf58476d1ce4e5b9ull;
  x ^= x >> 31;
  x *= 0x94d049bb133111ebull;
  return static_cast<uint32_t>(x >> 32);
}

int poll(void* context, int may_wait) {
  Running& running = *static_cast<Running*>(context);
  if (running.fuel_is_limited && (running.fuel_left -= PANDO_PYTHON_SLICE) <= 0) return 2;
  const unsigned slot = command_word(kInterruptSlot);
  // The host shows what there is, and lets all tiles go on.
  if (may_wait && pando_python_step_is_long(slot)) wait_for_host();
  if (!is_interrupted(running)) return 0;
  return running.interrupts_seen - pando_python_interrupts_at_start(slot) >= kMostInterrupts ? 3 : 1;
}

void exchange_wait(void*, const PandoPythonRequest* wanted, PandoPythonControl* control) {
  request = *wanted;
  state = State::waits_to_exchange;
  pando::suspend();
  state = State::idle;
  memset(control, 0, sizeof(*control));
  if (forced)
    control->words[0] = forced;
  else
    memcpy(control, step()->control, sizeof(*control));
  forced = 0;
}
void exchange_offer(void*, uint32_t offset, const void* bytes, uint32_t count) {
  if (offset <= step()->offer_bytes && count <= step()->offer_bytes - offset) memcpy(step()->offer + offset, bytes, count);
}
int exchange_read(void*, uint32_t offset, void* to, uint32_t count) {
  return step()->window && read_window(*step()->window, offset, to, count);
}
uint32_t exchange_pair(void*, uint32_t which) {
  const unsigned value = step()->pair ? step()->pair[which] : 0;
  return which == 0 ? value - 1 : value;
}
uint32_t exchange_place(void*, uint32_t which) {
  switch (which) {
    case 0: return pando::tile_id();
    case 1: return step()->seat[kTakingPart];
    case 2: return step()->seat[kAllTiles];
    case 4: return step()->seat[kLentBlocks];
    default: return step()->seat[kFirstTakingPart];
  }
}
uint32_t exchange_offer_bytes(void*) { return step()->offer_bytes; }
uint32_t exchange_reason(void*, char* to, uint32_t capacity) {
  const uint32_t bytes = step()->has_text ? at_most(kTextCapacity, command_word(kTextBytes)) : 0;
  memcpy(to, command_text(*step()), bytes < capacity ? bytes : capacity);
  return bytes;
}

const PandoPythonHost host = {
    write,          read,          clock_us,       clock_ns,      seed,          nullptr,        nullptr,
    poll,           exchange_wait, exchange_offer, exchange_read, exchange_pair, exchange_place, exchange_offer_bytes,
    exchange_reason};

Running running_command(const Step& now) {
  const unsigned long long fuel = command_word(now, kFuelLow) | static_cast<unsigned long long>(command_word(now, kFuelHigh)) << 32;
  return {fuel != 0, static_cast<long long>(fuel), pando_python_interrupts_at_start(command_word(now, kInterruptSlot))};
}

PandoPython python_of_tile(char* stack, Running& running) {
  PandoPython python = {};
  python.base = pando::tile_base();
  python.size = pando::tile_size();
  python.stack_low = stack - 320 * 1024;
  python.host = &host;
  python.context = &running;
  // The disk; nothing else: what lies beside it may be what other tiles are told.
  const Native& of_tile = native();
  const unsigned blocks = of_tile.disk_blocks;
  python.write_begin = blocks > 0 ? static_cast<uint32_t>(reinterpret_cast<char*>(of_tile.disk) - python.base) : PANDO_PYTHON_BEGIN;
  python.write_end = python.write_begin + disk_region_bytes(blocks);
  python.slice = running.fuel_is_limited && running.fuel_left < PANDO_PYTHON_SLICE ? running.fuel_left : PANDO_PYTHON_SLICE;
  return python;
}

// Names that every tile knows: set when it runs its first command.
void give_names(PandoPython& python) {
  named = true;
  const unsigned tile = pando::tile_id();
  pando_python_set_int(&python, "__tileid", static_cast<int>(tile));
  pando_python_set_int(&python, "__ipuid", static_cast<int>(step()->seat[kIpu]));
  pando_python_set_int(&python, "__ntiles", static_cast<int>(step()->seat[kAllTiles]));
  if (step()->seat[kHasData]) {
    const auto address = static_cast<uint32_t>(step()->data - python.base);
    pando_python_set_text(&python, "__tiledata", address, step()->seat[kDataBytes]);
  }
  if (const unsigned blocks = native().disk_blocks) {
    const auto address = static_cast<uint32_t>(reinterpret_cast<char*>(native().disk) - python.base);
    pando_python_set_disk(&python, address, blocks, address + blocks * kBlockBytes);
  }
}

// --- the tile's disk --------------------------------------------------------------------------------------------------

bool disk_changed() {
  const Native& of_tile = native();
  const unsigned blocks = of_tile.disk_blocks;
  for (unsigned i = 0; i < (blocks + 7) / 8; ++i)
    if (of_tile.disk[blocks * kBlockBytes + i]) return true;
  return false;
}

// Files close that nobody refers to any more, so that what was written to them is on the disk; at a session's end all others, too. What
// fails then fails without a word: the output is the disk's.
void close_files(bool all) {
  if (!named || gone) return;
  char here;
  PandoPythonHost quiet = host;
  quiet.write = [](void*, const char*, uint32_t) {};
  quiet.exchange_wait = [](void*, const PandoPythonRequest*, PandoPythonControl* control) {
    memset(control, 0, sizeof(*control));
    control->words[0] = exchange_error;
  };
  Running running = running_command(*step());
  PandoPython python = python_of_tile(&here, running);
  python.host = &quiet;
  if (pando_python_finalise(&python, all) != 0 || all) gone = true;
}

// On a fiber: output may take several steps.
void save_disk(void*) {
  const bool session_ends = command_word(*step(), kKind) == 1;
  if (session_ends || disk_changed()) close_files(session_ends);
  const unsigned blocks = native().disk_blocks;
  unsigned char* const disk = native().disk;
  for (unsigned b = 0; b < blocks; ++b) {
    unsigned char& changed = disk[blocks * kBlockBytes + b / 8];
    if (!(changed >> b % 8 & 1)) continue;
    changed &= static_cast<unsigned char>(~(1u << b % 8));
    write(nullptr, reinterpret_cast<const char*>(&b), sizeof b);
    write(nullptr, reinterpret_cast<const char*>(disk) + b * kBlockBytes, kBlockBytes);
  }
}

void load_disk() {
  const char* piece = command_text(*step());
  const char* const end = piece + command_word(kTextBytes);
  while (piece < end) {
    unsigned head[3];  // tile, first block, blocks
    memcpy(head, piece, sizeof head);
    piece += sizeof head;
    const unsigned blocks = native().disk_blocks;
    if (head[0] == pando::tile_id() && head[2] <= blocks && head[1] <= blocks - head[2])
      memcpy(native().disk + head[1] * kBlockBytes, piece, head[2] * kBlockBytes);
    piece += head[2] * kBlockBytes;
  }
}

int obey(PandoPython& python, const Step& now) {
  const char* const text = command_text(now);
  const unsigned bytes = at_most(kTextCapacity, command_word(now, kTextBytes));
  switch (static_cast<Action>(command_word(now, kAction))) {
    case Action::run: {
      const unsigned total = command_word(now, kTotalBytes), offset = command_word(now, kOffset),
                     name_bytes = at_most(kTextCapacity - bytes, command_word(now, kNameBytes));
      const int kind = static_cast<int>(command_word(now, kKind));
      if (total == bytes) return pando_python_run(&python, text, bytes, text + bytes, name_bytes, kind);
      const int put = pando_python_put(&python, offset, total, text, bytes);
      if (put != 0 || offset + bytes < total) return put;
      return pando_python_run_put(&python, total, text + bytes, name_bytes, kind);
    }
    case Action::key:
      if (!prompted && pando_python_prompt(&python) != 0) return PANDO_PYTHON_ENDED;
      prompted = true;
      return pando_python_key(&python, static_cast<unsigned char>(text[0]));
    case Action::complete: {
      char insert[256];
      const int count = pando_python_complete(&python, text, bytes, insert, sizeof insert);
      if (count <= 0) return PANDO_PYTHON_DONE;
      write(nullptr, insert, static_cast<uint32_t>(count));
      exit_status = 1;
      return PANDO_PYTHON_EXITED;
    }
    case Action::go_on:
    case Action::raise:
    case Action::input:
    case Action::load:
    case Action::save: break;
  }
  return PANDO_PYTHON_DONE;
}

void say_why(const char* why) {
  static const char before[] = "this tile's interpreter has ended: ";
  write(nullptr, before, sizeof before - 1);
  write(nullptr, why, static_cast<uint32_t>(strlen(why)));
  write(nullptr, "\n", 1);
}

// One command, on a fiber.
void run_command(void*) {
  char here;
  const Step& now = *step();  // until the first suspension, which only obey() and what follows it make
  Running running = running_command(now);
  PandoPython python = python_of_tile(&here, running);
  if (!named) give_names(python);
  exit_status = 0;
  const Action action = static_cast<Action>(command_word(now, kAction));
  const int answer = obey(python, now);
  if (answer == PANDO_PYTHON_EXITED && action == Action::run) exit_status = static_cast<unsigned>(pando_python_exit_status(&python));
  ending = answer == PANDO_PYTHON_ENDED ? kEndingEnded : static_cast<unsigned>(answer);
  if (answer == PANDO_PYTHON_ENDED) {
    gone = true;
    say_why(python.why);
    return;
  }
  if (action == Action::key && !python.unsent) return;
  if (pando_python_flush(&python) == 0) return;
  gone = true;
  ending = kEndingEnded;
  say_why(python.why);
}

unsigned long long hash_of(const char* text, unsigned bytes) {
  unsigned long long h = 0xcbf29ce484222325ull ^ bytes;
  for (; bytes >= 8; bytes -= 8, text += 8) {
    unsigned long long word;
    memcpy(&word, text, 8);
    h = (h ^ word) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 29;
  }
  unsigned long long word = 0;
  memcpy(&word, text, bytes);
  h = (h ^ word) * 0x9e3779b97f4a7c15ull;
  return h ^ h >> 32;
}

void report(const Step& now) {
  unsigned* const status = now.status;
  if (state != State::not_selected && !pando::fiber_suspended(0)) state = State::idle;
  length = at_most(kOutBytes, length);
  const bool waits = state == State::waits_to_exchange;
  const unsigned long long hash = hash_of(now.out, length);
  status[kState] = static_cast<unsigned>(state) | ending << 8 | (exit_status & 0xff) << 16;
  status[kWaitKind] = waits ? request.words[0] : 0;
  status[kWaitArgument] = waits ? request.words[1] : state == State::waits_for_input ? native().line_given : 0;
  status[kPending] = waits ? request.words[2] : 0;
  status[kMatched] = waits ? request.words[3] : 0;
  status[kOutbox] = waits ? request.words[4] : 0;
  status[kTextLength] = length;
  status[kHashLow] = static_cast<unsigned>(hash);
  status[kHashHigh] = static_cast<unsigned>(hash >> 32);
  status[kErrand] = waits && request.words[0] == kind_errand ? request.words[7] : 0;
  status[kDiskChanged] = disk_changed();
  status[kPair] = waits ? request.words[5] | request.words[6] << 16 : 0;
}

void act(const Step& now) {
  const Action action = static_cast<Action>(command_word(now, kAction));
  if (!now.seat[kSelected]) {
    state = State::not_selected;
    length = 0;
    const unsigned absent = 0xffffffff;
    memcpy(now.offer, &absent, 4);
    return;
  }
  if (action == Action::go_on || action == Action::raise) {
    const State wanted = action == Action::go_on ? State::waits_for_host : State::waits_to_exchange;
    if (state == wanted && !(action == Action::raise && request.words[0] == kind_flush)) {
      if (action == Action::raise) forced = exchange_error;
      length = 0;
      pando::fiber_resume(0);
    } else if (state != State::waits_for_host) {
      length = 0;
    }
    return;
  }
  if (action == Action::input) {
    if (state == State::waits_for_input && native().line_given == command_word(now, kOffset)) {
      take_input();
      pando::fiber_resume(0);
    } else {
      length = 0;
    }
    return;
  }
  length = 0;
  input_bytes = input_at = native().line_given = 0;
  ending = kEndingSkipped;
  exit_status = 0;
  const bool of_disk = action == Action::load || action == Action::save;
  if (gone && !of_disk) return;
  if (pando::fiber_suspended(0)) {  // it only let others receive
    forced = exchange_stop;
    pando::fiber_resume(0);
  }
  state = State::idle;
  ending = kEndingDone;
  if (action == Action::load) return load_disk();
  if (action == Action::save) {
    pando::fiber_start(0, save_disk, nullptr);
    return;
  }
  pando::fiber_start(0, run_command, nullptr);
}

}  // namespace

class InterpreterAct : public Vertex {
 public:
  static constexpr unsigned pando_code_bytes = PANDO_PYTHON_CODE_BYTES;  // InterpreterGoOn runs the same code
  static constexpr pando::Reserve pando_reserve{kInterpreterBegin, kInterpreterEnd - kInterpreterBegin};
  static constexpr const char* pando_image = "python";
  Input<Vector<unsigned char>> command;
  Input<Vector<unsigned>> seat;
  Output<Vector<unsigned>> status;
  InOut<Vector<char>> out;
  InOut<Vector<unsigned char>> offer;
  Input<Vector<char>> data;
  InOut<Vector<unsigned char>> disk;  // stays where it is: a suspended interpreter may write it in InterpreterGoOn

  void compute() {
    Step now;
    now.command = &command[0];
    now.has_text = true;
    now.seat = &seat[0];
    now.status = &status[0];
    now.out = &out[0];
    now.offer = &offer[0];
    now.offer_bytes = offer.size();
    now.data = &data[0];
    const unsigned long long blocks = now.seat[kDiskBlocks];
    Native& of_tile = native();
    of_tile.step = &now;
    of_tile.disk = &disk[0];
    of_tile.disk_blocks = blocks * kBlockBytes + (blocks + 7) / 8 <= disk.size() ? static_cast<unsigned>(blocks) : 0;
    act(now);
    report(now);
  }
};

class InterpreterGoOn : public Vertex {
 public:
  static constexpr pando::Reserve pando_reserve{0, kHeaderBytes};
  static constexpr const char* pando_image = "python header";
  Input<Vector<unsigned char>> command;
  Input<Vector<unsigned>> seat;
  InOut<Vector<unsigned>> status;
  InOut<Vector<char>> out;
  InOut<Vector<unsigned char>> offer;
  WindowParts window;
  Input<Vector<unsigned>> control;
  Input<Vector<unsigned>> pair;  // from which tile + 1, and whether its message is up

  void compute() {
    const bool is_errand = control[0] == exchange_errand;
    if (state != State::waits_to_exchange || (is_errand && control[1] != pando::tile_id())) return;
    Step now;
    now.command = &command[0];
    now.seat = &seat[0];
    now.status = &status[0];
    now.out = &out[0];
    now.offer = &offer[0];
    now.offer_bytes = offer.size();
    now.window = &window;
    now.control = &control[0];
    now.pair = &pair[0];
    native().step = &now;
    pando::fiber_resume(0);
    report(now);
  }
};
