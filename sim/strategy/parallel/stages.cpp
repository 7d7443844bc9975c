// Assignment of layers to stages, by the rules of Megatron-LM, torchtitan and nanotron.
#include "sim/strategy/parallel/stages.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace foretrain {

namespace {

/// Returns Megatron-LM's split: equal parts. Embedding and head count as a layer each if only that divides
/// (account_for_embedding_in_pipeline_split and its twin). Otherwise the first parts have one layer more.
std::vector<int> equal_parts(int layers, int parts) {
  std::vector<int> counts(static_cast<std::size_t>(parts), layers / parts);
  const int over = layers % parts;
  if (over == 0) return counts;
  if ((layers + 2) % parts == 0 && parts > 1) {
    std::ranges::fill(counts, (layers + 2) / parts);
    --counts.front(), --counts.back();
    return counts;
  }
  for (int i = 0; i < over; ++i) ++counts[static_cast<std::size_t>(i)];
  return counts;
}

/// Returns torchtitan's split (generate_llm_fqn_per_model_part): embedding and head always count as a layer
/// each, and the first parts have one layer more.
std::vector<int> parts_with_ends(int layers, int parts) {
  std::vector<int> counts(static_cast<std::size_t>(parts), (layers + 2) / parts);
  for (int i = 0; i < (layers + 2) % parts; ++i) ++counts[static_cast<std::size_t>(i)];
  --counts.front(), --counts.back();
  return counts;
}

/// Returns nanotron's split: a block stays on the stage until the costs so far exceed the stage's share of
/// the total. The second value is the stage of the head.
std::pair<std::vector<int>, int> parts_by_cost(const TransformerShape& shape, int parts) {
  const double layer = 4.0 * static_cast<double>(shape.hidden * shape.heads * shape.head_dim) +
                       3.0 * static_cast<double>(shape.hidden * shape.inner);
  const double head = static_cast<double>(shape.vocabulary * shape.hidden);
  const double total = layer * shape.layers + head;
  std::vector<int> counts(static_cast<std::size_t>(parts), 0);
  double sum = 0;
  int stage = 0;
  // Adds the cost of a block and steps to the next stage when this one is full.
  const auto step_on = [&](double cost) {
    sum += cost;
    if (sum > total * (stage + 1) / parts && stage + 1 < parts) ++stage;
  };
  for (int i = 0; i < shape.layers; ++i) {
    ++counts[static_cast<std::size_t>(stage)];
    step_on(layer);
  }
  return {counts, stage};
}

}  // namespace

bool is_v_shaped(PipelineSchedule schedule) { return schedule == PipelineSchedule::zbv; }

int chunks_per_stage(const LargeModelRun& job) {
  return is_v_shaped(job.schedule) ? 2 : job.ways() * job.degrees.virtual_stages;
}

std::vector<StageChunk> stage_chunks(const LargeModelRun& job) {
  const int stages = job.degrees.pipeline, parts = stages * chunks_per_stage(job) / job.ways();
  // If there are fewer layers than parts, a chunk would have none and its ends no place.
  const bool counts_ends =
      job.framework == LlmFramework::torchtitan && parts > 1 && job.shape.layers + 2 > parts;
  std::vector<int> counts =
      counts_ends ? parts_with_ends(job.shape.layers, parts) : equal_parts(job.shape.layers, parts);
  int head = parts - 1;
  if (job.kernels().split == StageSplit::by_cost && parts == stages)
    std::tie(counts, head) = parts_by_cost(job.shape, parts);
  std::vector<StageChunk> chunks;
  int first = 0;
  for (int k = 0; k < parts; ++k) {
    StageChunk chunk;
    chunk.stage = is_v_shaped(job.schedule) && k >= stages ? 2 * stages - 1 - k : k % stages;
    chunk.first = first, chunk.layers = counts[static_cast<std::size_t>(k)];
    for (int i = first; i < first + chunk.layers; ++i)
      chunk.expert_layers += has_experts(job.shape, i) ? 1 : 0;
    chunk.wide_layers = std::clamp(first + chunk.layers - job.first_wide_layer(), 0, chunk.layers);
    chunk.embedding = k == 0, chunk.head = k == head;
    first += chunk.layers;
    chunks.push_back(chunk);
  }
  // DualPipe: the second direction has the same layers in the reverse order of stages.
  for (int k = 0; k < parts && job.ways() > 1; ++k) {
    StageChunk again = chunks[static_cast<std::size_t>(k)];
    again.stage = stages - 1 - k;
    chunks.push_back(again);
  }
  return chunks;
}

}  // namespace foretrain
