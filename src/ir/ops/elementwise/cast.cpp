#include "ir/error.h"
#include "ir/rows/define.h"

#include <limits>

namespace pando::ir {

extern const OpRow op_cast;
constexpr OpRow op_cast = checked({
    .name = "cast",
    .doc =
        "The values in another element type. Floats become integers by truncation (NaN: 0; beyond the type's range: its least or largest "
        "value) and bool by comparison with 0; integers wrap around; floats are rounded to nearest even. Float8 types are left to "
        "pow2scale_cast_to_fp8 and "
        "pow2scale_cast_from_fp8.",
    .signature = "cast(t: Tensor, data_type: dtype) -> Tensor",
    .operands = {{{"t", any_type & ~(set_of(DType::complex64) | set_of(DType::complex128))}}},
    .attributes = {{{"data_type", AttributeKind::dtype}}},
    .infer =
        [](Inference& in) {
          const DType to = in.attributes().dtype("data_type");
          if (is_float8(to))
            reject(ErrorClass::type, "cast-to-float8", "cast: to {} goes pow2scale_cast_to_fp8, which takes a scale", name_of(to));
          if (is_float8(in.dtype(0)))
            reject(ErrorClass::type, "cast-from-float8", "cast: from {} goes pow2scale_cast_from_fp8, which takes a scale",
                   name_of(in.dtype(0)));
          if (is_complex(to)) reject(ErrorClass::type, "cast-to-complex", "cast: to {} is not possible", name_of(to));
          in.result(to, in.shape(0));
          in.results()[0].meta_shape = in.operand(0).meta_shape;
        },
    .reference = [](Evaluation& e) { e.result(e.operand(0).converted(e.attributes().dtype("data_type"))); },
    .differentiable = Differentiable::by_gradient,
    .gradient =
        [](Gradient& g) {
          const DType from = g.operand_type(0).dtype;
          if (!is_differentiable(from) || !is_differentiable(g.result_type().dtype)) return;
          g.give(0, g.op("cast", {g.grad()}, {{"data_type", from}}));
        },
    .samples =
        [] {
          std::vector<Sample> all;
          for (DType from : {DType::float32, DType::float16, DType::int32, DType::uint8, DType::boolean}) {
            for (DType to : {DType::float32, DType::float16, DType::int32, DType::int8, DType::boolean}) {
              Sample s;
              s.operands = {{from, {3, 5}, is_unsigned_integer(from) ? 0.0 : -20.0, 20, {}}};
              s.attributes = {{"data_type", to}};
              s.smooth = is_differentiable(from) && is_differentiable(to);
              all.push_back(s);
            }
          }
          for (DType to : {DType::int8, DType::uint8, DType::int32, DType::uint32}) {
            Sample s;
            s.operands = {{DType::float32,
                           {8},
                           0,
                           0,
                           {-1e30, -300, -1, 1e30, 4294967296.0, 300, std::numeric_limits<double>::quiet_NaN(),
                            -std::numeric_limits<double>::infinity()}}};
            s.attributes = {{"data_type", to}};
            s.smooth = false;
            all.push_back(s);
          }
          return all;
        },
    .elementwise = true,
    .popart_type = "Cast",
});

}  // namespace pando::ir
