// toml++ tables become plain values. After a syntax error the unreadable lines are blanked and the text is parsed again; a broken
// header line is replaced by a throwaway table instead, so that the keys below it do not fall into the table before.
#include "sim/scenario/reader.hpp"

#include <fmt/format.h>

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <algorithm>
#include <map>

#include <toml++/toml.h>

#include "sim/scenario/text_scan.hpp"

namespace foretrain {

namespace {

constexpr int kMostSyntaxErrors = 20;
constexpr std::size_t kLargestReparsedText = 256u << 10;
constexpr std::string_view kThrowaway = "\x01";

/// Line starts, and for lines beyond ASCII the byte of every character: toml++ counts columns in characters, we count bytes.
class TextPlaces {
 public:
  explicit TextPlaces(std::string_view text) : text_(text) {
    std::size_t begin = 0;
    while (begin <= text.size()) {
      starts_.push_back(begin);
      begin = std::min(text.find('\n', begin), text.size()) + 1;
    }
  }

  int lines() const { return static_cast<int>(starts_.size()); }

  std::string_view line(int number) const {
    const std::size_t begin = starts_[static_cast<std::size_t>(number - 1)];
    const std::size_t end = number < lines() ? starts_[static_cast<std::size_t>(number)] - 1 : text_.size();
    return text_.substr(begin, end - begin);
  }

  SourceSpan span(const toml::source_region& region) {
    const int line_number = std::clamp(static_cast<int>(region.begin.line), 1, lines());
    const int last =
        region.end.line == region.begin.line ? column(line_number, static_cast<int>(region.end.column)) : size_of(line_number) + 1;
    const int first = column(line_number, static_cast<int>(region.begin.column));
    return {line_number, first, std::max(1, last - first)};
  }

 private:
  int size_of(int number) const {
    const std::string_view text = line(number);
    return static_cast<int>(text.size()) - (text.ends_with('\r') ? 1 : 0);
  }

  int column(int line_number, int characters) {
    const auto [entry, is_new] = bytes_of_.try_emplace(line_number);
    std::vector<int>& bytes = entry->second;
    if (is_new) index(line(line_number), bytes);
    const int limit = size_of(line_number) + 1;
    const std::size_t wanted = static_cast<std::size_t>(std::max(characters, 1) - 1);
    if (bytes.empty()) return std::clamp(characters, 1, limit);
    return wanted < bytes.size() ? bytes[wanted] : limit;
  }

  static void index(std::string_view line, std::vector<int>& bytes) {
    const auto beyond_ascii = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
    if (std::none_of(line.begin(), line.end(), beyond_ascii)) return;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if ((static_cast<unsigned char>(line[i]) & 0xC0) != 0x80) bytes.push_back(static_cast<int>(i) + 1);
    }
  }

  std::string_view text_;
  std::vector<std::size_t> starts_;
  std::map<int, std::vector<int>> bytes_of_;
};

class Converter {
 public:
  Converter(TextPlaces& places, Diagnostics& diagnostics, bool damaged) : places_(places), diagnostics_(diagnostics), damaged_(damaged) {}

  Table table(const toml::table& from, int depth) {
    Table out;
    out.span = depth > 0 ? places_.span(from.source()) : SourceSpan{};
    out.damaged = damaged_;
    for (const auto& [key, node] : from) {
      if (damaged_ && key.str().starts_with(kThrowaway)) continue;
      out.entries.push_back({std::string(key.str()), places_.span(key.source()), value(node, depth + 1)});
    }
    const auto place = [](const Entry& entry) { return std::pair(entry.key_span.line, entry.key_span.column); };
    std::stable_sort(out.entries.begin(), out.entries.end(), [&](const Entry& a, const Entry& b) { return place(a) < place(b); });
    return out;
  }

 private:
  Value value(const toml::node& node, int depth) {
    Value out{{}, places_.span(node.source())};
    if (depth > kDeepestNesting) {
      report(out.span, fmt::format("nested more than {} deep", kDeepestNesting));
      return out;
    }
    switch (node.type()) {
      case toml::node_type::table:
        out.data = table(*node.as_table(), depth);
        break;
      case toml::node_type::array:
        out.data = array(*node.as_array(), depth);
        break;
      case toml::node_type::string:
        out.data = node.as_string()->get();
        break;
      case toml::node_type::integer:
        out.data = node.as_integer()->get();
        break;
      case toml::node_type::floating_point:
        out.data = node.as_floating_point()->get();
        break;
      case toml::node_type::boolean:
        out.data = node.as_boolean()->get();
        break;
      default:
        report(out.span, "dates and times of day are not used here");
    }
    return out;
  }

  Array array(const toml::array& from, int depth) {
    Array out;
    out.reserve(from.size());
    for (const toml::node& node : from) out.push_back(value(node, depth + 1));
    return out;
  }

  void report(SourceSpan span, std::string message) {
    if (diagnostics_.found().size() < Diagnostics::kMostDiagnostics) diagnostics_.report(span, std::move(message));
  }

  TextPlaces& places_;
  Diagnostics& diagnostics_;
  bool damaged_;
};

std::string_view without_indent(std::string_view line) {
  const auto first = line.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view{} : line.substr(first);
}

/// Whether a line that should continue a list or string rather looks like a new `key =` or `[header]`.
bool begins_statement(std::string_view line) {
  const std::string_view body = without_indent(line);
  const auto name_end = body.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.");
  if (name_end == std::string_view::npos) return false;
  if (name_end > 0) return without_indent(body.substr(name_end)).starts_with('=');
  return body.size() > 1 && body[0] == '[' && (std::isalpha(static_cast<unsigned char>(body[1])) != 0 || body[1] == '_');
}

/// First and last line to leave out after a syntax error on `line`.
std::pair<int, int> unreadable_lines(const TextPlaces& places, int start, int line, bool at_end) {
  if (at_end) return {start, places.lines()};
  return start < line && begins_statement(places.line(line)) ? std::pair(start, line - 1) : std::pair(line, line);
}

/// The text without the lines first..last; false when they were blank already.
bool blank(std::string& text, int first, int last, int round) {
  bool changed = false;
  std::string out;
  const TextPlaces places(text);
  for (int number = 1; number <= places.lines(); ++number) {
    const std::string_view line = places.line(number);
    const bool leave_out = number >= first && number <= last;
    changed = changed || (leave_out && !without_indent(line).empty());
    if (!leave_out)
      out += line;
    else if (without_indent(line).starts_with('[') && first == last)
      out += fmt::format("[\"\\u0001{}\"]", round);
    if (number < places.lines()) out += '\n';
  }
  text = std::move(out);
  return changed;
}

std::string plain_message(std::string_view description, bool at_line_end) {
  constexpr std::string_view kOpening = "Error while parsing ";
  std::string message(description);
  if (message.find("unescaped control characters") != std::string::npos && at_line_end) return "the string does not end on its line";
  if (message.starts_with(kOpening)) message = "cannot read " + message.substr(kOpening.size());
  return message;
}

/// Parses, reporting and blanking until what is left is readable.
class Recovery {
 public:
  Recovery(const SourceText& source, Diagnostics& diagnostics) : original_(source.text), text_(source.text), diagnostics_(diagnostics) {}

  Table parse() {
    for (int round = 0; round <= kMostSyntaxErrors; ++round) {
      const TextScan scan = scan_text(text_);
      if (scan.fault) return give_up(scan.fault->span, scan.fault->message);
      const toml::parse_result result = toml::parse(std::string_view(text_));
      if (result) return Converter(original_, diagnostics_, round > 0).table(result.table(), 0);
      if (!leave_out(scan, result.error(), round)) break;
    }
    return unreadable();
  }

 private:
  static Table unreadable() { return {{}, {}, true}; }

  Table give_up(SourceSpan span, const std::string& message) {
    diagnostics_.report(span, message);
    return unreadable();
  }

  bool leave_out(const TextScan& scan, const toml::parse_error& error, int round) {
    const SourceSpan span = original_.span(error.source());
    const bool at_line_end = span.column > static_cast<int>(original_.line(span.line).size());
    const bool at_end = error.description().find("end-of-file") != std::string_view::npos;
    if (round < kMostSyntaxErrors) diagnostics_.report(span, plain_message(error.description(), at_line_end));
    if (text_.size() > kLargestReparsedText) return false;
    const std::size_t index = std::min(static_cast<std::size_t>(span.line), scan.statement_start.size()) - 1;
    const auto [first, last] = unreadable_lines(TextPlaces(text_), scan.statement_start[index], span.line, at_end);
    return blank(text_, first, last, round);
  }

  TextPlaces original_;
  std::string text_;
  Diagnostics& diagnostics_;
};

}  // namespace

Table parse_toml(const SourceText& source, Diagnostics& diagnostics) {
  if (source.text.size() > kLargestText) {
    diagnostics.report({}, fmt::format("is larger than {} bytes", kLargestText));
  } else if (!is_text(source.text)) {
    diagnostics.report({}, "not a text file");
  } else {
    return Recovery(source, diagnostics).parse();
  }
  return {{}, {}, true};
}

}  // namespace foretrain
