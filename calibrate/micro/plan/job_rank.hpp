// Which rank of a parallel job this process is: what srun, Open MPI's and MPICH's mpirun say in the
// environment.
#pragma once

#include <string>

#include "calibrate/micro/plan/nccl_environment.hpp"

namespace foretrain::micro {

enum class Launcher { none, open_mpi, mpich, slurm };

struct JobRank {
  int rank = 0, ranks = 1;
  int local_rank = 0;  ///< on its node
  std::string job;     ///< the same for all ranks of a start, different for the next one; empty when the
                       ///< launcher does not say
  Launcher launcher = Launcher::none;
  friend bool operator==(const JobRank&, const JobRank&) = default;
};

/// One rank when none of them started it. A Slurm batch script itself counts as started by none.
JobRank job_rank(const ReadVariable& read);

}  // namespace foretrain::micro
