// Rows looked up in trained tables (words, positions, token types), and trained vectors that are added or put
// in front.
//
// A table's gradient is dense: backward writes all its rows. Positions are the same for every sample, so
// their work per step does not grow with the batch, except for the sum of the gradient over the batch.
#include <algorithm>

#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"
#include "sim/workload/layers/linear.hpp"

namespace foretrain {
namespace {

// Options of the layers.
struct Embedding {
  std::int64_t entries = 0, out = 0;  ///< out: its width
  /// The gradient has the looked-up rows alone.
  bool sparse = false;
};
struct TokenTypes {
  std::int64_t entries = 0;
};
struct Positions {
  /// Rows of a table that is looked up; 0: the rows themselves are added.
  std::int64_t entries = 0;
  bool trained = true;
  bool counted = false;  ///< untrained rows are a parameter of the network all the same
};

/// Returns a misfit for anything but a sequence.
Applied needs_sequence(const Layer& layer, const Shape& in) {
  if (in.kind == ShapeKind::sequence) return {};
  return misfit(fmt::format("{} needs [sequence, width], not {}", layer.type->name, to_string(in)),
                "place it after an embedding");
}

/// Returns the gradient of a table of `entries` elements from rows; `bytes` are those that grow with the
/// rows.
Operator table_gradient(double entries, Amount bytes) {
  bytes.fixed += 4 * entries;
  return make_operator(OperatorClass::embedding, HostCall::embedding, {entries, 0}, bytes, 2);
}

/// Returns an addition of two tensors of n elements.
Operator sum_of(double n) {
  return make_operator(OperatorClass::elementwise, HostCall::add, per_sample(n), per_sample(12 * n));
}

/// Records input + rows that are the same for all samples.
TensorId record_addition(Tape& tape, TensorId input, bool trained, std::vector<BackwardStep> gradient) {
  const Shape shape = tape.at(input).shape;
  const auto n = static_cast<double>(shape.elements());
  const TensorId result = tape.result(shape, {input}, trained);
  tape.forward(make_operator(OperatorClass::elementwise, HostCall::add, per_sample(n), {4 * n, 8 * n}));
  tape.node(std::move(gradient), {input}, result);
  return result;
}

/// Returns the sum of a gradient over the batch.
Operator sum_over_batch(double n) {
  return make_operator(OperatorClass::reduction, HostCall::add, per_sample(n), {4 * n, 4 * n});
}

// Forward reads an index and a row for each token, and writes the row. The indices are kept for backward.
Applied apply_embedding(Tape& tape, const Layer& layer, TensorId input) {
  const auto& own = layer.get<Embedding>();
  const Shape& in = tape.at(input).shape;
  if (in.kind != ShapeKind::tokens) {
    return misfit(fmt::format("embedding needs token ids, not {}", to_string(in)),
                  "set input_is_tokens = true and place it first");
  }
  const std::int64_t length = in.size[0];
  if (!bounded_product({own.entries, own.out}) || !bounded_product({length, own.out})) {
    return misfit("embedding makes a tensor of more than 2^40 elements",
                  "use fewer entries or a smaller width");
  }
  const Shape made = Shape::sequence(length, own.out);
  const auto n = static_cast<double>(made.elements()), ids = static_cast<double>(length);
  const auto table = static_cast<double>(own.entries * own.out);
  const std::uint32_t weight = tape.parameter("weight", own.entries * own.out);
  // A later linear layer of as many features is then known as the output embedding.
  tape.trainability().see_words(own.entries);
  const TensorId result = tape.result(made, {input}, true);
  tape.forward(make_operator(OperatorClass::embedding, HostCall::embedding, per_sample(n),
                             per_sample(8 * ids + 8 * n)));
  tape.save(input);
  Operator backward = table_gradient(table, per_sample(8 * ids + 8 * n));
  // A sparse gradient has the looked-up rows alone: neither zeros nor the size of the table.
  if (own.sparse) backward.flops = {}, backward.bytes = per_sample(8 * ids + 8 * n);
  tape.node({{backward, {weight}}}, {input}, result);
  return {result, "", ""};
}

// The ids are zero and made on the spot: one fill, one lookup, one addition.
Applied apply_token_type(Tape& tape, const Layer& layer, TensorId input) {
  const auto& own = layer.get<TokenTypes>();
  const Shape in = tape.at(input).shape;
  if (Applied fault = needs_sequence(layer, in); !fault.ok()) return fault;
  if (!bounded_product({own.entries, in.width()}))
    return misfit("token_type makes a table of more than 2^40 elements", "use fewer entries");
  const auto n = static_cast<double>(in.elements()), ids = static_cast<double>(in.rows());
  const std::uint32_t weight = tape.parameter("weight", own.entries * in.width());
  tape.forward(
      make_operator(OperatorClass::elementwise, HostCall::activation, per_sample(ids), per_sample(8 * ids)));
  const TensorId rows = tape.result(in, {}, true);
  tape.forward(make_operator(OperatorClass::embedding, HostCall::embedding, per_sample(n),
                             per_sample(8 * ids + 8 * n)));
  tape.save(per_sample(8 * ids));
  tape.node({{table_gradient(static_cast<double>(own.entries * in.width()), per_sample(8 * ids + 8 * n)),
              {weight}}},
            {}, rows);
  const TensorId result = tape.result(in, {input, rows}, false);
  tape.forward(sum_of(n));
  tape.node({}, {input, rows}, result);
  return {result, "", ""};
}

// A table is looked up where there are entries. Otherwise the trained rows themselves are added; untrained
// rows (sines) are constants.
Applied apply_position(Tape& tape, const Layer& layer, TensorId input) {
  const auto& own = layer.get<Positions>();
  const Shape in = tape.at(input).shape;
  if (Applied fault = needs_sequence(layer, in); !fault.ok()) return fault;
  if (own.entries > 0 && own.entries < in.rows()) {
    return misfit(fmt::format("position has {} entries for {}", own.entries, to_string(in)),
                  "give one entry a row or more");
  }
  if (!own.trained && own.counted) tape.untrained("weight", in.elements());
  if (!own.trained) return {record_addition(tape, input, false, {}), "", ""};
  const std::int64_t elements = (own.entries > 0 ? own.entries : in.rows()) * in.width();
  if (!bounded_product({elements}))
    return misfit("position makes a table of more than 2^40 elements", "use fewer entries");
  const std::uint32_t weight = tape.parameter("weight", elements);
  const auto n = static_cast<double>(in.elements()), ids = static_cast<double>(in.rows());
  std::vector<BackwardStep> gradient{{sum_over_batch(n), {}}};
  if (own.entries == 0) {
    gradient[0].ready = {weight};
  } else {
    tape.forward(
        make_operator(OperatorClass::embedding, HostCall::embedding, {n + ids, 0}, {16 * ids + 8 * n, 0}, 2));
    tape.save(Amount{8 * ids, 0});
    gradient.push_back({table_gradient(static_cast<double>(elements), {8 * ids + 4 * n, 0}), {weight}});
  }
  return {record_addition(tape, input, true, std::move(gradient)), "", ""};
}

// A trained row is put in front of every sample, which costs a copy of all rows.
Applied apply_class_token(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (Applied fault = needs_sequence(layer, in); !fault.ok()) return fault;
  const Shape made = Shape::sequence(in.rows() + 1, in.width());
  if (!bounded_product({made.rows(), made.width()}))
    return misfit("class_token makes a tensor of more than 2^40 elements", "use fewer rows");
  const std::uint32_t weight = tape.parameter("weight", in.width());
  const TensorId result = tape.result(made, {input}, true);
  tape.forward(make_operator(OperatorClass::copy, HostCall::concat, {},
                             per_sample(8 * static_cast<double>(made.elements()))));
  tape.node({{sum_over_batch(static_cast<double>(in.width())), {weight}}}, {input}, result);
  return {result, "", ""};
}

// Registers a weight before the layer that uses it, as modules do that create it before their parts.
Applied apply_parameter(Tape& tape, const Layer& layer, TensorId input) {
  const auto& own = layer.get<DeclaredWeight>();
  const std::string_view part = own.part == DeclaredWeight::Part::weight ? "weight" : "bias";
  if (own.trained)
    tape.parameter(part, own.out);
  else
    tape.untrained(part, own.out);
  return {input, "", ""};
}

const DeclaredWeight* declared_by(const Layer& layer) { return &layer.get<DeclaredWeight>(); }

void check_embedding(const LayerCheck& check) {
  const auto& own = check.layer.get<Embedding>();
  check.range("entries", own.entries, 1, kWidestLayer);
  check.range("out", own.out, 1, kWidestLayer);
}

void check_token_types(const LayerCheck& check) {
  check.range("entries", check.layer.get<TokenTypes>().entries, 1, kWidestLayer);
}

void check_positions(const LayerCheck& check) {
  check.range("entries", check.layer.get<Positions>().entries, 0, kWidestLayer);
}

void check_parameter(const LayerCheck& check) {
  check.range("out", check.layer.get<DeclaredWeight>().out, 1, kWidestLayer);
}

void widen_embedding(Layer& layer, const Wider& wider) {
  auto& own = layer.edit<Embedding>();
  own.out = wider(own.out);
}

/// Returns the size of a tensor of this many rows in the wider network: only their width grows.
std::optional<std::int64_t> size_of_rows(std::int64_t rows, const DeclaredWeight& declared,
                                         const Wider& wider) {
  return rows * wider(declared.out / rows);
}

// Declared tables of positions and class tokens are as wide as the network.
std::optional<std::int64_t> size_of_positions(const Layer& layer, const DeclaredWeight& declared,
                                              const Wider& wider) {
  return size_of_rows(std::max<std::int64_t>(1, layer.get<Positions>().entries), declared, wider);
}

std::optional<std::int64_t> size_of_class_token(const Layer&, const DeclaredWeight& declared,
                                                const Wider& wider) {
  return size_of_rows(1, declared, wider);
}

}  // namespace

LayerType embedding_layer() {
  return {.name = "embedding",
          .keys = {required_key<&Embedding::entries>("entries"), required_key<&Embedding::out>("out"),
                   layer_key<&Embedding::sparse>("sparse")},
          .apply = apply_embedding,
          .check = check_embedding,
          .widening = {.sets_width = true, .widen = widen_embedding}};
}

LayerType token_type_layer() {
  return {.name = "token_type",
          .keys = {required_key<&TokenTypes::entries>("entries")},
          .apply = apply_token_type,
          .check = check_token_types};
}

LayerType position_layer() {
  return {.name = "position",
          .keys = {layer_key<&Positions::entries>("entries"), layer_key<&Positions::trained>("trained"),
                   layer_key<&Positions::counted>("counted")},
          .apply = apply_position,
          .check = check_positions,
          .widening = {.size_of = size_of_positions}};
}

LayerType class_token_layer() {
  return {.name = "class_token", .apply = apply_class_token, .widening = {.size_of = size_of_class_token}};
}

LayerType parameter_layer() {
  return {.name = "parameter",
          .keys = {required_key<&DeclaredWeight::out>("out"),
                   word_key<&DeclaredWeight::part>("part", {"weight", "bias"}),
                   layer_key<&DeclaredWeight::trained>("trained")},
          .apply = apply_parameter,
          .check = check_parameter,
          .declares = declared_by};
}

}  // namespace foretrain
