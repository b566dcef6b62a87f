#ifndef poplar_CSRFunctions_hpp
#define poplar_CSRFunctions_hpp

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

namespace poplar {

/// Which floating-point events stop a program, and how floats round: invalid operations, division by zero, overflow, stochastic
/// rounding, and NaN on half overflow.
struct FloatingPointBehaviour {
  bool inv;
  bool div0;
  bool oflo;
  bool esr;
  bool nanoo;
  FloatingPointBehaviour() : inv(true), div0(true), oflo(true), esr(true), nanoo(true) {}
  FloatingPointBehaviour(bool inv_, bool div0_, bool oflo_, bool esr_, bool nanoo_)
      : inv(inv_), div0(div0_), oflo(oflo_), esr(esr_), nanoo(nanoo_) {}
  FloatingPointBehaviour operator!() const { return FloatingPointBehaviour(!inv, !div0, !oflo, !esr, !nanoo); }
  FloatingPointBehaviour operator&(const FloatingPointBehaviour& o) const {
    return FloatingPointBehaviour(inv && o.inv, div0 && o.div0, oflo && o.oflo, esr && o.esr, nanoo && o.nanoo);
  }
  FloatingPointBehaviour operator|(const FloatingPointBehaviour& o) const {
    return FloatingPointBehaviour(inv || o.inv, div0 || o.div0, oflo || o.oflo, esr || o.esr, nanoo || o.nanoo);
  }
  /// Nothing.
  static FloatingPointBehaviour none() { return FloatingPointBehaviour(false, false, false, false, false); }
  /// Only the three exceptions.
  FloatingPointBehaviour exceptions() const { return FloatingPointBehaviour(inv, div0, oflo, false, false); }
  /// This without what `o` has.
  FloatingPointBehaviour unset(const FloatingPointBehaviour& o) const { return *this & !o; }
};
inline bool operator==(const FloatingPointBehaviour& a, const FloatingPointBehaviour& b) {
  return a.inv == b.inv && a.div0 == b.div0 && a.oflo == b.oflo && a.esr == b.esr && a.nanoo == b.nanoo;
}

// This machine computes in IEEE arithmetic, rounds to nearest even and raises no exceptions, whatever is set: its behaviour is
// always FloatingPointBehaviour::none(). The functions check their arguments and add no step.

POPLAR_EXPORT void setFloatingPointBehaviour(Graph& graph, program::Sequence& prog, const FloatingPointBehaviour& behaviour,
                                             const DebugContext& debugContext = {});
POPLAR_EXPORT void setFloatingPointBehaviour(Graph& graph, program::Sequence& prog, const Tensor& behaviour,
                                             const DebugContext& debugContext = {});
POPLAR_EXPORT void setFloatingPointBehaviourOnTile(Graph& graph, program::Sequence& prog, const FloatingPointBehaviour& behaviour,
                                                   unsigned tile, const DebugContext& debugContext = {});
/// Returns the behaviour before, one UNSIGNED_INT per tile for setFloatingPointBehaviour: all zero.
POPLAR_EXPORT Tensor getAndModifyFloatingPointBehaviour(Graph& graph, program::Sequence& prog, const FloatingPointBehaviour& clear,
                                                        const FloatingPointBehaviour& set, const DebugContext& debugContext = {});
POPLAR_EXPORT void setStochasticRounding(Graph& graph, program::Sequence& prog, bool enable, const DebugContext& debugContext = {});
POPLAR_EXPORT void setStochasticRoundingOnTile(Graph& graph, program::Sequence& prog, bool enable, unsigned tile,
                                               const DebugContext& debugContext = {});

}  // namespace poplar

#endif
