#include <pando/python.hpp>

using namespace poplar;

class Twice : public Vertex {
 public:
  Input<Vector<float>> x;
  Output<Vector<float>> y;
  Output<Vector<char>> text;

  void compute() {
    pando::Python python;
    python.print_to(text);
    python.view("x", x);
    python.view("y", y);
    python.set("factor", 2);
    python.run(
        "for i in range(len(x)): y[i] = factor * x[i]\n"
        "print(len(x), 'elements')");
  }
};

// Keeps the view in names and objects of its own, and works through them in later compute sets.
class KeepsView : public Vertex {
 public:
  InOut<Vector<int>> numbers;

  void compute() {
    pando::Python python;
    python.view("numbers", numbers);
    python.run(
        "try:\n"
        "  box\n"
        "except NameError:\n"
        "  box = [numbers]\n"
        "  def add():\n"
        "    view = box[0]\n"
        "    for i in range(len(view)): view[i] += 100 * len(view)\n"
        "numbers = None\n"
        "add()");
  }
};

template <class T>
class AddsOne : public Vertex {
 public:
  InOut<Vector<T>> x;

  void compute() {
    pando::Python python;
    python.view("x", x);
    python.run("x[0] = x[1]\nx[1] = x[1] + 1");
  }
};
template class AddsOne<float>;
template class AddsOne<half>;
template class AddsOne<int>;
template class AddsOne<unsigned>;
template class AddsOne<short>;
template class AddsOne<unsigned short>;
template class AddsOne<char>;
template class AddsOne<signed char>;
template class AddsOne<unsigned char>;
template class AddsOne<long long>;

class Scalars : public Vertex {
 public:
  Input<float> a;
  Output<int> sum;
  InOut<bool> flag;

  void compute() {
    pando::Python python;
    python.view("a", a);
    python.view("sum", sum);
    python.view("flag", flag);
    python.run("sum[0] = int(a[0]) + 1\nflag[0] = not flag[0]");
  }
};

// Runs what it is given.
class RunsProgram : public Vertex {
 public:
  Input<Vector<int>> in;
  InOut<Vector<char>> program;
  Output<Vector<char>> text;
  Output<bool> good;

  void compute() {
    pando::Python python;
    python.print_to(text);
    python.view("x", in);
    *good = python.try_run(&program[0]);
  }
};

class MustRun : public Vertex {
 public:
  InOut<Vector<char>> program;

  void compute() {
    pando::Python python;
    python.run(&program[0]);
  }
};

class Elsewhere : public Vertex {
 public:
  InOut<int> x;

  void compute() {
    pando::Python python;
    const int on_the_stack = 5;
    PandoPythonOfTile it = {pando::tile_base(), pando::tile_size(), pando::tile_id(), &pando::detail::python_state, nullptr, 0, 0, {}};
    if (pando_python_of_tile_view(&it, "x", &on_the_stack, 1, 'i', 0) != 0) pando::trap(it.message);
  }
};
