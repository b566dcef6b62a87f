// Options, vertex names, debug information.
#include <gmock/gmock.h>

#include <fstream>

#include <poplar/Graph.hpp>

#include "poplibs/poputil/tensor_meta_data.h"
#include "poputil/DebugInfo.hpp"
#include "poputil/OptionParsing.hpp"
#include "poputil/TensorMetaData.hpp"
#include "poputil/VertexTemplates.hpp"
#include "poputil/cyclesTables.hpp"
#include "poputil/exceptions.hpp"

enum class Shade { dark, light };
namespace poputil {
template <>
struct VertexTemplateToString<Shade> {
  static std::string to_string(Shade s) { return s == Shade::dark ? "Shade::dark" : "Shade::light"; }
};

namespace {

using poplibs::OptionHandler;
using poplibs::OptionSpec;
using testing::HasSubstr;

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const poplar::invalid_option& e) { return e.what(); }
  return "(no error)";
}

struct Options {
  int count = 1;
  unsigned char small = 0;
  std::uint64_t large = 0;
  bool flag = false;
  double share = 0.5;
  float part = 0;
  std::string name;
  Shade shade = Shade::dark;
  std::vector<unsigned> list;
  std::optional<double> maybe;
  std::optional<Shade> maybe_shade = Shade::dark;
  OptionSpec spec() {
    return OptionSpec{
        {"count", OptionHandler::createWithInteger(count)},
        {"large", OptionHandler::createWithInteger(large)},
        {"flag", OptionHandler::createWithBool(flag)},
        {"share", OptionHandler::createWithDouble(share, 0, true, 1, false)},
        {"part", OptionHandler::createWithDouble(part)},
        {"name", OptionHandler::createWithString(name)},
        {"shade", OptionHandler::createWithEnum(shade, {{"dark", Shade::dark}, {"light", Shade::light}})},
        {"list", OptionHandler::createWithList(list)},
        {"twice", {[this](poplar::StringRef v) { count = 2 * poplibs::parse::asInteger<int>(v); }}},
        {"maybe", poplibs::createOptionalDoubleHandler(maybe)},
        {"maybeShade", poplibs::createOptionalEnumHandler(maybe_shade, std::map<std::string, Shade>{{"light", Shade::light}})}};
  }
};

TEST(Options, ValuesArriveInTheirVariables) {
  Options o;
  const OptionSpec spec = o.spec();
  for (const auto& [key, value] : poplar::OptionFlags{{"count", "-7"},
                                                      {"flag", "true"},
                                                      {"share", "0.25"},
                                                      {"part", "2e-3"},
                                                      {"name", "a b"},
                                                      {"shade", "light"},
                                                      {"list", "3,0x1f"},
                                                      {"maybe", "1.5"},
                                                      {"maybeShade", "none"},
                                                      {"large", "0x123456789a"}})
    spec.parse(key, value);
  EXPECT_EQ(o.count, -7);
  EXPECT_TRUE(o.flag);
  EXPECT_EQ(o.share, 0.25);
  EXPECT_EQ(o.part, 2e-3f);
  EXPECT_EQ(o.name, "a b");
  EXPECT_EQ(o.shade, Shade::light);
  EXPECT_THAT(o.list, testing::ElementsAre(3, 31));
  EXPECT_EQ(o.maybe, 1.5);
  EXPECT_EQ(o.maybe_shade, std::nullopt);
  EXPECT_EQ(o.large, 0x123456789au);
  spec.parse("twice", "4");
  EXPECT_EQ(o.count, 8);
  spec.parse(poplar::OptionFlags{{"maybeShade", "light"}});
  EXPECT_EQ(o.maybe_shade, Shade::light);
}

TEST(Options, UnknownKeysAreAnError) {
  Options o;
  const OptionSpec spec = o.spec();
  EXPECT_THAT(message_of([&] { spec.parse("cuont", "3"); }),
              testing::AllOf(HasSubstr("Unrecognised option 'cuont'"), HasSubstr("'count', 'flag'")));
  EXPECT_EQ(message_of([&] { spec.parse("cuont", "3", true); }), "(no error)");
}

TEST(Options, MalformedValuesAreAnError) {
  Options o;
  const OptionSpec spec = o.spec();
  for (const auto& [key, value, what] :
       std::vector<std::tuple<const char*, const char*, const char*>>{{"count", "3x", "Not a valid integer"},
                                                                      {"count", "", "Not a valid integer"},
                                                                      {"share", "1", "less than 1"},
                                                                      {"share", "-0.1", "greater than or equal to 0"},
                                                                      {"share", "nan", "Not a floating point number"},
                                                                      {"share", "0.5x", "Not a floating point number"},
                                                                      {"flag", "yes", "['false', 'true']"},
                                                                      {"shade", "grey", "['dark', 'light']"},
                                                                      {"maybeShade", "grey", "['light']"},
                                                                      {"maybe", "-1", "greater than"},
                                                                      {"list", "1,,2", "comma-separated list of integers"}})
    EXPECT_THAT(message_of([&, k = key, v = value] { spec.parse(k, v); }),
                testing::AllOf(HasSubstr(std::string("Invalid value '") + value + "' for option '" + key), HasSubstr(what)));
}

TEST(VertexTemplates, ParametersAreWrittenOut) {
  EXPECT_EQ(templateVertex("popops::Fill", poplar::FLOAT), "popops::Fill<float>");
  EXPECT_EQ(templateVertex("V"), "V");
  const std::string text = "a::b";
  const poplar::Type type = poplar::UNSIGNED_INT;
  EXPECT_EQ(templateVertex("V", type, true, 3, Shade::light, text, "c::d", poplar::StringRef("e"), false, 7u),
            "V<unsigned int,true,3,Shade::light,a::b,c::d,e,false,7>");
}

std::string contents(const std::string& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

void anOperation(const poplar::Tensor& in, unsigned axis, const poplar::DebugContext& context) {
  const std::vector<std::size_t> sizes = {4, 5};
  const std::array<bool, 1> flags = {true};
  const std::pair<int, float> pair = {1, 0.5f};
  const poplar::Tensor* none = nullptr;
  poputil::PoplibsOpDebugInfo di(context, DI_ARGS(in, axis, sizes, flags, pair, none));
  di.addOutputs(DI_ARGS(axis));
  di.addOutput(in);
}

TEST(DebugInfo, OperationsTellTheirArguments) {
  poplar::Graph graph(poplar::Target::createCPUTarget());
  const poplar::Tensor t = graph.addVariable(poplar::HALF, {2, 3}, "weights");
  const std::string file = testing::TempDir() + "poputil_debug_info.json";
  poplar::DebugInfo::initializeStreamer(file, poplar::DebugSerializationFormat::JSON);
  anOperation(t, 7, "layer");
  poplar::DebugInfo::closeStreamer();
  const std::string text = contents(file);
  for (const char* part : {R"("api":"anOperation")", R"("layer":"poplibs")", R"("axis":7)", R"("sizes":{"0":4,"1":5})",
                           R"("flags":{"0":true})", R"("pair":{"first":1,"second":0.5})", R"("none":"<nullptr>")",
                           R"("elementType":"half")", R"("shape":[2,3])", R"("path":"layer")", R"("output":)", R"("outputs":{"axis":7})"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(DebugInfo, ArgumentsAreNotLookedAtWhenNobodyReads) {
  int looked = 0;
  const auto look = [&] { return ++looked; };
  EXPECT_TRUE(DI_ARGS(look()).empty());
  EXPECT_EQ(looked, 0);
}

TEST(DebugInfo, ValuesOfOtherTypes) {
  EXPECT_EQ(toProfileValue(std::string("x")).asString(), "x");
  EXPECT_EQ(toProfileValue(poplar::FLOAT).asString(), "float");
  EXPECT_EQ(toProfileValue(poplar::OptionFlags{{"a", "b"}})["a"].asString(), "b");
  EXPECT_EQ(toProfileValue(std::vector<bool>{true, false})["1"].asBool(), false);
  EXPECT_EQ(toProfileValue(poplar::TensorCloneMethod::CREATE_NEW_ORDER).asString(), "CREATE_NEW_ORDER");
  EXPECT_EQ(toProfileValue(poplar::Tensor()).asString(), "<invalid>");
  EXPECT_EQ(toProfileValue(poplar::ComputeSet(3))["id"].asInt(), 3);
  const std::vector<int> two = {5, 6};
  EXPECT_EQ(toProfileValue(poplar::ArrayRef<int>(two))[1].asInt(), 6);
  EXPECT_EQ(toProfileValue(&two)["0"].asInt(), 5);
  EXPECT_EQ(toProfileValue(std::vector<std::pair<std::vector<int>, int>>{{two, 1}})["0"]["first"]["1"].asInt(), 6);
}

struct Note : TensorMetaDataBase {
  explicit Note(int v) : value(v) {}
  std::unique_ptr<TensorMetaDataBase> clone() const override { return std::make_unique<Note>(*this); }
  int value;
};

TEST(TensorMetaData, IsAValue) {
  EXPECT_EQ(TensorMetaData().getData(), nullptr);
  TensorMetaData a(std::make_unique<Note>(5));
  TensorMetaData b(a);
  EXPECT_NE(a.getData(), b.getData());
  TensorMetaData c;
  c = std::move(a);
  a = b;
  b = TensorMetaData();
  EXPECT_EQ(static_cast<const Note*>(a.getData())->value, 5);
  EXPECT_EQ(static_cast<const Note*>(c.getData())->value, 5);
  EXPECT_EQ(b.getData(), nullptr);
}

poplar::VertexPerfEstimate getPerfEstimateForScale(const poplar::VertexIntrospector& vertex, const poplar::Target& target,
                                                   const poplar::Type& type, unsigned factor) {
  CODELET_FIELD(data);
  return {data.size() * factor * target.getTypeSize(type), 1};
}
poplar::VertexPerfEstimate getPerfEstimateForNothing(const poplar::VertexIntrospector&, const poplar::Target&) { return 5; }

TEST(CyclesTables, RowsNameTheirInstantiations) {
  const internal::PerfEstimatorTable table = {CYCLE_ESTIMATOR_ENTRY(ns, Scale, poplar::HALF, 3u),
                                              CYCLE_ESTIMATOR_ENTRY_NOPARAMS(ns, Nothing)};
  EXPECT_EQ(table[0].first, "ns::Scale<half,3>");
  EXPECT_EQ(table[1].first, "ns::Nothing");
  using poplar::layout::Vector;
  using poplar::layout::VectorList;
  EXPECT_EQ(internal::getUnpackCost(Vector::ScaledPtr64), 1u);
  EXPECT_EQ(internal::getUnpackCost(Vector::Span), 0u);
  EXPECT_EQ(internal::getUnpackCost(VectorList::DeltaN), 2u);
  EXPECT_EQ(internal::getVectorListDeltaUnpackCost(VectorList::DeltaNElements), 2u);
  EXPECT_THROW(internal::getUnpackCost(VectorList::OnePtr), poplibs_error);
  EXPECT_THROW(internal::getVectorListDeltaUnpackCost(VectorList::OnePtr), poplibs_error);
  poplar::Graph graph(poplar::Target::createCPUTarget());
  EXPECT_THROW(internal::registerPerfFunctions(graph, table), poplar::unknown_vertex_type);
}

TEST(Errors, AreRuntimeErrorsWithAType) {
  EXPECT_EQ(poplibs_error("shape").type, "poplibs_error");
  EXPECT_STREQ(poplibs_error(std::string("shape")).what(), "shape");
}

}  // namespace
}  // namespace poputil
