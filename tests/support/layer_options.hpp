// Options of layers set and read by their keys, as model files name them.
#pragma once

#include <concepts>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/layers/layer_types.hpp"

namespace foretrain::test {

/// What stands behind a key of the layer's type, as one of LayerNumbers, LayerFlag, LayerTime, LayerWord.
template <typename Kind>
const Kind& key_of(const Layer& layer, std::string_view name) {
  for (const LayerKey& key : layer.type->keys) {
    if (key.name == name) return std::get<Kind>(key.value);
  }
  throw std::out_of_range(std::string(layer.type->name) + " has no key " + std::string(name));
}

inline void set(Layer& layer, std::string_view key, std::vector<std::int64_t> values) {
  put_numbers(key_of<LayerNumbers>(layer, key), layer, values);
}
inline void set(Layer& layer, std::string_view key, std::initializer_list<std::int64_t> values) {
  set(layer, key, std::vector<std::int64_t>(values));
}
template <std::integral Value>
void set(Layer& layer, std::string_view key, Value value) {
  if constexpr (std::same_as<Value, bool>)
    key_of<LayerFlag>(layer, key).at(layer) = value;
  else
    set(layer, key, std::vector<std::int64_t>{value});
}
inline void set_sides(Layer& layer, std::string_view key, const Sides& sides) {
  *std::get<Sides*>(key_of<LayerNumbers>(layer, key).at(layer)) = sides;
}
inline void set(Layer& layer, std::string_view key, Time value) {
  key_of<LayerTime>(layer, key).at(layer) = value;
}
inline void set(Layer& layer, std::string_view key, Flops value) {
  key_of<LayerFlops>(layer, key).at(layer) = value;
}
inline void set(Layer& layer, std::string_view key, Bytes value) {
  key_of<LayerBytes>(layer, key).at(layer) = value;
}
inline void set_word(Layer& layer, std::string_view key, std::string_view word) {
  const LayerWord& words = key_of<LayerWord>(layer, key);
  for (std::size_t i = 0; i < words.words.size(); ++i) {
    if (words.words[i] == word) return words.put(layer, i);
  }
  throw std::out_of_range("no word " + std::string(word));
}

/// All numbers under a key that takes one for each side.
inline Sides sides_of(Layer layer, std::string_view key) {
  return *std::get<Sides*>(key_of<LayerNumbers>(layer, key).at(layer));
}
inline std::int64_t number_of(Layer layer, std::string_view key) {
  const NumberPlace place = key_of<LayerNumbers>(layer, key).at(layer);
  if (const auto* const* number = std::get_if<std::int64_t*>(&place)) return **number;
  return (*std::get<Sides*>(place))[0];
}
inline bool flag_of(Layer layer, std::string_view key) { return key_of<LayerFlag>(layer, key).at(layer); }
inline Time time_of(Layer layer, std::string_view key) { return key_of<LayerTime>(layer, key).at(layer); }

}  // namespace foretrain::test
