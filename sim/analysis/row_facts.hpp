// What a measured row tells about its run besides its columns: by its strategy, its name and its source.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/measurements.hpp"

namespace foretrain {

/// On one GPU, a strategy that this program does not simulate is the plain training loop: the rows with `single` in its place there. Rows
/// of known strategies, and all on several GPUs, stay.
std::vector<Measurement> with_plain_loops(std::vector<Measurement> rows);

/// The rows with what their source says of the run, as settings, unless their own settings say something about it: TensorFlow by name; XLA
/// in the source or the series ("without-xla" is none); NVIDIA's DeepLearningExamples convolve channels last, and their BERT for
/// PyTorch, Lambda's too, keeps 16-bit weights (Apex O2); AdaptDL's trainer measures
/// gradients besides training; options of mirrored and parameter_server by the benchmark that ran. A series of mirrored that goes on over
/// several nodes is of multi_worker_mirrored. The whole list: docs/accuracy_one_gpu.md.
std::vector<Measurement> with_provenance(std::vector<Measurement> rows);

/// What was read into rows, for the report: "framework.name = "tensorflow"", or "strategy single for horovod", and for how many rows.
struct RowFact {
  std::string what;
  int rows = 0;
  friend bool operator==(const RowFact&, const RowFact&) = default;
};

/// The difference that the two functions above made, sorted by what. Both lists have the same rows in the same order.
std::vector<RowFact> facts_between(const std::vector<Measurement>& given, const std::vector<Measurement>& run);

}  // namespace foretrain
