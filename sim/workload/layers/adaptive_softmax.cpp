// Word embeddings and their softmax in clusters by frequency, as Transformer-XL runs them over large
// vocabularies.
//
// `cutoffs` end the clusters, the last is the size of the vocabulary; `shares` say how many of a thousand
// tokens fall into each (measured or estimated by whoever writes the file, since it is the data's property).
// With `divide` = d each cluster's width is that of the one before over d, and projections lead to and from
// the network's width. The loss looks at the first cluster and one entry for each other cluster for every
// row, and at the others only for the rows whose word is in them.
#include <fmt/format.h>

#include "sim/workload/layers/layer_operators.hpp"
#include "sim/workload/layers/linear.hpp"

namespace foretrain {
namespace {

struct SoftmaxCluster {
  std::int64_t entries = 0, width = 0, rows = 0;
};

std::vector<SoftmaxCluster> clusters_of(const SequenceFields& fields, std::int64_t width, std::int64_t rows) {
  std::vector<SoftmaxCluster> clusters;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < fields.cutoffs.size(); ++i) {
    const std::int64_t share = std::max<std::int64_t>(1, rows * fields.shares[i] / 1000);
    clusters.push_back({fields.cutoffs[i] - first, std::max<std::int64_t>(1, width), share});
    first = fields.cutoffs[i], width /= std::max<std::int64_t>(1, fields.divide);
  }
  return clusters;
}

Applied check(const SequenceFields& fields, std::int64_t rows, std::int64_t width) {
  std::int64_t last = 0, sum = 0;
  bool rising = fields.cutoffs.size() > 1 && fields.cutoffs.size() == fields.shares.size();
  for (const std::int64_t cutoff : fields.cutoffs) rising = rising && cutoff > last, last = cutoff;
  for (const std::int64_t share : fields.shares) sum += share;
  if (!rising)
    return misfit("cutoffs must be two or more and rise, with one share for each",
                  "cutoffs = [20000, 50000], shares = [950, 50]");
  if (sum < 1 || sum > 1000)
    return misfit(fmt::format("the shares add up to {}", sum), "they are parts of a thousand");
  if (!bounded_product({last, width}) || !bounded_product({rows, last + 10})) {
    return misfit("the vocabulary makes a tensor of more than 2^40 elements", "use fewer entries");
  }
  return {};
}

bool has_projections(const SequenceFields& fields) { return fields.divide > 1; }

std::vector<std::uint32_t> add_tables(Tape& tape, const std::vector<SoftmaxCluster>& clusters,
                                      const SequenceFields& fields) {
  if (!has_projections(fields))
    return std::vector<std::uint32_t>(clusters.size(),
                                      tape.parameter("weight", fields.cutoffs.back() * clusters[0].width));
  std::vector<std::uint32_t> tables;
  for (std::size_t i = 0; i < clusters.size(); ++i)
    tables.push_back(tape.parameter(fmt::format("weight{}", i), clusters[i].entries * clusters[i].width));
  return tables;
}

/// The cluster's rows out of all, or back into place.
TensorId select_rows(Tape& tape, TensorId from, const Shape& made) {
  const auto part = static_cast<double>(made.elements()),
             whole = static_cast<double>(tape.at(from).shape.elements());
  const TensorId result = tape.result(made, {from}, false);
  tape.forward(make_operator(OperatorClass::copy, HostCall::copy, {}, per_sample(8 * part), 3));
  tape.node(
      {{make_operator(OperatorClass::copy, HostCall::copy, {}, per_sample(8 * part + 4 * whole), 2), {}}},
      {from}, result);
  return result;
}

TensorId look_up(Tape& tape, const SoftmaxCluster& cluster, std::uint32_t table, double table_elements) {
  const auto n = static_cast<double>(cluster.rows * cluster.width), ids = static_cast<double>(cluster.rows);
  const TensorId rows = tape.result(Shape::sequence(cluster.rows, cluster.width), {}, true);
  tape.forward(make_operator(OperatorClass::embedding, HostCall::embedding, per_sample(n),
                             per_sample(8 * ids + 8 * n)));
  tape.save(per_sample(8 * ids));
  tape.node({{make_operator(OperatorClass::embedding, HostCall::embedding, {table_elements, 0},
                            {4 * table_elements, 8 * ids + 8 * n}, 2),
              {table}}},
            {}, rows);
  return rows;
}

/// Scores of `entries` words from rows, with weights that the embedding shares.
TensorId record_cluster_scores(Tape& tape, TensorId rows, const SoftmaxCluster& cluster, std::int64_t entries,
                               std::uint32_t weight, std::uint32_t bias) {
  const Shape in = tape.at(rows).shape;
  const auto m = static_cast<double>(in.rows()), n = static_cast<double>(entries),
             k = static_cast<double>(in.width());
  const Amount bytes{4 * n * k, 4 * m * (n + k)};
  const auto product = [&](double a, double b, double c, Product::Grows grows) {
    return Product{a, b, c, 1, 1, grows, 1, 1, bytes};
  };
  const TensorId scores = tape.result(Shape::sequence(in.rows(), entries), {rows}, true);
  tape.forward(make_operator(OperatorClass::gemm, HostCall::linear, per_sample(2 * m * n * k + m * n), bytes)
                   .with(product(m, n, k, Product::Grows::rows)));
  tape.save(rows);
  Operator backward = make_operator(OperatorClass::gemm, HostCall::linear, per_sample(4 * m * n * k + m * n),
                                    {2 * bytes.fixed, 2 * bytes.per_sample}, 3);
  backward.with(product(m, k, n, Product::Grows::rows)).with(product(n, k, m, Product::Grows::depth));
  // The gradient of a part of a tensor is written into zeros of the whole.
  const auto part = static_cast<double>(cluster.entries * cluster.width);
  const Operator into_whole =
      make_operator(OperatorClass::copy, HostCall::copy, {part, 0}, {12 * part, 0}, 2);
  tape.node({{backward, {bias}}, {into_whole, {weight}}}, {rows}, scores);
  return scores;
}

}  // namespace

Applied apply_adaptive_embedding(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (in.kind != ShapeKind::tokens)
    return misfit(fmt::format("adaptive_embedding needs token ids, not {}", to_string(in)), "place it first");
  if (Applied fault = check(layer.sequence, in.size[0], layer.out); !fault.ok()) return fault;
  if (!bounded_product({in.size[0], layer.out}))
    return misfit("adaptive_embedding makes a tensor of more than 2^40 elements", "use a smaller width");
  const std::vector<SoftmaxCluster> clusters = clusters_of(layer.sequence, layer.out, in.size[0]);
  const std::vector<std::uint32_t> tables = add_tables(tape, clusters, layer.sequence);
  const Shape made = Shape::sequence(in.size[0], layer.out);
  tape.save(input);
  if (!has_projections(layer.sequence)) {
    return {look_up(tape, {0, layer.out, in.size[0]}, tables[0],
                    static_cast<double>(layer.sequence.cutoffs.back() * layer.out)),
            "", ""};
  }
  std::vector<TensorId> parts;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const SoftmaxCluster& cluster = clusters[i];
    const TensorId rows =
        look_up(tape, cluster, tables[i], static_cast<double>(cluster.entries * cluster.width));
    const TensorId wide =
        record_linear(tape, rows, layer.out, {LinearForm::Bias::none, fmt::format("projection{}.", i)});
    parts.push_back(select_rows(tape, wide, Shape::sequence(cluster.rows, layer.out)));
  }
  const TensorId result = tape.result(made, parts, false);
  tape.forward(make_operator(OperatorClass::copy, HostCall::copy, {},
                             per_sample(4 * static_cast<double>(made.elements()))));
  tape.node({}, parts, result);
  return {result, "", ""};
}

Applied apply_adaptive_softmax(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (in.kind != ShapeKind::sequence)
    return misfit(fmt::format("adaptive_softmax needs [sequence, width], not {}", to_string(in)),
                  "place it last");
  if (Applied fault = check(layer.sequence, in.rows(), in.width()); !fault.ok()) return fault;
  std::vector<SoftmaxCluster> clusters = clusters_of(layer.sequence, in.width(), in.rows());
  const auto tails = static_cast<std::int64_t>(clusters.size()) - 1;
  clusters[0].rows = in.rows();
  const std::vector<std::uint32_t> tables = add_tables(tape, clusters, layer.sequence);
  const std::uint32_t cluster_weight = tape.parameter("cluster_weight", tails * in.width()),
                      cluster_bias = tape.parameter("cluster_bias", tails);
  const std::uint32_t bias = tape.parameter("bias", layer.sequence.cutoffs.back());
  std::vector<TensorId> parts;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const SoftmaxCluster& cluster = clusters[i];
    TensorId rows = i == 0 ? input : select_rows(tape, input, Shape::sequence(cluster.rows, in.width()));
    const std::string projection = i == 0 ? "output_projection." : fmt::format("projection{}.", i);
    if (has_projections(layer.sequence))
      rows = record_linear(tape, rows, cluster.width, {LinearForm::Bias::none, projection});
    const TensorId scores =
        record_cluster_scores(tape, rows, cluster, cluster.entries + (i == 0 ? tails : 0), tables[i], bias);
    if (i == 0)
      tape.node({{make_operator(OperatorClass::copy, HostCall::concat, {},
                                {8 * static_cast<double>(tails * in.width()), 0}),
                  {cluster_weight, cluster_bias}}},
                {}, scores);
    parts.push_back(
        select_rows(tape, apply_softmax(tape, Layer{}, scores).tensor, Shape::sequence(cluster.rows, 1)));
  }
  const TensorId result = tape.result(Shape::sequence(in.rows(), 1), parts, false);
  tape.forward(make_operator(OperatorClass::copy, HostCall::copy, {},
                             per_sample(8 * static_cast<double>(in.rows())), static_cast<int>(parts.size())));
  tape.node({}, parts, result);
  return {result, "", ""};
}

}  // namespace foretrain
