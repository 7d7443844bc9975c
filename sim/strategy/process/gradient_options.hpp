// Options on the exchange of gradients between processes, which strategies of several frameworks have.
#pragma once

#include <cstdint>

namespace foretrain {

/// Compressed form of gradients on the wire.
enum class Compression : std::uint8_t { none, fp16, bf16, powersgd };
/// The library that carries DDP's collectives: NCCL between GPUs, or gloo over TCP between CPUs.
enum class Backend : std::uint8_t { nccl, gloo };

/// Options of ddp, horovod, byteps and mirrored. Each accepts the compressions that its framework knows.
struct GradientOptions {
  Compression compression = Compression::none;
};

}  // namespace foretrain
