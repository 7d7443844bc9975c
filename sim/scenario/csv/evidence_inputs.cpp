// Inputs as comment lines: "# training own,monday,resnet50,…". Fields are as in CSV, with control characters
// written out, so that an input is one line whatever text it contains.
#include "sim/scenario/csv/evidence_inputs.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "sim/scenario/csv/csv_line.hpp"

namespace foretrain {

namespace {

using Kind = EvidenceInput::Kind;

/// A kind of input: its name, the number of its fields, and its columns.
struct KindOfInput {
  std::string_view name;
  std::size_t fields;
  // The header of a file of measurements; empty: there is none.
  std::string_view header;
};
constexpr std::array<KindOfInput, 3> kKinds{
    {{"training", 13,
      "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source"},
     {"collective", 10, "series,cluster,op,gpus,nodes,bytes,time_us,settings,source"},
     {"job", 7, ""}}};
constexpr std::array<std::string_view, 4> kMetrics{"samples_per_s", "step_s", "epoch_s", "rate"};

const KindOfInput& kind_of(Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

/// Returns a text with control characters and backslashes written out as \xNN.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || c == '\\')
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out;
}

/// Reverses escaped().
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const bool is_written_out = text[i] == '\\' && i + 3 < text.size() && text[i + 1] == 'x';
    if (is_written_out &&
        std::from_chars(text.data() + i + 2, text.data() + i + 4, byte, 16).ptr == text.data() + i + 4) {
      out += static_cast<char>(byte);
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

/// Returns a field in quotes, with quotes inside doubled.
std::string csv_quoted(std::string_view field) {
  std::string out = "\"";
  for (const char c : field) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

/// Returns settings as one column: "key=value;key=value".
std::string joined_settings(const Settings& settings) {
  std::string out;
  for (const auto& [key, value] : settings) out += fmt::format("{}{}={}", out.empty() ? "" : ";", key, value);
  return out;
}

/// Returns whether no value has a separator of the column.
bool has_column_for(const Settings& settings) {
  return std::ranges::none_of(settings, [](const auto& setting) {
    return setting.second.find(';') != std::string::npos || setting.second.find('\n') != std::string::npos;
  });
}

std::string text_of(double value) { return fmt::format("{}", value); }

/// Returns the input in a comment line, or nullopt.
std::optional<EvidenceInput> input_in(std::string_view line) {
  for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
    const std::string mark = fmt::format("# {} ", kKinds[kind].name);
    if (!line.starts_with(mark)) continue;
    const auto fields = CsvLines(line.substr(mark.size())).next();
    if (!fields || fields->size() != kKinds[kind].fields) return std::nullopt;
    EvidenceInput out{static_cast<Kind>(kind), {}};
    for (const CsvField& field : *fields) {
      if (!field.fault.empty()) return std::nullopt;
      // The kind must be followed by exactly its fields.
      out.fields.push_back(unescaped(field.text));
    }
    return out;
  }
  return std::nullopt;
}

/// Throws the error for a damaged input.
[[noreturn]] void refuse_job(const EvidenceInput& input) {
  throw InputError(fmt::format("{} of an evidence store is damaged", input.run()));
}

}  // namespace

/// Fields 6 to 10 of a training are batch, GPUs, nodes, metric and value; fields 3 to 7 of a collective are
/// operation, GPUs, nodes, bytes and time.
std::string EvidenceInput::identity() const {
  std::vector<std::string> parts{std::string(kind_of(kind).name), source(), run()};
  if (kind == Kind::training) parts.insert(parts.end(), fields.begin() + 6, fields.begin() + 11);
  if (kind == Kind::collective) parts.insert(parts.end(), fields.begin() + 3, fields.begin() + 8);
  std::string out;
  for (const std::string& part : parts) out += csv_quoted(part);
  return out;
}

std::optional<EvidenceInput> input_of(const Measurement& row, const std::string& source) {
  if (!has_column_for(row.settings)) return std::nullopt;
  return EvidenceInput{
      Kind::training,
      {source, row.series, row.model, row.cluster, row.strategy, row.precision,
       std::to_string(row.batch_per_gpu), std::to_string(row.gpus), std::to_string(row.nodes),
       std::string(kMetrics[static_cast<std::size_t>(row.metric)]), text_of(row.value),
       joined_settings(row.settings), row.source}};
}

std::optional<EvidenceInput> input_of(const CollectiveMeasurement& row, const std::string& source) {
  if (!has_column_for(row.settings)) return std::nullopt;
  return EvidenceInput{
      Kind::collective,
      {source, row.series, row.cluster, row.op, std::to_string(row.gpus), std::to_string(row.nodes),
       std::to_string(row.bytes), text_of(row.time_us), joined_settings(row.settings), row.source}};
}

EvidenceInput input_of(const JobInput& job) {
  return {Kind::job,
          {job.source, job.run, std::to_string(job.gpus), std::to_string(job.spread_nodes),
           text_of(job.elapsed_s), job.scenario.name, job.scenario.text}};
}

std::string input_line(const EvidenceInput& input) {
  std::string out = fmt::format("# {} ", kind_of(input.kind).name);
  for (std::size_t i = 0; i < input.fields.size(); ++i)
    out += (i == 0 ? "" : ",") + csv_quoted(escaped(input.fields[i]));
  return out + "\n";
}

std::vector<EvidenceInput> read_inputs(std::string_view store) {
  std::vector<EvidenceInput> out;
  for (std::size_t at = 0; at < store.size();) {
    const std::size_t end = std::min(store.find('\n', at), store.size());
    if (store[at] == '#')
      if (auto input = input_in(store.substr(at, end - at))) out.push_back(std::move(*input));
    at = end + 1;
  }
  return out;
}

/// The fields are joined to a CSV text again, so that its reader checks them.
MeasurementFile measurements_of(const std::vector<EvidenceInput>& inputs) {
  SourceText text{"an evidence store", ""};
  if (!inputs.empty()) text.text = fmt::format("{}\n", kind_of(inputs.front().kind).header);
  for (const EvidenceInput& input : inputs) {
    for (std::size_t i = 1; i < input.fields.size(); ++i)
      text.text += (i == 1 ? "" : ",") + csv_quoted(input.fields[i]);
    text.text += "\n";
  }
  return read_or_throw(text, read_measurements);
}

JobInput job_of(const EvidenceInput& input) {
  const auto number = [&input]<class Number>(std::size_t field, Number& into) {
    const std::string& text = input.fields[field];
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), into);
    // Trailing text and negative numbers are damage, too.
    if (problem != std::errc{} || end != text.data() + text.size() || !(into >= 0)) refuse_job(input);
  };
  JobInput out{input.source(), input.run()};
  number(2, out.gpus), number(3, out.spread_nodes), number(4, out.elapsed_s);
  out.scenario.name = input.fields[5], out.scenario.text = input.fields[6];
  if (out.gpus < 1 || out.scenario.text.empty()) refuse_job(input);
  return out;
}

}  // namespace foretrain
