#include "ir/error.h"
#include "ir/rows/define.h"
#include "ir/shared/matmul.h"

namespace pando::ir {

extern const OpRow op_pow2scale_cast_from_fp8;
constexpr OpRow op_pow2scale_cast_from_fp8 = checked({
    .name = "pow2scale_cast_from_fp8",
    .doc = "A float8 tensor in float16 or float32, times 2^log2_scale. log2_scale is an int32 scalar from -32 to 31; a run with another "
           "one is rejected.",
    .signature = "pow2scale_cast_from_fp8(t: Tensor, log2_scale: Tensor, data_type: dtype) -> Tensor",
    .module = "cast",
    .operands = {{{"t", any_float8}, {"log2_scale"}}},
    .attributes = {{{"data_type", AttributeKind::dtype}}},
    .infer = [](Inference& in) {
      const DType to = in.attributes().dtype("data_type");
      if (to != DType::float16 && to != DType::float32) {
        reject(ErrorClass::type, "cast-from-float8", "pow2scale_cast_from_fp8: to {}; float16 and float32 are possible", name_of(to));
      }
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
      for (DType from : {DType::float8_143, DType::float8_152}) {
        for (DType to : {DType::float32, DType::float16}) {
          Sample s;
          s.operands = {{from, {4, 6}, -100, 100, {}}, {DType::int32, {}, 0, 0, {-3}}};
          s.attributes = {{"data_type", to}};
          all.push_back(s);
        }
      }
      return all;
    },
    .popart_type = "CastThenPow2Scale",
    .subscripts = elementwise_subscripts,
});

}  // namespace pando::ir
