// Memory that CUDA's libraries take inside an operator, to give it back at its end or to keep it.
#pragma once

#include <array>
#include <string_view>

#include "tidemark/libtorch/phantom/cuda/matmul_workspaces.h"
#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

// A storage of category Workspace, until it is dropped. None for no bytes.
c10::Storage hold_workspace(c10::DeviceIndex device, std::int64_t bytes);

// What a call takes after each of its first results is there, and when all are.
struct Workspaces {
  std::array<std::int64_t, 2> bytes_after{};
  c10::DeviceIndex device = 0;
  MatmulLibrary matmul = MatmulLibrary::None;  // keeps what it takes
  std::int64_t bytes_beside_all = 0;           // the operator cannot do without

  // A measured call beats the rule.
  void set_measured(std::int64_t bytes, c10::DeviceIndex on_device) {
    device = on_device;
    bytes_after = {};
    bytes_beside_all = bytes;
  }

  void take_after(std::size_t result) const {
    if (result == 0) keep_matmul_workspace(device, matmul);
    if (result < bytes_after.size() && bytes_after[result] > 0) take(bytes_after[result]);
  }
  void take_beside_all() const { hold_workspace(device, bytes_beside_all); }

 private:
  void take(std::int64_t bytes) const;
};

// Looks at a call's arguments.
using WorkspaceRule = Workspaces (*)(const CallFrame& frame);

// Null for an operator that takes none, or whose workspace nobody has measured. The name may
// have an overload: "aten::mm.out".
WorkspaceRule find_workspaces(std::string_view name);

}  // namespace tidemark::phantom
