# The ten loops of the bytecode figures: nanoseconds of one round, the best of fifteen. Runs on tiles, under MicroPython and CPython.
import time

try:
    ticks = time.ticks_us
except AttributeError:
    def ticks():
        return time.perf_counter_ns() // 1000


def while_loop(n):
    i = 0
    while i < n:
        i += 1


def for_loop(n):
    s = 0
    for i in range(n):
        s += i & 7


def g(i):
    return i


def call(n):
    for i in range(n):
        g(i)


class Counter:
    def __init__(self):
        self.value = 0

    def inc(self):
        self.value += 1


def method(n):
    c = Counter()
    for i in range(n):
        c.inc()


def list_access(n):
    l = [0] * 16
    for i in range(n):
        l[i & 15] = l[(i + 1) & 15]


def dict_store(n):
    d = {}
    for i in range(n):
        d[i & 15] = i


def try_block(n):
    for i in range(n):
        try:
            g(i)
        except ValueError:
            pass


def builtin(n):
    l = [1, 2, 3]
    for i in range(n):
        len(l)


def numbers(n):
    i = 0
    while i < n:
        yield i
        i += 1


def generator(n):
    for i in numbers(n):
        pass


def raising(n):
    for i in range(n):
        try:
            raise ValueError
        except ValueError:
            pass


def best(f, n):
    shortest = None
    for i in range(15):
        begin = ticks()
        f(n)
        took = ticks() - begin & 0x3fffffff  # a tile's clock wraps around
        if shortest is None or took < shortest:
            shortest = took
    return shortest * 1000 / n


for name, f in (("while", while_loop), ("for", for_loop), ("call", call), ("method", method), ("list", list_access),
                ("dict", dict_store), ("try", try_block), ("len", builtin), ("generator", generator), ("raise", raising)):
    print(name, best(f, 20000))
