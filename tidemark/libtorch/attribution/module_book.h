// What memory looked like at the borders of every module call, and how high it rose inside.
//
// The rules are those of PyTorch's MemTracker: one snapshot per call and moment, of the moments
// that the scheme keeps. Where the scheme's moments are told, as PyTorch's FSDPMemTracker has them,
// borders only say which modules run: while one does, its peaks may rise. Not for several threads
// at once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tidemark/libtorch/attribution/attribution.h"

namespace tidemark::attribution {

struct ModuleStats {
  std::array<std::vector<Rows>, kMoments> snapshots;
  std::vector<Moment> order;  // as they were first seen
};

class ModuleBook {
 public:
  // Without snapshots it only knows which modules run: for whoever writes a tape, which has it all.
  explicit ModuleBook(Attribution& attribution, bool snapshots = true)
      : attribution_(attribution), snapshots_(snapshots) {}

  ModuleNumber add_module();
  // Forgets what was recorded; calls that are open go on.
  void clear();

  void begin_forward(ModuleNumber module, std::uint32_t thread, bool in_backward);
  void end_forward(ModuleNumber module, std::uint32_t thread, bool in_backward);
  // The call of this module, and those inside it, ended without a word.
  void abandon_forward(ModuleNumber module, std::uint32_t thread);
  void begin_backward(ModuleNumber module, std::uint32_t thread);
  void end_backward(ModuleNumber module);
  // This moment of a module is now. In a backward, those around a forward are of a recomputation.
  void tell(ModuleNumber module, Moment moment, std::uint32_t thread, bool in_backward);
  // The backward of this thread is over, in order or not: what is still open in it is closed.
  void finish_backward(std::uint32_t thread);
  // Every open call ends: its end was lost with an exception.
  void close_all();

  bool is_active(ModuleNumber module) const { return modules_[module].active > 0; }
  // Called since the last clear.
  bool is_known(ModuleNumber module) const { return modules_[module].is_known; }
  bool has_stats(ModuleNumber module) const { return !modules_[module].stats.order.empty(); }
  const ModuleStats& stats(ModuleNumber module);
  // The totals that the module's last window began with or rose to.
  Rows local_peak(ModuleNumber module);

 private:
  struct Module {
    ModuleStats stats;
    Window forward, backward;
    int active = 0;              // open calls, forward and backward
    bool is_known = false;       // called since the last clear
    bool went_backward = false;  // as moments tell, since its last forward began
  };

  void record(Module& module, Moment state, Rows rows);
  void open(Module& module, bool in_backward);
  void go_on(Module& module);
  void begin_recomputing(ModuleNumber module, std::uint32_t thread);
  void release(Module& module);
  void close(Module& module);
  void stop_recomputing(ModuleNumber module, std::uint32_t thread);
  void keep_highest(Module& module);

  Attribution& attribution_;
  const bool snapshots_;
  std::vector<Module> modules_;
  struct OpenBackward {
    ModuleNumber module;
    std::uint32_t thread;
  };
  std::vector<OpenBackward> in_backward_;
  std::unordered_map<std::uint32_t, std::vector<ModuleNumber>> open_forwards_;  // outermost first
  std::unordered_map<std::uint32_t, ModuleNumber> recomputing_;  // the outermost one of a thread
};

}  // namespace tidemark::attribution
