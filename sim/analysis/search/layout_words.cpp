// Layouts in words: their settings besides the degrees, and the reason why the first one is first.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/analysis/search/layouts.hpp"
#include "sim/analysis/step/memory_verdict.hpp"

namespace foretrain {

namespace {

/// Returns the degrees that were not varied: "tensor = 4, pipeline = 2".
std::string given_degrees(const Degrees& d, const std::vector<std::string>& fixed) {
  const std::pair<std::string_view, int> degrees[] = {{"tensor", d.tensor},
                                                      {"pipeline", d.pipeline},
                                                      {"virtual_stages", d.virtual_stages},
                                                      {"context", d.context},
                                                      {"expert", d.expert}};
  std::string text;
  for (const auto& [key, degree] : degrees)
    if (std::ranges::find(fixed, key) != fixed.end())
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", key, degree);
  return text;
}

/// Returns how much longer the other step is: "4 % longer", "as long within 5 %".
std::string longer(const ModelLayout& first, const ModelLayout& other) {
  const double more = other.step_s / first.step_s - 1;
  if (std::abs(more) < kTie) return fmt::format("as long within {:.0f} %", 100 * kTie);
  return fmt::format("{:.0f} % longer", 100 * more);
}

/// Returns the reason where all fitting layouts have the same degrees; the second differs in its settings.
std::string no_other_degrees(const LayoutSearch& search, const std::vector<std::string>& fixed) {
  const std::vector<ModelLayout>& layouts = search.layouts;
  const ModelLayout& first = layouts.front();
  const std::string given = given_degrees(first.job.degrees, fixed);
  const std::string why =
      given.empty() ? "no other degrees fit" : fmt::format("with {} as given no other degrees fit", given);
  if (layouts.size() == 1 || layouts[1].fits < kProbablyFits) return why;
  return why + fmt::format("; next is {}, {}", settings_of(layouts[1].job), longer(first, layouts[1]));
}

}  // namespace

std::string settings_of(const LargeModelRun& job) {
  std::string text = fmt::format("micro-batch {}", job.micro_batch);
  if (job.degrees.pipeline > 1) text += fmt::format(", {}", name_of(job.schedule));
  if (job.sharding == ModelSharding::parameters) text += ", sharded parameters";
  if (job.recompute != Recompute::none) text += fmt::format(", recompute {}", name_of(job.recompute));
  return text;
}

/// The first layout is compared with the best one of other degrees, because that is the alternative a user
/// would consider.
std::string why_first(const LayoutSearch& search, const std::vector<std::string>& fixed,
                      const CostsMore& costs_more) {
  const ModelLayout& first = *search.best();
  const auto other = std::ranges::find_if(search.layouts, [&](const ModelLayout& l) {
    return l.job.degrees != first.job.degrees && l.fits >= kProbablyFits;
  });
  if (other == search.layouts.end()) return no_other_degrees(search, fixed);
  if (other->step_s < first.step_s * (1 + kTie))
    return fmt::format("{} takes {}{}", other->point.layout, longer(first, *other),
                       first.fits - other->fits < 0.01 ? "" : " and fits less surely");
  return fmt::format("{}, the best of other degrees, takes {}, most of all for {}", other->point.layout,
                     longer(first, *other), costs_more(first, *other));
}

}  // namespace foretrain
