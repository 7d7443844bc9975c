// Shapes of published language models as plain values, and small jobs of them.
#pragma once

#include "sim/strategy/parallel/job.hpp"

namespace foretrain::test {

/// A Llama: gated feed-forward part, norms without bias, heads of hidden / heads.
inline TransformerShape llama_shape(int layers, std::int64_t hidden, int heads, int kv_heads,
                                    std::int64_t inner, std::int64_t vocabulary, bool tied = false) {
  TransformerShape shape;
  shape.layers = layers, shape.hidden = hidden, shape.heads = heads, shape.kv_heads = kv_heads;
  shape.head_dim = hidden / heads, shape.inner = inner, shape.vocabulary = vocabulary;
  shape.sequence = 4096, shape.tied = tied;
  return shape;
}

inline TransformerShape llama3_8b_shape() { return llama_shape(32, 4096, 32, 8, 14336, 128256); }
/// Four of its layers, for tests that simulate.
inline TransformerShape four_layers_shape() { return llama_shape(4, 4096, 32, 8, 14336, 128256); }

// Networks of the playbook's benchmarks: 131,072 words, as many heads of keys as of queries.
inline TransformerShape bench_1b_shape() { return llama_shape(16, 2048, 32, 32, 8192, 131072, true); }
inline TransformerShape bench_3b_shape() { return llama_shape(28, 3072, 32, 32, 8192, 131072, true); }
inline TransformerShape bench_8b_shape() { return llama_shape(32, 4096, 32, 32, 14336, 131072); }
inline TransformerShape bench_80b_shape() { return llama_shape(80, 8192, 64, 64, 28672, 131072); }

/// A GPT: two matrices with bias, four times as wide inside, learned positions, tied head.
inline TransformerShape gpt_shape(int layers, std::int64_t hidden, int heads, std::int64_t vocabulary,
                                  std::int64_t positions) {
  TransformerShape shape = llama_shape(layers, hidden, heads, heads, 4 * hidden, vocabulary, true);
  shape.gated = false, shape.bias = true, shape.positions = shape.sequence = positions;
  return shape;
}

/// The same with experts in every layer.
inline TransformerShape with_experts(TransformerShape shape, int experts, int top_k, std::int64_t width) {
  shape.experts = ExpertLayers{.experts = experts, .top_k = top_k, .width = width};
  return shape;
}

inline TransformerShape mixtral_8x7b_shape() {
  return with_experts(llama_shape(32, 4096, 32, 8, 14336, 32000), 8, 2, 14336);
}

inline TransformerShape deepseek_v3_shape() {
  TransformerShape shape = with_experts(llama_shape(61, 7168, 128, 128, 18432, 129280), 256, 8, 2048);
  shape.experts->shared = 1, shape.experts->dense_layers = 3;
  shape.latent = LatentAttention{};  // its sizes are the type's own
  shape.head_dim = shape.latent->query_dim();
  return shape;
}

/// Micro-batches of one sequence of 4096 tokens; so many for each replica.
inline LargeModelRun job_of(const TransformerShape& shape, const Degrees& degrees,
                            std::int64_t micro_batches) {
  LargeModelRun job;
  job.shape = shape, job.sequence = 4096, job.degrees = degrees;
  job.global_batch = micro_batches * degrees.data;
  if (degrees.virtual_stages > 1) job.schedule = PipelineSchedule::interleaved;
  return job;
}

}  // namespace foretrain::test
