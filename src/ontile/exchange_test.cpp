// Exchange inside Python: each case is a script that checks itself on every tile, on machines of several sizes.
#include <gmock/gmock.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "ontile/session.h"

namespace pando::ontile {
namespace {

using ::testing::HasSubstr;

struct Case {
  const char* name;
  const char* script;
};

// `n` tiles, `me` this one.
const Case kCases[] = {
    {"ints", "assert alltoall(me * 3) == [i * 3 for i in range(n)]"},
    {"every type", R"(
import array
from collections import namedtuple, OrderedDict
P = namedtuple('P', ('x', 'y'))
class C:
    def __init__(self, a): self.a = a
    def __eq__(self, o): return type(o) is C and o.a == self.a
class D(list): pass
class E(Exception): pass
d = D([1, me]); d.tag = 'd'
objects = [None, True, False, ..., 0, -1, 95, 96, -33, me - 32, 2**30, -2**30, 2**31, -2**31 - 1, 1 << 200, -(1 << 99) - me, 1.5, -0.0, float('inf'), 1j,
  'abc', 'h\u00e9\u20ac', '', b'', b'\0\1', bytearray(b'xy'), (), (1, (2,)), [], [1, [2, [3]]], {1: 2, 'a': [me]}, {3, 'x'}, frozenset((1, 2)), range(1, 9, 2),
  array.array('f', [1, 2.5]), array.array('i', []), array.array('h', [-1]), P(1, me), C((me, 'a')), len, C, ValueError, [me] * 50]
for o in objects:
    r = alltoall(o)
    same = list(r[me]) == list(o) if isinstance(o, array.array) else r[me] == o
    assert len(r) == n and same and type(r[me]) is type(o), (o, r[me])
r = alltoall(d)[me]
assert r == [1, me] and r.tag == 'd' and type(r) is D
r = alltoall(E('why', me))[-1]
assert type(r) is E and r.args == ('why', n - 1)
assert [e.args for e in alltoall(OSError(me))] == [(i,) for i in range(n)]
m = memoryview(array.array('f', range(8)))[2:5]
assert list(alltoall(m)[0]) == [2, 3, 4]
)"},
    {"sizes around slots", R"(
import gc
for size in (0, 1, 40, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 250, 251, 252, 253, 300, 2000, 2043, 2048, 5000):
    if size * n > 60000: break
    gc.collect()
    r = alltoall(bytes([me & 255]) * size)
    assert len(r) == n and all(r[i] == bytes([i & 255]) * size for i in range(n)), size
    r = alltoall(bytearray(size + me))
    assert [len(x) for x in r] == [size + i for i in range(n)]
)"},
    {"one large message", R"(
text = 'large' * 4000 if me == n - 1 else None
assert len(broadcast(text, n - 1)) == 20000
r = alltoall(bytes(18000) if me == n // 2 else me)
assert len(r[n // 2]) == 18000 and r[0] == (0 if n > 1 else r[0])
)"},
    {"reduce", R"(
assert reduce(me) == (n * (n - 1) // 2 if me == 0 else None)
assert reduce(me, max, n - 1) == (n - 1 if me == n - 1 else None)
assert allreduce([me]) == list(range(n))
assert allreduce(me + 1, lambda a, b: a * b % 1000003) == allreduce(me + 1, lambda a, b: b * a % 1000003)
assert allreduce(float(me)) == n * (n - 1) / 2
)"},
    {"what wants no list of all keeps a bit of each tile", R"(
import gc
hog = []
try:
    while True: hog.append(bytearray(1024))
except MemoryError: pass
del hog[-(40 if me == 0 else 3):]
assert allreduce(1) == n
assert broadcast(me, n - 1) == n - 1
assert reduce(2, max) in (2, None)
barrier()
hog = None
gc.collect()
)"},
    {"reduce keeps few objects", R"(
words = {'%d %d' % (i, me % 3): 1 for i in range(150)}
def add(a, b):
    for k in b: a[k] = a.get(k, 0) + b[k]
    return a
total = reduce(words, add, n - 1)
if me == n - 1: assert sum(total.values()) == 150 * n and len(total) == 150 * min(n, 3)
)"},
    {"an operation raises on all", R"(
def bad(a, b): raise KeyError('no')
try:
    allreduce(me, bad)
    assert n == 1
except KeyError as e:
    assert e.args == ('no',)
barrier()
)"},
    {"depth", R"(
def numbers():
    for i in range(3): yield sum(alltoall(i))
assert list(numbers()) == [0, n, 2 * n]
assert sorted(range(4), key=lambda i: -allreduce(i)) == [3, 2, 1, 0]
class X:
    def __len__(self): return alltoall(4)[0]
assert len(X()) == 4
def deep(k): return alltoall(k)[-1] if k == 0 else deep(k - 1) + 1
assert deep(20) == 20
)"},
    {"ring", R"(
for size in (1, 100, 3000):
    send((me, bytes(size)), (me + 1) % n)
    who, data = recv((me - 1) % n)
    assert who == (me - 1) % n and len(data) == size
)"},
    {"order between a pair", R"(
for k in range(12): send(k, (me + 1) % n); send(-k, (me + n - 1) % n)
left = (me - 1) % n; right = (me + 1) % n
if n > 2:
    assert [recv(left) for k in range(12)] == list(range(12))
    assert [recv(right) for k in range(12)] == [-k for k in range(12)]
else:
    for k in range(24): recv(left)
)"},
    {"all to one", R"(
if me:
    send(me, 0)
else:
    assert sorted(recv() for i in range(n - 1)) == [(i, i) for i in range(1, n)]
barrier()
)"},
    {"sent is what it was", R"(
import array
a = array.array('i', [me] * 10)
send(a, (me + 1) % n)
a[0] = -1
assert recv((me - 1) % n)[0] == (me - 1) % n
)"},
    {"received while others wait in a collective", R"(
if me == 0:
    barrier()
elif me == n - 1:
    send('late', 1 if n > 2 else n - 1)
    if n <= 2: recv(n - 1)
    barrier()
else:
    if me == 1: assert recv(n - 1) == 'late'
    barrier()
)"},
    {"what cannot be sent", R"(
for thing in (lambda: 1, (i for i in range(3)), type(alltoall), [1, lambda: 2]):
    try:
        alltoall(thing)
        raise ValueError(thing)
    except TypeError as e:
        assert 'cannot send' in str(e)
l = []; l.append(l)
try: alltoall(l)
except RuntimeError as e: assert 'contains itself' in str(e)
for wrong in (-1, n):
    try: send(1, wrong); assert False
    except ValueError as e: assert 'there is no tile' in str(e)
)"},
    {"operations that exchange", R"(
def sums(a, b): return a + b
for f in (lambda a, b: alltoall(a), lambda a, b: allreduce(a, sums), lambda a, b: broadcast(a), lambda a, b: barrier(), lambda a, b: recv(), lambda a, b: allreduce(1, f)):
    for g in (lambda: allreduce(1, f), lambda: reduce(1, f)):
        try:
            r = g()
            assert n == 1 and r == 1 or r is None
        except RuntimeError as e:
            assert n > 1 and 'the operation of a reduction cannot exchange' in str(e), e
    assert allreduce(me) == n * (n - 1) // 2
def sends(a, b):
    if me == 0: send('from it', me)
    return a + b
assert allreduce(1, sends) == n
if me == 0:
    for i in range(n - 1): assert recv(0) == 'from it'
)"},
    {"collections during exchange", R"(
import gc
gc.threshold(2000)
for i in range(30):
    r = alltoall(['x' * (i % 7), {i: me}, (i, me) * 3])
    assert all(r[t] == ['x' * (i % 7), {i: t}, (i, t) * 3] for t in range(n))
gc.threshold(-1)
)"},
};

class Exchange : public ::testing::TestWithParam<unsigned> {
 protected:
  static Session& session(unsigned tiles) {
    static std::map<unsigned, std::unique_ptr<Session>> sessions;
    auto& found = sessions[tiles];
    SessionOptions o;
    o.tiles = tiles;
    if (!found) found = std::make_unique<Session>(o);
    return *found;
  }
};

TEST_P(Exchange, ScriptsThatCheckThemselves) {
  Session& s = session(GetParam());
  for (const Case& c : kCases) {
    const Reply reply =
        s.run(std::string("import gc; gc.collect(); n = __ntiles; me = __tileid\n") + c.script, Session::Input::script, c.name);
    ASSERT_EQ(reply.texts.size(), 1u) << c.name << ": " << reply.texts.front() << "\n" << reply.texts.back();
    EXPECT_EQ(reply.texts.front(), "") << c.name;
  }
}

TEST_P(Exchange, AMessageWaitsForTheNextCommand) {
  Session& s = session(GetParam());
  s.run("send('kept', (__tileid + 1) % __ntiles)", Session::Input::line);
  EXPECT_EQ(s.run("recv((__tileid - 1) % __ntiles)", Session::Input::line).texts.front(), "'kept'\n");
}

INSTANTIATE_TEST_SUITE_P(Tiles, Exchange, ::testing::Values(1, 2, 3, 4, 33, 100), ::testing::PrintToStringParamName());

TEST(ExchangeErrors, WhoWaitsForWhat) {
  SessionOptions o;
  o.tiles = 5;
  Session s(o);
  const auto raised = [&](const char* script, std::size_t tile) {
    const Reply reply = s.run(script, Session::Input::script);
    EXPECT_EQ(reply.answers[tile].ending, Ending::raised) << script;
    return reply.texts[reply.answers[tile].text];
  };
  EXPECT_THAT(raised("alltoall(1) if __tileid % 2 else barrier()", 0),
              HasSubstr("tiles 0,2,4 wait in barrier(); tiles 1,3 wait in alltoall()"));
  EXPECT_THAT(raised("broadcast(1, __tileid // 4)", 4),
              HasSubstr("tiles 0-3 wait in broadcast() from tile 0; tile 4 waits in broadcast() from tile 1"));
  EXPECT_THAT(raised("if __tileid == 3: recv(1)", 3), HasSubstr("tile 3 waits in recv() from tile 1"));
  // It is an exception like others, and the session goes on.
  const Reply caught = s.run("try:\n  if __tileid: barrier()\nexcept RuntimeError: print('caught')", Session::Input::script);
  EXPECT_EQ(caught.texts[caught.answers[4].text], "caught\n");
  EXPECT_EQ(s.run("sum(alltoall(1))", Session::Input::line).texts.front(), "5\n");
}

// The host takes the output before all of a round has been folded.
TEST(ExchangeErrors, OperationsMayPrintMoreThanIsKept) {
  SessionOptions o;
  o.tiles = 40;
  Session s(o);
  const Reply reply =
      s.run("def loud(a, b):\n  print('x' * 700, end='')\n  return a + b\nr = allreduce(b'1' * 300, loud)\nassert r == b'1' * 12000",
            Session::Input::script);
  EXPECT_EQ(reply.answers[0].ending, Ending::done) << reply.texts[0];
  EXPECT_EQ(reply.texts[reply.answers[0].text], std::string(39 * 700, 'x'));
  EXPECT_EQ(reply.texts[reply.answers[1].text], "");
}

// Tiles that spin make the step a long one, which the host ends to show what there is: not for those that read what came. Collecting at
// each allocation takes time by the cube of the tiles: PANDO_TEST_TILES says how many.
TEST(ExchangeErrors, ALongStepEndsOnlyBetweenExchanges) {
  SessionOptions o;
  const char* const tiles = std::getenv("PANDO_TEST_TILES");
  o.tiles = tiles ? static_cast<unsigned>(std::stoul(tiles)) : 64;
  std::string shown;
  o.output = [&shown](const Reply& said) {
    for (const std::string& text : said.texts) shown += text;
  };
  Session s(o);
  const std::string script = fmt::format(R"(
for k in range(2):
    print('round', k)
    r = alltoall(['x' * 20, k] * 20)
    assert r == [['x' * 20, k] * 20] * {}
    n = 0
    while n < 200000 and __tileid < {}: n += 1
)",
                                         o.tiles, o.tiles / 4);
  const Reply reply = s.run(script, Session::Input::script);
  for (const Answer& a : reply.answers) EXPECT_EQ(a.ending, Ending::done) << a.tile << ": " << reply.texts[a.text];
  EXPECT_THAT(shown + reply.texts[0], HasSubstr("round 1"));
}

TEST(ExchangeErrors, AnEndedTileTakesNoPart) {
  SessionOptions o;
  o.tiles = 3;
  Session s(o);
  s.run("import uctypes\nif __tileid == 1: uctypes.bytearray_at(-8, 4)[0]", Session::Input::script);
  EXPECT_THAT(s.run("alltoall(1)", Session::Input::line).texts.front(), HasSubstr("tile 1 has no interpreter any more"));
  s.select({0, 2});
  EXPECT_EQ(s.run("alltoall(__tileid)", Session::Input::line).texts.front(), "[0, 2]\n");
  s.select_all();
  s.reset({1});
  EXPECT_EQ(s.run("alltoall(__tileid)", Session::Input::line).texts.front(), "[0, 1, 2]\n");
}

}  // namespace
}  // namespace pando::ontile
