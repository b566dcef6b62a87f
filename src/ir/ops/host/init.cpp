#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_init;
constexpr OpRow op_init = checked({
    .name = "init",
    .doc = "A tensor made from nothing: zeros, or contents that nobody may rely on (`undef`; the reference interpreter gives zeros).",
    .signature = "init(shape: Iterable[int], dtype: dtypes.dtype, name: Optional[str]=None, init_type: Union[Literal['zero'], "
                 "Literal['undef']]='zero', "
                 "meta_shape: Optional[Iterable[int]]=None) -> Tensor",
    .attributes = {{{"shape", AttributeKind::ints},
                    {"dtype", AttributeKind::dtype},
                    {"init_type", AttributeKind::text},
                    {"meta_shape", AttributeKind::ints, false}}},
    .infer =
        [](Inference& in) {
          const std::string& type = in.attributes().text("init_type");
          if (type != "zero" && type != "undef") in.reject("init-type", "the init type '{}'; zero and undef are possible", type);
          for (std::int64_t d : in.attributes().ints("shape")) {
            if (d < 0) in.reject("init-shape", "a dimension of {}", d);
          }
          in.result(in.attributes().dtype("dtype"), in.attributes().ints("shape"));
          in.results().back().meta_shape = in.attributes().ints("meta_shape");
        },
    .reference = [](Evaluation& e) { e.result(e.fresh()); },
    .samples =
        [] {
          Sample a, b;
          a.attributes = {{"shape", Ints{2, 3}}, {"dtype", DType::float32}, {"init_type", std::string("zero")}};
          b.attributes = {{"shape", Ints{}}, {"dtype", DType::int32}, {"init_type", std::string("zero")}};
          return std::vector{a, b};
        },
    .popart_type = "Init",
    .whole = "it has no operands to cut",
});

}  // namespace pando::ir
