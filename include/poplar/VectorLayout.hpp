// Layouts of vector fields, for codelets and for the host.
#ifndef poplar_VectorLayout_hpp
#define poplar_VectorLayout_hpp

namespace poplar {

/// How a codelet declares a vector field.
enum class VectorLayout { ONE_PTR, SPAN, SHORT_SPAN, SCALED_PTR32, SCALED_PTR64, SCALED_PTR128, COMPACT_PTR };
/// How a codelet declares a list of vectors.
enum class VectorListLayout { ONE_PTR, SCALED_PTR32, SCALED_PTR64, SCALED_PTR128, DELTAN, DELTANELEMENTS, COMPACT_DELTAN };

/// Layouts as a cycle estimator sees them.
namespace layout {
enum class Vector { NotAVector, Span, ShortSpan, OnePtr, ScaledPtr32, ScaledPtr64, ScaledPtr128 };
enum class VectorList { NotAVector, OnePtr, ScaledPtr32, ScaledPtr64, ScaledPtr128, DeltaN, DeltaNElements };
}  // namespace layout

}  // namespace poplar

#endif
