// 16-bit formats are widened by hand on the host: no header of CUDA is needed for it.
#include "calibrate/micro/gpu/read_back.hpp"

#include <bit>
#include <cmath>
#include <cstring>

namespace foretrain::micro {

namespace {

double from_fp16(std::uint16_t bits) {
  const int sign = bits >> 15, exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value = std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 0) value = std::ldexp(fraction, -24);
  if (exponent == 31) value = fraction == 0 ? INFINITY : NAN;
  return sign != 0 ? -value : value;
}

double from_bf16(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
}

template <class T>
T read_as(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

double widened(Element element, const char* at) {
  switch (element) {
    case Element::fp16:
      return from_fp16(read_as<std::uint16_t>(at));
    case Element::bf16:
      return from_bf16(read_as<std::uint16_t>(at));
    case Element::fp32:
      return static_cast<double>(read_as<float>(at));
    case Element::fp64:
      return read_as<double>(at);
  }
  return NAN;
}

/// A zeroed number on the GPU that `add_to` adds to.
template <class T, class AddTo>
T device_total(const Stream& stream, const AddTo& add_to) {
  const DeviceBuffer total(sizeof(T));
  T value = 0;
  FORETRAIN_CUDA(cudaMemsetAsync(total.data(), 0, sizeof(T), stream.get()));
  add_to(total.as<T>());
  FORETRAIN_CUDA(cudaMemcpyAsync(&value, total.data(), sizeof value, cudaMemcpyDeviceToHost, stream.get()));
  stream.wait();
  return value;
}

}  // namespace

Element element_of(std::string_view precision) {
  if (precision == "fp16") return Element::fp16;
  if (precision == "bf16") return Element::bf16;
  return precision == "fp64" ? Element::fp64 : Element::fp32;
}

int bytes_of(Element element) { return element == Element::fp64 ? 8 : element == Element::fp32 ? 4 : 2; }

std::vector<double> read_elements(Element element, const void* from, std::int64_t count,
                                  const Stream& stream) {
  const auto size = static_cast<std::size_t>(bytes_of(element));
  std::vector<char> bytes(static_cast<std::size_t>(count) * size);
  FORETRAIN_CUDA(cudaMemcpyAsync(bytes.data(), from, bytes.size(), cudaMemcpyDeviceToHost, stream.get()));
  stream.wait();
  std::vector<double> values;
  for (std::size_t at = 0; at < bytes.size(); at += size)
    values.push_back(widened(element, bytes.data() + at));
  return values;
}

double device_sum(Element element, const void* from, std::int64_t count, const Stream& stream) {
  return device_total<double>(
      stream, [&](double* total) { FORETRAIN_CUDA(launch_sum(element, from, count, total, stream.get())); });
}

std::int64_t count_wrong(Element element, const void* from, std::int64_t count, double value,
                         double tolerance, const Stream& stream) {
  return static_cast<std::int64_t>(device_total<unsigned long long>(stream, [&](unsigned long long* wrong) {
    FORETRAIN_CUDA(launch_count_wrong(element, from, count, value, tolerance, wrong, stream.get()));
  }));
}

}  // namespace foretrain::micro
