// Options of compare about machines. The deadline is read by the reader of recommendations, so both accept
// the same spellings.
#include "sim/app/options/machine_options.hpp"

#include <charconv>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/app/options/recommendation_options.hpp"
#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

// Limits of a price of one GPU-hour, in any currency.
constexpr double kLeastPrice = 1e-6, kMostPrice = 1e12;

/// Returns the price that the digits spell. Throws InputError, with the whole text, when they spell none.
double price_of_text(std::string_view digits, const std::string& text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  // The comparison is false for NaN, which from_chars accepts.
  if (problem == std::errc{} && end == digits.data() + digits.size() && value >= kLeastPrice &&
      value <= kMostPrice)
    return value;
  throw InputError(fmt::format("--price: \"{}\" has no price of a GPU-hour", shortened(printable(text), 40)),
                   "as in --price 1.5 or --price puhti=1.2,mahti=2");
}

}  // namespace

// Both options only have an effect with --clusters; the command checks that.
void add_machine_options(CLI::App& command, MachineTexts& texts) {
  command
      .add_option("--deadline", texts.deadline,
                  "With --clusters: name the cheapest machine whose run is over in time with 95 %, as in 8h")
      ->type_name("TIME");
  command
      .add_option("--price", texts.prices,
                  "With --clusters: of a GPU-hour, as in 1.5, or of each cluster, as in puhti=1.2,mahti=2")
      ->delimiter(',')
      ->type_name("LIST");
}

// A price without "=" counts for every cluster that has none of its own.
MachinesRequest read_machine_options(const MachineTexts& texts) {
  RecommendationTexts run;
  run.deadline = texts.deadline;
  RecommendationOptions read;
  read_recommendation(run, read);
  MachinesRequest request{.deadline_s = read.request.deadline_s};
  for (const std::string& text : texts.prices) {
    // A name of a cluster file may contain "=", so the last one separates name and price.
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos)
      request.price_per_gpu_hour = price_of_text(text, text);
    else
      request.prices[text.substr(0, equals)] = price_of_text(std::string_view(text).substr(equals + 1), text);
  }
  return request;
}

}  // namespace foretrain
