// Word embeddings and their softmax in clusters by frequency, as Transformer-XL runs them over large
// vocabularies.
//
// `cutoffs` end the clusters; the last one is the size of the vocabulary. `shares` give the number of tokens
// of a thousand that fall into each. The author of the file measures or estimates them, since they are a
// property of the data. With `divide` = d each cluster's width is that of the one before over d, and
// projections lead to and from the network's width. For every row the loss reads the first cluster and one
// entry for each other cluster. It reads the other clusters only for the rows whose word is in them.
#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"
#include "sim/workload/layers/linear.hpp"
#include "sim/workload/layers/softmax.hpp"

namespace foretrain {
namespace {

/// Options of the clusters; `cutoffs` and `shares` as above.
struct Vocabulary {
  std::vector<std::int64_t> cutoffs, shares;
  std::int64_t divide = 1;
  std::int64_t out = 0;  ///< width of the embedding's rows
};

/// A cluster: its words, the width of its vectors, and the rows of a sample whose word is in it.
struct SoftmaxCluster {
  std::int64_t entries = 0, width = 0, rows = 0;
};

/// Returns the clusters for a sample of `rows` rows. Each has at least one row and a width of at least 1.
std::vector<SoftmaxCluster> clusters_of(const Vocabulary& vocabulary, std::int64_t width, std::int64_t rows) {
  std::vector<SoftmaxCluster> clusters;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < vocabulary.cutoffs.size(); ++i) {
    const std::int64_t share = std::max<std::int64_t>(1, rows * vocabulary.shares[i] / 1000);
    clusters.push_back({vocabulary.cutoffs[i] - first, std::max<std::int64_t>(1, width), share});
    first = vocabulary.cutoffs[i], width /= std::max<std::int64_t>(1, vocabulary.divide);
  }
  return clusters;
}

/// Returns a misfit where the options contradict each other or a tensor would be too large.
Applied check(const Vocabulary& vocabulary, std::int64_t rows, std::int64_t width) {
  std::int64_t last = 0, sum = 0;
  bool rising = vocabulary.cutoffs.size() > 1 && vocabulary.cutoffs.size() == vocabulary.shares.size();
  for (const std::int64_t cutoff : vocabulary.cutoffs) rising = rising && cutoff > last, last = cutoff;
  for (const std::int64_t share : vocabulary.shares) sum += share;
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

bool has_projections(const Vocabulary& vocabulary) { return vocabulary.divide > 1; }

/// Registers the tables and returns a parameter for each cluster; without projections all share one table.
std::vector<std::uint32_t> add_tables(Tape& tape, const std::vector<SoftmaxCluster>& clusters,
                                      const Vocabulary& vocabulary) {
  if (!has_projections(vocabulary))
    return std::vector<std::uint32_t>(
        clusters.size(), tape.parameter("weight", vocabulary.cutoffs.back() * clusters[0].width));
  std::vector<std::uint32_t> tables;
  for (std::size_t i = 0; i < clusters.size(); ++i)
    tables.push_back(tape.parameter(fmt::format("weight{}", i), clusters[i].entries * clusters[i].width));
  return tables;
}

/// Records the copy of a cluster's rows out of all rows, or back into place.
TensorId select_rows(Tape& tape, TensorId from, const Shape& made) {
  const auto part = static_cast<double>(made.elements()),
             whole = static_cast<double>(tape.at(from).shape.elements());
  const TensorId result = tape.result(made, {from}, false);
  tape.forward(make_operator(OperatorClass::copy, HostCall::copy, {}, per_sample(8 * part), 3));
  tape.node(
      // The gradient of the part is written into zeros of the whole.
      {{make_operator(OperatorClass::copy, HostCall::copy, {}, per_sample(8 * part + 4 * whole), 2), {}}},
      {from}, result);
  return result;
}

/// Records the lookup of a cluster's rows; its gradient is dense, as large as the table.
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

/// Records the scores of `entries` words from rows, with weights that the embedding shares.
TensorId record_cluster_scores(Tape& tape, TensorId rows, const SoftmaxCluster& cluster, std::int64_t entries,
                               std::uint32_t weight, std::uint32_t bias) {
  const Shape in = tape.at(rows).shape;
  const auto m = static_cast<double>(in.rows()), n = static_cast<double>(entries),
             k = static_cast<double>(in.width());
  // Weights are read once; rows and scores grow with the batch.
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

// The sum of the clusters' lookups, each projected to the network's width and copied into place.
Applied apply_adaptive_embedding(Tape& tape, const Layer& layer, TensorId input) {
  const auto& own = layer.get<Vocabulary>();
  const Shape in = tape.at(input).shape;
  if (in.kind != ShapeKind::tokens)
    return misfit(fmt::format("adaptive_embedding needs token ids, not {}", to_string(in)), "place it first");
  if (Applied fault = check(own, in.size[0], own.out); !fault.ok()) return fault;
  if (!bounded_product({in.size[0], own.out}))
    return misfit("adaptive_embedding makes a tensor of more than 2^40 elements", "use a smaller width");
  const std::vector<SoftmaxCluster> clusters = clusters_of(own, own.out, in.size[0]);
  const std::vector<std::uint32_t> tables = add_tables(tape, clusters, own);
  const Shape made = Shape::sequence(in.size[0], own.out);
  tape.save(input);
  // Clusters without projections have the same width: one plain lookup.
  if (!has_projections(own)) {
    return {
        look_up(tape, {0, own.out, in.size[0]}, tables[0], static_cast<double>(own.cutoffs.back() * own.out)),
        "", ""};
  }
  std::vector<TensorId> parts;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const SoftmaxCluster& cluster = clusters[i];
    const TensorId rows =
        look_up(tape, cluster, tables[i], static_cast<double>(cluster.entries * cluster.width));
    const TensorId wide =
        record_linear(tape, rows, own.out, {LinearForm::Bias::none, fmt::format("projection{}.", i)});
    parts.push_back(select_rows(tape, wide, Shape::sequence(cluster.rows, own.out)));
  }
  const TensorId result = tape.result(made, parts, false);
  tape.forward(make_operator(OperatorClass::copy, HostCall::copy, {},
                             per_sample(4 * static_cast<double>(made.elements()))));
  tape.node({}, parts, result);
  return {result, "", ""};
}

// A softmax for the first cluster, over its words and one entry for each other cluster, and one for each of
// the others. The probability of each row's word is copied out.
Applied apply_adaptive_softmax(Tape& tape, const Layer& layer, TensorId input) {
  const auto& own = layer.get<Vocabulary>();
  const Shape in = tape.at(input).shape;
  if (in.kind != ShapeKind::sequence)
    return misfit(fmt::format("adaptive_softmax needs [sequence, width], not {}", to_string(in)),
                  "place it last");
  if (Applied fault = check(own, in.rows(), in.width()); !fault.ok()) return fault;
  std::vector<SoftmaxCluster> clusters = clusters_of(own, in.width(), in.rows());
  const auto tails = static_cast<std::int64_t>(clusters.size()) - 1;
  clusters[0].rows = in.rows();
  const std::vector<std::uint32_t> tables = add_tables(tape, clusters, own);
  const std::uint32_t cluster_weight = tape.parameter("cluster_weight", tails * in.width()),
                      cluster_bias = tape.parameter("cluster_bias", tails);
  const std::uint32_t bias = tape.parameter("bias", own.cutoffs.back());
  std::vector<TensorId> parts;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const SoftmaxCluster& cluster = clusters[i];
    TensorId rows = i == 0 ? input : select_rows(tape, input, Shape::sequence(cluster.rows, in.width()));
    const std::string projection = i == 0 ? "output_projection." : fmt::format("projection{}.", i);
    if (has_projections(own))
      rows = record_linear(tape, rows, cluster.width, {LinearForm::Bias::none, projection});
    const TensorId scores =
        record_cluster_scores(tape, rows, cluster, cluster.entries + (i == 0 ? tails : 0), tables[i], bias);
    if (i == 0)
      tape.node({{make_operator(OperatorClass::copy, HostCall::concat, {},
                                {8 * static_cast<double>(tails * in.width()), 0}),
                  {cluster_weight, cluster_bias}}},
                {}, scores);
    parts.push_back(select_rows(tape, record_softmax(tape, scores), Shape::sequence(cluster.rows, 1)));
  }
  // The result has one value for each row: that of its word.
  const TensorId result = tape.result(Shape::sequence(in.rows(), 1), parts, false);
  tape.forward(make_operator(OperatorClass::copy, HostCall::copy, {},
                             per_sample(8 * static_cast<double>(in.rows())), static_cast<int>(parts.size())));
  tape.node({}, parts, result);
  return {result, "", ""};
}

// Both layers take the same clusters, so that their tables can be shared.
std::vector<LayerKey> cluster_keys() {
  using V = Vocabulary;
  return {required_key<&V::cutoffs>("cutoffs", {.longest = 8}),
          required_key<&V::shares>("shares", {.least = 0, .most = 1000, .longest = 8}),
          layer_key<&V::divide>("divide", {.most = 64})};
}

}  // namespace

// Cutoffs are numbers of the data, so neither layer follows a wider network.
LayerType adaptive_embedding_layer() {
  std::vector<LayerKey> keys = cluster_keys();
  keys.insert(keys.begin(), required_key<&Vocabulary::out>("out"));
  return {.name = "adaptive_embedding",
          .keys = std::move(keys),
          .apply = apply_adaptive_embedding,
          .widening = {.is_rigid = always_rigid}};
}

LayerType adaptive_softmax_layer() {
  return {.name = "adaptive_softmax",
          .keys = cluster_keys(),
          .apply = apply_adaptive_softmax,
          .widening = {.is_rigid = always_rigid}};
}

}  // namespace foretrain
