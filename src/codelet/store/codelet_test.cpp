#include "codelet/store/codelet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/similar_names.h"
#include "codelet/popc/popc_process.h"

namespace pando {
namespace {

using ::testing::ElementsAre;

TEST(VertexName, IgnoresBlanksAndSpellsIntegersOut) {
  EXPECT_EQ(normalised_vertex_name("popops::Fill< unsigned , half >"), "popops::Fill<unsigned int,half>");
  EXPECT_EQ(normalised_vertex_name("V<long int,long long int,short unsigned int,unsigned long,char,signed char,signed>"),
            "V<long,long long,unsigned short,unsigned long,char,signed char,int>");
  EXPECT_EQ(normalised_vertex_name("V<_Float16>"), "V<half>");
  EXPECT_EQ(normalised_vertex_name("My_unsigned<a::b, true, 3>"), "My_unsigned<a::b,true,3>");
}

Field field(FieldShape shape, FieldKind kind, ElementType type, FieldLayout layout = FieldLayout::span,
            FieldLayout inner = FieldLayout::span) {
  Field f;
  f.shape = shape;
  f.kind = kind;
  f.type = type;
  f.layout = layout;
  f.inner_layout = inner;
  return f;
}

TEST(TargetStateBytes, UsesTheTargetsPointers) {
  Codelet c;
  EXPECT_EQ(c.target_state_bytes({}), 0u);
  c.fields = {field(FieldShape::vector, FieldKind::input, ElementType::float_),                              // 8
              field(FieldShape::scalar, FieldKind::output, ElementType::half),                               // 4
              field(FieldShape::scalar, FieldKind::state, ElementType::boolean),                             // 1, padded to 2
              field(FieldShape::scalar, FieldKind::state, ElementType::half),                                // 2
              field(FieldShape::vector, FieldKind::input, ElementType::float_, FieldLayout::short_span),     // 4
              field(FieldShape::vector, FieldKind::input, ElementType::float_, FieldLayout::scaled_ptr64)};  // 2, padded to 4
  EXPECT_EQ(c.target_state_bytes({}), 24u);
  c.fields = {field(FieldShape::vector_of_vectors, FieldKind::input, ElementType::float_, FieldLayout::one_ptr, FieldLayout::span)};
  EXPECT_EQ(c.target_state_bytes({5}), 4u + 5 * 8);
  c.fields[0].inner_layout = FieldLayout::short_span;
  EXPECT_EQ(c.target_state_bytes({5}), 4u + 5 * 4);
}

TEST(MaxFieldSize, FollowsTheLayout) {
  Field f = field(FieldShape::vector, FieldKind::input, ElementType::float_, FieldLayout::short_span);
  EXPECT_EQ(max_field_size(f, 0), 2047u);
  f.layout = FieldLayout::span;
  EXPECT_EQ(max_field_size(f, 0), 0xffffffffu);
  f = field(FieldShape::vector_of_vectors, FieldKind::input, ElementType::float_, FieldLayout::span, FieldLayout::short_span);
  EXPECT_EQ(max_field_size(f, 0), 0xffffffffu);
  EXPECT_EQ(max_field_size(f, 1), 2047u);
}

TEST(MaxFieldValue, FollowsTheType) {
  const auto of = [](ElementType type) { return max_field_value(field(FieldShape::scalar, FieldKind::state, type)); };
  EXPECT_EQ(of(ElementType::unsigned_short), 65535);
  EXPECT_EQ(of(ElementType::short_), 32767);
  EXPECT_EQ(of(ElementType::unsigned_int), 4294967295.0);
  EXPECT_EQ(of(ElementType::char_), 127);
  EXPECT_EQ(of(ElementType::boolean), 1);
  EXPECT_EQ(of(ElementType::half), 65504);
}

TEST(SimilarNames, NearestFirst) {
  EXPECT_THAT(similar_names("SumVertx", {"SumVertex", "MulVertex", "Sum", "SumVertexes"}),
              ElementsAre("SumVertex", "MulVertex", "SumVertexes"));
  EXPECT_TRUE(similar_names("Fill", {"Reduce"}).empty());
}

TEST(SplitFlags, AsAShellDoes) {
  EXPECT_THAT(split_flags("-O2  -DX='a b' -I\"c d\" e\\ f"), ElementsAre("-O2", "-DX=a b", "-Ic d", "e f"));
}

}  // namespace
}  // namespace pando
