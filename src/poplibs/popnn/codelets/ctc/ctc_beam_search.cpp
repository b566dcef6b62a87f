// The likeliest labels of a sequence. A beam is a label with two sums over the paths that spell it: those that end with a blank, and
// those that end with its last class.
#include "poplibs/popnn/codelets/ctc/log_sum.h"
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace popnn {

template <class T>
class CtcBeamSearch : public poplar::Vertex {
  using Label = unsigned short;

  // What a beam may become.
  struct Candidate {
    float total, blank, other;
    unsigned parent, added;  // added: the class, or the blank one for none
  };

 public:
  CtcBeamSearch();
  poplar::Input<poplar::Vector<T>> probs;  // a row of classes for each time
  poplar::Input<unsigned> length;
  poplar::Output<poplar::Vector<T>> negativeLogs;    // of each label asked for
  poplar::Output<poplar::Vector<unsigned>> lengths;  // the same
  poplar::Output<poplar::Vector<unsigned>> labels;   // a row of all times for each
  // What the beams are kept in: twice a row of all times for each beam; numbers of beams, and of candidates.
  poplar::Output<poplar::Vector<unsigned short>> rows;
  poplar::Output<poplar::Vector<unsigned>> sizes;  // length and predecessor
  poplar::Output<poplar::Vector<float>> sums;      // with a blank at the end, and without
  poplar::Output<poplar::Vector<float>> kept;      // total and both sums of candidates
  poplar::Output<poplar::Vector<unsigned>> made;   // parent and class of candidates
  const unsigned classes;
  const unsigned beams;
  const unsigned blank;

  bool compute() {
    const unsigned times = probs.size() / classes, end = *length < times ? *length : times;
    Label *now = &rows[0], *next = &rows[beams * times];
    unsigned count = 1;
    sizes[0] = 0;
    sums[0] = 0;
    sums[1] = kNever;
    for (unsigned t = 0; t < end; ++t) {
      find_predecessors(now, times, count);
      count = step(&probs[t * classes], now, times, count);
      for (unsigned i = 0; i < count; ++i) {
        const unsigned parent = made[2 * i], size = sizes[2 * parent];
        for (unsigned p = 0; p < size; ++p) next[i * times + p] = now[parent * times + p];
        if (made[2 * i + 1] != blank) next[i * times + size] = static_cast<Label>(made[2 * i + 1]);
      }
      take(count);
      Label* const done = now;
      now = next;
      next = done;
    }
    write(now, times, count);
    return true;
  }

 private:
  // Of each beam the one whose label is its own without the last class: itself if there is none.
  void find_predecessors(const Label* now, unsigned times, unsigned count) {
    for (unsigned k = 0; k < count; ++k) {
      sizes[2 * k + 1] = k;
      for (unsigned j = 0; j < count; ++j) {
        if (sizes[2 * j] + 1 != sizes[2 * k]) continue;
        unsigned same = 0;
        while (same < sizes[2 * j] && now[j * times + same] == now[k * times + same]) ++same;
        if (same == sizes[2 * j]) sizes[2 * k + 1] = j;
      }
    }
  }

  float total_of(unsigned beam) const { return log_sum(sums[2 * beam], sums[2 * beam + 1]); }
  bool ends_with(const Label* now, unsigned times, unsigned beam, unsigned label) const {
    return sizes[2 * beam] > 0 && now[beam * times + sizes[2 * beam] - 1] == label;
  }
  // Of a beam that goes on with a class: after that class only paths that end with a blank spell it twice.
  float extended(const Label* now, unsigned times, unsigned beam, unsigned label, float prob) const {
    return prob + (ends_with(now, times, beam, label) ? sums[2 * beam] : total_of(beam));
  }
  bool is_a_beam(const Label* now, unsigned times, unsigned count, unsigned beam, unsigned label) const {
    for (unsigned k = 0; k < count; ++k)
      if (sizes[2 * k + 1] == beam && k != beam && ends_with(now, times, k, label)) return true;
    return false;
  }

  // The likeliest candidates, in order; of equal ones the first. Their number.
  unsigned step(const T* prob, const Label* now, unsigned times, unsigned count) {
    unsigned found = 0;
    for (unsigned k = 0; k < count; ++k) {
      const unsigned last = sizes[2 * k] > 0 ? now[k * times + sizes[2 * k] - 1] : blank, before = sizes[2 * k + 1];
      float other = last != blank ? sums[2 * k + 1] + static_cast<float>(prob[last]) : kNever;
      if (before != k) other = log_sum(other, extended(now, times, before, last, static_cast<float>(prob[last])));
      add({0, total_of(k) + static_cast<float>(prob[blank]), other, k, blank}, found);
    }
    for (unsigned k = 0; k < count; ++k)
      for (unsigned c = 0; c < classes; ++c)
        if (c != blank && !is_a_beam(now, times, count, k, c))
          add({0, kNever, extended(now, times, k, c, static_cast<float>(prob[c])), k, c}, found);
    return found;
  }

  void add(Candidate x, unsigned& found) {
    x.total = log_sum(x.blank, x.other);
    if (!(x.total > kHardly)) return;
    unsigned at = found;
    while (at > 0 && x.total > kept[3 * (at - 1)]) --at;
    if (at == beams) return;
    if (found < beams) ++found;
    for (unsigned i = found - 1; i > at; --i) {
      for (unsigned f = 0; f < 3; ++f) kept[3 * i + f] = kept[3 * (i - 1) + f];
      for (unsigned f = 0; f < 2; ++f) made[2 * i + f] = made[2 * (i - 1) + f];
    }
    kept[3 * at] = x.total;
    kept[3 * at + 1] = x.blank;
    kept[3 * at + 2] = x.other;
    made[2 * at] = x.parent;
    made[2 * at + 1] = x.added;
  }

  // Candidates become beams. Parents' lengths are read before they are written: one is kept beside each candidate.
  void take(unsigned count) {
    for (unsigned i = 0; i < count; ++i) made[2 * i] = sizes[2 * made[2 * i]] + (made[2 * i + 1] != blank);
    for (unsigned i = 0; i < count; ++i) {
      sizes[2 * i] = made[2 * i];
      sums[2 * i] = kept[3 * i + 1];
      sums[2 * i + 1] = kept[3 * i + 2];
    }
  }

  void write(const Label* now, unsigned times, unsigned count) {
    for (unsigned i = 0; i < lengths.size(); ++i) {
      const unsigned size = i < count ? sizes[2 * i] : 0;
      negativeLogs[i] = static_cast<T>(i < count ? 0 - total_of(i) : __builtin_inff());
      lengths[i] = size;
      for (unsigned p = 0; p < times; ++p) labels[i * times + p] = p < size ? now[i * times + p] : 0;
    }
  }
};

template class CtcBeamSearch<float>;
template class CtcBeamSearch<half>;

}  // namespace popnn
#else
#include "poplibs/codelet_file.h"

namespace popnn {

using namespace pando::poplibs;

// At each time every beam goes on with every class, some 30 cycles each; labels are compared and copied.
Estimates estimates_ctc_beam_search() {
  return for_types("popnn::CtcBeamSearch", {poplar::FLOAT, poplar::HALF}, [](const poplar::Type&) {
    return [](const VertexIntrospector& vertex, const Target& target) {
      const std::size_t beams = vertex.getFieldInfo("beams").getInitialValue<unsigned>(target),
                        classes = vertex.getFieldInfo("classes").getInitialValue<unsigned>(target),
                        times = vertex.getFieldInfo("probs").size() / (classes == 0 ? 1 : classes);
      return VertexPerfEstimate(100 + times * (beams * classes * 30 + beams * beams * 4 + beams * times));
    };
  });
}

}  // namespace popnn
#endif
