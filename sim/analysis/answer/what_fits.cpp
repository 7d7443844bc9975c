// Changes with which a training fits, and limits of what fits. Every change is simulated before it is named.
// Memory savers are added one after another in the order of their cost in time; for each set of them the
// batch is halved until it fits.
#include "sim/analysis/answer/what_fits.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "sim/analysis/step/memory_verdict.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/largest_holding.hpp"
#include "sim/base/quantity.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/variation.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// Largest length of a sample that is tried, in tokens.
constexpr std::int64_t kMostSamples = 4'000'000;
/// Rank of LoRA where none is stated.
constexpr std::int64_t kUsualRank = 16;
/// Most GPUs of the catalog that a sentence names.
constexpr std::size_t kMostCards = 4;

/// Returns true for networks of layers that read tokens; only for these are the changes below known.
bool reads_tokens(const Scenario& scenario) {
  const Model& model = scenario.model;
  return !model.is_recorded && model.input_is_tokens && model.input.size() == 1 && !model.layers.empty();
}

/// A training on some GPUs, with the words and options that lead to it from the training as asked.
struct Way {
  Scenario scenario;
  int gpus = 1;
  std::string what, option;
};

/// Appends words to a list with a separator.
void add_words(std::string& to, const std::string& words, const char* between) {
  if (!words.empty()) to += (to.empty() ? "" : between) + words;
}

/// Returns the training with one further change.
Way changed(const Way& from, Scenario scenario, const std::string& what, const std::string& option) {
  Way out{std::move(scenario), from.gpus, from.what, from.option};
  add_words(out.what, what, ", "), add_words(out.option, option, " ");
  return out;
}

/// A change that trains the same with less memory; the table begins with the cheapest.
struct Saver {
  std::string_view what, option;
  bool (*is_on)(const Scenario& scenario);
  void (*put)(FineTuning& tuning, bool& recompute);
};

constexpr std::array kSavers{
    Saver{"recomputed blocks", "--set model.recompute=true",
          [](const Scenario& s) { return s.workload.recompute; },
          [](FineTuning&, bool& recompute) { recompute = true; }},
    Saver{"a fused loss", "--set model.fused_loss=true",
          [](const Scenario& s) { return s.model.tuning.fused.has(FusedKernel::linear_cross_entropy); },
          [](FineTuning& tuning, bool&) { tuning.fused.add(FusedKernel::linear_cross_entropy); }}};

/// Searches the changes of one training.
class FitSearch {
 public:
  explicit FitSearch(const PointPredictor& points) : points_(points), own_(points.simulator().scenario()) {}

  /// Tries, in this order: savers with the same training, FSDP on more GPUs, LoRA in 16 bit, LoRA beside
  /// weights of 4 bits. A training that has adapters gets weights of 4 bits only.
  std::vector<FittingWay> ways(int gpus) {
    const Way asked{own_, gpus, "", ""};
    add(first_fitting(asked));
    add_sharded(asked);
    const bool has_bf16 = gpu_of_job().bf16.per_second > 0;
    const std::string half = has_bf16 ? "bf16" : "fp16", in_half = has_bf16 ? "" : " --precision amp_fp16";
    const std::string four = "--weights nf4_double" + in_half;
    if (own_.model.tuning.adapter == AdapterKind::none) {
      add_adapters(asked, has_bf16 ? WeightFormat::bf16 : WeightFormat::fp16, "LoRA of rank 16 in " + half,
                   "--adapters lora:16 --weights " + half);
      add_adapters(asked, WeightFormat::nf4_double, "LoRA of rank 16 beside weights of 4 bits",
                   "--adapters lora:16 " + four);
    } else if (!is_quantised(own_.model.tuning.weights)) {
      add_adapters(asked, WeightFormat::nf4_double, "weights of 4 bits", four);
    }
    if (found_.size() > kMostWaysToFit) found_.resize(kMostWaysToFit);
    return std::move(found_);
  }

 private:
  void add(std::optional<FittingWay> way) {
    if (way) found_.push_back(std::move(*way));
  }

  const Gpu& gpu_of_job() const { return own_.cluster.node.gpu; }

  /// Tries adapters beside weights of this format, in the 16-bit precision that the GPU has.
  void add_adapters(const Way& asked, WeightFormat weights, const std::string& what,
                    const std::string& option) {
    if (found_.size() >= kMostWaysToFit) return;
    Scenario base = own_;
    const bool has_bf16 = gpu_of_job().bf16.per_second > 0;
    if (!is_half(base.workload.precision) || !has_bf16)
      base.workload.precision = has_bf16 ? Precision::bf16 : Precision::amp_fp16;
    FineTuning tuning = own_.model.tuning;
    if (tuning.adapter == AdapterKind::none) tuning.adapter = AdapterKind::lora, tuning.rank = kUsualRank;
    tuning.weights = weights;
    try {
      add(first_fitting(changed(asked, with_training(base, tuning, own_.workload.recompute), what, option)));
    } catch (const InputError&) {
      // This network cannot be trained so.
    }
  }

  /// Tries FSDP on the fewest GPUs, by doublings from those that were asked for.
  void add_sharded(const Way& asked) {
    if (own_.workload.framework.kind != FrameworkKind::pytorch || own_.strategy == "fsdp") return;
    const Way sharded = changed(asked, with_strategy(own_, "fsdp"), "FSDP", "--strategy fsdp");
    for (int gpus = std::max(2, asked.gpus); gpus <= points_.simulator().cluster_gpus(); gpus *= 2) {
      Way more = sharded;
      more.gpus = gpus;
      if (gpus > asked.gpus) {
        more.what = fmt::format("FSDP on {}", counted(gpus, "GPU"));
        more.option += fmt::format(" --gpus {}", gpus);
      }
      if (std::optional<FittingWay> way = first_fitting(more)) return add(std::move(way));
    }
  }

  /// Returns the first change that surely fits: a smaller batch, then each saver in turn with all batches.
  std::optional<FittingWay> first_fitting(const Way& from) {
    Way tried = from;
    if (std::optional<FittingWay> way = with_less_batch(tried)) return way;
    for (const Saver& saver : kSavers) {
      if (saver.is_on(tried.scenario)) continue;
      FineTuning tuning = tried.scenario.model.tuning;
      bool recompute = tried.scenario.workload.recompute;
      saver.put(tuning, recompute);
      try {
        tried = changed(tried, with_training(tried.scenario, tuning, recompute), std::string(saver.what),
                        std::string(saver.option));
      } catch (const InputError&) {
        continue;
      }
      if (std::optional<FittingWay> way = with_less_batch(tried)) return way;
    }
    return std::nullopt;
  }

  /// Returns the batch as asked, or the largest of its halves that surely fits, with as many more
  /// micro-steps. A global batch is not divided.
  std::optional<FittingWay> with_less_batch(const Way& way) {
    try {
      PointPredictor points(way.scenario, points_);
      if (!why_not_together(way.scenario, way.gpus).empty()) return std::nullopt;
      Decisions ignored;
      PredictionPoint p = points.point(way.gpus, ignored);
      if (chance_of_fitting(p) >= kSurelyFits) return named(way, p);
      if (p.largest_batch < 1 || way.scenario.global_batch) return std::nullopt;
      for (std::int64_t parts = 2; parts <= p.batch_per_gpu; parts *= 2) {
        const std::int64_t batch = p.batch_per_gpu / parts;
        if (batch > p.largest_batch) continue;
        if (std::optional<FittingWay> fits = in_micro_steps(way, batch, parts)) return fits;
      }
    } catch (const InputError&) {
      // The strategy cannot train this network on these GPUs.
    }
    return std::nullopt;
  }

  /// Returns the training with its batch in `parts` micro-steps if it surely fits.
  std::optional<FittingWay> in_micro_steps(const Way& way, std::int64_t batch, std::int64_t parts) {
    Scenario scenario = with_batch(way.scenario, batch);
    const std::int64_t steps = scenario.knobs.accumulation * parts;
    constexpr std::int64_t kMostMicroSteps = 4096;
    if (steps > kMostMicroSteps) return std::nullopt;
    scenario.knobs.accumulation = static_cast<int>(steps);
    Way smaller = changed(way, std::move(scenario), fmt::format("micro-batches of {}", batch),
                          fmt::format("--batch {} --set strategy.accumulation={}", batch, steps));
    PointPredictor points(smaller.scenario, points_);
    Decisions ignored;
    const PredictionPoint p = points.point(way.gpus, ignored);
    if (chance_of_fitting(p) < kSurelyFits) return std::nullopt;
    return named(smaller, p);
  }

  static FittingWay named(const Way& way, const PredictionPoint& p) {
    return {way.what, way.option, way.gpus, p.memory.least(), chance_of_fitting(p), p.step_s};
  }

  const PointPredictor& points_;
  const Scenario& own_;
  std::vector<FittingWay> found_;
};

/// Returns the names of the catalog's GPUs with the least memory that is enough; the whole catalog is read.
std::vector<std::string> smallest_cards(Bytes least) {
  std::vector<std::string> names;
  std::int64_t smallest = INT64_MAX;
  for (const std::string& name : names_in(CatalogKind::gpus)) {
    const std::int64_t has = read_or_throw(*open_named(CatalogKind::gpus, name), read_gpu).capacity().count;
    if (has < least.count || has > smallest) continue;
    if (has < smallest) names.clear();
    smallest = has;
    names.push_back(name);
  }
  return names;
}

}  // namespace

std::vector<FittingWay> changes_that_fit(const PointPredictor& points, int gpus) {
  if (!reads_tokens(points.simulator().scenario()) || !points.simulator().model().is_strategy) return {};
  return FitSearch(points).ways(gpus);
}

TrainingLimits limits_of(const PointPredictor& points, int gpus) {
  const Scenario& own = points.simulator().scenario();
  Decisions ignored;
  PointPredictor asked(own, points);
  const PredictionPoint p = asked.point(gpus, ignored);
  TrainingLimits limits;
  limits.gpus = gpus, limits.batch_per_gpu = p.batch_per_gpu, limits.largest_batch = p.largest_batch;
  limits.least_memory = {
      static_cast<std::int64_t>(static_cast<double>(p.memory.least().count) / surely_filled_share())};
  limits.smallest_cards = smallest_cards(limits.least_memory);
  if (!reads_tokens(own)) return limits;
  limits.tokens = own.model.input.front();
  // The search begins at two tokens, because a loss over the next token needs two.
  const std::int64_t beyond_one = largest_holding(kMostSamples, [&](std::int64_t more) {
    try {
      const Scenario longer = with_sequence(own, 1 + more);
      PointPredictor tried(longer, points);
      return chance_of_fitting(tried.point(gpus, ignored)) >= kProbablyFits;
    } catch (const InputError&) {
      return false;  // a network with a table of positions reads no more than those
    }
  });
  limits.longest_samples = beyond_one > 0 ? 1 + beyond_one : 0;
  return limits;
}

std::string limits_words(const TrainingLimits& limits) {
  std::string out = limits.largest_batch > 0
                        ? fmt::format("up to {} fit at a time", counted(limits.largest_batch, "sample"))
                        : "not one sample fits";
  if (limits.tokens > 0)
    out += limits.longest_samples > 0
               ? fmt::format("; with a batch of {}, samples may have up to {} tokens", limits.batch_per_gpu,
                             limits.longest_samples)
               : fmt::format("; with a batch of {}, not even two tokens fit", limits.batch_per_gpu);
  const std::string needed = to_string(limits.least_memory);
  if (limits.smallest_cards.empty()) return out + fmt::format("; no card of the catalog has {}", needed);
  std::string cards;
  for (std::size_t i = 0; i < std::min(limits.smallest_cards.size(), kMostCards); ++i)
    cards += (i > 0 ? ", " : "") + limits.smallest_cards[i];
  if (limits.smallest_cards.size() > kMostCards) cards += ", ...";
  return out + fmt::format("; as asked it surely fits a card of {} or more: {}", needed, cards);
}

}  // namespace foretrain
