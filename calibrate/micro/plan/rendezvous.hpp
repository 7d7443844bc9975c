// How the ranks of a job exchange short texts: NCCL's unique id, host names, whether to go on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calibrate/micro/plan/nccl_environment.hpp"

namespace foretrain::micro {

// Which rank of a parallel job this process is: what srun, Open MPI's and MPICH's mpirun say in the
// environment.

enum class Launcher { none, open_mpi, mpich, slurm };

struct JobRank {
  int rank = 0, ranks = 1;
  int local_rank = 0;  ///< on its node
  /// The same for all ranks of a start, different for the next one; empty when the launcher does not say
  std::string job;
  Launcher launcher = Launcher::none;
  friend bool operator==(const JobRank&, const JobRank&) = default;
};

/// One rank when none of them started it. A Slurm batch script itself counts as started by none.
JobRank job_rank(const ReadVariable& read);

/// Every rank calls it with its text and gets those of all, by rank. Blocks until all have called. Throws
/// EnvironmentError.
using AllGather = std::function<std::vector<std::string>(const std::string&)>;

/// The largest text MPI carries here.
inline constexpr std::size_t kLongestText = 512;

/// For a single rank.
AllGather alone();

/// Through files in `folder`, named after job, turn and rank; a rank's last file stays there. Refuses a
/// folder that holds files of an earlier start when the launcher names no job.
AllGather through_files(const std::string& folder, const JobRank& job, double timeout_s = 300);

/// Through MPI_Allgather of libmpi, opened at run time: Open MPI's or MPICH's (Intel's, Cray's, MVAPICH's).
/// Nothing when there is none.
AllGather through_mpi(const JobRank& job);

}  // namespace foretrain::micro
