// Python in codelets: a vertex lets the interpreter of its tile work on its operands, in place.
//
//   #include <pando/python.hpp>
//
//   class Twice : public poplar::Vertex {
//    public:
//     poplar::Input<poplar::Vector<float>> x;
//     poplar::Output<poplar::Vector<float>> y;
//     poplar::Output<poplar::Vector<char>> text;
//     void compute() {
//       pando::Python python;
//       python.print_to(text);
//       python.view("x", x);
//       python.view("y", y);
//       python.run("for i in range(len(x)): y[i] = 2 * x[i]\n"
//                  "print(len(x), 'elements')");
//     }
//   };
//
// Compiled with `popc -lpando_python`, or graph.addCodelets("twice.cpp", CodeletFileType::Auto, "-lpando_python").
//
// Each tile has one interpreter, MicroPython, made when a vertex first needs it. It has its names until the program is loaded again:
// what a vertex defines, later vertices of the tile can use. It takes the tile's bytes from 208 KiB to 608 KiB, and the first 64.
// Not together with libIPUpy.hpp on one tile: that makes an interpreter of its own there.
//
// A view is a memoryview over the field's elements; those of inputs cannot be written. The view of a name stays the same object: a vertex
// of another compute set, with another tensor, points it there, and what Python has kept of it (not slices of it) sees the new place. When
// the vertex has ended, it has no elements until it is set again.
//
// Python sees the tile's memory only, and that is where all operands of such a vertex are: what lies on other tiles is received.
#ifndef PANDO_PYTHON_HPP
#define PANDO_PYTHON_HPP

#include <pando/tile.hpp>
#include <poplar/Vertex.hpp>

extern "C" {
// What a vertex works with; of libpando_python.
struct PandoPythonOfTile {
  char* base;
  unsigned long long size;
  unsigned tile;
  int* state;  // of the tile. 0: there is no interpreter yet, 1: there is one, 2: it has ended
  char* text;
  unsigned text_bytes, printed;
  char message[400];  // why something did not work
};
// 0: it worked; 1: an exception came to the top; 2: it cannot be done.
int pando_python_of_tile_view(PandoPythonOfTile*, const char* name, const void* data, unsigned long long elements, char type,
                              int is_writable);
int pando_python_of_tile_set(PandoPythonOfTile*, const char* name, int value);
int pando_python_of_tile_run(PandoPythonOfTile*, const char* source);
void pando_python_of_tile_leave(PandoPythonOfTile*);

// The same as libIPUpy's: the memory is reserved once. The code's size is an assumed figure.
extern const pando::Needs pando_needs_python, pando_needs_python_header;
__attribute__((weak)) const pando::Needs pando_needs_python = {{0x34000, 400 * 1024}, nullptr, 48 * 1024};
__attribute__((weak)) const pando::Needs pando_needs_python_header = {{0, 64}, nullptr, 0};
}

namespace pando {

namespace detail {

inline int python_state = 0;

// The letter that Python has for a type.
template <class T> struct PythonType;
template <> struct PythonType<float> {
  static constexpr char code = 'f';
};
template <> struct PythonType<double> {
  static constexpr char code = 'd';
};
template <> struct PythonType<half> {
  static constexpr char code = 'e';
};
template <> struct PythonType<int> {
  static constexpr char code = 'i';
};
template <> struct PythonType<unsigned> {
  static constexpr char code = 'I';
};
template <> struct PythonType<short> {
  static constexpr char code = 'h';
};
template <> struct PythonType<unsigned short> {
  static constexpr char code = 'H';
};
template <> struct PythonType<char> {
  static constexpr char code = 'b';
};
template <> struct PythonType<signed char> {
  static constexpr char code = 'b';
};
template <> struct PythonType<unsigned char> {
  static constexpr char code = 'B';
};
template <> struct PythonType<bool> {
  static constexpr char code = 'B';
};
template <> struct PythonType<long long> {
  static constexpr char code = 'q';
};
template <> struct PythonType<unsigned long long> {
  static constexpr char code = 'Q';
};

}  // namespace detail

/// The interpreter of this tile, for as long as the vertex runs.
class Python {
 public:
  Python() {
    need(pando_needs_python);
    need(pando_needs_python_header);
    it_.base = tile_base();
    it_.size = tile_size();
    it_.tile = tile_id();
    it_.state = &detail::python_state;
  }
  ~Python() { pando_python_of_tile_leave(&it_); }
  Python(const Python&) = delete;
  Python& operator=(const Python&) = delete;

  /// Makes a global name of a field: Vector edges, or scalar ones, which Python sees as a view of one element.
  ///   python.view("x", x);     // then: x[0], len(x), sum(x), x[:] = y
  template <class T, poplar::VectorLayout L, unsigned A, bool I> void view(const char* name,
                                                                           const poplar::Input<poplar::Vector<T, L, A, I>>& field) {
    view(name, field.data(), field.size(), detail::PythonType<T>::code, 0);
  }
  template <class T, poplar::VectorLayout L, unsigned A, bool I> void view(const char* name,
                                                                           const poplar::Output<poplar::Vector<T, L, A, I>>& field) {
    view(name, field.data(), field.size(), detail::PythonType<T>::code, 1);
  }
  template <class T, poplar::VectorLayout L, unsigned A, bool I> void view(const char* name,
                                                                           const poplar::InOut<poplar::Vector<T, L, A, I>>& field) {
    view(name, field.data(), field.size(), detail::PythonType<T>::code, 1);
  }
  template <class T> void view(const char* name, const poplar::Input<T>& field) { view(name, &*field, 1, detail::PythonType<T>::code, 0); }
  template <class T> void view(const char* name, const poplar::Output<T>& field) { view(name, &*field, 1, detail::PythonType<T>::code, 1); }
  template <class T> void view(const char* name, const poplar::InOut<T>& field) { view(name, &*field, 1, detail::PythonType<T>::code, 1); }

  /// Makes a global name of a number.
  ///   python.set("step", 3);
  void set(const char* name, int value) { must(pando_python_of_tile_set(&it_, name, value)); }

  /// Where print() and tracebacks go from now on: as much as there is room for, and a zero. Without it they are dropped.
  template <class Field> void print_to(const Field& field) { print_to(field.data(), static_cast<unsigned>(field.size())); }
  void print_to(char* text, unsigned bytes) {
    it_.text = bytes ? text : nullptr;
    it_.text_bytes = bytes;
    it_.printed = 0;
    if (bytes) *text = 0;
  }

  /// Runs a program. An exception that comes to its top ends the run with an error that names the tile and the exception.
  ///   python.run("total = sum(x)");
  void run(const char* source) { must(pando_python_of_tile_run(&it_, source)); }
  /// Returns false if an exception came to the top; its traceback is printed.
  ///   if (!python.try_run("import settings")) ...
  bool try_run(const char* source) {
    const int answer = pando_python_of_tile_run(&it_, source);
    if (answer == 2) must(answer);
    return answer == 0;
  }

 private:
  void view(const char* name, const void* data, unsigned long long elements, char type, int is_writable) {
    must(pando_python_of_tile_view(&it_, name, data, elements, type, is_writable));
  }
  void must(int answer) {
    if (answer != 0) trap(it_.message);
  }

  // Not in the tile's memory, all of which Python can write to.
  PandoPythonOfTile it_ = {};
};

}  // namespace pando

#endif
