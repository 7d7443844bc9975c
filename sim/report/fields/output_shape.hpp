// What a program may find in a report: the kind of every value, as the schema and the types of other
// languages print it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// The JSON types of output fields.
enum class OutputKind : std::uint8_t {
  text,
  integer,
  number,
  boolean,
  list,    ///< of `parts[0]`
  map,     ///< names that are not known before, each with a value of one of `parts`
  object,  ///< of `fields`
  any_of   ///< one of `parts`
};

struct ShapeField;

/// The kind of a value.
struct OutputShape {
  OutputKind kind = OutputKind::text;
  bool is_nullable = false;            ///< null stands for what is unknown or cannot be
  std::vector<std::string> choices{};  ///< of a text that is one of some names
  std::string name{}, meaning{};       ///< of an object: "PredictionPoint", the type in other languages
  std::vector<OutputShape> parts{};
  std::vector<ShapeField> fields;
  std::string report{};  ///< "comparison": an object that is a report of its own
};

/// A key of an object.
struct ShapeField {
  std::string name, meaning;
  OutputShape shape{};
  bool is_always_there = true;
};

/// A kind without fields.
OutputShape plain_shape(OutputKind kind, std::vector<OutputShape> parts = {});

/// "seconds" of "step_s", by the end of the name; empty for counts, shares and texts.
std::string_view unit_of(std::string_view field);
/// The meaning with its unit: "lower end, seconds".
std::string described_field(const ShapeField& field);
/// Objects inside the shape and the shape itself, each name once, those that others need first.
std::vector<OutputShape> objects_in(const OutputShape& shape);

/// A report that `--format json` prints: its name, the command, and what is in it.
struct DeclaredReport {
  std::string_view name;        ///< "prediction": schema foretrain.prediction/1
  std::string_view printed_by;  ///< "predict"
  std::string_view title;       ///< of the schema
  OutputShape (*shape)();
};
/// Reports whose fields are declared; the schemas of all others are written by hand.
const std::vector<DeclaredReport>& declared_reports();

/// The JSON Schema of a report (draft 2020-12), with a line end.
std::string schema_text(const DeclaredReport& report);
/// The types of all declared reports for the pages.
std::string typescript_text();
/// The same for the Python package.
std::string python_text();

}  // namespace foretrain
