// The software that a job script loads or runs in: modules, containers, packages with a version.
#pragma once

#include <vector>

#include "sim/import/job_script.hpp"

namespace foretrain {

/// The container image that a command names (apptainer exec IMAGE, srun --container-image=IMAGE), else the
/// last module or package with a framework's version (module load pytorch/2.1, pip install torch==2.1); as
/// written, for framework.software. Empty where there is none, or where it is in a branch that may not be
/// taken.
Field<std::string> software_in(const std::vector<ShellCommand>& commands);

/// `image` where it names software that is known.
Field<std::string> software_of_image(const std::string& image, const SourceSpan& span);

/// The script's software where it is of the strategy's framework: a container of another one says nothing of
/// this training.
Field<std::string> software_for(const std::string& strategy, const JobScript& script);

}  // namespace foretrain
