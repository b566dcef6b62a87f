#include "onnx/model.h"

#include "ir/refuse_at.h"
#include "onnx/wire.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>

namespace pando::onnx {

namespace {

using ir::DType;
using ir::ErrorClass;
using ir::HostTensor;

DType element_type(std::int64_t number, const std::string& of) {
  switch (number) {
    case 1: return DType::float32;
    case 2: return DType::uint8;
    case 3: return DType::int8;
    case 4: return DType::uint16;
    case 5: return DType::int16;
    case 6: return DType::int32;
    case 7: return DType::int64;
    case 9: return DType::boolean;
    case 10: return DType::float16;
    case 11: return DType::float64;
    case 12: return DType::uint32;
    case 13: return DType::uint64;
    default:
      ir::refuse(ErrorClass::value, "onnx-element-type", "'{}' has the element type {} of ONNX, which is not known here", of, number);
  }
}

struct External {
  std::string location;
  std::size_t offset = 0, length = 0;
  bool has_length = false;
};

std::size_t place_of(const std::string& key, const std::string& value) {
  std::size_t n = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (error != std::errc() || end != value.data() + value.size())
    ir::refuse(ErrorClass::value, "onnx-external", "the {} of data beside the model is '{}'; a number of bytes is expected", key, value);
  return n;
}

// key, value
void external_entry(std::string_view bytes, External& e) {
  Message m(bytes);
  std::string key, value;
  while (m.next()) {
    if (m.field() == 1) key = m.text();
    if (m.field() == 2) value = m.text();
  }
  if (key == "location") e.location = value;
  if (key == "offset") e.offset = place_of(key, value);
  if (key == "length") {
    e.length = place_of(key, value);
    e.has_length = true;
  }
}

std::string external_bytes(const External& e, const std::string& directory, std::size_t size, const std::string& name) {
  // A file beside the model, not one somewhere else.
  if (e.location.empty() || e.location[0] == '/' || e.location.find("..") != std::string::npos) {
    ir::refuse(ErrorClass::value, "onnx-external", "data of '{}' lie at '{}', which is not beside the model", name, e.location);
  }
  if (e.has_length && e.length != size)
    ir::refuse(ErrorClass::value, "onnx-data", "'{}' has {} bytes of data, {} are its shape's", name, e.length, size);
  std::ifstream file(directory + "/" + e.location, std::ios::binary);
  std::string bytes(size, '\0');
  if (!file || !file.seekg(static_cast<std::streamoff>(e.offset)) || !file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
    ir::refuse(ErrorClass::value, "onnx-external", "data of '{}' cannot be read from '{}'", name, e.location);
  }
  return bytes;
}

class TensorReader {
 public:
  explicit TensorReader(const std::string& directory) : directory_(directory) {}

  HostTensor read(std::string_view bytes) {
    Message m(bytes);
    std::vector<std::int64_t> dims;
    while (m.next()) {
      switch (m.field()) {
        case 1: m.append(dims); break;
        case 2: type_ = m.integer(); break;
        case 4: m.append(floats_); break;
        case 5:
        case 7:
        case 11: m.append(integers_); break;
        case 8: name = m.text(); break;
        case 9:
          raw_ = m.bytes();
          has_raw_ = true;
          break;
        case 10: m.append(doubles_); break;
        case 13: external_entry(m.bytes(), external_); break;
        case 14: is_external_ = m.integer() == 1; break;
        default: break;
      }
    }
    return data(dims);
  }
  std::string name;

 private:
  HostTensor data(const std::vector<std::int64_t>& dims) const {
    HostTensor t(element_type(type_, name), dims);
    if (is_external_) return of_bytes(t, external_bytes(external_, directory_, t.size_bytes(), name));
    if (has_raw_) return of_bytes(t, raw_);
    const auto n = static_cast<std::size_t>(t.elements());
    const bool bits = t.dtype() == DType::float16;  // kept as integers
    const std::size_t found = std::max({floats_.size(), doubles_.size(), integers_.size()});
    if (found != n)
      ir::refuse(ErrorClass::value, "onnx-data", "'{}' has {} elements of data for the shape {}", name, found, ir::to_string(t.shape()));
    for (std::size_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::int64_t>(i);
      if (bits) {
        const auto pattern = static_cast<std::uint16_t>(integers_[i]);
        std::memcpy(t.writable() + i * sizeof pattern, &pattern, sizeof pattern);
      } else if (!integers_.empty()) {
        t.set_integer(at, integers_[i]);
      } else {
        t.set(at, floats_.empty() ? doubles_[i] : static_cast<double>(floats_[i]));
      }
    }
    return t;
  }

  HostTensor of_bytes(HostTensor t, std::string_view bytes) const {
    if (bytes.size() != t.size_bytes())
      ir::refuse(ErrorClass::value, "onnx-data", "'{}' has {} bytes of data, {} are its shape's", name, bytes.size(), t.size_bytes());
    if (!bytes.empty()) std::memcpy(t.writable(), bytes.data(), bytes.size());
    return t;
  }

  const std::string& directory_;
  std::int64_t type_ = 0;
  std::vector<float> floats_;
  std::vector<double> doubles_;
  std::vector<std::int64_t> integers_;
  std::string_view raw_;
  bool has_raw_ = false, is_external_ = false;
  External external_;
};

class Reader {
 public:
  explicit Reader(std::string directory) : directory_(std::move(directory)) {}

  Model run(std::string_view bytes) {
    Message m(bytes);
    bool has_graph = false;
    while (m.next()) {
      if (m.field() == 7) {
        graph(m.bytes());
        has_graph = true;
      }
      if (m.field() == 8) opset(m.bytes());
    }
    if (!has_graph) ir::refuse(ErrorClass::value, "onnx-file", "this is no ONNX file: it has no graph");
    return std::move(model_);
  }

 private:
  void opset(std::string_view bytes) {
    Message m(bytes);
    std::string domain;
    std::int64_t version = 0;
    while (m.next()) {
      if (m.field() == 1) domain = m.text();
      if (m.field() == 2) version = m.integer();
    }
    if (domain.empty() || domain == "ai.onnx") model_.opset = version;
  }

  void graph(std::string_view bytes) {
    Message m(bytes);
    while (m.next()) {
      switch (m.field()) {
        case 1: model_.nodes.push_back(node(m.bytes())); break;
        case 2: model_.graph_name = m.text(); break;
        case 5: {
          TensorReader t(directory_);
          HostTensor data = t.read(m.bytes());
          model_.initializer_names.push_back(t.name);
          model_.initializers.insert_or_assign(t.name, std::move(data));
          break;
        }
        case 11: model_.inputs.push_back(value(m.bytes())); break;
        case 12: model_.outputs.push_back(value(m.bytes())); break;
        default: break;
      }
    }
  }

  Node node(std::string_view bytes) const {
    Message m(bytes);
    Node n;
    while (m.next()) {
      switch (m.field()) {
        case 1: n.inputs.push_back(m.text()); break;
        case 2: n.outputs.push_back(m.text()); break;
        case 3: n.name = m.text(); break;
        case 4: n.op = m.text(); break;
        case 5: attribute(m.bytes(), n); break;
        case 7: n.domain = m.text(); break;
        default: break;
      }
    }
    return n;
  }

  void attribute(std::string_view bytes, Node& n) const {
    Message m(bytes);
    std::string name;
    Attribute a;
    while (m.next()) {
      switch (m.field()) {
        case 1: name = m.text(); break;
        case 2: a.real = m.real(); break;
        case 3: a.integer = m.integer(); break;
        case 4: a.text = m.text(); break;
        case 5: a.tensor = TensorReader(directory_).read(m.bytes()); break;
        case 6:
        case 11: a.has_graph = true; break;
        case 7: m.append(a.reals); break;
        case 8: m.append(a.integers); break;
        default: break;
      }
    }
    n.attributes.insert_or_assign(name, std::move(a));
  }

  static ValueInfo value(std::string_view bytes) {
    Message m(bytes);
    ValueInfo v;
    std::string_view type;
    while (m.next()) {
      if (m.field() == 1) v.name = m.text();
      if (m.field() == 2) type = m.bytes();
    }
    Message t(type);
    while (t.next()) {
      if (t.field() != 1) ir::refuse(ErrorClass::value, "onnx-element-type", "'{}' is no tensor", v.name);
      tensor_type(t.bytes(), v);
    }
    return v;
  }

  static void tensor_type(std::string_view bytes, ValueInfo& v) {
    Message m(bytes);
    while (m.next()) {
      if (m.field() == 1) v.dtype = element_type(m.integer(), v.name);
      if (m.field() != 2) continue;
      Message shape(m.bytes());
      while (shape.next()) {
        if (shape.field() != 1) continue;
        Message dim(shape.bytes());
        Dimension d;
        while (dim.next()) {
          if (dim.field() == 1) d.value = dim.integer();
          if (dim.field() == 2) d.name = dim.text();
        }
        v.shape.push_back(std::move(d));
      }
    }
  }

  std::string directory_;
  Model model_;
};

}  // namespace

std::int64_t Node::integer(const std::string& name, std::int64_t otherwise) const {
  const auto it = attributes.find(name);
  return it != attributes.end() && it->second.integer ? *it->second.integer : otherwise;
}
double Node::real(const std::string& name, double otherwise) const {
  const auto it = attributes.find(name);
  return it != attributes.end() && it->second.real ? static_cast<double>(*it->second.real) : otherwise;
}
std::string Node::text(const std::string& name, const std::string& otherwise) const {
  const auto it = attributes.find(name);
  return it != attributes.end() && it->second.text ? *it->second.text : otherwise;
}
const std::vector<std::int64_t>* Node::integers(const std::string& name) const {
  const auto it = attributes.find(name);
  return it != attributes.end() ? &it->second.integers : nullptr;
}

// What is wrong inside a message is said where it is found; which file that was, here.
Model read(std::string_view bytes, const std::string& directory, const std::string& source) {
  try {
    Model model = Reader(directory).run(bytes);
    model.source = source;
    return model;
  } catch (const ModelError& e) {
    if (!e.location().empty()) throw;
    ir::refuse_at(e.kind(), e.id(), {source}, "{}", without_id(e.what()));
  }
}

}  // namespace pando::onnx
