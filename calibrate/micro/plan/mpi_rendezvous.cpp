// MPI without its headers. Open MPI's handles are addresses of its own objects, those of MPICH and its
// descendants are fixed integers.
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "calibrate/micro/plan/rendezvous.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/shared_library.hpp"

namespace foretrain::micro {

namespace {

/// A text of fixed size, as MPI_Allgather carries it.
struct Parcel {
  std::uint32_t length = 0;
  std::array<char, kLongestText> text{};
};

void expect_success(int code, const char* call) {
  if (code != 0) throw EnvironmentError(fmt::format("{} failed with code {}", call, code));
}

/// `Handle`: void* for Open MPI, int for MPICH.
template <class Handle>
class Mpi {
 public:
  Mpi(SharedLibrary library, Handle world, Handle byte)
      : library_(std::move(library)), world_(world), byte_(byte) {
    int (*initialize)(int*, char***) = nullptr;
    const bool is_whole = library_.load(initialize, "MPI_Init") &&
                          library_.load(allgather_, "MPI_Allgather") &&
                          library_.load(size_, "MPI_Comm_size") && library_.load(finalize_, "MPI_Finalize");
    if (!is_whole)
      throw EnvironmentError("the MPI library has no MPI_Init, MPI_Allgather, MPI_Comm_size or MPI_Finalize");
    expect_success(initialize(nullptr, nullptr), "MPI_Init");
  }
  ~Mpi() { finalize_(); }
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;

  int size() const {
    int size = 0;
    expect_success(size_(world_, &size), "MPI_Comm_size");
    return size;
  }

  std::vector<std::string> exchange(const std::string& text, int ranks) const {
    if (text.size() > kLongestText) throw EnvironmentError("a text for the other ranks is too long");
    Parcel own{static_cast<std::uint32_t>(text.size()), {}};
    std::memcpy(own.text.data(), text.data(), text.size());
    std::vector<Parcel> all(static_cast<std::size_t>(ranks));
    const int bytes = static_cast<int>(sizeof(Parcel));
    expect_success(allgather_(&own, bytes, byte_, all.data(), bytes, byte_, world_), "MPI_Allgather");
    std::vector<std::string> texts;
    for (const Parcel& parcel : all) texts.emplace_back(parcel.text.data(), parcel.length);
    return texts;
  }

 private:
  SharedLibrary library_;
  Handle world_, byte_;
  int (*allgather_)(const void*, int, Handle, void*, int, Handle, Handle) = nullptr;
  int (*size_)(Handle, int*) = nullptr;
  int (*finalize_)() = nullptr;
};

template <class Handle>
AllGather gather_with(SharedLibrary library, Handle world, Handle byte, const JobRank& job) {
  const auto mpi = std::make_shared<Mpi<Handle>>(std::move(library), world, byte);
  if (mpi->size() != job.ranks)
    return nullptr;  // another MPI than the launcher's: every process is a world of its own
  return [mpi, ranks = job.ranks](const std::string& text) { return mpi->exchange(text, ranks); };
}

}  // namespace

AllGather through_mpi(const JobRank& job) {
  constexpr int kMpichWorld = 0x44000000, kMpichByte = 0x4c00010d;
  const std::vector<std::string> open_mpi{"libmpi.so", "libmpi.so.40"},
      mpich{"libmpich.so.12", "libmpi.so.12", "libmpi_cray.so.12"};
  std::vector<std::string> names = job.launcher == Launcher::mpich ? mpich : open_mpi;
  const std::vector<std::string>& others = job.launcher == Launcher::mpich ? open_mpi : mpich;
  names.insert(names.end(), others.begin(), others.end());
  SharedLibrary library = SharedLibrary::open(names);
  if (!library) return nullptr;
  void* world = library.symbol("ompi_mpi_comm_world");
  void* byte = library.symbol("ompi_mpi_byte");
  if (world != nullptr && byte != nullptr) return gather_with<void*>(std::move(library), world, byte, job);
  return gather_with<int>(std::move(library), kMpichWorld, kMpichByte, job);
}

}  // namespace foretrain::micro
