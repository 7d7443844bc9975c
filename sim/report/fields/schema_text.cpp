// Writes the JSON Schema of a report. An object that occurs in several places is defined once, under $defs.
//
// The schemas under docs/reference/schema are printed by this file for declared reports.
#include <algorithm>
#include <map>

#include "sim/report/fields/output_shape.hpp"
#include "sim/report/json_value.hpp"

namespace foretrain {

namespace {

void count_objects(const OutputShape& shape, std::map<std::string, int>& count);

/// Counts an object and those inside it. Another report is referred to, not defined, so it is not counted.
void count_object(const OutputShape& shape, std::map<std::string, int>& count) {
  if (!shape.report.empty()) return;
  if (shape.kind == OutputKind::object && ++count[shape.name] > 1) return;
  count_objects(shape, count);
}

/// Counts the objects inside a shape. The second time an object is met, its content was counted already.
void count_objects(const OutputShape& shape, std::map<std::string, int>& count) {
  for (const OutputShape& part : shape.parts) count_object(part, count);
  for (const ShapeField& field : shape.fields) count_object(field.shape, count);
}

/// Returns the type in JSON Schema.
std::string_view schema_kind(OutputKind kind) {
  switch (kind) {
    case OutputKind::text:
      return "string";
    case OutputKind::integer:
      return "integer";
    case OutputKind::number:
      return "number";
    case OutputKind::boolean:
      return "boolean";
    case OutputKind::list:
      return "array";
    default:
      return "object";
  }
}

// Characters of a line beyond which JSON is broken into several.
constexpr std::size_t kWidestLine = 140;

/// Returns JSON with whatever fits into a line on one line.
std::string compact_text(const Json& json, std::size_t indent) {
  const std::string line = json.dump();
  if (json.is_primitive() || indent + line.size() <= kWidestLine) return line;
  const std::string inner(indent + 1, ' ');
  std::string out;
  for (const auto& [key, value] : json.items())
    out += (out.empty() ? "\n" : ",\n") + inner + (json.is_object() ? Json(key).dump() + ": " : "") +
           compact_text(value, indent + 1);
  out += "\n" + std::string(indent, ' ');
  return json.is_object() ? "{" + out + "}" : "[" + out + "]";
}

// Writes the schema of one report.
class SchemaPrinter {
 public:
  explicit SchemaPrinter(const OutputShape& report) { count_objects(report, count_); }

  /// Returns the schema of an object. Keys that are always there are required.
  Json object_of(const OutputShape& shape) const {
    Json required = Json::array(), properties = Json::object();
    for (const ShapeField& field : shape.fields) {
      if (field.is_always_there) required.push_back(field.name);
      Json described{{"description", described_field(field)}};
      described.update(schema_of(field.shape));
      properties[field.name] = std::move(described);
    }
    return {{"type", "object"}, {"required", std::move(required)}, {"properties", std::move(properties)}};
  }

  /// Returns the definitions of objects that occur more than once.
  Json definitions(const OutputShape& report) const {
    Json out = Json::object();
    for (const OutputShape& object : objects_in(report)) {
      if (!is_shared(object)) continue;
      Json defined{{"description", object.meaning}};
      defined.update(object_of(object));
      out[object.name] = std::move(defined);
    }
    return out;
  }

 private:
  /// Returns true when the object has a definition.
  bool is_shared(const OutputShape& shape) const {
    const auto found = count_.find(shape.name);
    return found != count_.end() && found->second > 1;
  }

  /// Returns the schema of a value. A nullable plain type becomes a list of two types; others become anyOf.
  Json schema_of(const OutputShape& shape) const {
    Json out = schema_without_null(shape);
    if (!shape.is_nullable) return out;
    const bool is_plain = out.size() == 1 && out.contains("type") && out["type"].is_string();
    if (is_plain) return {{"type", Json::array({out["type"], "null"})}};
    if (shape.kind == OutputKind::any_of) {
      out["type"].push_back("null");
      return out;
    }
    return {{"anyOf", Json::array({Json{{"type", "null"}}, std::move(out)})}};
  }

  /// Returns the schema of a value that is not null.
  Json schema_without_null(const OutputShape& shape) const {
    if (!shape.report.empty()) return {{"$ref", shape.report + ".json"}};
    if (shape.choices.size() == 1) return {{"const", shape.choices.front()}};
    if (!shape.choices.empty()) return {{"enum", shape.choices}};
    if (shape.kind == OutputKind::object)
      return is_shared(shape) ? Json{{"$ref", "#/$defs/" + shape.name}} : object_of(shape);
    if (shape.kind == OutputKind::any_of) return {{"type", kinds_of(shape.parts)}};
    Json out{{"type", schema_kind(shape.kind)}};
    if (shape.kind == OutputKind::list) out["items"] = schema_of(shape.parts.front());
    if (shape.kind == OutputKind::map) out["additionalProperties"] = schema_of(shape.parts.front());
    return out;
  }

  /// Returns the list of types of an any_of.
  static Json kinds_of(const std::vector<OutputShape>& parts) {
    Json out = Json::array();
    for (const OutputShape& part : parts) out.push_back(schema_kind(part.kind));
    return out;
  }

  // Number of occurrences of each object.
  std::map<std::string, int> count_;
};

}  // namespace

// Other reports inside this one are referred to by their file name.
std::string schema_text(const DeclaredReport& report) {
  const OutputShape shape = report.shape();
  const SchemaPrinter printer(shape);
  Json out{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
           {"$id", std::string(report.name) + ".json"},
           {"title", report.title},
           {"description",
            fmt::format("Printed with `--format json` by {}. {}.", report.printed_by, shape.meaning)}};
  out.update(printer.object_of(shape));
  if (const Json definitions = printer.definitions(shape); !definitions.empty()) out["$defs"] = definitions;
  return compact_text(out, 0) + "\n";
}

}  // namespace foretrain
