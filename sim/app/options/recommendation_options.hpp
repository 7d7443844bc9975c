// Options of predict about the job to ask for.
#pragma once

#include <string>
#include <vector>

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// What the options write to before it is read: durations and numbers with units.
struct RecommendationTexts {
  std::string goal, deadline;
  std::vector<std::string> queue_wait;
  double budget = 0, price = 0;
  double efficiency = 0;  ///< percent; 0: not given
};

/// --sbatch, --condor, --job-script and --job-system.
void add_job_scripts(CLI::App& command, RecommendationOptions& options, const char* group);

void add_recommendation(CLI::App& command, RecommendationOptions& options, RecommendationTexts& texts);

/// Throws InputError with every mistake.
void read_recommendation(const RecommendationTexts& texts, RecommendationOptions& options);

}  // namespace foretrain
