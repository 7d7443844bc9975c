// What the workshop page asks and is answered: JSON on both sides (web/workshop/ENGINE.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

inline constexpr std::size_t kLargestQuestion = std::size_t{1} << 20;  ///< bytes
inline constexpr std::size_t kMostQuestionFiles = 16, kMostQuestionArguments = 64;
inline constexpr std::size_t kLongestQuestionArgument = 4096;

/// A prediction, as `foretrain predict` with these arguments, or the catalogs.
struct WorkshopQuestion {
  bool lists = false;
  bool wants_job = false;  ///< with a job script for the largest number of GPUs
  /// A curve: numbers of GPUs that cannot be asked are left out and said so, and a single number has those
  /// below it for company.
  bool wants_curve = false;
  std::vector<std::string> arguments;
  std::vector<SourceText> files;  ///< that the arguments may name
};

/// Throws InputError for what is no JSON, too large, or has keys that nothing asks for.
WorkshopQuestion read_question(std::string_view json);

/// The parts of an answer, each as the program writes it elsewhere.
struct WorkshopAnswer {
  std::string prediction;  ///< as --format json
  std::string details;     ///< as of the page of --html (prediction_details)
  std::string table, why, scenario_toml;
  std::string job_script{}, why_no_job{};  ///< one of them where it was asked for
  std::string left_out{};                  ///< which numbers of GPUs a curve lacks, and why
};
std::string write_answer(const WorkshopAnswer& answer);

/// One catalog of the list.
struct WorkshopCatalog {
  struct Item {
    std::string name, summary;
    int most_gpus = 0, gpus_per_node = 0;  ///< of a cluster
    std::string gpu{};                     ///< of a cluster
    std::vector<std::string> options{};    ///< of a strategy
  };
  std::string kind;  ///< "scenarios", "models", "clusters", "strategies", "gpus", "datasets"
  std::vector<Item> items;
};
std::string write_catalogs(const std::vector<WorkshopCatalog>& catalogs);

/// What went wrong, as the program prints it.
std::string write_refusal(std::string_view errors);

/// The page that asks: HTML, packed with gzip (made by CMake of web/workshop/page.html.gz).
std::string_view packed_workshop_page();

}  // namespace foretrain
