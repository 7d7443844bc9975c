// A unit is looked for in the line. Its figure stands right before it, else behind it and a colon or an
// equals sign.
#include "sim/import/logs/training_rate.hpp"

#include <algorithm>
#include <array>

#include "sim/import/logs/log_lines.hpp"

namespace foretrain {

namespace {

/// A way to write the unit of a rate or of the time of a step.
struct Unit {
  std::string_view mark;
  bool of_steps = false;
  /// Seconds of one unit where the figure is the time of a step; 0 for a rate.
  double seconds = 0;
  bool of_tokens = false;
};

/// Units in lower case. Longer ones stand before those that they contain.
constexpr std::array<Unit, 39> kUnits{{{"samples_per_second"},
                                       {"samples_per_sec"},
                                       {"samples per second"},
                                       {"images per second"},
                                       {"images_per_second"},
                                       {"images/sec"},
                                       {"images/s"},
                                       {"imgs/sec"},
                                       {"imgs/s"},
                                       {"img/sec"},
                                       {"img/s"},
                                       {"samples/sec"},
                                       {"samples/s"},
                                       {"sequences/sec"},
                                       {"sequences/s"},
                                       {"examples/sec"},
                                       {"examples/s"},
                                       {"steps_per_second", true},
                                       {"steps per second", true},
                                       {"steps/sec", true},
                                       {"steps/s", true},
                                       {"it/sec", true},
                                       {"it/s", true},
                                       {"ms/step", true, 1e-3},
                                       {"us/step", true, 1e-6},
                                       {"sec/step", true, 1},
                                       {"s/step", true, 1},
                                       {"ms/it", true, 1e-3},
                                       {"sec/it", true, 1},
                                       {"s/it", true, 1},
                                       {"tokens_per_second", false, 0, true},
                                       {"tokens per second", false, 0, true},
                                       {"tokens/second", false, 0, true},
                                       {"tokens_per_sec", false, 0, true},
                                       {"tokens/sec", false, 0, true},
                                       {"tokens/s", false, 0, true},
                                       {"tok/sec", false, 0, true},
                                       {"tok/s", false, 0, true},
                                       {"throughput:"}}};

/// Says whether a character can be part of a figure.
bool is_figure_part(char c) {
  return (c >= '0' && c <= '9') || c == '.' || c == ',' || c == '-' || c == '+' || c == 'e';
}
/// Says whether a character is a lower-case letter; the line is in lower case.
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

/// Returns the digits and points that end where the unit begins; empty when something else stands there.
std::string_view figure_before(std::string_view line, std::size_t at) {
  while (at > 0 && line[at - 1] == ' ') --at;
  std::size_t begin = at;
  while (begin > 0 && at - begin < 30 && is_figure_part(line[begin - 1])) --begin;
  std::string_view figure = line.substr(begin, at - begin);
  while (!figure.empty() && (figure.front() < '0' || figure.front() > '9')) figure.remove_prefix(1);
  return figure;
}

/// Returns the figure that follows a colon or an equals sign, however it is quoted: "img/sec per GPU: 325.9"
/// or "'…': 3.2".
std::string_view figure_behind(std::string_view line, std::size_t at) {
  constexpr std::size_t kFarthest = 40;
  const std::string_view near = line.substr(at, kFarthest);
  const std::size_t sign = line[at - 1] == ':' ? 0 : near.find_first_of(":=");
  if (sign == std::string_view::npos) return {};
  std::size_t begin = at + sign;
  while (begin < line.size() && (line[begin] == ' ' || line[begin] == '\t' || line[begin] == ':' ||
                                 line[begin] == '=' || line[begin] == '\'' || line[begin] == '"'))
    ++begin;
  std::size_t end = begin;
  while (end < line.size() && end - begin < 30 && (is_figure_part(line[end]) || is_letter(line[end]))) ++end;
  while (end > begin && line[end - 1] == ',') --end;
  return line.substr(begin, end - begin);
}

/// Returns the half width behind "+-", "+/-" or the sign for both; 0 when there is none.
double half_width_in(std::string_view line) {
  for (const std::string_view mark : {"+-", "+/-", "\xC2\xB1"}) {
    const auto words = words_of(text_behind(line, mark), 1);
    const double width = words.empty() ? 0 : number_of(words[0]).value_or(0);
    if (width > 0) return width;
  }
  return 0;
}

/// Says whether a unit stands at that place as a word of its own: "it/s" is not part of "unit/s".
bool is_unit_at(std::string_view line, std::size_t at, std::string_view mark) {
  const std::size_t end = at + mark.size();
  // Names of fields such as train_steps_per_second may have letters before the unit.
  const bool begins = at == 0 || !is_letter(line[at - 1]) || mark.back() == ':' || holds(mark, "_per_");
  return begins && (mark.back() == ':' || end == line.size() || !is_letter(line[end]));
}

}  // namespace

std::optional<TrainingRate> training_rate_in(std::string_view text, bool& stands) {
  const std::string line = lower_case(text.substr(0, 4000));
  for (const Unit& unit : kUnits) {
    const std::size_t at = line.find(unit.mark);
    if (at == std::string::npos || !is_unit_at(line, at, unit.mark)) continue;
    std::string_view figure = unit.mark.back() == ':' ? std::string_view{} : figure_before(line, at);
    // The figure behind the unit is the second choice, since "325.9 img/sec" is the usual order.
    if (figure.empty()) figure = figure_behind(line, at + unit.mark.size());
    const auto value = number_of(figure);
    stands = stands || !figure.empty();
    if (!value) continue;
    TrainingRate rate;
    // The time of a step becomes a rate; a time of 0 stays 0, which the reader refuses.
    rate.per_s = unit.seconds > 0 && *value > 0 ? 1 / (*value * unit.seconds) : *value;
    rate.of_steps = unit.of_steps;
    rate.of_tokens = unit.of_tokens;
    rate.per_gpu = holds(line, "per gpu") || holds(line, "/gpu") || holds(line, "per device");
    // "total" belongs to the rate where it stands right before the unit or the word for it, as in "Total
    // img/sec on 4 GPU(s)"; a line may have other totals, such as a total loss.
    const std::string_view before = trimmed(std::string_view(line).substr(0, at));
    rate.is_total = !rate.per_gpu && (before.ends_with("total") || holds(line, "total throughput"));
    rate.half_width = half_width_in(line);
    return rate;
  }
  return std::nullopt;
}

}  // namespace foretrain
