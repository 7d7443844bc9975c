// Contents are functions, so that a product of gigabytes costs what is looked at. Nothing sleeps and nothing
// is random: two runs agree.
#include "tests/standin/device.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/standin/constants.hpp"

namespace standin {

namespace {

constexpr double kClockRead = 20e-9;

std::atomic<bool> is_virtual{false};
thread_local double clock_s = 1000;

/// A range that a kernel wrote; `origin` is where its element 0 would be.
struct Overlay {
  char *begin, *end, *origin;
  Element element;
  Content content;
};

struct Allocation {
  std::size_t bytes = 0;
  int device = 0;
  std::vector<Overlay> overlays;
};

std::map<char*, Allocation>& allocations() {
  static auto* all = new std::map<char*, Allocation>();  // outlives every static that frees memory
  return *all;
}

struct GpuState {
  double used = 0;
  double collective_begin = -1, collective_end = -1, tax = 0;
};
GpuState gpus[kGpus];

std::size_t size_of(Element element) {
  return element == Element::fp64 ? 8 : element == Element::fp32 ? 4 : 2;
}

std::map<char*, Allocation>::iterator holding(const void* at) {
  char* place = const_cast<char*>(static_cast<const char*>(at));
  auto next = allocations().upper_bound(place);
  if (next == allocations().begin()) return allocations().end();
  --next;
  return place < next->first + next->second.bytes ? next : allocations().end();
}

/// Cuts [begin, end) out of what was written.
void forget(Allocation& allocation, char* begin, char* end) {
  std::vector<Overlay> kept;
  for (Overlay& one : allocation.overlays) {
    if (one.begin < begin)
      kept.push_back({one.begin, std::min(one.end, begin), one.origin, one.element, one.content});
    if (one.end > end)
      kept.push_back({std::max(one.begin, end), one.end, one.origin, one.element, one.content});
  }
  std::erase_if(kept, [](const Overlay& one) { return one.begin >= one.end; });
  allocation.overlays = std::move(kept);
}

std::uint16_t half_bits(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::abs(value);
  if (size >= 65520) return static_cast<std::uint16_t>(sign | 0x7c00);
  if (size < std::ldexp(1, -14)) return static_cast<std::uint16_t>(sign | std::lrint(std::ldexp(size, 24)));
  int exponent = 0;
  const double fraction = std::frexp(size, &exponent);
  // A fraction that rounds up to the next power of two carries into the exponent by itself.
  return static_cast<std::uint16_t>(sign | ((exponent + 14) * 1024 + std::lrint((2 * fraction - 1) * 1024)));
}

std::uint16_t brain_bits(double value) {
  std::uint32_t bits = 0;
  const float narrow = static_cast<float>(value);
  std::memcpy(&bits, &narrow, sizeof bits);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

void encode(double value, Element element, char* to) {
  const auto narrow = static_cast<float>(value);
  const std::uint16_t bits = element == Element::fp16 ? half_bits(value) : brain_bits(value);
  if (element == Element::fp64) std::memcpy(to, &value, 8);
  if (element == Element::fp32) std::memcpy(to, &narrow, 4);
  if (element == Element::fp16 || element == Element::bf16) std::memcpy(to, &bits, 2);
}

double decode(const char* from, Element element) {
  double wide = 0;
  float narrow = 0;
  std::uint16_t bits = 0;
  if (element == Element::fp64) return std::memcpy(&wide, from, 8), wide;
  if (element == Element::fp32) return std::memcpy(&narrow, from, 4), static_cast<double>(narrow);
  std::memcpy(&bits, from, 2);
  if (element == Element::fp16) return half_value(bits);
  const std::uint32_t widened = static_cast<std::uint32_t>(bits) << 16;
  return std::memcpy(&narrow, &widened, 4), static_cast<double>(narrow);
}

double value_in(const Overlay& overlay, const char* at) {
  return overlay.content.at((at - overlay.origin) / static_cast<std::ptrdiff_t>(size_of(overlay.element)));
}

/// Writes what a kernel left in [begin, end) to `to`, which stands for `begin`.
void write_out(const Allocation& allocation, const char* begin, const char* end, char* to) {
  for (const Overlay& one : allocation.overlays) {
    const auto size = static_cast<std::ptrdiff_t>(size_of(one.element));
    const char* at = one.begin >= begin ? one.begin : begin;
    for (; at + size <= std::min<const char*>(end, one.end); at += size)
      encode(value_in(one, at), one.element, to + (at - begin));
  }
}

const char* wishes() {
  const char* text = std::getenv("FORETRAIN_STANDIN_FAIL");
  return text == nullptr ? "" : text;
}

struct Wish {
  int code = 0, from = 1;
};

/// "a=2,b=3@5" by name.
const std::map<std::string, Wish>& wanted() {
  static const auto* all = [] {
    auto* table = new std::map<std::string, Wish>();
    std::string text = wishes();
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size()), equals = text.find('=', begin);
      const std::string name = text.substr(begin, std::min(equals, end) - begin);
      Wish wish;
      if (equals < end) std::sscanf(text.c_str() + equals + 1, "%d@%d", &wish.code, &wish.from);
      (*table)[name] = wish;
      begin = end + 1;
    }
    return table;
  }();
  return *all;
}

}  // namespace

double now() { return clock_s; }
void advance(double seconds) { clock_s += seconds; }
void advance_to(double time) { clock_s = std::max(clock_s, time); }

int begin_call(const char* name, double seconds) {
  static std::map<std::string, int> calls;
  is_virtual = true;
  advance(seconds);
  const auto wish = wanted().find(name);
  if (wish == wanted().end()) return 0;
  if (++calls[name] < wish->second.from) return 0;
  if (wish->second.code < 0) static_cast<void>(::raise(-wish->second.code));
  return wish->second.code;
}

bool is_wanted(const char* name) { return wanted().count(name) > 0; }

Content Content::all(double value) {
  return {[value](std::int64_t) { return value; }, value, {}};
}

double memory_bytes() {
  const char* wanted = std::getenv("FORETRAIN_STANDIN_MEMORY");
  return wanted == nullptr ? kMemoryBytes : std::atof(wanted);
}

bool is_on_device(const void* at) { return holding(at) != allocations().end(); }

void* allocate(std::size_t bytes, int device) {
  GpuState& gpu = gpus[device];
  if (gpu.used + static_cast<double>(bytes) > memory_bytes()) return nullptr;
  void* data =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  gpu.used += static_cast<double>(bytes);
  allocations()[static_cast<char*>(data)] = {bytes, device, {}};
  return data;
}

bool release(void* data) {
  const auto at = allocations().find(static_cast<char*>(data));
  if (at == allocations().end()) return false;
  gpus[at->second.device].used -= static_cast<double>(at->second.bytes);
  ::munmap(data, at->second.bytes);
  allocations().erase(at);
  return true;
}

/// Of few elements the values themselves: sums in place would otherwise become sums of sums without end.
Content settled(std::int64_t count, Content content) {
  constexpr std::int64_t kFew = 1024;
  if (count > kFew || content.constant) return content;
  const auto values = std::make_shared<std::vector<double>>();
  for (std::int64_t i = 0; i < count; ++i) values->push_back(content.at(i));
  content.at = [values](std::int64_t i) { return (*values)[static_cast<std::size_t>(i)]; };
  return content;
}

void put(void* to, std::int64_t count, Element element, Content content) {
  content = settled(count, std::move(content));
  Allocation& allocation = holding(to)->second;
  char *begin = static_cast<char*>(to), *end = begin + static_cast<std::size_t>(count) * size_of(element);
  forget(allocation, begin, end);
  allocation.overlays.push_back({begin, end, begin, element, std::move(content)});
}

Content view(const void* from, std::int64_t count, Element element) {
  const char *begin = static_cast<const char*>(from),
             *end = begin + static_cast<std::size_t>(count) * size_of(element);
  for (const Overlay& one : holding(from)->second.overlays) {
    if (one.begin > begin || one.end < end) continue;
    if (one.begin == begin && one.end == end && one.origin == begin) return one.content;
    const std::int64_t shift = (begin - one.origin) / static_cast<std::ptrdiff_t>(size_of(one.element));
    return {[at = one.content.at, shift](std::int64_t i) { return at(i + shift); }, one.content.constant, {}};
  }
  return {[overlays = holding(from)->second.overlays, begin, element](std::int64_t i) {
            const char* at = begin + static_cast<std::size_t>(i) * size_of(element);
            for (const Overlay& one : overlays) {
              if (one.begin <= at && at < one.end) return value_in(one, at);
            }
            return decode(at, element);
          },
          {},
          {}};
}

void move_bytes(void* to, const void* from, std::size_t bytes) {
  char* target = static_cast<char*>(to);
  const char* source = static_cast<const char*>(from);
  std::memcpy(target, source, bytes);
  if (const auto holds = holding(source); holds != allocations().end())
    write_out(holds->second, source, source + bytes, target);
  if (const auto holds = holding(target); holds != allocations().end())
    forget(holds->second, target, target + bytes);
}

void clear_bytes(void* to, std::size_t bytes) {
  constexpr std::size_t kSmall = 4096;
  if (bytes > kSmall) return put(to, static_cast<std::int64_t>(bytes / 4), Element::fp32, Content::all(0));
  std::memset(to, 0, bytes);
  forget(holding(to)->second, static_cast<char*>(to), static_cast<char*>(to) + bytes);
}

void enqueue(CUstream_st& stream, double seconds, bool is_kernel) {
  const double begin = std::max(now() - kLaunchCall + kLaunchLatency, stream.ready + (is_kernel ? kGap : 0));
  const GpuState& gpu = gpus[stream.device];
  const bool beside = is_kernel && begin >= gpu.collective_begin && begin < gpu.collective_end;
  stream.ready = begin + seconds * (beside ? 1 + gpu.tax : 1);
}

void enqueue_together(const std::vector<CUstream_st*>& streams, double seconds, double tax) {
  double begin = now() - kLaunchCall + kLaunchLatency;
  for (const CUstream_st* stream : streams) begin = std::max(begin, stream->ready);
  for (CUstream_st* stream : streams) {
    GpuState& gpu = gpus[stream->device];
    if (begin > gpu.collective_end) gpu.collective_begin = begin;
    gpu.collective_end = stream->ready = begin + seconds, gpu.tax = tax;
  }
}

double memory_seconds(double bytes) {
  const double cached = std::min(bytes, kCacheBytes);
  return kMinimum + cached / (kCacheSpeed * kMemoryRate) + (bytes - cached) / kMemoryRate;
}

double compute_seconds(double operations, double rate, double bytes) {
  return kMinimum + std::max(operations / rate, bytes / kMemoryRate);
}

/// What <chrono> and everybody else in the process reads.
extern "C" int clock_gettime(clockid_t which, timespec* time) noexcept {
  if (which != CLOCK_MONOTONIC || !is_virtual)
    return static_cast<int>(::syscall(SYS_clock_gettime, which, time));
  advance(kClockRead);
  time->tv_sec = static_cast<time_t>(clock_s);
  time->tv_nsec = static_cast<long>((clock_s - std::floor(clock_s)) * 1e9);
  return 0;
}

}  // namespace standin
