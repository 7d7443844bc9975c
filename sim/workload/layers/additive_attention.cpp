// Attention whose scores come from a small network: Bahdanau's as in GNMT, and the location-sensitive one of
// Tacotron 2.
//
// A score is v . tanh(query + key). Tacotron's also reads the weights of the steps before, through a
// convolution. With q queries, k keys and u units the sums have q k u elements each, so bandwidth decides,
// not products. Keys come from the result named in `memory`. Tacotron's attention runs once in every step of
// its decoder's loop (`steps`).
#include <fmt/format.h>

#include "sim/workload/layers/attention.hpp"
#include "sim/workload/layers/layer_types.hpp"
#include "sim/workload/layers/linear.hpp"
#include "sim/workload/layers/softmax.hpp"

namespace foretrain {
namespace {

/// Options of both layers.
struct AdditiveAttention {
  std::int64_t width = 0;  ///< units
};

// Filters of the convolution over the weights, and positions of its window.
constexpr std::int64_t kLocationFilters = 32, kLocationKernel = 31;  // of the published Tacotron 2

/// Sizes of one sample; `pairs` are those of a query and a key, `sums` their elements over all units.
struct AdditiveWork {
  std::int64_t queries = 0, keys = 0, units = 0, memory_width = 0;
  double pairs() const { return static_cast<double>(queries * keys); }
  double sums() const { return pairs() * static_cast<double>(units); }
};

/// Returns an operator that reads and writes `tensors` tensors of `elements` elements in all.
Operator elementwise(double flops, double tensors, double elements, Amount fixed = {}) {
  return make_operator(OperatorClass::elementwise, HostCall::add, per_sample(flops),
                       {fixed.fixed, 4 * tensors * elements});
}

/// Records query and key spread over all pairs and added. Backward sums over the keys and over the queries.
TensorId record_additive_sum(Tape& tape, const AdditiveWork& work, const std::vector<TensorId>& terms) {
  const TensorId sum = tape.result(Shape::sequence(work.queries * work.keys, work.units), terms, false);
  // The first two terms are small and are spread over the pairs while they are added.
  for (std::size_t i = 1; i < terms.size(); ++i)
    tape.forward(elementwise(work.sums(), i == 1 ? 1 : 2, work.sums()));
  const Operator reduce = make_operator(OperatorClass::reduction, HostCall::add, per_sample(work.sums()),
                                        per_sample(4 * work.sums()));
  tape.node({backward_of(reduce), backward_of(reduce)}, terms, sum);
  return sum;
}

/// Records + bias, tanh and the product with a trained vector, which give one score a pair. The normalized
/// form (Bahdanau's in GNMT) has the bias and scales the vector.
TensorId record_additive_scores(Tape& tape, const AdditiveWork& work, TensorId sum, bool normalized) {
  std::vector<std::uint32_t> ready;
  if (normalized) {
    const std::uint32_t bias = tape.parameter("normalize_bias", work.units);
    tape.forward(elementwise(work.sums(), 2, work.sums(), {4 * static_cast<double>(work.units), 0}));
    const Operator column_sum = make_operator(OperatorClass::reduction, HostCall::add,
                                              per_sample(work.sums()), per_sample(4 * work.sums()));
    const TensorId biased = tape.result(tape.at(sum).shape, {sum}, true);
    tape.node({{column_sum, {bias}}}, {sum}, biased);
    sum = biased;
  }
  const TensorId active = tape.result(tape.at(sum).shape, {sum}, false);
  tape.forward(make_operator(OperatorClass::elementwise, HostCall::activation, per_sample(work.sums()),
                             per_sample(8 * work.sums())));
  tape.node({{make_operator(OperatorClass::elementwise, HostCall::activation, per_sample(work.sums()),
                            per_sample(12 * work.sums())),
              {}}},
            {sum}, active);
  const TensorId scores = record_linear(tape, active, 1, {LinearForm::Bias::none, "score."});
  if (normalized) {
    // The vector is divided by its norm and multiplied by a trained scalar: five tiny operators each way.
    const std::uint32_t scalar = tape.parameter("normalize_scalar", 1);
    const auto u = static_cast<double>(work.units);
    const Operator tiny =
        make_operator(OperatorClass::elementwise, HostCall::activation, {5 * u, 0}, {40 * u, 0}, 5);
    tape.forward(tiny);
    const TensorId scaled = tape.alias(tape.at(scores).shape, scores);
    tape.node({{tiny, {scalar}}}, {scores}, scaled);
    return scaled;
  }
  return scores;
}

/// Records mask, softmax over the keys, and the weighted sum of the memory's rows.
TensorId record_additive_context(Tape& tape, const AdditiveWork& work, TensorId scores, TensorId memory) {
  const Shape shape = Shape::sequence(work.queries, work.keys);
  // The scores of all pairs are seen as a matrix of queries by keys.
  const TensorId rows = tape.alias(shape, scores);
  tape.node({}, {scores}, rows);
  const TensorId masked = tape.result(shape, {rows}, false);
  const Operator mask = pass_over(work.pairs(), HostCall::activation);
  tape.forward(mask);
  tape.node({backward_of(mask)}, {rows}, masked);
  const TensorId weights = record_softmax(tape, masked);
  const AttentionSize size{work.queries, work.keys, 1, work.memory_width};
  const TensorId context =
      tape.result(Shape::sequence(work.queries, work.memory_width), {weights, memory}, false);
  tape.forward(batched_products(size, {size.makes_query_rows()}));
  tape.save(weights);
  tape.save(memory);
  tape.node({backward_of(batched_products(size, {size.makes_key_rows(), size.makes_scores()}))},
            {weights, memory}, context);
  return context;
}

/// Records the convolution and the projection of the weights so far and their sum, which run in every step.
TensorId record_location(Tape& tape, const AdditiveWork& work) {
  const auto rows = work.pairs(), filters = static_cast<double>(kLocationFilters),
             window = static_cast<double>(2 * kLocationKernel);
  const std::uint32_t weight = tape.parameter("location_conv.weight", 2 * kLocationFilters * kLocationKernel);
  const TensorId located = tape.result(Shape::sequence(work.queries * work.keys, kLocationFilters), {}, true);
  const Amount bytes{4 * filters * window, 4 * rows * (2 + filters)};
  const Product forward{
      rows, filters, window, 1, 1, Product::Grows::rows, static_cast<std::int32_t>(kLocationKernel),
      1,    bytes};
  const Product gradient{
      filters, window, rows, 1, 1, Product::Grows::depth, static_cast<std::int32_t>(kLocationKernel),
      1,       bytes};
  // The weights of the last step and their sum are two channels of one tensor.
  tape.forward(make_operator(OperatorClass::copy, HostCall::concat, {}, per_sample(16 * rows)));
  tape.forward(
      make_operator(OperatorClass::conv, HostCall::conv2d, per_sample(2 * rows * filters * window), bytes)
          .with(forward));
  tape.save(per_sample(8 * rows));
  tape.node(
      {{make_operator(OperatorClass::conv, HostCall::conv2d, per_sample(2 * rows * filters * window), bytes)
            .with(gradient),
        {weight}}},
      {}, located);
  // The copy that turns channels into the last dimension.
  tape.forward(copy_of(rows * filters));
  return record_linear(tape, located, work.units, {LinearForm::Bias::none, "location_dense."});
}

// The two layers differ only in the location term, the normalized vector and their options.
template <bool located>
Applied apply_additive_attention(Tape& tape, const Layer& layer, TensorId input) {
  if (layer.with.empty())
    return misfit("additive_attention needs the name of its keys", "write memory = \"encoder\"");
  const TensorId memory = tape.named(layer.with[0])->back();
  const Shape in = tape.at(input).shape, keys = tape.at(memory).shape;
  if (in.kind != ShapeKind::sequence || keys.kind != ShapeKind::sequence) {
    return misfit(fmt::format("additive_attention needs [sequence, width], not {}",
                              to_string(in.kind != ShapeKind::sequence ? in : keys)),
                  "place an embedding before it");
  }
  const AdditiveWork work{in.rows(), keys.rows(), layer.get<AdditiveAttention>().width, keys.width()};
  if (!bounded_product({work.queries, work.keys, work.units}) || !bounded_product({in.width(), work.units}) ||
      !bounded_product({keys.width(), work.units}) || !bounded_product({work.queries, keys.width()}))
    return misfit("additive_attention makes a tensor of more than 2^40 elements",
                  "use a shorter sequence or fewer units");
  const TensorId q = record_linear(tape, input, work.units, {LinearForm::Bias::none, "query."});
  tape.run_in_steps(1);  // keys are projected once, before the loop
  const TensorId k = record_linear(tape, memory, work.units, {LinearForm::Bias::none, "key."});
  tape.run_in_steps(layer.steps);
  std::vector<TensorId> terms{q, k};
  if (located) terms.push_back(record_location(tape, work));
  const TensorId scores =
      record_additive_scores(tape, work, record_additive_sum(tape, work, terms), !located);
  return {record_additive_context(tape, work, scores, memory), "", ""};
}

// A width of 0 means that it was not given.
void check_additive_attention(const LayerCheck& check) {
  check.range("width", check.layer.get<AdditiveAttention>().width, 1, kWidestLayer);
}

void widen_additive(Layer& layer, const Wider& wider) {
  auto& own = layer.edit<AdditiveAttention>();
  if (own.width > 0) own.width = wider(own.width);
}

}  // namespace

LayerType additive_attention_layer() {
  return {.name = "additive_attention",
          .keys = {required_key<&AdditiveAttention::width>("width")},
          .apply = apply_additive_attention<false>,
          .check = check_additive_attention,
          .has_memory = true,
          .widening = {.widen = widen_additive}};
}

LayerType location_attention_layer() {
  return {.name = "location_attention",
          .keys = {required_key<&AdditiveAttention::width>("width"), layer_key<&Layer::steps>("steps")},
          .apply = apply_additive_attention<true>,
          .check = check_additive_attention,
          .has_memory = true,
          .widening = {.is_rigid = always_rigid}};
}

}  // namespace foretrain
