// Options of predict about the job to request, and of the job scripts that plan writes as well.
#pragma once

#include <string>
#include <vector>

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// The texts and numbers that options write to before they are checked.
struct RecommendationTexts {
  std::string goal, deadline;
  std::vector<std::string> queue_wait;
  // GPU-hours and price of one; 0: not given.
  double budget = 0, price = 0;
  /// Percent; 0: not given.
  double efficiency = 0;
};

/// Adds --sbatch, --condor, --job-script and --job-system under this heading of the help.
void add_job_scripts(CLI::App& command, RecommendationOptions& options, const char* group);

/// Adds --recommend, --goal and the limits of the job.
void add_recommendation(CLI::App& command, RecommendationOptions& options, RecommendationTexts& texts);

/// Fills the request of `options` and sets `recommend` when a limit is given. Throws InputError with every
/// mistake.
void read_recommendation(const RecommendationTexts& texts, RecommendationOptions& options);

}  // namespace foretrain
