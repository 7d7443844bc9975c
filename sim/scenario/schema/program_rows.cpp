// Rows of a program file. The first key of a row tells its kind: op, collective, send, receive, wait, read,
// record, until.
#include "sim/scenario/schema/program_rows.hpp"

#include <array>

#include "sim/scenario/toml/section_values.hpp"

namespace foretrain {

namespace {

/// Upper limits of the bytes of a message and of the number of a work.
constexpr std::int64_t kMostWireBytes = std::int64_t{1} << 50;
constexpr std::int64_t kMostWork = std::int64_t{1} << 40;

/// A row while it is read, and the rank that it belongs to.
struct RowEntry {
  ProgramRankText& to;
  ProgramRow row;
};

using RowKind = ProgramRow::Kind;

/// Names of the passes in files.
const std::vector<Choice<ProgramPass>> kPasses{{"forward", ProgramPass::forward},
                                               {"backward", ProgramPass::backward},
                                               {"optimizer", ProgramPass::optimizer}};

/// Returns the names of collectives in files, in the order of the enumeration.
std::vector<Choice<WireOperation>> wire_operations() {
  std::vector<Choice<WireOperation>> names;
  for (int i = 0; i <= static_cast<int>(WireOperation::barrier); ++i) {
    const auto operation = static_cast<WireOperation>(i);
    names.push_back({std::string(name_of(operation)), operation});
  }
  return names;
}

/// The list is built once, on first use.
const std::vector<Choice<WireOperation>>& operations() {
  static const std::vector<Choice<WireOperation>> names = wire_operations();
  return names;
}

/// Keys that every row has: the pass and the stream on which it was issued.
Keys<RowEntry> issue_keys() {
  return {{"pass",
           {takes::names_of(kPasses), [](TableReader& table, std::string_view key,
                                         RowEntry& entry) { choose(table, key, kPasses, entry.row.pass); }},
           "\"backward\"",
           "forward",
           "which pass issued it"},
          {"stream",
           {"text",
            [](TableReader& table, std::string_view key, RowEntry& entry) {
              if (const auto name = read_recorded_name(table, key))
                entry.row.stream = entry.to.rank.streams.id_of(*name);
            }},
           "\"stream1\"",
           "the default stream",
           "the stream that was current"}};
}

/// An integer member of a row, from 0 to `most`.
Takes<RowEntry> whole(std::int64_t ProgramRow::*member, std::int64_t most) {
  return {"integer", [member, most](TableReader& table, std::string_view key, RowEntry& entry) {
            if (const auto found = table.integer(key, 0, most)) entry.row.*member = *found;
          }};
}

/// Bytes of a row whose key is also its kind.
Takes<RowEntry> byte_count(RowKind kind) {
  return {"bytes, an integer", [kind](TableReader& table, std::string_view key, RowEntry& entry) {
            if (!table.has(key)) return;
            if (const auto found = table.integer(key, 0, kMostWireBytes)) entry.row.bytes = {*found};
            entry.row.kind = kind;
          }};
}

/// The number of a work or event, in a row whose key is also its kind.
Takes<RowEntry> numbered(RowKind kind) {
  return {"integer", [kind](TableReader& table, std::string_view key, RowEntry& entry) {
            if (!table.has(key)) return;
            if (const auto found = table.integer(key, 0, kMostWork)) entry.row.work = *found;
            entry.row.kind = kind;
          }};
}

/// A text that is checked and not kept.
Takes<RowEntry> ignored_text() {
  return {"text", [](TableReader& table, std::string_view key, RowEntry&) {
            static_cast<void>(read_recorded_name(table, key));
          }};
}

/// The name of a collective, which makes the row one.
Takes<RowEntry> wire_operation() {
  return {takes::names_of(operations()), [](TableReader& table, std::string_view key, RowEntry& entry) {
            if (!table.has(key)) return;
            entry.row.kind = RowKind::collective;
            choose(table, key, operations(), entry.row.operation);
          }};
}

/// The index of a group; it is remembered with its place, to be checked later.
Takes<RowEntry> group_index() {
  return {"integer", [](TableReader& table, std::string_view key, RowEntry& entry) {
            const auto found = table.integer(key, 0, std::int64_t{kMostProgramGroups} - 1);
            if (!found) return;
            entry.row.group = static_cast<std::uint32_t>(*found);
            entry.to.groups.push_back({static_cast<std::size_t>(*found), table.span_of(key)});
          }};
}

/// Keys for people: they change neither bytes nor order (type, kind of the sum, caller).
Keys<RowEntry> remark_keys() {
  return {{"type", ignored_text(), "\"bf16\"", "not said", "of the elements"},
          {"reduce", ignored_text(), "\"avg\"", "sum", "how elements are reduced"},
          {"by", ignored_text(), "\"torch/distributed/fsdp/_collectives.py\"", "not said", "who called it"},
          {"of", ignored_text(), "\"layers.0\"", "not said", "for which module or purpose"}};
}

/// Keys of messages and waits.
Keys<RowEntry> wire_keys() {
  // A collective and its message.
  return {{"collective", wire_operation(), "\"all_gather\"", "none", "what ranks of `group` do together"},
          {"bytes",
           {"bytes, an integer",
            [](TableReader& table, std::string_view key, RowEntry& entry) {
              if (const auto found = table.integer(key, 0, kMostWireBytes)) entry.row.bytes = {*found};
            }},
           "65536000",
           "0",
           "of the largest tensor: the output of all_gather, the input of reduce_scatter, else one rank's"},
          {"group", group_index(), "0", "0", "index into program.groups"},
          // Asynchronous works: `work` numbers them, and rows `wait` name the number.
          {"work", whole(&ProgramRow::work, kMostWork), "12", "none", "a number for rows `wait`"},
          {"async",
           {"true, false", [](TableReader& table, std::string_view key,
                              RowEntry& entry) { entry.row.is_async = table.boolean(key).value_or(false); }},
           "true",
           "false",
           "the stream goes on until `wait`, or the end of the pass"},
          // Messages between two ranks.
          {"send", byte_count(RowKind::send), "4194304", "none", "bytes to rank `peer`"},
          {"receive", byte_count(RowKind::receive), "4194304", "none", "bytes from rank `peer`"},
          {"peer",
           {"integer",
            [](TableReader& table, std::string_view key, RowEntry& entry) {
              const auto found = table.integer(key, 0, kMostProgramRanks);
              if (!found) return;
              entry.row.peer = *found;
              entry.to.peers.push_back({static_cast<std::size_t>(*found), table.span_of(key)});
            }},
           "8",
           "0",
           "a rank of the job"},
          // Waits: of the stream for a work, of the host for the stream, and of a stream for an event.
          {"wait", numbered(RowKind::wait), "12", "none", "the stream waits for that work"},
          {"read", byte_count(RowKind::read), "4", "none",
           "the host waits for the stream and reads so many bytes, as item() does; 0: it only waits"},
          {"record", numbered(RowKind::record), "7", "none", "that event is recorded on the stream"},
          {"until", numbered(RowKind::until), "7", "none", "the stream waits for that event"}};
}

/// Keys of all rows that are not operators.
const Keys<RowEntry>& row_keys() {
  static const Keys<RowEntry> keys = wire_keys() + issue_keys() + remark_keys();
  return keys;
}

/// Keys that an operator has besides those of `recorded.operators`.
const Keys<RowEntry>& call_row_keys() {
  static const Keys<RowEntry> keys = issue_keys();
  return keys;
}

/// Keys of which a row has exactly one; it is the row's kind.
constexpr std::array<std::string_view, 8> kFirstKeys{"op",   "collective", "send",   "receive",
                                                     "wait", "read",       "record", "until"};

/// Returns whether a row has exactly one kind; reports it otherwise.
bool is_one_thing(TableReader& row, SourceSpan span) {
  std::vector<std::string_view> found;
  for (const std::string_view key : kFirstKeys) {
    if (row.has(key)) found.push_back(key);
  }
  if (found.size() == 1) return true;
  if (found.empty())
    row.report(span, "this row does not say what the rank does",
               fmt::format("it needs one of {}", fmt::join(kFirstKeys, ", ")));
  else
    row.report(span, fmt::format("this row has both {} and {}", found[0], found[1]), "write two rows");
  return false;
}

/// Reads one row. An operator also becomes an operator of the rank's network; the row has its index.
void read_row(TableReader& row, SourceSpan span, ProgramRankText& to) {
  if (!is_one_thing(row, span)) return;
  RowEntry entry{to, {}};
  // An operator has the keys of [recorded], with the passes of a program.
  if (row.has("op")) {
    RecordedOperatorEntry call{to.text, {}};
    read_keys(row, recorded_call_keys(), call);
    read_keys(row, call_row_keys(), entry);
    call.row.backward = entry.row.pass == ProgramPass::backward;
    entry.row.index = static_cast<std::uint32_t>(to.text.network.operators.size());
    to.text.network.operators.push_back(std::move(call.row));
  } else {
    read_keys(row, row_keys(), entry);
    // The default group is the first one, which must exist.
    if (entry.row.kind == RowKind::collective && !row.has("group")) to.groups.push_back({0, span});
  }
  row.finish();
  to.rank.rows.push_back(entry.row);
}

}  // namespace

/// The list is read in one pass; operators and messages keep the order in which the host issued them.
void read_program_rows(TableReader& table, std::string_view key, ProgramRankText& to) {
  for_each_table(table, key, kMostProgramRows,
                 [&](TableReader& row, SourceSpan span) { read_row(row, span, to); });
}

RankLists read_rank_sequences(TableReader& table, std::string_view key, std::size_t most) {
  RankLists out;
  // A sequence is the ranks first, first + stride, and so on, `size` of them.
  for_each_table(table, key, most, [&](TableReader& row, SourceSpan) {
    RankSequence ranks;
    ranks.first = row.integer("first", 0, kMostProgramRanks).value_or(0);
    // `size` and `count` are two names of one number.
    const auto size = row.integer("size", 1, kMostProgramRanks),
               count = row.integer("count", 1, kMostProgramRanks);
    ranks.size = size.value_or(count.value_or(1));
    ranks.stride = row.integer("stride", 1, kMostProgramRanks).value_or(1);
    // Listed ranks without a stride are checked and counted.
    if (row.integers("ranks", 0, kMostProgramRanks, kMostListedRanks)) ++out.irregular;
    row.finish();
    out.sequences.push_back(ranks);
  });
  return out;
}

/// Only rows that are not operators are listed; the text refers to `recorded.operators` for the others.
std::vector<KeyTable> program_row_tables() {
  return {{"`program.ranks.operators`",
           "Rows in the order in which the host issues them. An operator is a row with `op` and the keys of "
           "`recorded.operators`; every other row has one of these.",
           described(row_keys())}};
}

}  // namespace foretrain
