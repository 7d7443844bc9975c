// Output fields, each declared once: its name (which ends in its unit), its meaning, and where its value
// comes from. JSON, CSV, the JSON Schema and the types of TypeScript and Python all follow from these
// declarations, so they cannot differ.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/report/fields/output_shape.hpp"
#include "sim/report/json_value.hpp"

namespace foretrain {

/// Decides whether a key is written when its getter, which returns an optional or a pointer, has no value.
enum class WhenUnknown : std::uint8_t {
  /// The key is always there, with null.
  is_null,
  /// The key is left out: it belongs to an option, or to some points only.
  is_absent,
};

/// The values that a text may have.
struct OneOf {
  std::vector<std::string> names;
};

template <class T>
struct OutputField;

/// The declaration of an object of a report. `name` is its type in other languages.
template <class T>
struct OutputObject {
  std::string_view name, meaning;
  std::vector<OutputField<T>> fields;
  /// Name such as "plan" when the object is a report with a schema of its own; else empty.
  std::string_view report = {};
};

/// Returns the declared fields of a T. Each report specializes it for its objects; headers declare the shared
/// ones.
template <class T>
const OutputObject<T>& output_object();

/// Values under keys that are not known in advance, in their order.
template <class T>
struct NamedValues {
  std::vector<std::pair<std::string, T>> values;
};

/// Writes and describes values of a type. The general case is an object with declared fields; specializations
/// below are the plain types.
template <class R>
struct OutputValue {
  /// Returns the shape for the schema.
  static OutputShape shape() {
    const OutputObject<R>& object = output_object<R>();
    OutputShape out = plain_shape(OutputKind::object);
    out.name = object.name, out.meaning = object.meaning, out.report = object.report;
    for (const OutputField<R>& field : object.fields)
      out.fields.push_back(
          {std::string(field.name), std::string(field.meaning), field.shape, field.is_always_there});
    return out;
  }
  /// Returns the value as JSON.
  static Json json(const R& value) {
    Json out = Json::object();
    for (const OutputField<R>& field : output_object<R>().fields) field.put(value, out);
    return out;
  }
};

/// A plain type, which is written as it is. Specializations of OutputValue derive from it.
template <OutputKind Kind, class R>
struct PlainOutputValue {
  /// Returns a shape without fields.
  static OutputShape shape() { return plain_shape(Kind); }
  static Json json(const R& value) { return value; }
};
template <>
struct OutputValue<bool> : PlainOutputValue<OutputKind::boolean, bool> {};
template <std::integral R>
struct OutputValue<R> : PlainOutputValue<OutputKind::integer, R> {};
template <std::floating_point R>
struct OutputValue<R> : PlainOutputValue<OutputKind::number, R> {};
template <>
struct OutputValue<std::string> : PlainOutputValue<OutputKind::text, std::string> {};
template <>
struct OutputValue<std::string_view> : PlainOutputValue<OutputKind::text, std::string_view> {};
/// Bytes are written as an integer.
template <>
struct OutputValue<Bytes> {
  static OutputShape shape() { return plain_shape(OutputKind::integer); }
  static Json json(const Bytes& value) { return value.count; }
};
/// Times are written as seconds.
template <>
struct OutputValue<Time> {
  static OutputShape shape() { return plain_shape(OutputKind::number); }
  static Json json(const Time& value) { return to_seconds(value); }
};
/// Rates are written as bytes per second.
template <>
struct OutputValue<ByteRate> {
  static OutputShape shape() { return plain_shape(OutputKind::number); }
  static Json json(const ByteRate& value) { return value.per_second; }
};
/// An optional is null without a value.
template <class R>
struct OutputValue<std::optional<R>> {
  static OutputShape shape() {
    OutputShape out = OutputValue<R>::shape();
    out.is_nullable = true;
    return out;
  }
  static Json json(const std::optional<R>& value) {
    return value ? OutputValue<R>::json(*value) : Json(nullptr);
  }
};
/// A list of values.
template <class R>
struct OutputValue<std::vector<R>> {
  static OutputShape shape() { return plain_shape(OutputKind::list, {OutputValue<R>::shape()}); }
  static Json json(const std::vector<R>& values) {
    Json out = Json::array();
    for (const auto& value : values) out.push_back(OutputValue<R>::json(value));
    return out;
  }
};
/// An object whose keys are not declared.
template <class R>
struct OutputValue<NamedValues<R>> {
  static OutputShape shape() { return plain_shape(OutputKind::map, {OutputValue<R>::shape()}); }
  static Json json(const NamedValues<R>& named) {
    Json out = Json::object();
    for (const auto& [name, value] : named.values) out[name] = OutputValue<R>::json(value);
    return out;
  }
};
/// A setting: a boolean, a number, a text or null.
template <>
struct OutputValue<Value> {
  static OutputShape shape() {
    OutputShape out =
        plain_shape(OutputKind::any_of, {plain_shape(OutputKind::text), plain_shape(OutputKind::number),
                                         plain_shape(OutputKind::integer), plain_shape(OutputKind::boolean)});
    out.is_nullable = true;
    return out;
  }
  static Json json(const Value& value) { return json_of_cell(value); }
};

/// A field. Its type is that of what the getter returns; the getter is a member pointer or a function of T.
template <class T>
struct OutputField {
  std::string_view name, meaning;
  OutputShape shape{};
  bool is_always_there = true;
  /// Writes the field of `from` into `object`.
  std::function<void(const T& from, Json& object)> put;

  template <class Getter>
  using Got = std::remove_cvref_t<std::invoke_result_t<Getter, const T&>>;

  /// A field that is always written.
  template <class Getter>
  OutputField(std::string_view key, std::string_view what, Getter get)
      : name(key), meaning(what), shape(OutputValue<Got<Getter>>::shape()) {
    put = [key, get](const T& from, Json& object) {
      object[std::string(key)] = OutputValue<Got<Getter>>::json(std::invoke(get, from));
    };
  }
  /// A text, or a list of texts, whose values are restricted to `choices`.
  template <class Getter>
  OutputField(std::string_view key, std::string_view what, Getter get, OneOf choices)
      : OutputField(key, what, get) {
    OutputShape* inner = &shape;
    while (inner->kind == OutputKind::list) inner = &inner->parts.front();
    inner->choices = std::move(choices.names);
  }
  /// A field whose getter returns an optional. With is_absent the key is left out when there is no value.
  template <class Getter>
  OutputField(std::string_view key, std::string_view what, Getter get, WhenUnknown when)
      : OutputField(key, what, get) {
    if (when == WhenUnknown::is_null) return;
    shape = OutputValue<std::remove_cvref_t<decltype(*std::declval<Got<Getter>>())>>::shape();
    is_always_there = false;
    put = [key, get](const T& from, Json& object) {
      const auto& found = std::invoke(get, from);
      if (found) object[std::string(key)] = OutputValue<std::remove_cvref_t<decltype(*found)>>::json(*found);
    };
  }

 private:
  // Only fields_of_part() makes fields without a getter.
  OutputField() = default;
  template <class Whole, class Part, class PartOf>
  friend std::vector<OutputField<Whole>> fields_of_part(const OutputObject<Part>& part, PartOf part_of);
};

template <class T>
using OutputFields = std::vector<OutputField<T>>;

/// Joins two lists of fields; their order is that of the keys in JSON.
template <class T>
OutputFields<T> operator+(OutputFields<T> fields, const OutputFields<T>& more) {
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

/// Makes the fields of a part fields of the whole. When `part_of` returns a pointer or an optional, they are
/// absent while there is no part.
template <class Whole, class Part, class PartOf>
std::vector<OutputField<Whole>> fields_of_part(const OutputObject<Part>& part, PartOf part_of) {
  using Found = std::remove_cvref_t<std::invoke_result_t<PartOf, const Whole&>>;
  constexpr bool always = std::is_same_v<Found, Part>;
  std::vector<OutputField<Whole>> out;
  for (const OutputField<Part>& field : part.fields) {
    OutputField<Whole> made;
    made.name = field.name, made.meaning = field.meaning, made.shape = field.shape;
    made.is_always_there = always && field.is_always_there;
    made.put = [put = field.put, part_of](const Whole& whole, Json& object) {
      if constexpr (always)
        put(part_of(whole), object);
      else if (const auto found = part_of(whole))
        put(*found, object);
    };
    out.push_back(std::move(made));
  }
  return out;
}

/// Returns some fields of an object in the given order. Unknown names are ignored.
template <class T>
OutputObject<T> chosen_fields(const OutputObject<T>& object, std::initializer_list<std::string_view> names) {
  OutputObject<T> out{object.name, object.meaning, {}};
  for (const std::string_view name : names)
    for (const OutputField<T>& field : object.fields)
      if (field.name == name) out.fields.push_back(field);
  return out;
}

/// Returns an object of declared fields as JSON.
template <class T>
Json declared_json(const T& value) {
  return OutputValue<T>::json(value);
}

/// Returns the shape of a declared object.
template <class T>
OutputShape declared_shape() {
  return OutputValue<T>::shape();
}

/// Returns the first key of every report: {"schema": "foretrain.plan/1"}.
template <class T>
OutputFields<T> schema_of_report(std::string_view name) {
  const std::string text = "foretrain." + std::string(name) + "/1";
  return {{"schema", "names what this report is", [text](const T&) { return text; }, OneOf{{text}}}};
}

}  // namespace foretrain
