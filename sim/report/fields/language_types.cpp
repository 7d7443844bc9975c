// Writes the types of the reports for TypeScript and Python. An object that several reports share is written
// once.
#include <algorithm>

#include <fmt/format.h>

#include "sim/report/fields/output_shape.hpp"

namespace foretrain {

namespace {

/// Returns all objects of the wanted reports. An object comes after those that it refers to, as Python
/// demands.
std::vector<OutputShape> objects_of_reports(bool (*is_wanted)(std::string_view report)) {
  std::vector<OutputShape> out;
  for (const DeclaredReport& report : declared_reports())
    if (is_wanted(report.name))
      for (OutputShape& object : objects_in(report.shape()))
        if (std::ranges::find(out, object.name, &OutputShape::name) == out.end())
          out.push_back(std::move(object));
  return out;
}

/// Returns the choices of a text in quotes.
std::string quoted_choices(const OutputShape& shape, std::string_view separator) {
  std::string out;
  for (const std::string& choice : shape.choices)
    out += fmt::format("{}\"{}\"", out.empty() ? "" : separator, choice);
  return out;
}

std::string typescript_type(const OutputShape& shape);

/// Returns the type without "| null".
std::string typescript_type_without_null(const OutputShape& shape) {
  if (!shape.choices.empty()) return quoted_choices(shape, " | ");
  switch (shape.kind) {
    case OutputKind::text:
      return "string";
    case OutputKind::integer:
    case OutputKind::number:
      return "number";
    case OutputKind::boolean:
      return "boolean";
    case OutputKind::list:
      return fmt::format("Array<{}>", typescript_type(shape.parts.front()));
    case OutputKind::map:
      return fmt::format("Record<string, {}>", typescript_type(shape.parts.front()));
    case OutputKind::object:
      return shape.name;
    case OutputKind::any_of:
      return "string | number | boolean";
  }
  return "unknown";
}

/// Returns the TypeScript type.
std::string typescript_type(const OutputShape& shape) {
  return typescript_type_without_null(shape) + (shape.is_nullable ? " | null" : "");
}

/// Returns true for a key that needs no quotes in TypeScript.
bool is_identifier(std::string_view key) {
  return std::ranges::all_of(
             key, [](char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }) &&
         !(key[0] >= '0' && key[0] <= '9');
}

// Objects that the Python package opens as dataclasses. All others stay dicts with typed keys (TypedDict).
constexpr std::string_view kPythonClasses[] = {
    "Prediction",     "PredictionPoint", "Comparison",      "ComparisonPoint",
    "StrategyResult", "Collective",      "CollectivePoint", "Plan",
    "Layout",         "Plans",           "PlannedCount"};
// Objects from which the package derives classes of its own; they get the suffix Fields.
constexpr std::string_view kPythonBases[] = {"Prediction", "Comparison", "Collective", "Plan", "Plans"};

/// Returns the name of the object's Python class.
std::string python_name(const OutputShape& object) {
  const bool is_base = std::ranges::find(kPythonBases, object.name) != std::end(kPythonBases);
  return object.name + (is_base ? "Fields" : "");
}

std::string python_type(const OutputShape& shape);

/// Returns the type without Optional.
std::string python_type_without_null(const OutputShape& shape) {
  switch (shape.kind) {
    case OutputKind::text:
      return "str";
    case OutputKind::integer:
      return "int";
    case OutputKind::number:
      return "float";
    case OutputKind::boolean:
      return "bool";
    case OutputKind::list:
      return fmt::format("List[{}]", python_type(shape.parts.front()));
    case OutputKind::map:
      return fmt::format("Dict[str, {}]", python_type(shape.parts.front()));
    case OutputKind::object:
      return python_name(shape);
    case OutputKind::any_of:
      return "Union[str, float, int, bool]";
  }
  return "Any";
}

/// Returns the Python type.
std::string python_type(const OutputShape& shape) {
  const std::string inner = python_type_without_null(shape);
  return shape.is_nullable ? fmt::format("Optional[{}]", inner) : inner;
}

/// Returns a comment for a field, wrapped at 108 characters.
std::string python_comment(const std::string& text) {
  std::string out, line = "    #:";
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find(' ', from), text.size());
    if (line.size() + 1 + end - from > 108) out += line + "\n", line = "    #:";
    line += " " + text.substr(from, end - from);
    from = end + 1;
  }
  return out + line + "\n";
}

/// Returns the declaration of a field with its comment; `behind` is its default value.
std::string python_field(const ShapeField& field, std::string_view type, std::string_view behind) {
  return python_comment(described_field(field)) + fmt::format("    {}: {}{}\n", field.name, type, behind);
}

/// Returns the dataclass of an object. Fields without a default come first, as dataclasses demand.
std::string python_class(const OutputShape& object) {
  std::string required, optional;
  for (const ShapeField& field : object.fields) {
    const std::string type = python_type(field.shape);
    if (field.name == "schema") continue;
    if (field.is_always_there)
      required += python_field(field, type, "");
    else
      optional +=
          python_field(field, type.starts_with("Opt") ? type : fmt::format("Optional[{}]", type), " = None");
  }
  return fmt::format("\n\n@dataclass\nclass {}:\n    \"\"\"{}\"\"\"\n\n{}{}", python_name(object),
                     object.meaning, required, optional);
}

/// Returns the TypedDict of an object. Keys that may be absent are in a class of their own with total=False.
std::string python_dict(const OutputShape& object) {
  std::string required, optional;
  for (const ShapeField& field : object.fields)
    (field.is_always_there ? required : optional) += python_field(field, python_type(field.shape), "");
  const std::string about = fmt::format("    \"\"\"{}\"\"\"\n", object.meaning);
  if (optional.empty()) return fmt::format("\n\nclass {}(TypedDict):\n{}\n{}", object.name, about, required);
  if (required.empty())
    return fmt::format("\n\nclass {}(TypedDict, total=False):\n{}\n{}", object.name, about, optional);
  return fmt::format("\n\nclass _{0}(TypedDict):\n{1}\n{2}\n\nclass {0}(_{0}, total=False):\n{1}\n{3}",
                     object.name, about, required, optional);
}

}  // namespace

// A key that may be absent is optional ("?"); one that may be null has the type "| null".
std::string typescript_text() {
  std::string out =
      "// Types of the JSON reports, printed by `foretrain reference typescript` from the declared fields.\n";
  for (const OutputShape& object : objects_of_reports([](std::string_view) { return true; })) {
    out += fmt::format("\n/** {} */\nexport interface {} {{\n", object.meaning, object.name);
    for (const ShapeField& field : object.fields)
      out += fmt::format("  /** {} */\n  {}{}: {};\n", described_field(field),
                         is_identifier(field.name) ? field.name : fmt::format("'{}'", field.name),
                         field.is_always_there ? "" : "?", typescript_type(field.shape));
    out += "}\n";
  }
  return out;
}

// The module needs only the standard library of Python.
std::string python_text() {
  std::string out =
      "\"\"\"Types of the JSON reports, printed by `foretrain reference python` from the declared "
      "fields.\"\"\"\n"
      "from __future__ import annotations\n\nfrom dataclasses import dataclass\nfrom typing import Dict, "
      "List, Optional, TypedDict, Union\n";
  // Only these reports are opened as objects by the Python package.
  const auto is_opened = [](std::string_view name) {
    return name == "prediction" || name == "comparison" || name == "collective" || name == "plan" ||
           name == "plans";
  };
  for (const OutputShape& object : objects_of_reports(is_opened)) {
    const bool is_class = std::ranges::find(kPythonClasses, object.name) != std::end(kPythonClasses);
    out += is_class ? python_class(object) : python_dict(object);
  }
  return out;
}

}  // namespace foretrain
