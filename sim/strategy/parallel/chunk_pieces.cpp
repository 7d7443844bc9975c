// Times of a chunk's steps: kernels by their models, exchanges by the links of their groups, calls by the
// framework's host times.
#include "sim/strategy/parallel/chunk_pieces.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "sim/workload/device/traffic_time.hpp"

namespace foretrain {

namespace {

/// Exchanges have a group of ranks; all other steps are kernels.
bool is_exchange(const LayerStep& step) { return step.kind == LayerStep::Kind::exchange; }

/// Takes the final norm out of a head and returns it: its kernels, and the exchange of tensor ranks between
/// norm and head. Returns none where exchanges overlap with products, because their steps refer to each other
/// by index.
std::optional<LayerProgram> take_norm(LayerProgram& head) {
  const auto is_tied = [](const LayerStep& step) { return step.behind || step.waits_for >= 0; };
  if (std::ranges::any_of(head.forward, is_tied) || std::ranges::any_of(head.backward, is_tied)) return {};
  LayerProgram norm;
  const std::ptrdiff_t joins = head.forward.size() > 1 && is_exchange(head.forward[1]) ? 2 : 1;
  norm.forward.assign(head.forward.begin(), head.forward.begin() + joins);
  head.forward.erase(head.forward.begin(), head.forward.begin() + joins);
  const auto shared = std::ranges::find_if(head.backward, is_exchange);
  if (shared != head.backward.end()) {
    norm.backward.push_back(*shared);
    head.backward.erase(shared);
  }
  norm.backward.push_back(head.backward.back());
  head.backward.pop_back();
  return norm;
}

/// A layer has two norms, which every tensor rank holds whole.
double norms_of_layer(const ParameterCount& counts) { return 2 * static_cast<double>(counts.norm); }

/// Computes the times of steps on one GPU and its host.
class StepPrices {
 public:
  explicit StepPrices(const TimingSite& site)
      : site_(site), node_(site.cluster.node_spec(0)), kernels_(site.job.kernels()) {}

  /// Times one step. `is_wide`: products run in 16 bits regardless of the job's precision.
  PricedStep price(const LayerStep& step, bool is_wide) const;
  std::vector<PricedStep> price(const std::vector<LayerStep>& steps, bool is_wide) const;

 private:
  double kernel_s(const LayerStep& step, bool is_wide) const;

  const TimingSite& site_;
  const NodeSpec& node_;
  const LayerKernels& kernels_;
};

/// Returns the seconds of a kernel by its model: matrix product, fused attention, or memory traffic.
double StepPrices::kernel_s(const LayerStep& step, bool is_wide) const {
  const KernelCalibration& calibration = site_.device.kernel;
  switch (step.kind) {
    case LayerStep::Kind::product: {
      const bool widens = (step.is_half || is_wide) && is_narrow(site_.job.precision);
      const KernelPrecision precision = widens ? KernelPrecision::bf16 : site_.job.precision;
      return gemm_seconds(step.m, step.n, step.k, step.count, precision, node_.gpu, calibration);
    }
    case LayerStep::Kind::attention:
      return flash_attention_seconds(step.attention, KernelPrecision::bf16, node_.gpu, calibration);
    case LayerStep::Kind::bytes:
      return memory_seconds(step.bytes, node_.gpu, calibration) + fixed_seconds(step.launches, calibration);
    case LayerStep::Kind::exchange:
      break;
  }
  return 0;
}

PricedStep StepPrices::price(const LayerStep& step, bool is_wide) const {
  if (step.kind == LayerStep::Kind::exchange) {
    const ExchangeTime& time = site_.exchanges.at(group_of(step.along), step.exchange, step.bytes);
    const bool is_skewed = step.along == ParallelAxis::tensor && site_.job.degrees.pipeline > 1;
    // Under a pipeline tensor ranks reach an exchange at different times. The skew is charged once for each
    // rank of the group.
    const Time skew = is_skewed ? site_.job.skew() * site_.job.degrees.tensor : Time{};
    return {seconds(time.seconds * step.exposed) + skew, site_.on_host_of_site(kernels_.exchange),
            time.gpu_share, &step};
  }
  const Time host = kernels_.launch * step.launches + kernels_.python_function * step.python;
  return {seconds(kernel_s(step, is_wide) * site_.device.kernel.time_scale * site_.kernel_factor),
          site_.on_host_of_site(host), 0, &step};
}

std::vector<PricedStep> StepPrices::price(const std::vector<LayerStep>& steps, bool is_wide) const {
  std::vector<PricedStep> out;
  for (const LayerStep& step : steps) out.push_back(price(step, is_wide));
  return out;
}

}  // namespace

/// The array follows the order of ParallelAxis; axis `none` is not asked for.
RankGroup group_of(ParallelAxis along) {
  constexpr RankGroup kGroups[] = {RankGroup::tensor, RankGroup::tensor, RankGroup::context,
                                   RankGroup::expert, RankGroup::expert_tensor};
  return kGroups[static_cast<std::size_t>(along)];
}

/// PassStream begins with the axes after `none`, in the same order.
PassStream stream_of(ParallelAxis along) {
  return static_cast<PassStream>(static_cast<std::size_t>(along) -
                                 static_cast<std::size_t>(ParallelAxis::tensor));
}

PassCharge charge_of(ParallelAxis along) {
  if (along == ParallelAxis::tensor) return PassCharge::tensor;
  return along == ParallelAxis::context ? PassCharge::context : PassCharge::expert;
}

Time TimingSite::on_host_of_site(Time reference) const {
  if (job.cuda_graphs) return Time{};
  const Host& host = cluster.node_spec(0).host;
  return seconds(to_seconds(on_host(reference, host, device.host)) * host_factor);
}

/// Experts held by a rank are counted times the tensor degree, so that the later division by it gives the
/// rank's number.
double dense_parameters(const LargeModelRun& job, const ParameterCount& counts, bool experts) {
  if (!experts) return static_cast<double>(counts.attention + counts.dense);
  const ExpertLayers& own = *job.shape.experts;
  const double held = static_cast<double>(own.experts) * job.degrees.tensor /
                          (job.degrees.expert * job.degrees.expert_tensor) +
                      own.shared;
  return static_cast<double>(counts.attention + counts.router) +
         held * static_cast<double>(counts.one_expert);
}

double expert_parameters(const LargeModelRun& job, const ParameterCount& counts) {
  if (!job.shape.experts) return 0;
  return static_cast<double>(job.shape.experts->experts) * static_cast<double>(counts.one_expert) /
         (job.degrees.expert * job.degrees.expert_tensor);
}

/// Parameters are cut over tensor ranks, except for the uncut ones. Recomputed forward steps stand before
/// those of backward.
ChunkPiece* ChunkPieces::add(LayerProgram program, double parameters, double uncut, bool is_layer,
                             bool is_wide) {
  const StepPrices prices(site_);
  ChunkPiece& piece = sorts_.emplace_back();
  piece.program = std::move(program), piece.is_layer = is_layer;
  piece.parameters = piece.gathered = (parameters - uncut) / site_.job.degrees.tensor + uncut;
  piece.forward = prices.price(piece.program.forward, is_wide);
  piece.backward = prices.price(piece.program.again, is_wide);
  const std::vector<PricedStep> own = prices.price(piece.program.backward, is_wide);
  piece.backward.insert(piece.backward.end(), own.begin(), own.end());
  return &piece;
}

/// Experts leave the dense count of the piece when ranks cut them, because they are gathered and reduced in
/// groups of their own.
const ChunkPiece* ChunkPieces::add_layer(const LayerSlice& slice, const ParameterCount& counts, bool experts,
                                         bool is_wide) {
  const LargeModelRun& job = site_.job;
  ChunkPiece* piece = add(layer_program(job.shape, slice, experts, job.kernels()),
                          dense_parameters(job, counts, experts), norms_of_layer(counts), true, is_wide);
  if (experts && job.degrees.expert > 1) piece->experts = expert_parameters(job, counts);
  piece->parameters -= piece->experts;
  piece->gathered = piece->parameters;
  return piece;
}

/// Recomputed layers are the first of a chunk; layers with experts and layers in 16 bits are the last.
void ChunkPieces::add_layers(const StageChunk& chunk, const ParameterCount& counts) {
  const LargeModelRun& job = site_.job;
  const int recomputed = job.recomputed_of(chunk.layers);
  // One piece for each combination: with experts or without, wide or not, recomputed or not.
  std::array<const ChunkPiece*, 8> known{};
  for (int i = 0; i < chunk.layers; ++i) {
    LayerSlice own = job.slice();
    if (i >= recomputed) own.recompute = Recompute::none;
    const bool is_wide = i >= chunk.layers - chunk.wide_layers;
    if (is_wide && own.precision == KernelPrecision::fp4) own.precision = KernelPrecision::bf16;
    const bool experts = i >= chunk.layers - chunk.expert_layers;
    const ChunkPiece*& alike = known[(experts ? 4U : 0U) + (is_wide ? 2U : 0U) + (i >= recomputed ? 1U : 0U)];
    if (alike == nullptr) alike = add_layer(own, counts, experts, is_wide);
    all_.push_back(alike);
  }
}

/// The join multiplies the concatenated hidden state and embedding (2 hidden values) by a matrix with
/// `hidden` columns.
void ChunkPieces::add_next_tokens(const ParameterCount& counts) {
  const LargeModelRun& job = site_.job;
  if (job.next_tokens == 0) return;
  const LayerSlice slice = job.slice();
  const bool experts = has_expert_join(job);
  const auto joined = 2.0 * static_cast<double>(job.shape.hidden * job.shape.hidden);
  const std::array<const ChunkPiece*, 3> pieces{
      add(join_program(job.shape, slice, job.kernels()), joined, 0, false),
      add_layer(slice, counts, experts, false),
      add(head_program(job.shape, slice, job.kernels()), 0, 0, false)};
  for (int i = 0; i < job.next_tokens; ++i) all_.insert(all_.end(), pieces.begin(), pieces.end());
}

/// Adds the head. A loss over chunks wraps norm and head separately, and the parameters of both are gathered
/// for each of the two.
void ChunkPieces::add_head(const ParameterCount& counts) {
  const LargeModelRun& job = site_.job;
  const auto all = static_cast<double>(counts.head), norm = static_cast<double>(counts.norm);
  LayerProgram program = head_program(job.shape, job.slice(), job.kernels());
  std::optional<LayerProgram> before = job.loss_chunks > 1 ? take_norm(program) : std::nullopt;
  if (!before) return all_.push_back(add(std::move(program), all, norm, false));
  ChunkPiece *first = add(std::move(*before), norm, norm, false),
             *head = add(std::move(program), all - norm, 0, false);
  head->is_loss = true;
  first->gathered = head->gathered = first->parameters + head->parameters;
  all_.push_back(first), all_.push_back(head);
}

ChunkPieces::ChunkPieces(const TimingSite& site, const StageChunk& chunk) : site_(site) {
  const LargeModelRun& job = site.job;
  const ParameterCount counts = parameters_of(job.shape);
  if (chunk.embedding)
    all_.push_back(add(embedding_program(job.shape, job.slice(), job.kernels()),
                       static_cast<double>(counts.embedding), 0, false));
  add_layers(chunk, counts);
  if (!chunk.head) return;
  add_head(counts);
  add_next_tokens(counts);
}

}  // namespace foretrain
