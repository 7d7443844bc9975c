// Every kind of sample has its predictor. Samples that share a communicator or a cluster's graph are
// predicted together.
#include "sim/analysis/fit/sample_prediction.hpp"

#include <charconv>

namespace foretrain {

namespace {

/// Gives the reason for the one kind that no predictor covers.
void say_nothing_of_mixes(SampleRun& run) {
  for (std::size_t i = 0; i < run.samples.size(); ++i) {
    if (run.samples[i].kind == SampleKind::mix)
      run.take(i, SampleAnswer::nothing("a mix of operators is for comparing by eye"));
  }
}

}  // namespace

SampleAnswer SampleAnswer::nothing(const InputError& error) {
  return nothing(error.diagnostics().empty() ? error.what() : error.diagnostics().front().message);
}

SamplePredictions predict_samples(const ClusterSpec& cluster, const std::vector<Sample>& samples,
                                  SampleContext& context) {
  SamplePredictions predictions(samples.size());
  context.reasons.assign(context.wants_reasons ? samples.size() : 0, "");
  SampleRun run{cluster, samples, context, predictions};
  predict_collective_samples(run);
  predict_tax_samples(run);
  predict_link_samples(run);
  predict_kernel_samples(run);
  predict_host_samples(run);
  predict_training_samples(run);
  say_nothing_of_mixes(run);
  return predictions;
}

SamplePredictions predict_samples(const ClusterSpec& cluster, const std::vector<Sample>& samples) {
  SampleContext context;
  return predict_samples(cluster, samples, context);
}

std::string why_not_predicted(const ClusterSpec& cluster, const Sample& sample) {
  SampleContext context;
  context.wants_reasons = true;
  predict_samples(cluster, {sample}, context);
  return context.reasons.front();
}

std::int64_t number_of(const Sample& sample, std::string_view key, std::int64_t fallback) {
  const std::string_view text = setting_of(sample, key);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : fallback;
}

}  // namespace foretrain
