// The script around the step: what trainers, bars and profilers cost, and when the loss is read.
#include "sim/workload/device/script_time.hpp"

#include "tests/support/catch.hpp"

namespace script_time_test {

using namespace foretrain;

namespace {

const Framework kPyTorch = usual_framework(FrameworkKind::pytorch);

TrainingLoop loop_of(LoopHooks hooks, bool bar = false) {
  TrainingLoop loop;
  loop.hooks = hooks, loop.progress_bar = bar;
  return loop;
}

Framework tensorflow(FrameworkVersion version) {
  Framework framework = usual_framework(FrameworkKind::tensorflow);
  framework.version = version;
  return framework;
}

}  // namespace

TEST_CASE("a plain loop costs nothing of its own, a trainer some hundred microseconds") {
  CHECK(loop_time({}) == Time{});
  for (const LoopHooks hooks : {LoopHooks::lightning, LoopHooks::huggingface, LoopHooks::keras}) {
    CHECK(loop_time(loop_of(hooks)) >= microseconds(100));
    CHECK(loop_time(loop_of(hooks)) <= microseconds(500));
    CHECK(loop_time(loop_of(hooks, true)) > loop_time(loop_of(hooks)));
  }
  TrainingLoop own = loop_of(LoopHooks::lightning);
  own.overhead = microseconds(70);
  CHECK(loop_time(own) == loop_time(loop_of(LoopHooks::lightning)) + microseconds(70));
}

TEST_CASE("the loss is read where the script says so, every so many steps") {
  TrainingLoop loop;
  CHECK_FALSE(reads_loss(loop, kPyTorch, 0));
  loop.loss_item_every = 3;
  CHECK(reads_loss(loop, kPyTorch, 0));
  CHECK_FALSE(reads_loss(loop, kPyTorch, 2));
  CHECK(reads_loss(loop, kPyTorch, 3));
}

TEST_CASE("a trainer's bar shows the loss of every step, tqdm's only counts") {
  CHECK(reads_loss(loop_of(LoopHooks::lightning, true), kPyTorch, 7));
  CHECK_FALSE(reads_loss(loop_of(LoopHooks::lightning), kPyTorch, 7));
  CHECK_FALSE(reads_loss(loop_of(LoopHooks::none, true), kPyTorch, 7));
}

TEST_CASE("Keras before TensorFlow 2.2 reads the results of every batch") {
  CHECK(reads_loss(loop_of(LoopHooks::keras), tensorflow({2, 1}), 7));
  CHECK_FALSE(reads_loss(loop_of(LoopHooks::keras), tensorflow({2, 2}), 7));
}

TEST_CASE("a line profiler costs more the more Python there is") {
  TrainingLoop loop;
  CHECK(profiler_time(loop, 100) == Time{});
  loop.profiler = LoopProfiler::line;
  CHECK(profiler_time(loop, 0) > Time{});
  CHECK(profiler_time(loop, 100) == profiler_time(loop, 0) + microseconds(100));
}

}  // namespace script_time_test
