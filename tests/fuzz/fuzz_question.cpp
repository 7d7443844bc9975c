// Fuzz target: questions of the workshop page from any bytes, up to the opened scenario; mistakes must come
// as InputError, nothing else, and no file but the catalogs is read.
#include <cstdint>
#include <string_view>

#include "sim/app/opened_scenarios.hpp"
#include "sim/app/options/training_options.hpp"
#include "sim/report/workshop/question.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/toml/given_files.hpp"
#include "tests/fuzz/require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using foretrain::test::require;
  try {
    const auto question = foretrain::read_question({reinterpret_cast<const char*>(data), size});
    require(question.arguments.size() <= foretrain::kMostQuestionArguments);
    require(question.files.size() <= foretrain::kMostQuestionFiles);
    if (question.lists) return 0;
    const foretrain::GivenFiles files(question.files, foretrain::catalog_folders());
    const auto asked = foretrain::predict_question(question.arguments);
    const auto opened = foretrain::open_scenarios(asked.scenarios, asked.overrides, asked.scaling);
    require(opened.size() == 1 && !opened.front().scenario.gpus.empty());
  } catch (const foretrain::InputError& error) {
    require(!error.diagnostics().empty());
    require(foretrain::write_refusal(error.what()).starts_with("{\n  \"ok\": false"));
  }
  return 0;
}
