#include "simulate/measured_json.h"

#include "base/source_location.h"
#include "base/text/similar_names.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace pando::simulate {

namespace {

using Json = nlohmann::ordered_json;

// How much quicker than the peak a row may seem: clocks are not exact, and attention skips what causality masks, which is half.
constexpr double kOverPeak = 1.05;

constexpr std::pair<Collective, std::string_view> kCollectives[] = {{Collective::send, "send"},
                                                                    {Collective::broadcast, "broadcast"},
                                                                    {Collective::all_reduce, "all_reduce"},
                                                                    {Collective::all_gather, "all_gather"},
                                                                    {Collective::reduce_scatter, "reduce_scatter"},
                                                                    {Collective::all_to_all, "all_to_all"}};
constexpr ProductType kTypes[] = {ProductType::bf16, ProductType::fp16, ProductType::tf32, ProductType::fp32, ProductType::fp8};
const std::vector<std::string> kBytewise{"rms_norm", "layer_norm", "gated", "gelu", "add", "rotary", "cross_entropy", "adamw"};
const std::vector<std::string> kSoftware{"eager", "compiled"};

// One row of a table, member by member: whoever has read them all ends it.
class RowReader {
 public:
  RowReader(const Json& row, std::string where, const std::string& file) : row_(row), where_(std::move(where)), file_(file) {
    if (!row.is_object()) wrong(fmt::format("is {}; an object is expected", row.dump()));
  }

  [[noreturn]] void wrong(const std::string& what) const {
    fail_at(ErrorKind::poplar_error, "cluster-file", {file_}, "{} {}", where_, what);
  }

  bool has(const std::string& name) const { return row_.contains(name); }

  double positive(const std::string& name) {
    const Json& v = member(name);
    if (!v.is_number() || !(v.get<double>() > 0) || !std::isfinite(v.get<double>()))
      wrong(fmt::format("has {} {}; a number over 0 is expected", name, v.dump()));
    return v.get<double>();
  }

  std::int64_t whole(const std::string& name, std::int64_t least = 1) {
    const Json& v = member(name);
    if (!v.is_number_integer() || v.get<double>() < static_cast<double>(least) || v.get<double>() > 1e12)
      wrong(fmt::format("has {} {}; a whole number from {} is expected", name, v.dump(), least));
    return v.get<std::int64_t>();
  }

  bool flag(const std::string& name) {
    const Json& v = member(name);
    if (!v.is_boolean()) wrong(fmt::format("has {} {}; true or false is expected", name, v.dump()));
    return v.get<bool>();
  }

  std::string text(const std::string& name) {
    const Json& v = member(name);
    if (!v.is_string()) wrong(fmt::format("has {} {}; a text is expected", name, v.dump()));
    return v.get<std::string>();
  }

  std::string one_of(const std::string& name, const std::vector<std::string>& known) {
    std::string value = text(name);
    if (std::ranges::find(known, value) != known.end()) return value;
    wrong(fmt::format("has {} '{}'; known are {}", name, value, fmt::join(known, ", ")));
  }

  void end() const {
    for (const auto& [name, value] : row_.items()) {
      if (std::ranges::find(read_, name) != read_.end()) continue;
      const std::vector<std::string> near = similar_names(name, read_);
      wrong(fmt::format("has a member '{}', which is not known; {} {}", name, near.empty() ? "known are" : "the nearest is",
                        near.empty() ? fmt::format("{}", fmt::join(read_, ", ")) : near[0]));
    }
  }

 private:
  const Json& member(const std::string& name) {
    read_.push_back(name);
    if (!row_.contains(name)) wrong("lacks " + name);
    return row_[name];
  }

  const Json& row_;
  std::string where_;
  const std::string& file_;
  std::vector<std::string> read_;
};

template <class Read>
void each_row(const Json& j, const char* table, const std::string& file, Read read) {
  if (!j.contains(table)) return;
  if (!j[table].is_array()) fail_at(ErrorKind::poplar_error, "cluster-file", {file}, "{} of measured is not a list of rows", table);
  std::size_t number = 0;
  for (const Json& row : j[table]) {
    RowReader r(row, fmt::format("row {} of {}", number++, table), file);
    read(r);
    r.end();
  }
}

class MeasuredReader {
 public:
  MeasuredReader(const Json& j, const MeasuredPeaks& peaks, const std::string& file) : j_(j), peaks_(peaks), file_(file) {
    m_.launch = peaks.launch;
  }

  Measured read() {
    check_tables();
    if (j_.contains("device")) {
      for (const auto& [name, value] : j_["device"].items())
        m_.device.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
    }
    m_.dispatch_seconds = j_.value("dispatch_seconds", 0.0);
    m_.sustained = j_.value("sustained", 1.0);
    if (!(m_.sustained > 0 && m_.sustained <= 1))
      fail_at(ErrorKind::poplar_error, "cluster-file", {file_}, "sustained of measured is {}; a share over 0 and up to 1 is expected",
              m_.sustained);
    each_row(j_, "products", file_, [this](RowReader& r) { product(r); });
    each_row(j_, "attention", file_, [this](RowReader& r) { attention(r); });
    each_row(j_, "bytewise", file_, [this](RowReader& r) {
      const std::string op = r.one_of("op", kBytewise), software = r.one_of("software", kSoftware);
      m_.bytewise.push_back({op, software, r.flag("backward"), r.positive("bytes"), r.positive("seconds")});
    });
    each_row(j_, "copies", file_, [this](RowReader& r) {
      const std::string direction = r.one_of("direction", {"to device", "to host"});
      m_.copies.push_back({direction, r.positive("bytes"), r.positive("seconds")});
    });
    each_row(j_, "collectives", file_, [this](RowReader& r) { collective(r); });
    each_row(j_, "layers", file_, [this](RowReader& r) { layer(r); });
    each_row(j_, "skipped", file_, [this](RowReader& r) {
      const std::string what = r.text("what");
      m_.skipped.emplace_back(what, r.text("reason"));
    });
    sort_rows(m_);
    return std::move(m_);
  }

 private:
  void check_tables() const {
    const std::vector<std::string> known{"device",   "dispatch_seconds", "sustained",   "products", "attention",
                                         "bytewise", "copies",           "collectives", "layers",   "skipped"};
    if (!j_.is_object()) fail_at(ErrorKind::poplar_error, "cluster-file", {file_}, "measured is not an object of tables");
    for (const auto& [name, value] : j_.items()) {
      if (std::ranges::find(known, name) == known.end())
        fail_at(ErrorKind::poplar_error, "cluster-file", {file_}, "measured has a member '{}', which is not known; known are {}", name,
                fmt::join(known, ", "));
    }
  }

  // A share of the peak, or seconds that are turned into one.
  double share(RowReader& r, double operations, double peak, double most) const {
    if (r.has("efficiency")) {
      const double efficiency = r.positive("efficiency");
      if (efficiency > 2 * kOverPeak) r.wrong(fmt::format("has efficiency {:g}; nothing reaches more than twice a peak", efficiency));
      return efficiency;
    }
    const double seconds = r.positive("seconds");
    if (operations / seconds > most * peak)
      r.wrong(fmt::format("takes {:g} s, which is {:.0f} % of the machine's peak", seconds, 100 * operations / seconds / peak));
    return operations / (peak * without_launch(seconds, peaks_.launch));
  }

  double peak_of(ProductType type) const {
    switch (type) {
      case ProductType::fp8: return peaks_.eight_bit_operations;
      case ProductType::tf32:
      case ProductType::fp32: return std::max(peaks_.half_operations, peaks_.single_operations);
      default: return peaks_.half_operations;
    }
  }

  void product(RowReader& r) {
    const std::int64_t groups = r.has("groups") ? r.whole("groups") : 0, m = r.whole("m"), k = r.whole("k"), n = r.whole("n");
    const std::string layout = r.one_of("layout", {"f", "i", "w"});
    std::vector<std::string> names;
    for (const ProductType t : kTypes) names.emplace_back(name_of(t));
    const std::string name = r.one_of("type", names);
    const ProductType type = *std::ranges::find(kTypes, name, [](ProductType t) { return name_of(t); });
    if (type == ProductType::fp8 && peaks_.eight_bit_operations <= 0) r.wrong("is in fp8, but the machine has no eight_bit_operations");
    const double operations = 2.0 * static_cast<double>(std::max<std::int64_t>(1, groups)) * static_cast<double>(m) *
                              static_cast<double>(k) * static_cast<double>(n);
    const double efficiency = share(r, operations, peak_of(type), kOverPeak);
    if (groups > 0)
      m_.shapes.grouped.push_back({groups, m, n, k, layout[0], efficiency});
    else
      m_.shapes.products.push_back({m, k, n, layout[0], efficiency, type});
  }

  void attention(RowReader& r) {
    MeasuredShapes::Attention a;
    a.batch = r.whole("batch"), a.heads = r.whole("heads"), a.kv_heads = r.whole("kv_heads"), a.seq = r.whole("seq");
    a.head_size = r.whole("head_size"), a.value_size = r.whole("value_size");
    a.backward = r.flag("backward");
    const double operations = (a.backward ? 5.0 : 2.0) * static_cast<double>(a.batch * a.heads * a.seq) * static_cast<double>(a.seq) *
                              static_cast<double>(a.head_size + a.value_size);
    a.efficiency = share(r, operations, peaks_.half_operations, 2 * kOverPeak);
    m_.shapes.attentions.push_back(a);
  }

  void collective(RowReader& r) {
    std::vector<std::string> names;
    for (const auto& [c, name] : kCollectives) names.emplace_back(name);
    const std::string name = r.one_of("collective", names);
    MeasuredCollective c;
    c.collective = std::ranges::find(kCollectives, name, [](const auto& x) { return x.second; })->first;
    c.bytes = r.positive("bytes"), c.devices = r.whole("devices", 2), c.nodes = r.whole("nodes"), c.beside = r.whole("beside");
    c.seconds = r.positive("seconds");
    if (c.devices % c.nodes != 0) r.wrong(fmt::format("has {} devices on {} nodes", c.devices, c.nodes));
    m_.collectives.push_back(c);
  }

  void layer(RowReader& r) {
    MeasuredLayer l;
    l.hidden = r.whole("hidden"), l.heads = r.whole("heads"), l.kv_heads = r.whole("kv_heads"), l.head_size = r.whole("head_size"),
    l.ffn = r.whole("ffn"), l.gated = r.flag("gated"), l.tensor = r.whole("tensor"), l.batch = r.whole("batch"), l.seq = r.whole("seq");
    l.software = r.one_of("software", kSoftware);
    l.forward_seconds = r.positive("forward_seconds"), l.backward_seconds = r.positive("backward_seconds");
    m_.layers.push_back(l);
  }

  const Json& j_;
  MeasuredPeaks peaks_;
  const std::string& file_;
  Measured m_;
};

Json products_of(const MeasuredShapes& shapes) {
  Json all = Json::array();
  for (const auto& p : shapes.products)
    all.push_back({{"m", p.m},
                   {"k", p.k},
                   {"n", p.n},
                   {"layout", std::string(1, p.layout)},
                   {"type", name_of(p.type)},
                   {"efficiency", p.efficiency}});
  for (const auto& g : shapes.grouped) {
    all.push_back({{"groups", g.groups},
                   {"m", g.m},
                   {"k", g.k},
                   {"n", g.n},
                   {"layout", std::string(1, g.layout)},
                   {"type", "bf16"},
                   {"efficiency", g.efficiency}});
  }
  return all;
}

Json attention_of(const MeasuredShapes& shapes) {
  Json all = Json::array();
  for (const auto& a : shapes.attentions) {
    const std::int64_t kv = a.kv_heads > 0 ? a.kv_heads : a.heads, value = a.value_size > 0 ? a.value_size : a.head_size;
    all.push_back({{"batch", a.batch},
                   {"heads", a.heads},
                   {"kv_heads", kv},
                   {"seq", a.seq},
                   {"head_size", a.head_size},
                   {"value_size", value},
                   {"backward", a.backward},
                   {"efficiency", a.efficiency}});
  }
  return all;
}

Json layers_of(const std::vector<MeasuredLayer>& layers) {
  Json all = Json::array();
  for (const MeasuredLayer& l : layers) {
    all.push_back({{"hidden", l.hidden},
                   {"heads", l.heads},
                   {"kv_heads", l.kv_heads},
                   {"head_size", l.head_size},
                   {"ffn", l.ffn},
                   {"gated", l.gated},
                   {"tensor", l.tensor},
                   {"batch", l.batch},
                   {"seq", l.seq},
                   {"software", l.software},
                   {"forward_seconds", l.forward_seconds},
                   {"backward_seconds", l.backward_seconds}});
  }
  return all;
}

}  // namespace

Json to_json(const Measured& m) {
  Json j;
  for (const auto& [name, value] : m.device) j["device"][name] = value;
  j["dispatch_seconds"] = m.dispatch_seconds;
  j["sustained"] = m.sustained;
  j["products"] = products_of(m.shapes);
  j["attention"] = attention_of(m.shapes);
  j["bytewise"] = j["copies"] = j["collectives"] = j["skipped"] = Json::array();
  for (const MeasuredBytewise& b : m.bytewise)
    j["bytewise"].push_back({{"op", b.op}, {"backward", b.backward}, {"software", b.software}, {"bytes", b.bytes}, {"seconds", b.seconds}});
  for (const MeasuredCopy& c : m.copies) j["copies"].push_back({{"direction", c.direction}, {"bytes", c.bytes}, {"seconds", c.seconds}});
  for (const MeasuredCollective& c : m.collectives) {
    j["collectives"].push_back(
        {{"collective", std::ranges::find(kCollectives, c.collective, [](const auto& x) { return x.first; })->second},
         {"bytes", c.bytes},
         {"devices", c.devices},
         {"nodes", c.nodes},
         {"beside", c.beside},
         {"seconds", c.seconds}});
  }
  j["layers"] = layers_of(m.layers);
  for (const auto& [what, reason] : m.skipped) j["skipped"].push_back({{"what", what}, {"reason", reason}});
  return j;
}

Measured measured_from_json(const Json& j, const MeasuredPeaks& peaks, const std::string& file) {
  return MeasuredReader(j, peaks, file).read();
}

}  // namespace pando::simulate
