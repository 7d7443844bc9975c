// Questions of the workshop page and their answers, both as JSON (web/workshop/ENGINE.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// Largest question in bytes.
inline constexpr std::size_t kLargestQuestion = std::size_t{1} << 20;
/// Limits of a question: files, arguments, and characters of an argument.
inline constexpr std::size_t kMostQuestionFiles = 16, kMostQuestionArguments = 64;
inline constexpr std::size_t kLongestQuestionArgument = 4096;

/// A question: a prediction with the arguments of `foretrain predict`, or the lists of the catalog.
struct WorkshopQuestion {
  /// Asks for the lists instead of a prediction.
  bool lists = false;
  /// Asks for a job script for the largest number of GPUs as well.
  bool wants_job = false;
  /// Asks for a curve over numbers of GPUs. Numbers that the cluster cannot serve are left out, and the
  /// answer says so; a single number gets smaller ones beside it.
  bool wants_curve = false;
  std::vector<std::string> arguments;
  /// Files that the arguments may name.
  std::vector<SourceText> files;
};

/// Reads a question. Throws InputError when it is no JSON, too large, or has unknown keys.
WorkshopQuestion read_question(std::string_view json);

/// The parts of an answer, each as the program writes it elsewhere.
struct WorkshopAnswer {
  /// The prediction as --format json prints it.
  std::string prediction;
  /// Further data as on the page of --html (prediction_details).
  std::string details;
  std::string table, why, scenario_toml;
  /// The script, or why there is none; both empty when it was not asked for.
  std::string job_script{}, why_no_job{};
  /// Sentence on the numbers of GPUs that a curve lacks.
  std::string left_out{};
};
/// Returns {"ok": true, …} with all parts.
std::string write_answer(const WorkshopAnswer& answer);

/// A list of the catalog.
struct WorkshopCatalog {
  struct Item {
    std::string name, summary;
    /// Size of a cluster; 0 for other entries.
    int most_gpus = 0, gpus_per_node = 0;
    /// GPU of a cluster.
    std::string gpu{};
    /// Options of a strategy.
    std::vector<std::string> options{};
  };
  /// Name of the list: "scenarios", "models", "clusters", "strategies", "gpus" or "datasets".
  std::string kind;
  std::vector<Item> items;
};
/// Returns {"ok": true} with a key for each list.
std::string write_catalogs(const std::vector<WorkshopCatalog>& catalogs);

/// Returns {"ok": false, "errors": …} with the errors as the program prints them.
std::string write_refusal(std::string_view errors);

/// Returns the workshop page, HTML compressed with gzip. CMake builds it into the program from
/// web/workshop/page.html.gz.
std::string_view packed_workshop_page();

}  // namespace foretrain
