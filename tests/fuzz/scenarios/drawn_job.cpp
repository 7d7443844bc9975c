// A made scenario whose lines of batch, data set and numbers of GPUs are replaced by less even ones.
#include "tests/fuzz/scenarios/drawn_job.hpp"

#include <algorithm>
#include <array>
#include <random>

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"

namespace foretrain::test {

namespace {

using Random = std::mt19937;

int below(Random& random, unsigned limit) { return static_cast<int>(random() % limit); }

/// The line that begins so, without it where `line` is empty.
void replace_line(std::string& text, std::string_view begin, const std::string& line) {
  const std::size_t at = text.find(fmt::format("\n{} = ", begin));
  if (at == std::string::npos) return;
  const std::size_t end = text.find('\n', at + 1);
  text.replace(at, end - at, line.empty() ? "" : "\n" + line);
}

/// One, some number between, and the largest that the grammar chose.
std::string gpus_up_to(int most, Random& random) {
  if (most == 1) return "gpus = [1]";
  return fmt::format("gpus = [1, {}, {}]", 1 + below(random, static_cast<unsigned>(most)), most);
}

int most_gpus(const std::string& text) {
  const std::string begin = "\ngpus = [";
  return std::stoi(text.substr(text.find(begin) + begin.size()));
}

/// Also one of thousands of samples, which fits into few GPUs.
std::string batch_line(int gpus, Random& random) {
  if (below(random, 2) == 0) return fmt::format("global_batch = {}", gpus + below(random, 300));
  const int batch = 1 + below(random, 150);
  return fmt::format("batch_per_gpu = {}", below(random, 4) == 0 ? 1000 * batch : batch);
}

}  // namespace

MadeScenario drawn_job(unsigned number) {
  Random random(number);
  std::array<std::uint8_t, 96> bytes{};
  std::ranges::generate(bytes, [&random] { return static_cast<std::uint8_t>(random() & 0xffU); });
  Choices choices(bytes);
  MadeScenario made = make_scenario_texts(choices, Units::usual);
  const int most = most_gpus(made.scenario);
  replace_line(made.scenario, "gpus", gpus_up_to(most, random));
  const std::string batch = batch_line(most, random);
  replace_line(made.scenario, "global_batch", batch);
  replace_line(made.scenario, "batch_per_gpu", batch);
  replace_line(made.scenario, "samples",
               below(random, 6) == 0 ? "" : fmt::format("samples = {}", 1 + below(random, 40'000)));
  if (below(random, 3) == 0) made.settings.emplace_back("data.drop_last=true");
  if (below(random, 3) == 0)
    made.settings.push_back(fmt::format("strategy.accumulation={}", 2 + below(random, 6)));
  if (below(random, 5) == 0)
    made.settings.emplace_back(below(random, 2) == 0 ? "data.sampler=none" : "data.sampler=local_rank");
  if (below(random, 4) == 0) made.settings.emplace_back("run.every.validation.samples=1000");
  return made;
}

std::optional<Scenario> read_drawn(const MadeScenario& made) {
  try {
    return read_made(made);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace foretrain::test
