// The machine that is not there: how many GPUs, of which kind, and each thread's place on them.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <atomic>
#include <cstdint>
#include <string>

namespace tidemark::phantom {

struct GpuModel {
  std::string name = "NVIDIA H100 80GB HBM3";
  std::int64_t memory_bytes = std::int64_t{80} << 30;
  int major = 9, minor = 0;  // compute capability
  int multiprocessors = 132;
};

// Sixteen is what one host has at most.
inline constexpr int kMaxGpus = 16;

class VirtualGpus {
 public:
  void open(int count, const GpuModel& model);
  void close() { count_ = 0; }

  bool is_open() const { return count_ > 0; }
  int count() const { return count_; }
  const GpuModel& model() const { return model_; }
  // Grows with every opening: what a thread chose before counts no more.
  static std::uint32_t openings() { return openings_.load(std::memory_order_relaxed); }

 private:
  static constinit inline std::atomic<std::uint32_t> openings_{0};
  int count_ = 0;
  GpuModel model_;
};

// The one machine of this process.
VirtualGpus& virtual_gpus();

// This thread's current device and, for each device, its current stream.
c10::DeviceIndex current_device();
void set_current_device(c10::DeviceIndex device);
c10::StreamId current_stream(c10::DeviceIndex device);
void set_current_stream(c10::DeviceIndex device, c10::StreamId stream);
// The next of the device's streams of this priority (0, or lower to come first): there are 32,
// which are given out in turn.
c10::StreamId next_stream(c10::DeviceIndex device, int priority);

// The device itself, or the current one where the index is left out.
c10::Device with_index(c10::Device device);

}  // namespace tidemark::phantom
