// Functions on shapes: the unit of a field, its description, and the order of objects.
#include "sim/report/fields/output_shape.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace foretrain {

namespace {

// A name of a field ends so when it has this unit.
struct UnitEnding {
  std::string_view ending, unit;
};
// Longer endings come first, as the first match counts.
constexpr UnitEnding kUnitEndings[] = {{"bytes_per_s", "bytes per second"},
                                       {"samples_per_s", "samples per second"},
                                       {"tokens_per_s", "tokens per second"},
                                       {"tokens_per_s_per_gpu", "tokens per second"},
                                       {"_s", "seconds"},
                                       {"bytes", "bytes"},
                                       {"gpu_hours", "GPU-hours"},
                                       {"_kwh", "kWh"},
                                       {"_kg", "kg"},
                                       {"_tflops_per_gpu", "TFLOP/s"}};

/// Adds all objects of the shape, each after those that it contains.
void add_objects(const OutputShape& shape, std::vector<OutputShape>& out) {
  for (const OutputShape& part : shape.parts) add_objects(part, out);
  for (const ShapeField& field : shape.fields) add_objects(field.shape, out);
  if (shape.kind != OutputKind::object) return;
  if (std::ranges::find(out, shape.name, &OutputShape::name) == out.end()) out.push_back(shape);
}

}  // namespace

OutputShape plain_shape(OutputKind kind, std::vector<OutputShape> parts) {
  OutputShape out;
  out.kind = kind;
  out.parts = std::move(parts);
  return out;
}

// A field that is merely called "seconds" has that unit.
std::string_view unit_of(std::string_view field) {
  for (const UnitEnding& row : kUnitEndings)
    if (field.ends_with(row.ending)) return row.unit;
  return field == "seconds" ? field : "";
}

std::string described_field(const ShapeField& field) {
  const std::string_view unit = unit_of(field.name);
  const bool has_unit = !unit.empty() && field.shape.kind != OutputKind::object;
  return has_unit ? fmt::format("{}; in {}", field.meaning, unit) : field.meaning;
}

// The order lets a language without forward declarations define them one by one.
std::vector<OutputShape> objects_in(const OutputShape& shape) {
  std::vector<OutputShape> out;
  add_objects(shape, out);
  return out;
}

}  // namespace foretrain
