// What a measured row tells about its run besides its columns: by its strategy and by its source.
#pragma once

#include <vector>

#include "sim/scenario/measurements.hpp"

namespace foretrain {

/// On one GPU, a strategy that this program does not simulate is the plain training loop: the rows with `single` in its place there, and
/// with the framework that ran them: what a row's settings say, else TensorFlow for its own strategies (mirrored, parameter_server) and
/// where the source names it, else PyTorch. A source that names XLA ran compiled. Rows of known strategies, and all on several GPUs, stay
/// as they are.
std::vector<Measurement> with_plain_loops(std::vector<Measurement> rows);

/// The rows with the trainer that their source names, unless their settings say which: AdaptDL measures gradients besides training.
std::vector<Measurement> with_trainers(std::vector<Measurement> rows);

}  // namespace foretrain
