// T5's positions: a table of `buckets` distances for each head becomes a bias of the scores, made once and
// added by every layer.
//
// The distances' buckets take about fifteen small operators on integers of shape [rows, rows], the same for
// all samples. Then rows of the table are looked up, and the mask of each sample is added. Backward sums over
// the batch and writes the table.
#include <fmt/format.h>

#include "sim/workload/layers/attention.hpp"
#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {
namespace {

/// Small operators that sort distances into buckets, counted in the script of T5.
constexpr int kBucketOperators = 15;

/// Options of the layer.
struct RelativeBias {
  std::int64_t heads = 0, buckets = 0;
};

/// Returns those operators over all pairs of rows; each is a call of its own.
Operator bucket_work(double pairs) {
  Operator op = make_operator(OperatorClass::elementwise, HostCall::activation, {kBucketOperators * pairs, 0},
                              {16 * kBucketOperators * pairs, 0}, kBucketOperators);
  op.calls = kBucketOperators;
  return op;
}

// The result is as large as the scores of one sample; attention finds it by its name.
Applied apply_relative_bias(Tape& tape, const Layer& layer, TensorId input) {
  const auto& own = layer.get<RelativeBias>();
  const Shape in = tape.at(input).shape;
  if (in.kind != ShapeKind::sequence)
    return misfit(fmt::format("relative_bias needs [sequence, width], not {}", to_string(in)),
                  "place it after an embedding");
  if (!bounded_product({own.heads, own.buckets}) || !bounded_product({own.heads, in.rows(), in.rows()}))
    return misfit("relative_bias makes a tensor of more than 2^40 elements", "use a shorter sequence");
  const auto pairs = static_cast<double>(in.rows() * in.rows()),
             scores = pairs * static_cast<double>(own.heads),
             table = static_cast<double>(own.heads * own.buckets);
  const std::uint32_t weight = tape.parameter("weight", own.heads * own.buckets);
  const TensorId bias = tape.result(Shape::sequence(own.heads * in.rows(), in.rows()), {}, true);
  // Buckets and lookup do not grow with the batch; the mask of each sample does.
  tape.forward(bucket_work(pairs));
  tape.forward(
      make_operator(OperatorClass::embedding, HostCall::embedding, {scores, 0}, {8 * pairs + 8 * scores, 0}));
  tape.forward(
      make_operator(OperatorClass::elementwise, HostCall::add, per_sample(scores), {4 * scores, 4 * scores}));
  tape.save(Amount{8 * pairs, 0});
  const BackwardStep sum{
      make_operator(OperatorClass::reduction, HostCall::add, per_sample(scores), {4 * scores, 4 * scores}),
      {}};
  tape.node({sum,
             {make_operator(OperatorClass::embedding, HostCall::embedding, {table, 0},
                            {4 * table + 8 * pairs + 4 * scores, 0}, 2),
              {weight}}},
            {}, bias);
  return {bias, "", ""};
}

void check_relative_bias(const LayerCheck& check) {
  check.range("heads", check.layer.get<RelativeBias>().heads, 1, kLargestStep);
  check.range("buckets", check.layer.get<RelativeBias>().buckets, 1, kWidestLayer);
}

}  // namespace

LayerType relative_bias_layer() {
  return {
      .name = "relative_bias",
      .keys = {required_key<&RelativeBias::heads>("heads"), required_key<&RelativeBias::buckets>("buckets")},
      .apply = apply_relative_bias,
      .check = check_relative_bias,
      .widening = {.is_rigid = always_rigid}};
}

}  // namespace foretrain
