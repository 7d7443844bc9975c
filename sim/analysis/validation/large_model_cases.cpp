// A row's texts as a job: what its columns call GPU, framework, sharding and precision.
#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "sim/analysis/validation/large_model_validation.hpp"
#include "sim/base/ascii.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/sections/parallel_section.hpp"
#include "sim/scenario/sections/software_era.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// A word of a column, and what it stands for; the first that is found counts.
template <typename T>
struct Word {
  std::string_view word;
  T value;
};

constexpr Word<std::string_view> kClusters[] = {
    {"gb300", "gb300-nvl72"},  {"gb200", "coreweave-gb200"}, {"b300", "hgx-b300"},
    {"b200", "gcp-a4-b200"},   {"h200", "hgx-h200"},         {"h100-96", "meta-h100-96gb"},
    {"h100", "hgx-h100-400g"}, {"a100-40", "aws-p4d"},       {"a100-80", "dgx-a100-80gb"},
    {"mi300x", "mi300x-roce"}, {"v100-32", "jean-zay-v100"},
};
constexpr Word<LlmFramework> kFrameworks[] = {
    {"fms", LlmFramework::torchtitan},
    {"megatron-deepspeed", LlmFramework::megatron_deepspeed},
    {"nanotron", LlmFramework::nanotron},
    {"maxtext", LlmFramework::maxtext},
    {"foundry", LlmFramework::llm_foundry},
    {"internevo", LlmFramework::internevo},
    {"torchtitan", LlmFramework::torchtitan},
    {"deepspeed", LlmFramework::deepspeed},
    {"megatron", LlmFramework::megatron_te},
    {"nemo", LlmFramework::megatron_te},
    {"nvidia release", LlmFramework::megatron_te},
    {"pytorch", LlmFramework::pytorch},
};
constexpr Word<KernelPrecision> kRowPrecisions[] = {
    {"nvfp4", KernelPrecision::fp4}, {"fp8", KernelPrecision::fp8}, {"fp16", KernelPrecision::fp16}};
constexpr Word<Recompute> kRecomputes[] = {{"full", Recompute::full}, {"selective", Recompute::selective}};
constexpr Word<ModelSharding> kRowShardings[] = {{"shard_grad_op", ModelSharding::parameters},
                                                 {"zero3", ModelSharding::parameters},
                                                 {"fsdp", ModelSharding::parameters},
                                                 {"zero2", ModelSharding::gradients},
                                                 {"zero1", ModelSharding::optimizer},
                                                 {"distributed-optimizer", ModelSharding::optimizer},
                                                 {"zero0", ModelSharding::none}};

template <typename T, std::size_t n>
std::optional<T> find_word(const Word<T> (&words)[n], const std::string& text) {
  const std::string small = lower_case(text);
  for (const Word<T>& word : words)
    if (small.find(word.word) != std::string::npos) return word.value;
  return std::nullopt;
}

}  // namespace

std::string bare(std::string_view text) {
  std::string out;
  for (const char c : lower_case(std::string(text)))
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) out += c;
  return out;
}

std::string model_in_catalog(const std::string& name) {
  const std::string wanted = bare(name);
  std::string best;
  for (const std::string& model : names_in(CatalogKind::models))
    if (wanted.starts_with(bare(model)) && model.size() > best.size()) best = model;
  return best;
}

namespace {

/// By the columns. Whether the feed-forward part is gated and the head tied follows from the parameters.
std::optional<TransformerShape> shape_by_columns(const LargeModelMeasurement& row) {
  if (!row.layers || !row.hidden || !row.heads || !row.vocab) return std::nullopt;
  constexpr std::int64_t kUsualFeed = 4;  // of a source that does not tell the inner width
  TransformerShape shape;
  shape.layers = static_cast<int>(*row.layers), shape.hidden = *row.hidden;
  shape.heads = static_cast<int>(*row.heads);
  shape.kv_heads = static_cast<int>(row.kv_heads.value_or(*row.heads));
  shape.head_dim = *row.hidden / *row.heads;
  shape.inner = row.ffn.value_or(kUsualFeed * *row.hidden), shape.vocabulary = *row.vocab,
  shape.sequence = row.seq_len.value_or(0);
  if (!row.params) return shape;
  double least = -1;
  for (const bool gated : {true, false}) {
    for (const bool tied : {false, true}) {
      TransformerShape other = shape;
      other.gated = gated, other.tied = tied;
      const double off = std::abs(static_cast<double>(parameters_of(other).total - *row.params));
      if (least >= 0 && off >= least) continue;
      least = off, shape.gated = gated, shape.tied = tied;
    }
  }
  return shape;
}

class Shapes {
 public:
  std::optional<TransformerShape> of(const LargeModelMeasurement& row) {
    if (row.ep.value_or(1) <= 1) return shape_by_columns(row);
    const std::string name = model_in_catalog(row.model);
    if (name.empty()) return std::nullopt;
    const auto [known, is_new] = known_.try_emplace(name);
    if (is_new)
      known->second =
          recognize_transformer(read_or_throw(*open_named(CatalogKind::models, name), read_model)).shape;
    return known->second;
  }

 private:
  std::map<std::string, std::optional<TransformerShape>> known_;
};

/// Ranks that state is shared out over, where the text has a number: "fsdp128", "zero1 within 8 GPUs".
int shard_group_of(const std::string& text) {
  const std::string small = lower_case(text);
  for (const std::string_view before : {"fsdp", "within "}) {
    const std::size_t at = small.find(before);
    if (at == std::string::npos) continue;
    const int ranks = std::atoi(small.substr(at + before.size(), 6).c_str());
    if (ranks > 1) return ranks;
  }
  return 0;
}

LargeModelRun job_of(const LargeModelMeasurement& row, const TransformerShape& shape) {
  LargeModelRun job;
  job.shape = shape, job.sequence = row.seq_len.value_or(shape.sequence);
  job.framework = find_word(kFrameworks, row.framework).value_or(LlmFramework::megatron_te);
  job.precision = find_word(kRowPrecisions, row.precision).value_or(KernelPrecision::bf16);
  // Every example of Megatron-DeepSpeed passes --checkpoint-activations, so a row that does not tell has it.
  const bool usually_again = job.framework == LlmFramework::megatron_deepspeed && row.recompute.empty();
  job.recompute =
      find_word(kRecomputes, row.recompute).value_or(usually_again ? Recompute::full : Recompute::none);
  job.sharding = find_word(kRowShardings, row.sharding).value_or(ModelSharding::optimizer);
  job.shard_group = shard_group_of(row.sharding);
  Degrees& d = job.degrees;
  d.tensor = static_cast<int>(row.tp.value_or(1)), d.pipeline = static_cast<int>(row.pp.value_or(1));
  d.context = static_cast<int>(row.cp.value_or(1)), d.expert = static_cast<int>(row.ep.value_or(1));
  d.virtual_stages = d.pipeline > 1 ? static_cast<int>(row.vpp.value_or(1)) : 1;
  d.data = std::max(1, row.gpus / std::max(1, d.model()));
  job.micro_batch = row.micro_batch.value_or(1);
  job.global_batch = row.global_batch.value_or(job.micro_batch * d.data);
  if (d.virtual_stages > 1) job.schedule = PipelineSchedule::interleaved;
  return job;
}

/// Rules look at the row's texts as at any other's.
Measurement text_of(const LargeModelMeasurement& row, const std::string& cluster) {
  Measurement m;
  m.series = row.model + "; " + row.framework + "; " + row.sharding + "; " + row.notes, m.source = row.source,
  m.model = row.model;
  m.cluster = cluster, m.precision = row.precision, m.gpus = row.gpus, m.nodes = row.nodes, m.line = row.line;
  return m;
}

/// Reads a rule's framework.software, which is TOML: a string in quotes.
SoftwareReading software_of_rule(std::string_view value) {
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
    value = value.substr(1, value.size() - 2);
  return read_software(value, FrameworkKind::pytorch);
}

}  // namespace

std::vector<LargeModelCase> large_model_cases(const std::vector<LargeModelMeasurement>& rows,
                                              const LargeModelOptions& options,
                                              LargeModelValidation& validation) {
  std::vector<Measurement> texts;
  for (const LargeModelMeasurement& row : rows) {
    const auto given = options.clusters.find(row.gpu);
    const auto usual = find_word(kClusters, row.gpu);
    texts.push_back(
        text_of(row, given != options.clusters.end() ? given->second : std::string(usual.value_or(""))));
  }
  validation.inferred_settings = apply_provenance(options.provenance, texts);
  Shapes shapes;
  std::vector<LargeModelCase> cases;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    LargeModelCase& out = cases.emplace_back();
    out.row = &rows[i], out.cluster = texts[i].cluster;
    const auto shape = shapes.of(rows[i]);
    if (!shape)
      out.why_not = rows[i].ep.value_or(1) > 1
                        ? fmt::format("no network of the catalog is called {}", rows[i].model)
                        : "sizes of its layers are missing";
    else if (out.cluster.empty())
      out.why_not = fmt::format("no cluster is known for GPU {}", rows[i].gpu);
    if (!out.why_not.empty()) continue;
    out.job = job_of(rows[i], *shape);
    out.told = texts[i].settings;
    for (const auto& [key, value] : out.told) {
      set_parallel(key, value, out.job);
      if (key != "framework.software") continue;
      const SoftwareReading software = software_of_rule(value);
      if (software.stack)
        out.cuda = software.stack->cuda;
      else
        out.why_not = software.problem;
    }
    if (const auto faults = faults_of(out.job, rows[i].gpus); out.why_not.empty() && !faults.empty())
      out.why_not = faults.front().message;
  }
  return cases;
}

}  // namespace foretrain
