// Reads the rows of printed summaries. Four writers are known: Keras' model.summary(), plain or in drawn
// boxes, torchsummary and torchinfo.
//
// A row has a type, a shape in brackets and a number of parameters, such as
//
//   conv2d (Conv2D)             (None, 26, 26, 32)        320
//   Conv2d-1                    [-1, 64, 112, 112]        9,408
//   ├─Conv2d: 1-1               [1, 64, 112, 112]         9,408
//
// Keras may add a column of the layers that a row takes; parts of it that wrap into the next line go to the
// row above. Taken are rows, total parameters and the input's size. Memory estimates and lines of rulers are
// skipped. Only too many rows and too large a text are reported.
#include "sim/import/models/summary_rows.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"

namespace foretrain {

namespace {

/// Bytes of a line that are looked at.
constexpr std::size_t kLongestSummaryLine = 2'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns a line without the boxes, which are drawn in UTF-8 or with '|': their bytes become blanks.
std::string plain_line(std::string_view line) {
  std::string out(line.substr(0, kLongestSummaryLine));
  for (char& c : out)
    if (static_cast<unsigned char>(c) >= 0x80 || c == '|') c = ' ';
  return out;
}

/// Returns "1,792" or "1792" as a number, -1 where there is none or it has more than 15 digits. Moves `at`
/// behind it.
std::int64_t number_at(std::string_view text, std::size_t& at) {
  std::int64_t out = 0;
  std::size_t digits = 0;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == ',' && digits > 0 && at + 1 < text.size() &&
                                                     is_digit(text[at + 1])));
       ++at) {
    if (text[at] == ',') continue;
    if (++digits > 15) return -1;
    out = out * 10 + (text[at] - '0');
  }
  return digits == 0 ? -1 : out;
}

/// Reads "None, 26, 26, 32" or "-1, 64, 112, 112" as the sizes behind the batch; open ones become -1. Returns
/// false where the text is no shape or has more than five sizes.
bool read_sizes(std::string_view text, std::vector<std::int64_t>& sizes) {
  std::size_t at = 0;
  bool is_first = true;
  while (at < text.size()) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view part = trimmed(text.substr(at, comma - at));
    at = comma + 1;
    if (part.empty() && comma == text.size()) break;
    std::size_t digits = 0;
    const std::int64_t size = part == "None" || part == "-1" ? -1 : number_at(part, digits);
    if (part != "None" && part != "-1" && (size < 0 || digits != part.size())) return false;
    if (!is_first) sizes.push_back(size);
    is_first = false;
  }
  return !is_first && sizes.size() <= 4;
}

/// The place of a shape in a line, brackets included.
struct FoundShape {
  std::size_t begin = std::string_view::npos, end = 0;
  std::vector<std::int64_t> sizes;
};

/// Returns the first bracket that holds a shape. torchinfo and Keras with several results put brackets into
/// brackets.
FoundShape find_shape(std::string_view line) {
  for (std::size_t open = line.find_first_of("(["); open != std::string_view::npos;
       open = line.find_first_of("([", open + 1)) {
    const std::size_t inner = line[open] == '[' && line.substr(open + 1).starts_with("(") ? open + 1 : open;
    const std::size_t close = line.find_first_of(")]", inner);
    if (close == std::string_view::npos) return {};
    FoundShape found{open, close + 1, {}};
    if (read_sizes(line.substr(inner + 1, close - inner - 1), found.sizes)) {
      while (found.end < line.size() && (line[found.end] == ']' || line[found.end] == ')')) ++found.end;
      return found;
    }
  }
  return {};
}

/// Reads a name in one of three forms: "conv2d_1 (Conv2D)" of Keras, "Conv2d-1" of torchsummary, "Conv2d:
/// 2-3" of torchinfo, where 2 is the depth.
void read_name(std::string_view text, SummaryRow& row) {
  const std::size_t open = text.find('(');
  if (open != std::string_view::npos && open > 0) {
    row.name = trimmed(text.substr(0, open));
    const std::size_t close = std::min(text.find(')', open), text.size());
    row.type = trimmed(text.substr(open + 1, close - open - 1));
    return;
  }
  const std::size_t colon = text.find(": "), dash = text.rfind('-');
  const std::size_t end = colon != std::string_view::npos ? colon : dash;
  row.type = trimmed(text.substr(0, std::min(end, text.size())));
  if (const std::size_t paren = row.type.find(' '); paren != std::string::npos) row.type.resize(paren);
  std::size_t at = colon == std::string_view::npos ? text.size() : colon + 2;
  if (at < text.size())
    row.depth = static_cast<int>(std::max<std::int64_t>(0, std::min<std::int64_t>(number_at(text, at), 99)));
}

/// Reads the names in Keras' column "Connected to": "conv2d[0][0]" or "['a[0][0]', 'b[0][0]']".
void read_inputs(std::string_view text, std::vector<std::string>& inputs) {
  for (std::size_t at = text.find("[0]["); at != std::string_view::npos; at = text.find("[0][", at + 4)) {
    std::size_t first = at;
    while (first > 0 && std::string_view(" '\"[,(").find(text[first - 1]) == std::string_view::npos) --first;
    if (first < at && inputs.size() < 64) inputs.emplace_back(text.substr(first, at - first));
  }
}

/// Returns the number behind a colon, "0.57" of "Input size (MB): 0.57"; 0 where there is none.
double megabytes_in(std::string_view line) {
  std::size_t at = line.find(':');
  if (at == std::string_view::npos) return 0;
  double out = 0, digit = 0;
  for (++at; at < line.size(); ++at) {
    if (is_digit(line[at]) && digit == 0) out = out * 10 + (line[at] - '0');
    if (is_digit(line[at]) && digit > 0) out += (line[at] - '0') * digit, digit /= 10;
    if (line[at] == '.') digit = 0.1;
  }
  return out;
}

/// Reads all lines of one text. A line without a shape can only continue the row above it.
class SummaryReading {
 public:
  SummaryReading(const SourceText& source, Diagnostics& diagnostics)
      : source_(source), diagnostics_(diagnostics) {}

  /// Returns the rows; lines are numbered for messages.
  NetworkSummary read() {
    int number = 0;
    for (std::size_t at = 0; at < source_.text.size() && diagnostics_.empty();) {
      const std::size_t end = std::min(source_.text.find('\n', at), source_.text.size());
      read_line(plain_line(std::string_view(source_.text).substr(at, end - at)), ++number);
      at = end + 1;
    }
    drop_containers();
    return std::move(summary_);
  }

 private:
  /// Reads a line. It is a row when it has a type, a shape, and a number or a mark in place of one.
  void read_line(const std::string& line, int number) {
    const bool is_total = line.find("otal params") != std::string::npos;
    if (is_total || line.find("nput size (MB)") != std::string::npos) return read_total(line, is_total);
    const FoundShape shape = find_shape(line);
    if (shape.begin == std::string_view::npos) {
      if (!summary_.rows.empty()) read_inputs(line, summary_.rows.back().inputs);
      return;
    }
    SummaryRow row;
    row.span = {number, 1, 1};
    row.sizes = shape.sizes;
    read_name(trimmed(std::string_view(line).substr(0, shape.begin)), row);
    // Behind the shape stands the number of parameters, or a mark for none.
    const std::string_view rest = std::string_view(line).substr(shape.end);
    std::size_t at = rest.find_first_not_of(' ');
    row.parameters = at == std::string_view::npos ? -1 : number_at(rest, at);
    // torchinfo: the parameters were counted in an earlier row.
    const bool is_recursive = rest.find("recursive") != std::string_view::npos;
    const bool is_row = row.parameters >= 0 || is_recursive || rest.find("--") != std::string_view::npos;
    // A line that is no row may continue the inputs of the row above.
    if ((row.type.empty() || !is_row) && !summary_.rows.empty())
      read_inputs(line, summary_.rows.back().inputs);
    if (row.type.empty() || !is_row) return;
    row.parameters = std::max<std::int64_t>(0, row.parameters);
    // Only Keras prints names besides types, and only Keras puts channels last.
    summary_.is_keras = summary_.is_keras || !row.name.empty();
    read_inputs(rest, row.inputs);
    if (summary_.rows.size() == kMostSummaryRows)
      return diagnostics_.report(row.span,
                                 fmt::format("the summary has more than {} rows", kMostSummaryRows));
    summary_.rows.push_back(std::move(row));
  }

  /// Reads the lines below the table: total parameters and the size of the input.
  void read_total(std::string_view line, bool is_total) {
    if (is_total) {
      std::size_t at = line.find_first_of("0123456789");
      if (at != std::string_view::npos) summary_.parameters = std::max<std::int64_t>(0, number_at(line, at));
    } else {
      summary_.input_bytes = megabytes_in(line) * 1e6;
    }
  }

  /// Drops torchinfo's rows that contain others, by their depth. Containers of torchsummary have no
  /// parameters, and the reader of layers passes over them.
  void drop_containers() {
    std::vector<SummaryRow> layers;
    for (std::size_t i = 0; i < summary_.rows.size(); ++i) {
      const SummaryRow& row = summary_.rows[i];
      const bool has_parts = i + 1 < summary_.rows.size() && summary_.rows[i + 1].depth > row.depth;
      if (!has_parts) layers.push_back(row);
    }
    summary_.rows = std::move(layers);
  }

  const SourceText& source_;
  Diagnostics& diagnostics_;
  NetworkSummary summary_;
};

}  // namespace

/// The size is checked before any line is read.
NetworkSummary read_summary_rows(const SourceText& source, Diagnostics& diagnostics) {
  if (source.text.size() > kLargestSummary) {
    diagnostics.report({}, fmt::format("a summary has at most {} MiB", kLargestSummary >> 20));
    return {};
  }
  return SummaryReading(source, diagnostics).read();
}

/// The heading stands at the begin, so the first 4 KiB decide.
bool is_network_summary(std::string_view text) {
  const std::string_view head = text.substr(0, 4'096);
  return (head.find("Layer (type") != std::string_view::npos) &&
         head.find("Param #") != std::string_view::npos;
}

}  // namespace foretrain
