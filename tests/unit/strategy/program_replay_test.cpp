// Recorded programs, made by hand: what their replay has to wait for, and what it has not.
#include <algorithm>
#include <utility>

#include "sim/strategy/program/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace program_replay_test {

using namespace foretrain;
using test::Ran;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

using Kind = ProgramRow::Kind;

/// One kind of ranks, row by row.
class Script {
 public:
  explicit Script(std::int64_t rank = 0, std::vector<RankSequence> like = {{0, 2, 1}}) {
    made_.rank = rank;
    made_.like = std::move(like);
    made_.streams.id_of("");
    made_.network.module_names.id_of("");
    made_.network.node_names.id_of("");
  }

  /// An element-wise operator on so many numbers, in the module of that name.
  Script& op(ProgramPass pass, const std::string& module, std::int64_t numbers,
             std::string_view stream = "") {
    add("aten::relu", pass, module, numbers, stream);
    return *this;
  }
  /// What runs nothing on the GPU.
  Script& view(ProgramPass pass) {
    add("aten::view", pass, "", 8, "");
    return *this;
  }
  Script& row(ProgramRow row) {
    made_.rows.push_back(row);
    return *this;
  }
  ProgramRank done() { return std::move(made_); }

 private:
  void add(std::string_view name, ProgramPass pass, const std::string& module, std::int64_t numbers,
           std::string_view stream) {
    RecordedNetwork& network = made_.network;
    const auto size = static_cast<SizeId>(network.sizes.size());
    network.sizes.push_back({ElementType::f32, {{numbers, 0}}});
    RecordedOperator op;
    op.name = network.operator_names.id_of(name);
    op.module = network.module_names.id_of(module);
    op.backward = pass == ProgramPass::backward;
    op.in = op.out = {size};
    ProgramRow row;
    row.pass = pass;
    row.index = static_cast<std::uint32_t>(network.operators.size());
    row.stream = made_.streams.id_of(stream);
    network.operators.push_back(std::move(op));
    made_.rows.push_back(row);
  }

  ProgramRank made_;
};

ProgramRow all_reduce(ProgramPass pass, std::int64_t bytes, bool is_async, std::uint32_t group = 0) {
  ProgramRow row;
  row.kind = Kind::collective;
  row.pass = pass;
  row.bytes = {bytes};
  row.is_async = is_async;
  row.group = group;
  return row;
}

ProgramRow message(Kind kind, ProgramPass pass, std::int64_t peer, std::int64_t bytes) {
  ProgramRow row;
  row.kind = kind;
  row.pass = pass;
  row.peer = peer;
  row.bytes = {bytes};
  return row;
}

Ran replayed(std::vector<ProgramRank> kinds, int ranks = 2) {
  auto program = std::make_shared<Program>();
  program->world = program->data_ranks = ranks;
  program->batch = 1;
  program->groups = {{0, ranks, 1}};
  program->ranks = std::move(kinds);
  SmallPlan small;
  small.gpus = ranks;
  small.knobs.edit<ProgramOptions>().replays =
      std::make_shared<const ProgramReplays>(std::vector<std::shared_ptr<const Program>>{std::move(program)});
  return test::run_plan(small, "program");
}

/// When the i-th task of that label starts and ends; labels of kernels are their modules'.
Span span_of(const Ran& ran, TaskKind kind, std::string_view label, std::size_t i) {
  const std::vector<TaskId> tasks = tasks_labelled(ran.plan.graph, kind, label);
  REQUIRE(i < tasks.size());
  return ran.timeline.spans[tasks[i]];
}

constexpr auto kForward = ProgramPass::forward, kBackward = ProgramPass::backward,
               kOptimizer = ProgramPass::optimizer;
constexpr std::int64_t kMany = 50'000'000, kFew = 1000, kLong = 200'000'000;

}  // namespace

TEST_CASE("collectives that nobody waits for by name hold up the next pass, all of them") {
  const Ran ran = replayed({Script()
                                .op(kForward, "first", kFew)
                                .op(kBackward, "second", kFew)
                                .row(all_reduce(kBackward, kLong, true))
                                .row(all_reduce(kBackward, kLong, true))
                                .row(all_reduce(kBackward, kLong, true))
                                .op(kOptimizer, "", kFew)
                                .done()});
  for (std::size_t step = 0; step < ran.plan.step_ends.size(); ++step) {
    const Time update = span_of(ran, TaskKind::kernel, "optimizer", step).start;
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(update >= span_of(ran, TaskKind::collective, "all_reduce", 3 * step + i).end);
  }
}

TEST_CASE("a collective before the first kernel of a pass stays before it") {
  const Ran ran = replayed({Script()
                                .view(kForward)
                                .row(all_reduce(kForward, kLong, false))
                                .op(kForward, "first", kMany)
                                .op(kBackward, "second", kFew)
                                .op(kOptimizer, "", kFew)
                                .done()});
  for (std::size_t step = 0; step < ran.plan.step_ends.size(); ++step)
    CHECK(span_of(ran, TaskKind::kernel, "first", step).start >=
          span_of(ran, TaskKind::collective, "all_reduce", step).end);
}

TEST_CASE("a kernel on a stream of its own runs beside the default stream, until an event") {
  ProgramRow event;
  event.kind = Kind::record;
  event.work = 1;
  event.stream = 1;
  ProgramRow until = event;
  until.kind = Kind::until;
  until.stream = 0;
  const auto made = [&](bool waits) {
    Script script;
    script.op(kForward, "side", kMany, "side").row(event);
    if (waits) script.row(until);
    return replayed(
        {script.op(kForward, "main", kMany).op(kBackward, "b", kFew).op(kOptimizer, "", kFew).done()});
  };
  const Ran free = made(false), ordered = made(true);
  CHECK(span_of(free, TaskKind::kernel, "main", 2).start < span_of(free, TaskKind::kernel, "side", 2).end);
  CHECK(span_of(ordered, TaskKind::kernel, "main", 2).start >=
        span_of(ordered, TaskKind::kernel, "side", 2).end);
}

TEST_CASE("a receive ends when what the other kind sends has arrived") {
  const auto first = Script(0, {{0, 1, 1}})
                         .op(kForward, "stage 0", kMany)
                         .row(message(Kind::send, kForward, 1, kLong))
                         .row(message(Kind::receive, kBackward, 1, kLong))
                         .op(kBackward, "back 0", kFew)
                         .op(kOptimizer, "", kFew)
                         .done();
  const auto second = Script(1, {{1, 1, 1}})
                          .row(message(Kind::receive, kForward, 0, kLong))
                          .op(kForward, "stage 1", kMany)
                          .op(kBackward, "back 1", kFew)
                          .row(message(Kind::send, kBackward, 0, kLong))
                          .op(kOptimizer, "", kFew)
                          .done();
  const Ran ran = replayed({first, second});
  for (std::size_t step = 0; step < 5; ++step) {
    const Time arrived = span_of(ran, TaskKind::collective, "send", 2 * step).end;
    CHECK(arrived >= span_of(ran, TaskKind::kernel, "stage 0", step).end);
    CHECK(span_of(ran, TaskKind::kernel, "stage 1", step).start >= arrived);
    CHECK(span_of(ran, TaskKind::kernel, "back 0", step).start >=
          span_of(ran, TaskKind::kernel, "back 1", step).end);
  }
}

TEST_CASE("a collective of two kinds begins when the slower one has come to it") {
  const auto kind = [](std::int64_t rank, const std::string& name, std::int64_t numbers) {
    return Script(rank, {{rank, 1, 1}})
        .op(kForward, name, numbers)
        .op(kBackward, "b", kFew)
        .row(all_reduce(kBackward, kFew, false))
        .op(kOptimizer, "", kFew)
        .done();
  };
  const Ran ran = replayed({kind(0, "fast", kFew), kind(1, "slow", kMany)});
  CHECK(tasks_labelled(ran.plan.graph, TaskKind::collective, "all_reduce").size() == 5);
  for (std::size_t step = 0; step < 5; ++step) {
    const Span sum = span_of(ran, TaskKind::collective, "all_reduce", step);
    CHECK(sum.start >= span_of(ran, TaskKind::kernel, "slow", step).end);
    for (std::size_t i = 0; i < 2; ++i)
      CHECK(span_of(ran, TaskKind::kernel, "optimizer", 2 * step + i).start >= sum.end);
  }
}

TEST_CASE("kinds that wait for what nobody sends are refused") {
  const auto lonely = Script(0, {{0, 1, 1}})
                          .row(message(Kind::receive, kForward, 1, kFew))
                          .op(kForward, "a", kFew)
                          .op(kBackward, "b", kFew)
                          .op(kOptimizer, "", kFew)
                          .done();
  const auto other =
      Script(1, {{1, 1, 1}}).op(kForward, "a", kFew).op(kBackward, "b", kFew).op(kOptimizer, "", kFew).done();
  CHECK_THROWS_AS(replayed({lonely, other}), InputError);
}

TEST_CASE("an asynchronous send that nobody waits for by name holds up the next pass") {
  ProgramRow send = message(Kind::send, kForward, 1, kLong);
  send.is_async = true;
  const auto first = Script(0, {{0, 1, 1}})
                         .op(kForward, "stage 0", kFew)
                         .row(send)
                         .op(kForward, "beside", kFew)
                         .op(kBackward, "back 0", kFew)
                         .op(kOptimizer, "", kFew)
                         .done();
  const auto second = Script(1, {{1, 1, 1}})
                          .row(message(Kind::receive, kForward, 0, kLong))
                          .op(kForward, "stage 1", kFew)
                          .op(kBackward, "back 1", kFew)
                          .op(kOptimizer, "", kFew)
                          .done();
  const Ran ran = replayed({first, second});
  for (std::size_t step = 0; step < 5; ++step) {
    const Time sent = span_of(ran, TaskKind::collective, "send", step).end;
    CHECK(span_of(ran, TaskKind::kernel, "beside", step).start < sent);
    CHECK(span_of(ran, TaskKind::kernel, "back 0", step).start >= sent);
  }
}

}  // namespace program_replay_test
