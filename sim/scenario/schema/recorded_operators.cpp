// The operators of [recorded]: one row for each call of the framework, such as
// { op = "aten::relu", of = "layer1.relu", in = ["f32[B,64]"], out = ["f32[B,64]"] }
// Names repeat, so they are kept once in the network's tables, and rows have their numbers.
#include <algorithm>

#include "sim/scenario/schema/recorded_rows.hpp"

namespace foretrain {

namespace {

/// Limits of the arguments of one operator, and of the numbers in one argument.
constexpr std::size_t kMostOperatorArguments = 64, kMostOperatorNumbers = 64;

using OperatorEntry = RecordedOperatorEntry;

/// Reads an argument: a number, a truth value, a word, or a list of them.
RecordedArgument read_operator_argument(TableReader& table, const Entry& entry) {
  RecordedArgument argument{entry.key.substr(0, kLongestRecordedName), {}, ""};
  // Truth values become 0 and 1; integers become floating-point numbers.
  const auto take = [&](const Value& value) {
    if (const auto* flag = std::get_if<bool>(&value.data))
      argument.numbers.push_back(*flag ? 1 : 0);
    else if (const auto* whole = std::get_if<std::int64_t>(&value.data))
      argument.numbers.push_back(static_cast<double>(*whole));
    else if (const auto* number = std::get_if<double>(&value.data))
      argument.numbers.push_back(*number);
    else if (const auto* word = std::get_if<std::string>(&value.data))
      argument.word = *word;
    else
      table.report(value.span, fmt::format("with.{} must hold numbers, truths or words", argument.name));
  };
  const auto* list = std::get_if<Array>(&entry.value.data);
  if (list == nullptr) {
    take(entry.value);
  } else if (list->size() > kMostOperatorNumbers) {
    table.report(entry.value.span, fmt::format("with.{} has {} entries, at most {} are allowed",
                                               argument.name, list->size(), kMostOperatorNumbers));
  } else {
    for (const Value& value : *list) take(value);
  }
  return argument;
}

/// Reads the table `with` of an operator.
void read_operator_arguments(TableReader& table, std::string_view key, OperatorEntry& entry) {
  const Table* given = table.table(key);
  if (given == nullptr) return;
  // The table is bounded before its entries are copied.
  if (given->entries.size() > kMostOperatorArguments)
    return table.report(table.span_of(key), fmt::format("{} has more than {} entries", table.full_name(key),
                                                        kMostOperatorArguments));
  for (const Entry& argument : given->entries)
    entry.row.with.push_back(read_operator_argument(table, argument));
}

/// Reads the parameters whose gradients are complete after the operator. Indices are checked when all lists
/// are read.
void read_ready(TableReader& table, std::string_view key, OperatorEntry& entry) {
  const Array* values = table.array(key, kMostRecordedParameters);
  if (values == nullptr) return;
  for (const Value& value : *values) {
    const auto* index = std::get_if<std::int64_t>(&value.data);
    if (index == nullptr || *index < 0) {
      table.report(value.span, fmt::format("{} must hold indices of parameters", table.full_name(key)));
      continue;
    }
    entry.file.ready.push_back({static_cast<std::size_t>(*index), value.span});
    // An index beyond 32 bits is beyond the list, too, and check_references() reports it.
    entry.row.ready.push_back(static_cast<std::uint32_t>(std::min<std::int64_t>(*index, UINT32_MAX)));
  }
}

/// A text that many operators share; the row keeps its number.
template <std::uint32_t RecordedOperator::*Id, NameTable RecordedNetwork::*Names>
Takes<OperatorEntry> shared_name() {
  return {"text", [](TableReader& table, std::string_view key, OperatorEntry& entry) {
            if (const auto name = read_recorded_name(table, key))
              entry.row.*Id = (entry.file.network.*Names).id_of(*name);
          }};
}

/// A flag of an operator; false when it is missing.
template <bool RecordedOperator::*Flag>
Takes<OperatorEntry> operator_flag() {
  return {"true, false", [](TableReader& table, std::string_view key, OperatorEntry& entry) {
            entry.row.*Flag = table.boolean(key).value_or(false);
          }};
}

/// A list of tensor sizes.
template <std::vector<SizeId> RecordedOperator::*Sizes>
Takes<OperatorEntry> operator_sizes() {
  return {"list of sizes", [](TableReader& table, std::string_view key, OperatorEntry& entry) {
            entry.row.*Sizes = read_recorded_sizes(table, key, entry.file);
          }};
}

/// A measured time. The place of the first one is kept, for a message if the GPU is missing.
template <std::optional<Time> RecordedOperator::*Measured>
Takes<OperatorEntry> operator_time() {
  return {"time", [](TableReader& table, std::string_view key, OperatorEntry& entry) {
            entry.row.*Measured = table.time(key);
            // Times of kernels need the GPU; the first of them is remembered for the message.
            if (!(entry.row.*Measured) || key != "time" || entry.file.is_timed) return;
            entry.file.is_timed = true, entry.file.first_time = table.span_of(key);
          }};
}

/// Keys of names.
Keys<OperatorEntry> operator_names() {
  // Both names are numbers into tables of the network, so that a row stays small.
  using O = RecordedOperator;
  using N = RecordedNetwork;
  return {{"op", shared_name<&O::name, &N::operator_names>(), "\"aten::addmm\"", kRequired,
           "what the framework calls it, without its overload"},
          {"of", shared_name<&O::module, &N::module_names>(), "\"layer1.0.conv1\"", "outside of modules",
           "the module that was running; in backward that of the forward call"}};
}

/// The pass of an operator of [recorded]. Operators of programs have a pass of three kinds instead.
Keys<OperatorEntry> pass_key() {
  return {{"pass",
           {"forward, backward",
            [](TableReader& table, std::string_view key, OperatorEntry& entry) {
              static const std::vector<std::string> passes{"forward", "backward"};
              entry.row.backward = table.one_of(key, passes).value_or("") == "backward";
            }},
           "\"backward\"",
           "forward",
           "which pass issued it"}};
}

/// Keys of how an operator was issued.
Keys<OperatorEntry> operator_issue() {
  using O = RecordedOperator;
  using N = RecordedNetwork;
  return {
      {"recomputed", operator_flag<&O::recomputed>(), "true", "false",
       "a forward operator that checkpointing runs again in backward"},
      {"call",
       {"integer",
        // A missing number is -1: the operator is the only one of its call.
        [](TableReader& table, std::string_view key, OperatorEntry& entry) {
          entry.row.call = table.integer(key, 0, kLargestExtent).value_or(-1);
        }},
       "57",
       "a call of its own",
       "operators with one number came from one call: a function in forward, a node of autograd in backward"},
      {"node", shared_name<&O::node, &N::node_names>(), "\"AddmmBackward0\"", "not said",
       "the node of autograd"}};
}

/// Keys of the operator's tensors, arguments and measured times.
Keys<OperatorEntry> operator_work() {
  using O = RecordedOperator;
  return {
      // Tensors and arguments.
      {"in", operator_sizes<&O::in>(), "[\"f32[B,512]\"]", "none", "its tensors, lists flattened"},
      {"out", operator_sizes<&O::out>(), "[\"f32[B,1000]\"]", "none", "its results"},
      {"with",
       {"table", read_operator_arguments},
       "{ stride = [2, 2] }",
       "none",
       "arguments that are no tensors and matter: stride, groups, transposed, kernel, output_mask, ..."},
      // Gradients that become complete.
      {"ready",
       {"list of integers", read_ready},
       "[61, 60]",
       "none",
       "parameters whose gradients are complete after it, by their number, in that order"},
      // Properties of the call.
      {"autocast", operator_flag<&O::autocast>(), "true", "false", "ran inside of an autocast region"},
      {"inplace",
       {"true, false", [](TableReader& table, std::string_view key,
                          OperatorEntry&) { static_cast<void>(table.boolean(key)); }},
       "true",
       "false",
       "its result is its operand"},
      {"view", operator_flag<&O::view>(), "true", "false", "runs no kernel"},
      // Measured values in place of those of the models.
      {"kernels",
       {"integer",
        [](TableReader& table, std::string_view key, OperatorEntry& entry) {
          // A missing number is 0: the formula of the operator decides.
          entry.row.kernels = static_cast<std::int32_t>(table.integer(key, 1, 65'535).value_or(0));
        }},
       "2",
       "as its formula says",
       "launches, as a trace shows them"},
      {"time", operator_time<&O::time>(), "\"123 us\"", "modelled",
       "of its kernels, as measured on recorded.gpu"},
      {"host", operator_time<&O::host>(), "\"45 us\"", "modelled", "of its call on the host, as measured"}};
}

/// The list is built once; its order is that of the reference page.
const Keys<OperatorEntry>& recorded_operator_keys() {
  static const Keys<OperatorEntry> keys = operator_names() + pass_key() + operator_issue() + operator_work();
  return keys;
}

}  // namespace

/// Programs have the same operators, but their rows have another key for the pass.
const Keys<RecordedOperatorEntry>& recorded_call_keys() {
  static const Keys<OperatorEntry> keys = operator_names() + operator_issue() + operator_work();
  return keys;
}

/// A recording may have a million of operators: rows are read one by one, without a copy of the list.
void read_recorded_operators(TableReader& table, std::string_view key, RecordedText& to) {
  read_recorded_list(table, key, kMostRecordedOperators, recorded_operator_keys(), to, to.network.operators);
}

/// The keys are those of [recorded], with the pass.
KeyTable recorded_operator_table() {
  return {"`recorded.operators`", "", described(recorded_operator_keys())};
}

}  // namespace foretrain
