// Codelets with Python inside, and codelets that call libIPUpy as programs for IPUs do.
#include <libIPUpy.hpp>
#include <poplar/Vertex.hpp>
#include <setjmp.h>

using namespace poplar;

extern "C" jmp_buf IPUpy_exit_env, IPUpy_checkpoint_env;

class Operands : public Vertex {
 public:
  InOut<Vector<int>> i;
  Input<Vector<float>> f;
  InOut<Vector<signed char>> c;
  Output<Vector<char>> text;
  void compute() {
    #pragma IPUpy_start [i, f<float>, letters=c<char>, stdout=text]
    class Doubler:
        def __init__(self, x): self.x = x
        def __call__(self): return [2 * x for x in self.x]

    i[:] = __import__("array").array("i", Doubler(i)())
    letters[1] = -letters[0]
    print("sum", sum(f), 'and "quotes" \\ \n', end="")
    #pragma IPUpy_end
  }
};

class Fails : public Vertex {
 public:
  InOut<Vector<int>> x;
  Output<Vector<char>> text;
  void compute() {
    #pragma IPUpy_start [x, stdout=text]
    try:
        x.append(1)
    except MemoryError:
        print("cannot grow")

    def f():
        raise ValueError("three lines down")
    f()
    #pragma IPUpy_end
  }
};

// An interpreter that ends, by a text that its parser cannot hold.
class Ends : public Vertex {
 public:
  Input<Vector<char>> program;
  Output<Vector<char>> text;
  void compute() {
    IPUpy_set_stdout(&text[0], text.size());
    IPUpy_init(nullptr);
    IPUpy_do_str(&program[0], 0);
    IPUpy_do_str("print('alive')", 0);
  }
};

// Runs a program over an array; reads keys at a prompt; calls back.
namespace {
int called = 0;
void on_syscall() { ++called; }
}  // namespace

class Calls : public Vertex {
 public:
  Input<Vector<char>> data;
  Output<Vector<char>> text;
  Output<int> calls;
  void compute() {
    IPUpy_set_stdout(&text[0], text.size());
    IPUpy_init(nullptr);
    IPUpy_add_int("number", 41);
    IPUpy_add_memory_as_string("data", &data[0], data.size());
    IPUpy_register_syscall_callback(on_syscall);
    IPUpy_do_str("ipusyscall\nfor i in range(3): ipusyscall\nprint(data, number + 1)", 0);
    IPUpy_set_stdin((char *)"typed\n");
    IPUpy_do_str("answer = input()", 0);
    IPUpy_do_str("number * 2", 1);
    pyexec_event_repl_init();
    IPUpy_set_stdout(&text[0], text.size());
    int ended = 0;
    for (const char *key = "answer\r\x04"; *key; ++key) ended = pyexec_event_repl_process_char(*key);
    *calls = ended ? called : -1;
  }
};

// A collective in Python: every tile writes into `out`, the program copies all of them to each tile's `in`.
namespace {
void **in_place = nullptr, **out_place = nullptr;
bool is_waiting = false;

constexpr const char *kProgram = R"(
rounds = 0
def exchange(value):
    send[0] = value
    longyield
    return [receive[i] for i in range(len(receive))]

def key(x):
    global rounds
    rounds += 1
    garbage = [[i] for i in range(200)]
    return -sum(exchange((x * rounds + me) & 127))

total = 0
for n in range(30):
    total += sum(sorted([1, 2, 3], key=key))
    if [x for x in exchange(me)] != list(range(len(receive))): print("wrong")
print(rounds, total)
)";
}  // namespace

class Begin : public Vertex {
 public:
  Output<Vector<char>> text;
  Input<int> number;
  int tiles;
  Output<bool> done;
  void compute() {
    IPUpy_set_stdout(&text[0], text.size());
    IPUpy_init(nullptr);
    IPUpy_add_int("me", *number);
    IPUpy_add_memory_as_relocatable_array("send", &out_place, 1);
    IPUpy_add_memory_as_relocatable_array("receive", &in_place, tiles);
    *done = false;
  }
};

class Round : public MultiVertex {
 public:
  Input<Vector<unsigned char>> in;
  InOut<Vector<unsigned char>> out;
  InOut<Vector<char>> text;
  InOut<bool> done;
  bool compute(unsigned worker) {
    if (worker != 5 || *done) return true;
    *in_place = (void *)&in[0];
    *out_place = &out[0];
    if (is_waiting) {
      is_waiting = false;
      longjmp(IPUpy_checkpoint_env, 1);
    }
    is_waiting = setjmp(IPUpy_exit_env);
    if (is_waiting) return true;
    IPUpy_do_str(kProgram, 0);
    *done = true;
    return true;
  }
};

// Misuse, each in its way.
class Misuses : public Vertex {
 public:
  int kind;
  Output<Vector<char>> text;
  void compute() {
    int elsewhere = 1;
    void **place;
    IPUpy_init(nullptr);
    switch (kind) {
      case 0: return IPUpy_add_memory_as_array("elsewhere", &elsewhere, 1, 'i');
      case 1:
        for (int i = 0; i < 17; ++i) IPUpy_add_memory_as_relocatable_array("array", &place, 1);
        return;
      case 2:
        if (setjmp(IPUpy_exit_env)) return IPUpy_do_str("1", 0);
        return IPUpy_do_str("longyield", 0);
    }
  }
};

// Runs the program `program` with the global `data`; its output is `text`.
class Runs : public Vertex {
 public:
  Input<Vector<char>> program;
  Input<Vector<char>> data;
  Output<Vector<char>> text;
  void compute() {
    IPUpy_set_stdout(&text[0], text.size());
    IPUpy_init(nullptr);
    IPUpy_add_memory_as_string("data", &data[0], data.size());
    IPUpy_do_str(&program[0], 0);
    IPUpy_deinit();
  }
};
