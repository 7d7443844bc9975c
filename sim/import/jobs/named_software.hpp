// Finds the software that a job script loads or runs in: modules, containers, packages with a version.
#pragma once

#include <vector>

#include "sim/import/job_script.hpp"

namespace foretrain {

/// Returns the container image that a command names (apptainer exec IMAGE, srun --container-image=IMAGE),
/// else the last module or package with a framework's version (module load pytorch/2.1, pip install
/// torch==2.1).
/// The text is as written, for framework.software. No value where there is none, or only in branches that may
/// not be taken.
Field<std::string> software_in(const std::vector<ShellCommand>& commands);

/// Returns the image, or the last part of its path, if it names software that is known.
Field<std::string> software_of_image(const std::string& image, const SourceSpan& span);

/// Returns the script's software if it is of the strategy's framework. A container of another framework tells
/// nothing about this training.
Field<std::string> software_for(const std::string& strategy, const JobScript& script);

}  // namespace foretrain
