// Parameters and FLOPs of a transformer from its sizes: sums over its matrices.
#include "sim/workload/transformer/shape.hpp"

#include <algorithm>

namespace foretrain {

namespace {

/// Sums the matrices of latent attention: down-projections with their norms, up-projections, and the output.
std::int64_t latent_attention_parameters(const TransformerShape& shape, const LatentAttention& latent) {
  const std::int64_t h = shape.hidden, a = shape.heads, q = latent.query_rank, kv = latent.key_value_rank;
  const std::int64_t queries = a * latent.query_dim();
  const std::int64_t down = (q > 0 ? h * q + q : 0) + h * (kv + latent.rope_dim) + kv;  // with their norms
  const std::int64_t up = (q > 0 ? q : h) * queries + kv * a * (latent.plain_dim + latent.value_dim);
  return down + up + a * latent.value_dim * h;
}

/// Sums queries, keys, values and output, with biases and norms of heads.
std::int64_t attention_parameters(const TransformerShape& shape) {
  if (shape.latent) return latent_attention_parameters(shape, *shape.latent);
  const std::int64_t query = shape.heads * shape.head_dim, key = shape.kv_heads * shape.head_dim;
  const std::int64_t norms = shape.head_norms ? 2 * shape.head_dim : 0;
  return shape.hidden * (2 * query + 2 * key) + (shape.bias ? query + 2 * key + shape.hidden : 0) + norms;
}

/// Sums the two or three matrices of a feed-forward part, with biases.
std::int64_t feed_parameters(const TransformerShape& shape, std::int64_t inner) {
  const std::int64_t matrices = (shape.gated ? 3 : 2) * shape.hidden * inner;
  return matrices + (shape.bias ? (shape.gated ? 2 : 1) * inner + shape.hidden : 0);
}

std::int64_t norm_parameters(const TransformerShape& shape) { return (shape.bias ? 2 : 1) * shape.hidden; }

}  // namespace

bool has_experts(const TransformerShape& shape, int layer) {
  // The last of each group of `every` layers behind the dense ones has experts.
  if (!shape.experts || layer < shape.experts->dense_layers) return false;
  return (layer - shape.experts->dense_layers) % shape.experts->every == shape.experts->every - 1;
}

int expert_layers_of(const TransformerShape& shape) {
  if (!shape.experts) return 0;
  return std::max(0, shape.layers - shape.experts->dense_layers) / shape.experts->every;
}

// Every layer has attention; it has either a dense feed-forward part or experts.
ParameterCount parameters_of(const TransformerShape& shape) {
  ParameterCount count;
  count.embedding = (shape.vocabulary + shape.positions) * shape.hidden;
  count.norm = norm_parameters(shape);
  count.head = shape.vocabulary * shape.hidden + norm_parameters(shape);
  count.attention = attention_parameters(shape) + 2 * norm_parameters(shape);
  count.dense = feed_parameters(shape, shape.inner);
  const int with_experts = expert_layers_of(shape);
  const std::int64_t ends = count.embedding + count.head - (shape.tied ? shape.vocabulary * shape.hidden : 0);
  const std::int64_t dense = shape.layers * count.attention + (shape.layers - with_experts) * count.dense;
  count.total = count.active = ends + dense;
  if (!shape.experts) return count;
  count.one_expert = feed_parameters(shape, shape.experts->width);
  count.router = shape.experts->experts * shape.hidden;
  // Every layer with experts has a router and their shared experts; a token passes top_k of the others.
  const auto with = [&](int experts) {
    return with_experts * (count.router + (experts + shape.experts->shared) * count.one_expert);
  };
  count.total += with(shape.experts->experts);
  count.active += with(shape.experts->top_k);
  return count;
}

double forward_flops_per_token(const TransformerShape& shape, std::int64_t sequence, bool halved) {
  const ParameterCount count = parameters_of(shape);
  // Rows of tables are looked up, not multiplied; a tied matrix is multiplied by the head.
  const std::int64_t looked_up = (shape.positions + (shape.tied ? 0 : shape.vocabulary)) * shape.hidden;
  const double key = static_cast<double>(shape.latent ? shape.latent->query_dim() : shape.head_dim);
  const double value = static_cast<double>(shape.latent ? shape.latent->value_dim : shape.head_dim);
  const double scores = 2.0 * shape.layers * shape.heads * (key + value) * static_cast<double>(sequence);
  return 2 * static_cast<double>(count.active - looked_up) + (halved ? scores / 2 : scores);
}

}  // namespace foretrain
