// The shape of a report: the type of every value, from which the schema and the types of other languages are
// written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// The types of JSON values.
enum class OutputKind : std::uint8_t {
  text,
  integer,
  number,
  boolean,
  /// Elements have the shape parts[0].
  list,
  /// An object with keys that are not known in advance; values have the shape parts[0].
  map,
  /// An object with `fields`.
  object,
  /// A value of one of the `parts`.
  any_of
};

struct ShapeField;

/// The type of a value.
struct OutputShape {
  OutputKind kind = OutputKind::text;
  /// True when null may stand for an unknown value.
  bool is_nullable = false;
  /// Allowed values of a text; empty: any.
  std::vector<std::string> choices{};
  /// Name and meaning of an object; the name, such as "PredictionPoint", is the type in other languages.
  std::string name{}, meaning{};
  std::vector<OutputShape> parts{};
  std::vector<ShapeField> fields;
  /// Name of the report when the object is one of its own, such as "comparison".
  std::string report{};
};

/// A key of an object with the type of its value.
struct ShapeField {
  std::string name, meaning;
  OutputShape shape{};
  /// False when the key may be left out.
  bool is_always_there = true;
};

/// Returns a shape without fields.
OutputShape plain_shape(OutputKind kind, std::vector<OutputShape> parts = {});

/// Returns the unit by the end of the name, such as "seconds" for "step_s"; empty for counts, shares and
/// texts.
std::string_view unit_of(std::string_view field);
/// Returns the meaning with its unit, such as "lower end; in seconds".
std::string described_field(const ShapeField& field);
/// Returns the objects inside the shape and the shape itself, each name once. An object comes after those
/// that it needs.
std::vector<OutputShape> objects_in(const OutputShape& shape);

/// A report of `--format json` whose fields are declared.
struct DeclaredReport {
  /// Name such as "prediction", for the schema foretrain.prediction/1.
  std::string_view name;
  /// Command that prints it, such as "predict".
  std::string_view printed_by;
  /// Title of the schema.
  std::string_view title;
  OutputShape (*shape)();
};
/// Returns the declared reports. The schemas of all others are written by hand.
const std::vector<DeclaredReport>& declared_reports();

/// Returns the JSON Schema of a report (draft 2020-12), with a line end.
std::string schema_text(const DeclaredReport& report);
/// Returns the TypeScript types of all declared reports, for the pages.
std::string typescript_text();
/// Returns the Python types, for the Python package.
std::string python_text();

}  // namespace foretrain
