// Kinds that share a communicator or a cluster's graph are predicted together, the others one by one.
#include "sim/analysis/sample_prediction.hpp"

#include <charconv>

namespace foretrain {

namespace {

void predict(const ClusterSpec& cluster, const std::vector<Sample>& samples, SamplePredictions& predictions, Why why) {
  predict_collective_samples(cluster, samples, predictions, why);
  predict_tax_samples(cluster, samples, predictions, why);
  predict_link_samples(cluster, samples, predictions, why);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& sample = samples[i];
    switch (sample.kind) {
      case SampleKind::memory:
      case SampleKind::gemm:
      case SampleKind::conv:
        predictions[i] = predict_kernel_sample(cluster, sample, why);
        break;
      case SampleKind::host:
      case SampleKind::cpu:
        predictions[i] = predict_host_sample(cluster, sample, why);
        break;
      case SampleKind::training:
        predictions[i] = predict_training_sample(cluster, sample, why);
        break;
      case SampleKind::mix:
        if (why != nullptr) *why = "a mix of operators is for comparing by eye";
        break;
      default:
        break;
    }
  }
}

}  // namespace

SamplePredictions predict_samples(const ClusterSpec& cluster, const std::vector<Sample>& samples) {
  SamplePredictions predictions(samples.size());
  predict(cluster, samples, predictions, nullptr);
  return predictions;
}

std::string why_not_predicted(const ClusterSpec& cluster, const Sample& sample) {
  SamplePredictions predictions(1);
  std::string why;
  predict(cluster, {sample}, predictions, &why);
  return predictions.front() ? "" : why;
}

std::int64_t number_of(const Sample& sample, std::string_view key, std::int64_t fallback) {
  const std::string_view text = setting_of(sample, key);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : fallback;
}

}  // namespace foretrain
