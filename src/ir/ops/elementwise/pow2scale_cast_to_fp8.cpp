#include "ir/error.h"
#include "ir/rows/define.h"
#include "ir/shared/matmul.h"

namespace pando::ir {

extern const OpRow op_pow2scale_cast_to_fp8;
constexpr OpRow op_pow2scale_cast_to_fp8 = checked({
    .name = "pow2scale_cast_to_fp8",
    .doc = "t times 2^log2_scale in a float8 type, rounded to nearest even. What is too large becomes NaN, as do infinities. "
           "log2_scale is an int32 scalar from -32 to 31; a run with another one is rejected.",
    .signature = "pow2scale_cast_to_fp8(t: Tensor, log2_scale: Tensor, data_type: dtype) -> Tensor",
    .module = "cast",
    .operands = {{{"t", set_of(DType::float16) | set_of(DType::float32)}, {"log2_scale"}}},
    .attributes = {{{"data_type", AttributeKind::dtype}}},
    .infer = [](Inference& in) {
      const DType to = in.attributes().dtype("data_type");
      if (!is_float8(to)) reject(ErrorClass::type, "cast-to-float8", "pow2scale_cast_to_fp8: {} is not a float8 type", name_of(to));
      check_cast_scale(in);
      in.result(to, in.shape(0));
    },
    .reference = [](Evaluation& e) {
      const double scale = log2_scale_of(e, 1);
      map_elements(e, [scale](double x) { return x * scale; });
    },
    .differentiable = Differentiable::rejected,
    .samples = [] {
      std::vector<Sample> all;
      for (DType from : {DType::float32, DType::float16}) {
        for (DType to : {DType::float8_143, DType::float8_152}) {
          Sample s;
          s.operands = {{from, {4, 6}, -100, 100, {}}, {DType::int32, {}, 0, 0, {-3}}};
          s.attributes = {{"data_type", to}};
          all.push_back(s);
        }
      }
      return all;
    },
    .popart_type = "Pow2ScaleThenCast",
    .subscripts = elementwise_subscripts,
});

}  // namespace pando::ir
