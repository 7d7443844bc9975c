// Arguments that a training program is told: YOLOv5's network stands in a file's name, and its batch is that
// of all GPUs.
#include "sim/import/program_arguments.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/import/scripts.hpp"

namespace program_arguments_test {

using namespace foretrain;

namespace {

std::string value_of(const JobScript& script, std::string_view key) {
  const ProgramArgument* found = find_argument(script.launch.arguments, key);
  return found == nullptr ? "-" : found->value;
}

}  // namespace

TEST_CASE("the batch of YOLOv5 is that of all GPUs, and its weights name the network") {
  const std::string launch =
      "python -m torch.distributed.run --nproc_per_node 4 train.py --batch-size 64 --epochs 3 ";
  const JobScript yolo =
      test::slurm("--gres=gpu:4", launch + "--data coco.yaml --weights weights/yolov5s.pt\n");
  CHECK(value_of(yolo, "model") == "yolov5s.pt");
  CHECK(value_of(yolo, "global_batch") == "64");
  CHECK(value_of(yolo, "batch") == "-");
  const JobScript other = test::slurm("--gres=gpu:4", launch + "--weights best.pt\n");
  CHECK(value_of(other, "model") == "-");
  CHECK(value_of(other, "batch") == "64");
}

}  // namespace program_arguments_test
