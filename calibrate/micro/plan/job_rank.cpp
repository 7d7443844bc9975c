// A launcher is a row of variable names; the first whose rank and number of ranks are set is taken, mpirun
// inside Slurm being mpirun.
#include <charconv>
#include <string_view>

#include "calibrate/micro/plan/rendezvous.hpp"

namespace foretrain::micro {

namespace {

struct Variables {
  Launcher launcher;
  const char *rank, *ranks, *local_rank;
  const char *job, *step;
};
/// In a batch script SLURM_PROCID and SLURM_NTASKS are set, too; SLURM_STEP_NUM_TASKS only by srun.
constexpr Variables kLaunchers[] = {
    {Launcher::open_mpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "PMIX_NAMESPACE", ""},
    {Launcher::mpich, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "PMI_JOBID", ""},
    {Launcher::slurm, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_JOB_ID",
     "SLURM_STEP_ID"},
};

std::string text_of(const ReadVariable& read, const char* name) {
  const char* value = *name == '\0' ? nullptr : read(name);
  return value == nullptr ? "" : value;
}

int number_of(const ReadVariable& read, const char* name, int otherwise) {
  const std::string text = text_of(read, name);
  int value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc{} && end == text.data() + text.size() && value >= 0 ? value : otherwise;
}

}  // namespace

JobRank job_rank(const ReadVariable& read) {
  for (const Variables& launcher : kLaunchers) {
    const int rank = number_of(read, launcher.rank, -1), ranks = number_of(read, launcher.ranks, 0);
    if (rank < 0 || ranks <= rank) continue;
    std::string job = text_of(read, launcher.job);
    const std::string step = text_of(read, launcher.step);
    if (!job.empty() && !step.empty()) job += "." + step;
    return {rank, ranks, number_of(read, launcher.local_rank, 0), ranks > 1 ? job : "", launcher.launcher};
  }
  return {};
}

}  // namespace foretrain::micro
