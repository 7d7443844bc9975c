// Options of the commands about training runs: predict, compare, validate.
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

/// What their options write to; must live until the command line is parsed.
struct TrainingOptions {
  PredictCommand predict;
  CompareCommand compare;
  ValidateCommand validate;
  std::vector<std::string> gpus, compared_gpus, scored_gpus;
  std::vector<std::string> settings_files, compared_settings_files;
  std::string break_even, data_set, compared_data_set;
  long long batch = 0, compared_batch = 0;
  bool no_anchor = false;
  RecommendationTexts recommendation;
  MachineTexts machines;
};

/// Each adds its command to the command line.
void add_predict(CLI::App& app, TrainingOptions& options);
void add_compare(CLI::App& app, TrainingOptions& options);
void add_validate(CLI::App& app, TrainingOptions& options);

/// What `predict` would do with these arguments, of which those that write files or read others than
/// scenarios are not taken: a question from elsewhere. Throws InputError.
PredictCommand predict_question(std::vector<std::string> arguments);

/// Names with "|" between them, as the help shows choices.
std::string joined(const std::vector<std::string>& words);

}  // namespace foretrain
