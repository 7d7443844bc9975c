// The program file: [program] first, then its kinds of ranks. References to other lists are checked when all
// lists are read. A shortened example:
// [program]
// format = 1
// world = 8
// [[program.ranks]]
// operators = [{ op = "aten::mm" }, { collective = "all_reduce", bytes = 4096, pass = "backward" }]
#include "sim/scenario/schema/schema_program.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/program_rows.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Upper limits of a program's numbers.
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 50;
constexpr std::int64_t kMostMicroSteps = 4096, kMostProgramSamples = 1'000'000'000;
/// Largest number of notes or guesses.
constexpr std::size_t kMostRemarks = 1000;

/// A text of the program.
template <std::string Program::*Member>
Takes<Program> program_text() {
  return {"text", [](TableReader& table, std::string_view key, Program& program) {
            if (auto text = table.string(key)) program.*Member = std::move(*text);
          }};
}

/// An integer of the program.
Takes<Program> program_number(std::int64_t Program::*member, std::int64_t least, std::int64_t most) {
  return {"integer", [member, least, most](TableReader& table, std::string_view key, Program& program) {
            if (const auto found = table.integer(key, least, most)) program.*member = *found;
          }};
}

/// A list of sentences.
template <std::vector<std::string> Program::*Member>
Takes<Program> sentences() {
  return {"list of texts", [](TableReader& table, std::string_view key, Program& program) {
            program.*Member = table.strings(key, kMostRemarks).value_or(std::vector<std::string>{});
          }};
}

/// Keys on the recording itself. Some are checked and not kept.
Keys<Program> recorded_by_keys() {
  return {{"format",
           {"integer", [](TableReader& table, std::string_view key,
                          Program&) { static_cast<void>(table.integer(key, 1, 1)); }},
           "1",
           kRequired,
           "of this file"},
          {"by", program_text<&Program::by>(), "\"foretrain record 0.1.0, torch 2.9.0\"", "not said",
           "what recorded it"},
          {"command", program_text<&Program::command>(), "\"torchrun --nproc-per-node 8 train.py\"",
           "not said", "the command line that was recorded"},
          {"framework", program_text<&Program::framework>(), "\"torch FSDP2\"", "not said", "in words"},
          {"precision",
           {"text",
            [](TableReader& table, std::string_view key, Program&) { static_cast<void>(table.string(key)); }},
           "\"bf16\"",
           "not said",
           "of most products, for people: types of tensors decide"},
          {"step",
           {"integer", [](TableReader& table, std::string_view key,
                          Program&) { static_cast<void>(table.integer(key, 1, kMostNumbers)); }},
           "3",
           "not said",
           "which optimizer step was recorded"},
          {"guesses", sentences<&Program::guesses>(), "[\"1.0 was taken for a loss that is printed\"]",
           "none", "values that the recorder made up"},
          {"notes", sentences<&Program::notes>(), "[\"Random images stand in for the data set.\"]", "none",
           "what else people should know"}};
}

/// Keys on the job that was recorded.
Keys<Program> job_keys() {
  return {
      {"world", program_number(&Program::world, 1, kMostProgramRanks), "32", kRequired, "ranks of the job"},
      {"data_ranks", program_number(&Program::data_ranks, 0, kMostProgramRanks), "4", "world",
       "ranks that train different samples"},
      {"batch", program_number(&Program::batch, 0, kMostProgramSamples), "16", "not known",
       "samples that one rank trains in one optimizer step"},
      {"micro_steps", program_number(&Program::micro_steps, 1, kMostMicroSteps), "4", "1",
       "backward passes in one optimizer step"},
      {"parameters", program_number(&Program::parameters, 0, kMostNumbers), "8030261248", "not said",
       "numbers in the whole model's parameters"},
      {"trained", program_number(&Program::trained, 0, kMostNumbers), "8030261248", "not said",
       "those that get a gradient"},
      {"groups",
       {"list of tables",
        [](TableReader& table, std::string_view key, Program& program) {
          // A list of ranks without a stride cannot be replayed exactly, which a note tells the reader.
          RankLists lists = read_rank_sequences(table, key, kMostProgramGroups);
          program.groups = std::move(lists.sequences);
          if (lists.irregular > 0)
            program.notes.push_back(
                fmt::format("{} of ranks with no common stride: the replay takes as many ranks in a row",
                            counted(lists.irregular, "group")));
        }},
       "[{ size = 32, stride = 1, first = 0 }]",
       "one of all ranks",
       "process groups of the recorded ranks: `size` ranks first, first + stride, …"}};
}

/// Keys of [[program.ranks]].
const Keys<ProgramRankText>& rank_keys() {
  static const Keys<ProgramRankText> keys{
      {"rank",
       {"integer",
        [](TableReader& table, std::string_view key, ProgramRankText& to) {
          to.rank.rank = table.integer(key, 0, kMostProgramRanks).value_or(0);
        }},
       "0",
       "0",
       "the rank that was recorded"},
      {"like",
       {"list of tables",
        [](TableReader& table, std::string_view key, ProgramRankText& to) {
          to.rank.like = read_rank_sequences(table, key, kMostProgramGroups).sequences;
        }},
       "[{ first = 0, count = 32, stride = 1 }]",
       "all ranks",
       "ranks that do the same, itself included"},
      {"parameters",
       {"list of tables", [](TableReader& table, std::string_view key,
                             ProgramRankText& to) { read_recorded_parameters(table, key, to.text); }},
       "[{ name = \"fc.weight\", size = \"f32[10,64]\" }]",
       "none",
       "what this rank holds of each"},
      {"buffers",
       {"list of tables", [](TableReader& table, std::string_view key,
                             ProgramRankText& to) { read_recorded_buffers(table, key, to.text); }},
       "[{ name = \"bn1.running_mean\", size = \"f32[64]\" }]",
       "none",
       "tensors that are no parameters and stay"},
      {"operators",
       {"list of tables", read_program_rows},
       "[{ op = \"aten::relu\" }]",
       kRequired,
       "what the host issues in one optimizer step"},
      {"storages",
       {"list of tables", [](TableReader& table, std::string_view key,
                             ProgramRankText& to) { read_recorded_storages(table, key, to.text); }},
       "[{ size = \"f32[64]\", made = 0, freed = 3 }]",
       "none",
       "what lives on the GPU, by rows of `operators`"}};
  return keys;
}

/// The keys of the recording come first, then those of the job.
const Keys<Program>& program_keys() {
  static const Keys<Program> keys = recorded_by_keys() + job_keys();
  return keys;
}

/// Reports a kind of rank without a forward, backward or optimizer pass, which a training step needs.
void check_passes(TableReader& table, SourceSpan span, const ProgramRank& rank) {
  constexpr std::string_view kNames[] = {"forward", "backward", "optimizer"};
  for (const ProgramPass pass : {ProgramPass::forward, ProgramPass::backward, ProgramPass::optimizer}) {
    const bool has = std::ranges::any_of(rank.rows, [&](const ProgramRow& row) {
      return row.kind == ProgramRow::Kind::op && row.pass == pass;
    });
    if (!has)
      table.report(span,
                   fmt::format("rank {} has no operator of the {} pass", rank.rank,
                               kNames[static_cast<std::size_t>(pass)]),
                   "record one whole optimizer step; a file of --program-out has messages alone");
  }
}

/// Reports waits for works or events that no row begins.
void check_works(TableReader& table, SourceSpan span, const ProgramRank& rank) {
  std::vector<std::int64_t> begun, events;
  for (const ProgramRow& row : rank.rows) {
    using enum ProgramRow::Kind;
    if (row.kind == record) events.push_back(row.work);
    if (row.kind == collective || row.kind == send || row.kind == receive) begun.push_back(row.work);
  }
  // Sorted, so that each wait needs a binary search only.
  std::ranges::sort(begun), std::ranges::sort(events);
  for (const ProgramRow& row : rank.rows) {
    const bool waits = row.kind == ProgramRow::Kind::wait;
    if (!waits && row.kind != ProgramRow::Kind::until) continue;
    if (std::ranges::binary_search(waits ? begun : events, row.work)) continue;
    return table.report(span, fmt::format("rank {} waits for {} {}, which nothing begins", rank.rank,
                                          waits ? "work" : "event", row.work));
  }
}

/// Reports messages with ranks outside of the world.
void check_peers(TableReader& table, const ProgramRankText& to, const Program& program) {
  for (const RecordedReference& peer : to.peers) {
    if (peer.index >= static_cast<std::size_t>(program.world))
      table.report(peer.span, fmt::format("rank {} is outside of a world of {}", peer.index, program.world));
  }
}

/// Reports sizes that grow with the batch: a program is recorded at one batch.
void check_fixed(TableReader& table, const ProgramRankText& to) {
  for (const auto& [id, span] : to.text.first_uses) {
    const TensorSize& size = to.text.network.sizes[id];
    if (size.grows())
      table.report(span,
                   fmt::format("{} grows with the batch, but a program holds for its own", to_string(size)),
                   "write the size at the recorded batch");
  }
}

/// Reads one kind of rank and checks its references. The first name of each table is the empty one: no
/// module, no node, the default stream.
ProgramRank read_rank(TableReader& table, SourceSpan span, Program& program) {
  ProgramRankText to;
  to.text.network.module_names.id_of(""), to.text.network.node_names.id_of("");
  to.rank.streams.id_of("");
  read_keys(table, rank_keys(), to);
  table.finish();
  // Without groups there is one of all ranks.
  if (program.groups.empty()) program.groups.push_back({0, program.world, 1});
  check_references(table, to.groups, program.groups.size(), "group");
  check_peers(table, to, program);
  check_references(table, to.text.ready, to.text.network.parameters.size(), "parameter");
  check_references(table, to.text.made, to.rank.rows.size(), "row");
  check_recorded_sizes(table, to.text);
  check_fixed(table, to);
  // Without `like` all ranks do the same.
  if (to.rank.like.empty()) to.rank.like.push_back({0, program.world, 1});
  to.rank.network = std::move(to.text.network);
  // Lost lines may have held the missing rows.
  if (table.damaged()) return std::move(to.rank);
  check_passes(table, span, to.rank);
  check_works(table, span, to.rank);
  return std::move(to.rank);
}

/// Reports unless each rank of the world belongs to exactly one kind.
void check_kinds(TableReader& table, SourceSpan span, const Program& program) {
  std::int64_t ranks = 0;
  for (const ProgramRank& kind : program.ranks) {
    ranks += kind.count();
    for (const RankSequence& like : kind.like) {
      // The last rank of a sequence is its largest.
      if (like.first + (like.size - 1) * like.stride >= program.world)
        return table.report(span, fmt::format("rank {} is outside of a world of {}",
                                              like.first + (like.size - 1) * like.stride, program.world));
    }
    // The recorded rank belongs to its own kind.
    if (std::ranges::none_of(kind.like, [&](const RankSequence& s) { return s.contains(kind.rank); }))
      return table.report(span, fmt::format("rank {} is not among the ranks that do the same", kind.rank),
                          "`like` lists the recorded rank, too");
  }
  // Kinds that overlap, or that leave ranks out, have another sum.
  if (ranks != program.world)
    table.report(span, fmt::format("the kinds of ranks have {} ranks, the world {}", ranks, program.world),
                 "record one rank of each kind; `like` says which others do the same");
}

/// Reports groups with ranks outside of the world.
void check_groups(TableReader& table, const Program& program) {
  for (const RankSequence& group : program.groups) {
    if (group.first + (group.size - 1) * group.stride < program.world) continue;
    return table.report(table.span_of("groups"),
                        fmt::format("a group of {} ranks from {} by {} is outside of a world of {}",
                                    group.size, group.first, group.stride, program.world));
  }
}

/// Reads all kinds of ranks; at least one is needed.
void read_kinds(TableReader& table, Program& program) {
  for_each_table(table, "ranks", kMostProgramKinds, [&](TableReader& rank, SourceSpan span) {
    program.ranks.push_back(read_rank(rank, span, program));
  });
  if (program.ranks.empty() && table.diagnostics().empty())
    table.report(table.span_of("ranks"), "a program needs the ranks that were recorded",
                 "[[program.ranks]] with its operators");
}

}  // namespace

/// [program] is read before its kinds of ranks, which refer to its groups and its world.
Program read_program(const SourceText& source, Diagnostics& diagnostics) {
  const Table parsed = parse_toml(source, diagnostics, kLargestModelText);
  TableReader document(parsed, "", diagnostics);
  Program program;
  program.name = name_of_file(source.name);
  static_cast<void>(document.string("description"));
  document.require("program", "[program]");
  const Table* given = document.table("program");
  document.finish();
  if (given == nullptr) return program;
  TableReader table(*given, "program", diagnostics);
  // Zero means that the file does not state the number.
  program.data_ranks = 0;
  read_keys(table, program_keys(), program);
  // All ranks train different samples unless the file states otherwise.
  if (program.data_ranks == 0) program.data_ranks = program.world;
  read_kinds(table, program);
  table.finish();
  // Checks across kinds need all of them to be sound.
  if (diagnostics.empty() && !document.damaged()) {
    check_kinds(table, table.span_of("ranks"), program);
    check_groups(table, program);
    if (program.data_ranks > program.world)
      table.report(table.span_of("data_ranks"),
                   fmt::format("{} ranks load data in a world of {}", program.data_ranks, program.world));
  }
  return program;
}

/// Rows have a table of their own, which program_rows.cpp provides.
std::vector<KeyTable> program_key_tables() {
  std::vector<KeyTable> tables{
      {"`[program]`", "A step of a distributed program as `foretrain record` writes it.",
       described(program_keys())},
      {"`[[program.ranks]]`", "A kind of ranks: what the recorded one of them did.", described(rank_keys())}};
  for (KeyTable& table : program_row_tables()) tables.push_back(std::move(table));
  return tables;
}

}  // namespace foretrain
