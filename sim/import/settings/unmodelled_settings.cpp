// Lists the settings that decide a prediction and that no model covers: their names, what each decides, and
// what it does. With one of them the interval widens by these factors, and the answer says that it cannot
// tell.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/import/settings/settings.hpp"

namespace foretrain {

namespace {

/// A setting that decides memory, time, or traffic between nodes.
struct DecidingSetting {
  // Last word of the key, or a table that it stands in.
  std::string_view name;
  bool memory, time, between_nodes;
  std::string_view effect;
  // Bounds of the factor on the time, as in UnmodelledSetting.
  double shortest = 1, longest = 1;
};

// Bounds of the factors. Adapters leave out the gradients of weights, a third of the arithmetic, and most of
// the optimizer. DeepSpeed's issue 3901 has a factor of 2.1 with parameters in host memory; disks and TCP:
// [unverified].
constexpr double kAdaptersShortest = 0.5, kQuantisedLongest = 2, kOffloadedLongest = 6, kTcpLongest = 5,
                 kWideGradientsLongest = 2, kBlockingLongest = 3;

/// Sentences about the effects, which the answer quotes.
constexpr std::string_view kAdapters =
    "It trains adapters only, which takes less memory and less time than the full training predicted here.";
constexpr std::string_view kQuantised =
    "It keeps weights in 4 or 8 bits: they take 2 to 4 times less memory, and every product converts them "
    "first.";
/// Text for Megatron-LM and torchtitan with a layout; elsewhere offload is modelled.
constexpr std::string_view kOffloaded =
    "It keeps parameters in the host's memory or on a disk: a GPU needs less memory, and a step takes twice "
    "as long or longer.";
constexpr std::string_view kWideGradients = "Gradients then travel in 32 bits, which is twice as many bytes.";
constexpr std::string_view kTcp =
    "Messages between nodes then go over TCP instead of InfiniBand, which is several times slower.";
constexpr std::string_view kZeroPlusPlus = "It changes how many bytes ZeRO sends, and to whom.";

/// The first row that fits a key counts.
constexpr DecidingSetting kDeciding[] = {
    {"finetuning_type", true, true, false, kAdapters, kAdaptersShortest, 1},
    {"use_peft", true, true, false, kAdapters, kAdaptersShortest, 1},
    {"adapter", true, true, false, kAdapters, kAdaptersShortest, 1},
    {"load_in_4bit", true, true, false, kQuantised, 1, kQuantisedLongest},
    {"load_in_8bit", true, true, false, kQuantised, 1, kQuantisedLongest},
    {"quantization_bit", true, true, false, kQuantised, 1, kQuantisedLongest},
    {"enable_cpu_offload", true, true, false, kOffloaded, 1, kOffloadedLongest},
    {"cpu_offloading", true, true, false, kOffloaded, 1, kOffloadedLongest},
    {"fp32_allreduce", false, true, false, kWideGradients, 1, kWideGradientsLongest},
    {"zero_quantized_weights", false, true, true, kZeroPlusPlus},
    {"zero_quantized_gradients", false, true, true, kZeroPlusPlus},
    {"zero_hpz_partition_size", true, true, true, kZeroPlusPlus},
    {"NCCL_IB_DISABLE", false, true, true, kTcp, 1, kTcpLongest},
    {"CUDA_LAUNCH_BLOCKING", false, true, false,
     "The host then waits for every kernel, so that nothing overlaps and every step is longer.", 1,
     kBlockingLongest},
};

/// Returns whether a path ends with the name, or passes through a table of that name.
bool is_named(std::string_view path, std::string_view name) {
  while (true) {
    const std::size_t dot = path.find('.');
    std::string_view word = path.substr(0, dot);
    if (word.starts_with("fsdp_")) word.remove_prefix(5);
    if (word == name) return true;
    if (dot == std::string_view::npos) return false;
    path.remove_prefix(dot + 1);
  }
}

/// Returns the row for a key; nullptr: it decides nothing.
const DecidingSetting* find_deciding(std::string_view path) {
  const auto found =
      std::ranges::find_if(kDeciding, [path](const auto& row) { return is_named(path, row.name); });
  return found == std::end(kDeciding) ? nullptr : found;
}

}  // namespace

/// Each row is told once, however many keys it fits.
std::vector<UnmodelledSetting> unmodelled_settings(const TrainingSettings& settings) {
  std::vector<UnmodelledSetting> out;
  std::vector<const DecidingSetting*> known;
  for (const ReadKey& key : settings.keys) {
    if (key.fate != KeyFate::not_modelled) continue;
    const DecidingSetting* row = find_deciding(key.path);
    if (row == nullptr || std::ranges::find(known, row) != known.end()) continue;
    known.push_back(row);
    out.push_back({fmt::format("{} = {}", printable(key.path), printable(shortened(key.value, 40))),
                   fmt::format("{}:{}", printable(key.file), key.span.line), std::string(row->effect),
                   row->memory, row->time, row->between_nodes, row->shortest, row->longest});
  }
  return out;
}

}  // namespace foretrain
