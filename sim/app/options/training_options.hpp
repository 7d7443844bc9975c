// Options of the commands about training runs: predict, compare and validate.
#pragma once

#include <string>
#include <vector>

#include "sim/app/commands.hpp"
#include "sim/app/options/machine_options.hpp"
#include "sim/app/options/recommendation_options.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// The values that their options write to; they must live until the command line is parsed.
struct TrainingOptions {
  PredictCommand predict;
  CompareCommand compare;
  ValidateCommand validate;
  // Texts of --gpus of predict, compare and validate.
  std::vector<std::string> gpus, compared_gpus, scored_gpus;
  std::vector<std::string> settings_files, compared_settings_files;
  std::string break_even, data_set, compared_data_set;
  // Values of --batch; only used when the option is given.
  long long batch = 0, compared_batch = 0;
  bool no_anchor = false;
  RecommendationTexts recommendation;
  MachineTexts machines;
};

// Each function adds its command to the command line, with a callback that runs it.
void add_predict(CLI::App& app, TrainingOptions& options);
void add_compare(CLI::App& app, TrainingOptions& options);
void add_validate(CLI::App& app, TrainingOptions& options);

/// Returns the command that `foretrain predict` would run with these arguments. The question comes from
/// elsewhere, so options that write files, or read others than scenarios, are not accepted. Throws
/// InputError.
PredictCommand predict_question(std::vector<std::string> arguments);

/// Returns the names with "|" between them, as the help shows choices.
std::string joined(const std::vector<std::string>& words);

}  // namespace foretrain
