// The made-up machine that the stand-ins are: two GPUs of fixed rates. What is known here, `foretrain
// calibrate fit` has to find again.
#pragma once

namespace standin {

inline constexpr int kGpus = 2;
inline constexpr double kMemoryBytes =
    720e6;  ///< as much as the tax needs; larger points meet "out of memory"
inline constexpr int kMultiprocessors = 108, kMajor = 8, kMinor = 0;

// Seconds of the host by call.
inline constexpr double kLaunchCall = 3.2e-6, kEventCall = 1.3e-6, kCopyCall = 2.6e-6, kOtherCall = 0.3e-6;
inline constexpr double kGraphCall = 5e-6, kGraphCallNode = 0.4e-6;
inline constexpr double kLaunchLatency = 7.5e-6;  ///< from the call to the kernel's first write
inline constexpr double kWake = 9e-6;             ///< from the end of the work to the end of the wait

// Kernels: the gap before each, the shortest, and rates.
inline constexpr double kGap = 0.9e-6, kMinimum = 2.4e-6, kGraphNode = 1.7e-6;
inline constexpr double kMemoryEfficiency = 0.80, kMemoryRate = 1555e9 * kMemoryEfficiency;
inline constexpr double kCacheBytes = 20e6,
                        kCacheSpeed =
                            3;  ///< so much of what a kernel moves has so many times the memory's rate

/// Share of the peak that large products and convolutions reach, and the peak (A100's), FLOP/s.
struct Rate {
  double gemm, conv, peak;
  double gemm_rate() const { return gemm * peak; }
  double conv_rate() const { return conv * peak; }
};
inline constexpr Rate kFp32{0.80, 0.60, 19.49e12}, kTf32{0.70, 0.45, 156e12}, kHalf{0.65, 0.40, 312e12},
    kFp64{0.85, 0, 9.746e12};

// Copies: latency and bytes per second of each way.
inline constexpr double kHostLatency = 1.9e-6, kHostRate = 21e9;
inline constexpr double kPeerLatency = 2.8e-6, kPeerRate = 4 * 20e9;
inline constexpr double kPageableRate = 6e9;

// NCCL: a collective takes latency and the bytes of its busiest link over the rate, if it has all channels.
inline constexpr int kChannels = 8;
inline constexpr double kCollectiveLatency = 14e-6, kCollectiveRate = 66e9;
inline constexpr double kTax = 0.09;  ///< how much longer compute takes beside a collective of all channels

}  // namespace standin
