// One tile misbehaves in each possible way: what the others say stays the same, the process lives, and after a reset the tile
// works again. PANDO_TEST_TILES says how many tiles there are (4), PANDO_TEST_ROUNDS how many memories are destroyed at random (150).
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "ontile/session.h"

namespace pando::ontile {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

// The tile that misbehaves: another one each time, of those that also hold what the machine shares (window, plan and command: 0 to 2) and
// one that does not.
unsigned bad = 0;
constexpr std::uint64_t kFuel = 30'000'000;

unsigned number(const char* name, unsigned otherwise) {
  const char* const text = std::getenv(name);
  return text ? static_cast<unsigned>(std::stoul(text)) : otherwise;
}

// One session for all tests: a tile that was reset is as good as a new one.
Session& session() {
  static Session* const s = [] {
    SessionOptions o;
    o.tiles = number("PANDO_TEST_TILES", 4);
    o.fuel = kFuel;
    o.counted_clock = true;
    return new Session(o);
  }();
  return *s;
}

// What tiles do that behave: every part of the interpreter has a little to do.
const char* const kWork = R"(
import gc
d = {str(i): [i] * 3 for i in range(50)}
class C:
    def __init__(self, x): self.x = x
    def twice(self): return self.x * 2
l = sorted((C(i * 7 % 31).twice() for i in range(31)), reverse=True)
gc.collect()
try:
    d['missing']
except KeyError as e:
    l.append(str(e))
print(len(d), l[0], l[-1], '{:.3f}'.format(1 / 3), 3 ** 50, b'ab' + bytes(2), gc.mem_free() > 0)
)";
const char* const kAnswer = "50 60 missing 0.333 717897987691852588770249 b'ab\\x00\\x00' True\n";

std::string indented(const std::string& text) {
  std::string out;
  bool fresh = true;
  for (const char c : text) {
    if (fresh && c != '\n') out += "    ";
    out += c;
    fresh = c == '\n';
  }
  return out;
}

std::string on_bad_tile(const std::string& code) { return fmt::format("if __tileid == {}:\n    pass\n{}\n{}", bad, indented(code), kWork); }

const Answer& bad_answer(const Reply& reply) { return reply.answers[bad]; }
std::string bad_text(const Reply& reply) { return reply.texts[bad_answer(reply).text]; }

void expect_others_answer(const Reply& reply, const std::string& what) {
  for (const Answer& a : reply.answers) {
    if (a.tile == bad) continue;
    ASSERT_EQ(a.ending, Ending::done) << what << ": tile " << a.tile << ": " << reply.texts[a.text];
    ASSERT_EQ(reply.texts[a.text], kAnswer) << what << ": tile " << a.tile;
  }
}

// Runs the code on the bad tile, checks the others, then resets it and checks that it is well.
Reply misbehave(const std::string& code) {
  bad = (bad + 1) % 4;
  const Reply reply = session().run(on_bad_tile(code), Session::Input::script);
  expect_others_answer(reply, code);
  if (bad_answer(reply).ending == Ending::ended) {
    EXPECT_TRUE(session().state(bad).ended);
    EXPECT_THAT(bad_text(reply), HasSubstr("this tile's interpreter has ended: ")) << code;
    EXPECT_EQ(bad_answer(session().run("1", Session::Input::line)).ending, Ending::skipped);
  }
  session().reset({bad});
  const Reply well = session().run(kWork, Session::Input::script);
  EXPECT_EQ(well.texts, std::vector<std::string>{kAnswer}) << "after a reset from " << code;
  return reply;
}

void expect_ended(const std::string& code, const std::string& why) {
  const Reply reply = misbehave(code);
  EXPECT_EQ(bad_answer(reply).ending, Ending::ended) << code << ": " << bad_text(reply);
  EXPECT_THAT(bad_text(reply), HasSubstr(why)) << code;
}
void expect_raised(const std::string& code, const std::string& exception) {
  const Reply reply = misbehave(code);
  EXPECT_EQ(bad_answer(reply).ending, Ending::raised) << code << ": " << bad_text(reply);
  EXPECT_THAT(bad_text(reply), HasSubstr(exception)) << code;
}
// Either will do: an exception, or the end of the interpreter.
void expect_stopped(const std::string& code) {
  const Reply reply = misbehave(code);
  EXPECT_THAT(bad_answer(reply).ending, AnyOf(Ending::raised, Ending::ended)) << code << ": " << bad_text(reply);
}

TEST(Isolation, WrongAddresses) {
  const std::vector<std::string> addresses = {"0",       "8",       "63",         "-1",         "-4096",
                                              "1 << 20", "1 << 30", "0x7ffffffc", "0x80000000", "0xfffffff8"};
  for (const std::string& at : addresses) {
    expect_ended("import uctypes\nuctypes.bytearray_at(" + at + ", 8)[0]", "outside the tile's memory");
    expect_ended("import uctypes\nuctypes.bytearray_at(" + at + ", 8)[0] = 1", "outside the tile's memory");
  }
}

TEST(Isolation, WrongRanges) {
  const std::string begin = "import uctypes\n";
  expect_ended(begin + "uctypes.bytes_at(1 << 30, 100)", "outside the tile's memory");
  expect_ended(begin + "uctypes.bytes_at(600 * 1024, 100 * 1024)", "outside the tile's memory");
  expect_ended(begin + "uctypes.bytearray_at(600 * 1024, 1 << 20)[:1 << 19] = bytes(1 << 15) * 2", "outside the tile's memory");
  expect_ended(begin + "print(str(uctypes.bytearray_at(16, 1000), 'utf-8'))", "outside the tile's memory");
  expect_ended(begin + "uctypes.struct(0xfffffffc, {'x': uctypes.UINT64 | 0}).x = 1", "outside the tile's memory");
  expect_ended(begin + "uctypes.struct(4, {'x': uctypes.UINT64 | 0}).x", "outside the tile's memory");
}

TEST(Isolation, WritesBesideItsOwnMemory) {
  const std::string begin = "import uctypes\n", why = "a write to memory that is not Python's";
  for (const char* at : {"0x40", "0x1000", "0x8000", "0x10000", "0x20000", "0x33ff9", "0x33fff", "0x97ffd", "0x98000", "0x9bff0"})
    for (unsigned i = 0; i < 4; ++i)
      expect_ended(begin + "uctypes.struct(" + at + ", {'x': uctypes.UINT32 | 0}, uctypes.NATIVE).x = 0xffffffff", why);
  // All of it, by the functions that move memory.
  for (unsigned i = 0; i < 4; ++i) {
    expect_ended(begin + "m = uctypes.bytearray_at(0x40, 0x33fc0)\nm[:0x8000] = bytes(0x8000)", why);
    expect_ended(begin + "m = uctypes.bytearray_at(0x40, 0x33fc0)\nm[0x10000:0x18000] = m[0x8000:0x10000]", why);
    expect_ended(begin + "import io\nio.BytesIO(bytes(100)).readinto(uctypes.bytearray_at(0x33ff0, 100))", why);
  }
  const std::vector<std::string> read =
      session()
          .run("import uctypes\nm = uctypes.bytearray_at(0x40, 0x9bfc0)\nprint(sum(m[i] for i in range(0, len(m), 1021)) >= 0)",
               Session::Input::script)
          .texts;
  EXPECT_EQ(read, std::vector<std::string>{"True\n"});
}

TEST(Isolation, CorruptObjects) {
  const std::string begin = R"(
import uctypes
def f(): pass
def poke(at, word):
    uctypes.bytearray_at(at, 4)[:] = bytes((word & 255, word >> 8 & 255, word >> 16 & 255, word >> 24 & 255))
)";
  expect_ended(begin + "poke(id(f), 0xfffffff0)\nf()", "outside the tile's memory");
  // A type whose functions are numbers that no function has.
  expect_ended(begin + "t = bytearray(b'\\x01\\x70' * 100)\npoke(id(f), uctypes.addressof(t))\nf()", "");
  expect_stopped(begin + "t = bytearray(400)\npoke(id(f), uctypes.addressof(t))\nf()");
  expect_stopped(begin + "t = bytearray(b'\\x03\\x00\\x00\\x00' * 100)\npoke(id(f), uctypes.addressof(t))\nf()");
  expect_stopped(begin + "l = [1]\npoke(id(l) + 12, 0x7ffffff0)\nprint(sum(l))");
  expect_stopped(begin + "s = 'a b' * 9\npoke(id(s) + 8, 0x7fffffff)\ns.split()");
}

TEST(Isolation, DeepRecursion) {
  expect_raised("def f(n): return f(n + 1) + 1\nf(0)", "RuntimeError: maximum recursion depth exceeded");
  expect_raised("l = []\nfor i in range(5000): l = [l]\nprint(repr(l))", "RuntimeError: maximum recursion depth exceeded");
  expect_raised("import re\nre.match('(?:a?)*y', 'a' * 20000)", "RuntimeError: maximum recursion depth exceeded");
  expect_stopped("t = ()\nfor i in range(9000): t = (t,)\nhash(t)");
  expect_stopped("t = u = ()\nfor i in range(9000): t, u = (t,), (u,)\nt == u");
  expect_stopped("eval('(' * 3000 + '1' + ')' * 3000 + '+')");
  expect_stopped("eval('-' * 9000 + '1+')");
  expect_stopped("exec('x = ' + '[' * 4000 + ']' * 4000 + '\\n1 +')");
  expect_stopped("l = []\nfor i in range(9000): l = [l]\nimport json\njson.dumps(l)");
  expect_stopped("l = []\nfor i in range(9000): l = [l]\nalltoall(l)");
  expect_stopped("i = iter([1])\nfor k in range(9000): i = map(abs, i)\nnext(i)");
}

TEST(Isolation, NoMemory) {
  expect_raised("x = []\nwhile True: x.append(bytearray(1000))", "MemoryError");
  expect_raised("n = 1 << 29\nx = 'x' * n", "MemoryError");
  expect_raised("x = bytes(10 ** 8)", "MemoryError");
  expect_raised("x = list(range(1 << 29))", "MemoryError");
  expect_stopped("n = 1 << 30\nx = [0] * n");  // MicroPython's own arithmetic wraps around there
  expect_raised("n = 1 << 24\nx = 1 << n", "MemoryError");
  expect_raised("x = []\nwhile True: x = [x]", "MemoryError");
  expect_raised("d = {}\nn = 0\nwhile True:\n    d[n] = str(n)\n    n += 1", "MemoryError");
  expect_raised("exec('x = [' + '1,' * 60000 + ']')", "MemoryError");
}

TEST(Isolation, LockedHeap) {
  expect_raised("import micropython\nmicropython.heap_lock()\nx = [1, 2, 3]", "MemoryError");
  expect_stopped("import micropython\nmicropython.heap_lock()\nraise ValueError('x', 'y')");
  expect_stopped("import micropython\ndef f(n): f(n + 1)\nmicropython.heap_lock()\nf(0)");
  expect_stopped(
      "import micropython\nx = []\ntry:\n    while True: x.append(bytearray(100))\nexcept MemoryError:\n    micropython.heap_lock()\n    "
      "x[10 ** 9]");
}

TEST(Isolation, EndlessLoopsEndWithTheirFuel) {
  for (const char* code :
       {"while True: pass", "sum(range(1 << 29))", "max(range(1 << 29))", "for i in range(1 << 29): i = i + 1",
        "set(i & 1 for i in range(1 << 29))", "import re\nre.match('(x+x+)+y', 'x' * 40)", "n = 10 ** 6\npow(3, n)",
        "n = 10 ** 6\n3 ** n % 7", "-1 in (i for i in range(1 << 29))", "def g():\n    while True: yield\nany(g())",
        "t = (1,)\nu = (1,)\nfor i in range(60): t, u = (t, t), (u, u)\nt == u",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass", "import time\ntime.sleep(10 ** 6)",
        "import asyncio\nasync def f(): await asyncio.sleep(10 ** 4)\nasyncio.run(f())",
        "l = [1]\nfor x in l: l[0:0] = ()\nwhile l: l.reverse()"})
    expect_ended(code, "no fuel left");
}

// Interrupts come from another thread until the command is over; slowly enough for code in C to end with the first one, for the third ends
// the interpreter.
Reply run_and_interrupt(const std::string& code) {
  SessionOptions o;
  o.tiles = 4;
  static Session* const s = new Session(o);
  std::atomic<bool> over{false};
  std::thread other([&] {
    for (unsigned tenths = 0; !over; ++tenths) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      if (tenths % 40 == 2) s->interrupt();
    }
  });
  // Only the bad tile is still running when the interrupts come: it waits for nobody.
  const Reply reply = s->run(on_bad_tile("try:\n" + indented(code) + "\nexcept ValueError: pass"), Session::Input::script);
  over = true;
  other.join();
  s->reset({bad});
  return reply;
}

TEST(Isolation, InterruptsReachPythonAndC) {
  for (const char* code : {"while True: pass", "for i in range(1 << 29): pass", "sum(range(1 << 29))", "import time\ntime.sleep(1000)"}) {
    const Reply reply = run_and_interrupt(code);
    EXPECT_THAT(bad_text(reply), AnyOf(HasSubstr("KeyboardInterrupt"), HasSubstr("interrupted in C code"))) << code;
  }
  for (const char* code : {"n = 10 ** 6\npow(3, n)", "import re\nre.match('(x+x+)+y', 'x' * 40)"})
    EXPECT_THAT(bad_text(run_and_interrupt(code)),
                AnyOf(HasSubstr("KeyboardInterrupt"), HasSubstr("interrupted in C code"), HasSubstr("MemoryError")))
        << code;
}

// Code that writes at random places of [from, to).
std::string random_writes(unsigned seed, const char* from, const char* to) {
  constexpr unsigned kWrites[] = {1, 20, 300, 5000};
  return fmt::format(R"(
import uctypes
s = {} * 2654435761 & 0x3fffffff
for n in range({}):
    s = s * 1103515245 + 12345 & 0x3fffffff
    at = {} + (s >> 4) % ({} - {})
    s = s * 1103515245 + 12345 & 0x3fffffff
    uctypes.bytearray_at(at, 1)[0] = s >> 12 & 255
)",
                     seed, kWrites[seed % 4], from, to, from);
}

// Random writes, then work: whatever comes of it, only this tile sees it.
void destroy(unsigned seed, const char* from, const char* to) {
  bad = seed % 4;
  const std::string code = random_writes(seed, from, to);
  const Reply reply = session().run(on_bad_tile(code), Session::Input::script);
  expect_others_answer(reply, fmt::format("seed {}", seed));
  if (bad_answer(reply).ending != Ending::ended)
    session().run(fmt::format("if __tileid == {}:\n    import gc\n    gc.collect()\n    x = [str(i) for i in range(999)]", bad),
                  Session::Input::script);
  session().reset({bad});
}

void destroy_often(const char* from, const char* to) {
  const unsigned rounds = number("PANDO_TEST_ROUNDS", 150), first = number("PANDO_TEST_SEED", 1);
  for (unsigned seed = first; seed < first + rounds && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    destroy(seed, from, to);
  }
  EXPECT_EQ(session().run(kWork, Session::Input::script).texts, std::vector<std::string>{kAnswer});
}

TEST(Isolation, ItsOwnMemoryDestroyed) { destroy_often("0x34000", "0x98000"); }
TEST(Isolation, ItsOwnDataDestroyed) { destroy_often("0x44000", "0x4a000"); }
TEST(Isolation, ItsOwnStackDestroyed) { destroy_often("0x43000", "0x44000"); }
TEST(Isolation, TheWholeTileDestroyed) { destroy_often("0x40", "0x9c000"); }

// What a destroyed tile sends may be rubbish, or nothing: the others receive that, or an exception, and live.
TEST(Isolation, ExchangeWithADestroyedTile) {
  const unsigned rounds = number("PANDO_TEST_ROUNDS", 150), first = number("PANDO_TEST_SEED", 1);
  for (unsigned seed = first; seed < first + rounds; ++seed) {
    bad = seed / 4 % 4;
    const std::string code = fmt::format("if __tileid == {}:\n{}\nprint(len(alltoall([__tileid, 'x' * 300, (1.5, {{}})])))", bad,
                                         indented(random_writes(seed, seed % 2 ? "0x34000" : "0x44000", seed % 3 ? "0x98000" : "0x4a000")));
    const Reply reply = session().run(code, Session::Input::script);
    for (const Answer& a : reply.answers)
      if (a.tile != bad)
        ASSERT_THAT(a.ending, AnyOf(Ending::done, Ending::raised)) << "seed " << seed << ": tile " << a.tile << ": " << reply.texts[a.text];
    session().reset({bad});
    ASSERT_EQ(session().run(kWork, Session::Input::script).texts, std::vector<std::string>{kAnswer}) << "after seed " << seed;
  }
}

}  // namespace
}  // namespace pando::ontile
