// Rows of [recorded]. Sizes repeat, so each text is parsed once.
#include "sim/scenario/schema/recorded_rows.hpp"

#include "sim/scenario/toml/section_values.hpp"

namespace foretrain {

/// A size that was read before is found by its text, without parsing.
std::optional<SizeId> read_recorded_size(TableReader& table, std::string_view key, const Value& value,
                                         RecordedText& to) {
  const auto* text = std::get_if<std::string>(&value.data);
  if (text == nullptr) {
    table.report(value.span, fmt::format("{} must be a size, as in \"f32[B,64]\"", table.full_name(key)));
    return std::nullopt;
  }
  const auto known = to.known_sizes.find(*text);
  if (known != to.known_sizes.end()) return known->second;
  ParsedTensorSize parsed = parse_tensor_size(*text);
  if (!parsed.fault.empty()) {
    table.report(value.span,
                 fmt::format("{}: \"{}\" {}", table.full_name(key), text->substr(0, 60), parsed.fault),
                 parsed.hint);
    return std::nullopt;
  }
  const auto id = static_cast<SizeId>(to.network.sizes.size());
  to.network.sizes.push_back(std::move(parsed.size));
  to.known_sizes.emplace(*text, id);
  // The first use is the place of mistakes that only the whole file shows.
  to.first_uses.emplace_back(id, value.span);
  return id;
}

/// Takes at most kMostTensorsOfOperator sizes.
std::vector<SizeId> read_recorded_sizes(TableReader& table, std::string_view key, RecordedText& to) {
  std::vector<SizeId> ids;
  const Array* values = table.array(key, kMostTensorsOfOperator);
  if (values == nullptr) return ids;
  for (const Value& value : *values) {
    if (const auto id = read_recorded_size(table, key, value, to)) ids.push_back(*id);
  }
  return ids;
}

/// Too long a name is reported, and returned all the same.
// The element count is a floating-point number, which cannot overflow.
std::optional<std::string> read_recorded_name(TableReader& table, std::string_view key) {
  auto name = table.string(key);
  if (name && name->size() > kLongestRecordedName)
    table.report(table.span_of(key),
                 fmt::format("{} is longer than {} characters", table.full_name(key), kLongestRecordedName));
  return name;
}

namespace {

/// Largest number of storages.
constexpr std::size_t kMostStorages = 1'000'000;

/// The size of a row.
template <class Target>
Takes<Target> one_size() {
  return {"size", [](TableReader& table, std::string_view key, Target& target) {
            const Value* value = table.value(key);
            if (value == nullptr) return;
            if (const auto id = read_recorded_size(table, key, *value, target.file)) target.row.size = *id;
          }};
}

/// The name of a row.
template <class Target>
Takes<Target> row_name() {
  return {"text", [](TableReader& table, std::string_view key, Target& target) {
            if (auto name = read_recorded_name(table, key)) target.row.name = std::move(*name);
          }};
}

/// Names of the uses of a storage in files.
const std::vector<Choice<StorageUse>> kStorageUses{{"parameter", StorageUse::parameter},
                                                   {"gradient", StorageUse::gradient},
                                                   {"optimizer", StorageUse::optimizer},
                                                   {"activation", StorageUse::activation},
                                                   {"buffer", StorageUse::buffer},
                                                   {"temporary", StorageUse::temporary},
                                                   {"communication", StorageUse::communication},
                                                   {"input", StorageUse::input}};

/// Rows while they are read.
struct ParameterEntry {
  RecordedText& file;
  RecordedParameter row;
};
/// A buffer has no gradient, so it has a name and a size only.
struct BufferEntry {
  RecordedText& file;
  RecordedBuffer row;
};
/// A storage has the operators that make and free it, and its use.
struct StorageEntry {
  RecordedText& file;
  RecordedStorage row;
};
/// Keys of recorded.parameters.
const Keys<ParameterEntry>& recorded_parameter_keys() {
  static const Keys<ParameterEntry> keys{
      {"name", row_name<ParameterEntry>(), "\"fc.weight\"", kRequired, "with its module's path"},
      {"size", one_size<ParameterEntry>(), "\"f32[1000,512]\"", kRequired, "of the tensor"},
      {"also",
       {"list of texts",
        [](TableReader& table, std::string_view key, ParameterEntry& entry) {
          entry.row.also = table.strings(key, kMostTensorsOfOperator).value_or(std::vector<std::string>{});
        }},
       "[\"head.weight\"]",
       "none",
       "further names of the same tensor: shared weights"},
      {"frozen",
       {"true, false", [](TableReader& table, std::string_view key,
                          ParameterEntry& entry) { entry.row.frozen = table.boolean(key).value_or(false); }},
       "true",
       "false",
       "gets no gradient and no update"}};
  return keys;
}

/// Keys of recorded.buffers.
const Keys<BufferEntry>& recorded_buffer_keys() {
  static const Keys<BufferEntry> keys{
      {"name", row_name<BufferEntry>(), "\"bn1.running_mean\"", kRequired, "with its module's path"},
      {"size", one_size<BufferEntry>(), "\"f32[64]\"", kRequired, "of the tensor"}};
  return keys;
}

/// Reads an index into another list, whose length is checked later.
std::optional<std::uint32_t> read_recorded_index(TableReader& table, std::string_view key,
                                                 std::vector<RecordedReference>& references) {
  // The index is bounded by the longest list that is allowed, which keeps it within 32 bits.
  const auto index = table.integer(key, 0, std::int64_t{kMostRecordedOperators} - 1);
  if (!index) return std::nullopt;
  references.push_back({static_cast<std::size_t>(*index), table.span_of(key)});
  return static_cast<std::uint32_t>(*index);
}

/// Keys of recorded.storages. `made` and `freed` are indices into the list of operators.
const Keys<StorageEntry>& recorded_storage_keys() {
  static const Keys<StorageEntry> keys{
      {"size", one_size<StorageEntry>(), "\"f32[B,64,112,112]\"", kRequired, "of what was allocated"},
      {"made",
       {"integer",
        [](TableReader& table, std::string_view key, StorageEntry& entry) {
          if (const auto made = read_recorded_index(table, key, entry.file.made)) entry.row.made = *made;
        }},
       "0",
       "0",
       "the operator that makes it, counted from 0"},
      {"freed",
       {"integer",
        [](TableReader& table, std::string_view key, StorageEntry& entry) {
          entry.row.freed = read_recorded_index(table, key, entry.file.made);
        }},
       "305",
       "it outlives the step",
       "the last operator during which it lives"},
      {"saved",
       {"true, false", [](TableReader& table, std::string_view key,
                          StorageEntry& entry) { entry.row.saved = table.boolean(key).value_or(false); }},
       "true",
       "false",
       "autograd keeps it for backward"},
      {"before",
       {"true, false", [](TableReader& table, std::string_view key,
                          StorageEntry&) { static_cast<void>(table.boolean(key)); }},
       "true",
       "false",
       "it was there before the step began; `made` is then 0"},
      {"class",
       {takes::names_of(kStorageUses),
        [](TableReader& table, std::string_view key, StorageEntry& entry) {
          std::optional<StorageUse> use;
          choose(table, key, kStorageUses, use);
          entry.row.use = use.value_or(StorageUse::unknown);
        }},
       "\"activation\"",
       "not said",
       "what it is for"}};
  return keys;
}

}  // namespace

/// Parameters keep the order of their registration, since operators refer to them by number.
void read_recorded_parameters(TableReader& table, std::string_view key, RecordedText& to) {
  read_recorded_list(table, key, kMostRecordedParameters, recorded_parameter_keys(), to,
                     to.network.parameters);
}

void read_recorded_buffers(TableReader& table, std::string_view key, RecordedText& to) {
  read_recorded_list(table, key, kMostRecordedParameters, recorded_buffer_keys(), to, to.network.buffers);
}

void read_recorded_storages(TableReader& table, std::string_view key, RecordedText& to) {
  read_recorded_list(table, key, kMostStorages, recorded_storage_keys(), to, to.network.storages);
}

/// Lists may refer to later ones, so references are checked after reading.
void check_references(TableReader& table, const std::vector<RecordedReference>& references,
                      std::size_t length, std::string_view what) {
  for (const RecordedReference& reference : references) {
    if (reference.index >= length)
      table.report(reference.span,
                   fmt::format("there is no {} {}: the list has {}", what, reference.index, length));
  }
}

/// Each distinct size is checked once, at the place of its first use.
void check_recorded_sizes(TableReader& table, const RecordedText& file) {
  const auto batch = static_cast<double>(file.network.batch);
  for (const auto& [id, span] : file.first_uses) {
    const TensorSize& size = file.network.sizes[id];
    if (size.elements(batch) > static_cast<double>(kLargestExtent))
      table.report(span, fmt::format("{} has more than 2^40 elements at a batch of {}", to_string(size),
                                     file.network.batch));
  }
}

/// The order is that of the reference page.
std::vector<KeyTable> recorded_row_tables() {
  return {{"`recorded.parameters`", "", described(recorded_parameter_keys())},
          {"`recorded.buffers`", "", described(recorded_buffer_keys())},
          {"`recorded.storages`", "", described(recorded_storage_keys())}};
}

}  // namespace foretrain
