// Reads what print(model) shows, into a flat list of modules.
//
// A line is either "(conv1): Conv2d(1, 32, kernel_size=(3, 3), stride=(1, 1))", which is complete, or
// "(layer): Sequential(", which opens a module, or ")", which closes the last one. Indentation is not
// trusted, because pasted text may have lost it: a module ends at its own bracket. Lines in another form
// belong to a module's own text and are skipped. Modules that repeat ("12 x Block(") are written out.
#include "sim/import/models/printed_modules.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/pasted/line_marks.hpp"

namespace foretrain {

namespace {

/// Levels of nesting, and modules after repetition, at most.
constexpr std::size_t kDeepestModule = 100, kMostModules = 20'000;

/// The parts of one line: "(name): [12 x ]Type(" and what follows.
struct ModuleLine {
  std::string_view name, type, rest;
  std::int64_t repeats = 1;
};

/// Returns the parts of a line, or nothing where it does not begin a module.
std::optional<ModuleLine> module_line(std::string_view line) {
  std::string_view text = trimmed(line);
  ModuleLine out;
  if (text.starts_with('(')) {
    const std::size_t close = text.find("): ");
    if (close == std::string_view::npos) return std::nullopt;
    out.name = text.substr(1, close - 1);
    text = trimmed(text.substr(close + 3));
  }
  // The number stands at the begin of the text, if at all; 12 characters hold any that is not too large.
  if (const std::size_t times = text.substr(0, 12).find(" x "); times != std::string_view::npos) {
    const auto repeats = integer_of(text.substr(0, times));
    if (!repeats || *repeats < 1) return std::nullopt;
    out.repeats = *repeats;
    text = text.substr(times + 3);
  }
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || open == 0) return std::nullopt;
  out.type = text.substr(0, std::min<std::size_t>(open, 100));
  out.rest = text.substr(open + 1);
  // A type is a Python name; other text with a bracket is no module.
  const auto is_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  };
  if (!std::ranges::all_of(out.type, is_name)) return std::nullopt;
  return out;
}

/// Returns how many brackets a line opens and does not close.
int open_brackets(std::string_view line) {
  return static_cast<int>(std::ranges::count(line, '(') - std::ranges::count(line, ')'));
}

/// Reads the first printed model of a text; lines around it are skipped.
class ModuleReader {
 public:
  ModuleReader(const SourceText& source, Diagnostics& diagnostics)
      : source_(source), diagnostics_(diagnostics) {}

  /// Returns the modules; empty where the text has no model, or something was reported.
  std::vector<PrintedModule> read() {
    LogLines lines(source_.text);
    LogLine line, next;
    bool is_open = false;
    for (bool has_line = lines.next(line); has_line && diagnostics_.empty();) {
      const bool has_next = lines.next(next);
      // The recogniser sees two lines: a line that opens a bracket is a model only if a module follows.
      if (!is_open &&
          mark_of_line(line.text, has_next ? std::string_view(next.text) : "") == BlockKind::printed_model) {
        is_open = true;
        open_.push_back({0, 1});
      } else if (is_open && !take(line)) {
        return std::move(modules_);
      }
      std::swap(line, next);
      has_line = has_next;
    }
    if (is_open && diagnostics_.empty())
      diagnostics_.report({std::max(last_line_, 1), 1, 1}, "the printed model ends before its last bracket",
                          "paste all of what print(model) prints");
    return {};
  }

 private:
  /// An open module: the index of its first module, and how often it stands there.
  struct OpenModule {
    std::size_t first = 0;
    std::int64_t repeats = 1;
  };

  /// Takes one line. Returns false behind the last bracket of the model.
  bool take(const LogLine& line) {
    last_line_ = line.number;
    const std::string_view text = trimmed(line.text);
    if (text == ")") return close();
    const auto module = module_line(line.text);
    if (!module) return true;  // a line of a module's own text
    // The module goes on below: its modules follow until its own bracket.
    if (open_brackets(text) > 0) {
      if (open_.size() >= kDeepestModule)
        diagnostics_.report({line.number, 1, 1},
                            fmt::format("modules are nested deeper than {}", kDeepestModule));
      open_.push_back({modules_.size(), module->repeats});
      return true;
    }
    // A complete module; a repetition stands in front of its type.
    const std::size_t first = modules_.size();
    modules_.push_back(
        {std::string(module->name.substr(0, 100)), std::string(module->type),
         std::string(module->rest.substr(0, std::min<std::size_t>(module->rest.rfind(')'), 500))),
         line.number});
    return repeat(first, module->repeats);
  }

  /// Closes the innermost module; returns false when it was the model itself.
  bool close() {
    const OpenModule done = open_.back();
    open_.pop_back();
    repeat(done.first, done.repeats);
    return !open_.empty();
  }

  /// Appends the modules from `first` on `times` - 1 more times. The division avoids an overflow of the
  /// product.
  bool repeat(std::size_t first, std::int64_t times) {
    const std::size_t count = modules_.size() - first;
    if (count > 0 && static_cast<std::size_t>(times) > kMostModules / count + 1) times = kMostModules + 1;
    for (std::int64_t time = 1; time < times && modules_.size() <= kMostModules; ++time)
      for (std::size_t i = 0; i < count; ++i) modules_.push_back(PrintedModule(modules_[first + i]));
    if (modules_.size() > kMostModules)
      diagnostics_.report({std::max(last_line_, 1), 1, 1}, fmt::format("more than {} modules", kMostModules));
    return true;
  }

  const SourceText& source_;
  Diagnostics& diagnostics_;
  std::vector<PrintedModule> modules_;
  std::vector<OpenModule> open_;
  int last_line_ = 0;
};

}  // namespace

/// Commas inside brackets do not separate arguments, so the depth is counted.
std::string_view PrintedModule::argument(std::string_view wanted, int place) const {
  std::string_view rest = arguments;
  for (int at = 0; !rest.empty(); ++at) {
    int depth = 0;
    std::size_t end = 0;
    for (; end < rest.size() && (depth > 0 || rest[end] != ','); ++end)
      depth += rest[end] == '(' ? 1 : rest[end] == ')' ? -1 : 0;
    const std::string_view part = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos && part.substr(0, equals) == wanted) return part.substr(equals + 1);
    if (equals == std::string_view::npos && at == place) return part;
  }
  return {};
}

/// The first number of a pair such as (3, 3) counts.
std::optional<std::int64_t> PrintedModule::number(std::string_view wanted, int place) const {
  std::string_view value = argument(wanted, place);
  while (value.starts_with('(')) value.remove_prefix(1);
  const std::size_t end = value.find_first_not_of("0123456789");
  const auto number = integer_of(value.substr(0, std::min(end, value.size())));
  return number && *number <= 1'000'000'000 ? number : std::nullopt;
}

std::vector<PrintedModule> printed_modules(const SourceText& source, Diagnostics& diagnostics) {
  return ModuleReader(source, diagnostics).read();
}

/// Needs two lines at a time and stops at the first model, so long texts without one cost a single pass.
bool is_printed_model(std::string_view text) {
  LogLines lines(text);
  LogLine line, next;
  for (bool has_line = lines.next(line); has_line;) {
    const bool has_next = lines.next(next);
    if (line.text.ends_with('(') &&
        mark_of_line(line.text, has_next ? std::string_view(next.text) : "") == BlockKind::printed_model)
      return true;
    std::swap(line, next);
    has_line = has_next;
  }
  return false;
}

}  // namespace foretrain
