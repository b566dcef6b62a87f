// The model level's part of a random call: builders with tensors, graphs and streams, good and bad. world.h includes it.
#pragma once

#include <pando/model.hpp>

#include "misuse/world.h"

namespace misuse {

namespace model = pando::model;

struct ModelWorld {
  ModelWorld();

  // Of the main graph, of `inner`, of the other builder.
  std::vector<model::Tensor> good, within, foreign;
  std::vector<model::Stream> in, out, foreign_in, foreign_out;
  model::Builder own, other;
  model::Graph inner, foreign_graph;
  std::vector<model::Graph> graphs;
  // What the streams in `in` take.
  std::map<model::Stream, model::Data> inputs() const;
};

// What is wrong with the world's own builder after a call: its module breaks a rule, or its text does not come back. Empty: nothing.
std::string model_wrong(World& w);
// Compiles and runs it: an exception is an answer.
void run_model(World& w);
// A call of each op of the table: its samples, with something in them changed.
void add_op_rows(std::vector<Row>& rows);

template <>
struct Maker<model::Graph> {
  static model::Graph make(World& w);
};
template <>
struct Maker<model::Tensor> {
  static model::Tensor make(World& w);
};
template <>
struct Maker<model::Stream> {
  static model::Stream make(World& w);
};
template <>
struct Maker<model::Type> {
  static model::Type make(World& w);
};
template <>
struct Maker<model::Data> {
  static model::Data make(World& w);
};
template <>
struct Maker<model::Attribute> {
  static model::Attribute make(World& w);
};
template <>
struct Maker<model::Attributes> {
  static model::Attributes make(World& w);
};
template <>
struct Maker<model::Options> {
  static model::Options make(World& w);
};
template <>
struct Maker<std::map<model::Stream, model::Data>> {
  static std::map<model::Stream, model::Data> make(World& w);
};
template <>
struct Maker<model::Module> {
  static model::Module make(World& w);
};
template <>
struct Maker<model::Session> {
  static model::Session make(World& w);
};

// Mostly the world's own; perhaps one that was moved from. Which of them is settled last: arguments move.
struct BuilderArgument {
  explicit BuilderArgument(World& w);
  model::Builder& get() { return own ? *own : empty; }
  model::Builder empty;
  model::Builder* own;
};
template <>
struct Argument<model::Builder&> : BuilderArgument {
  using BuilderArgument::BuilderArgument;
};
template <>
struct Argument<model::Builder&&> : BuilderArgument {
  using BuilderArgument::BuilderArgument;
  model::Builder&& get() { return std::move(BuilderArgument::get()); }
};
std::string_view model_text(World& w);
template <>
struct Argument<std::string_view> {
  explicit Argument(World& w) : storage(model_text(w)) {}
  std::string_view get() { return storage; }
  std::string storage;
};

}  // namespace misuse
