// Layouts in words: what each has besides its degrees, and why the first one is first.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/analysis/search/layouts.hpp"
#include "sim/base/quantity.hpp"

namespace foretrain {

namespace {

std::string_view name_of_account(Account account) {
  constexpr std::string_view kNames[] = {"compute",  "exchanges",     "input",
                                         "the host", "the optimizer", "the pipeline's bubble"};
  return kNames[static_cast<std::size_t>(account)];
}

/// "tensor = 4, pipeline = 2": degrees that were not varied.
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

/// All that fit have the same degrees; what is second among them differs in its settings.
std::string no_other_degrees(const std::vector<ModelLayout>& layouts, const std::vector<std::string>& fixed) {
  const ModelLayout& first = layouts.front();
  const std::string given = given_degrees(first.job.degrees, fixed);
  const std::string why =
      given.empty() ? "no other degrees fit" : fmt::format("with {} as given no other degrees fit", given);
  if (layouts.size() == 1) return why;
  const double more = layouts[1].step_s / first.step_s - 1;
  return why + fmt::format("; next is {}, {}", settings_of(layouts[1].job),
                           more < kTie ? fmt::format("as long within {:.0f} %", 100 * kTie)
                                       : fmt::format("{:.0f} % longer", 100 * more));
}

}  // namespace

std::string settings_of(const LargeModelJob& job) {
  std::string text = fmt::format("micro-batch {}", job.micro_batch);
  if (job.degrees.pipeline > 1) text += fmt::format(", {}", name_of(job.schedule));
  if (job.sharding == ModelSharding::parameters) text += ", sharded parameters";
  if (job.recompute != Recompute::none) text += fmt::format(", recompute {}", name_of(job.recompute));
  return text;
}

std::string why_first(const std::vector<ModelLayout>& layouts, const std::vector<std::string>& fixed) {
  const ModelLayout& first = layouts.front();
  const auto other =
      std::ranges::find_if(layouts, [&](const ModelLayout& l) { return l.job.degrees != first.job.degrees; });
  if (other == layouts.end()) return no_other_degrees(layouts, fixed);
  std::size_t most = 0;
  const auto loss = [&](std::size_t i) { return other->breakdown[i] - first.breakdown[i]; };
  for (std::size_t i = 0; i < kAccountCount; ++i)
    if (loss(i) > loss(most)) most = i;
  if (other->step_s < first.step_s * (1 + kTie))
    return fmt::format("{} takes as long within {:.0f} %", other->point.layout, 100 * kTie);
  return fmt::format("{}, the best of other degrees, takes {:.0f} % longer, most of all for {} (+{})",
                     other->point.layout, 100 * (other->step_s / first.step_s - 1),
                     name_of_account(static_cast<Account>(most)),
                     to_string(seconds(std::max(0.0, loss(most)))));
}

}  // namespace foretrain
