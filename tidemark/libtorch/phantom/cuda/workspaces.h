// Memory that CUDA's libraries take inside an operator, to give it back at its end or to keep it.
#pragma once

#include <string_view>
#include <utility>

#include "tidemark/libtorch/phantom/cuda/matmul_workspaces.h"
#include "tidemark/libtorch/phantom/cuda/pieces.h"
#include "tidemark/libtorch/phantom/kernel/call_frame.h"

namespace tidemark::phantom {

// A storage of category Workspace, until it is dropped. None for no bytes.
c10::Storage hold_workspace(c10::DeviceIndex device, std::int64_t bytes);

// What a call takes while its results are born.
struct Workspaces {
  Pieces pieces;
  MatmulLibrary matmul = MatmulLibrary::None;  // keeps what it takes
  bool can_do_without = false;                 // where a piece does not fit, the call takes none

  // A measured call beats the rule.
  void set_measured(const Pieces& measured) {
    pieces = measured;
    can_do_without = false;
  }
  bool are_none() const { return pieces.is_empty() && matmul == MatmulLibrary::None; }

  // Calls bear(i) for each of so many tensors, in the order in which a real call makes them, and
  // takes all else in between. A library's workspace is taken when it is called: after copies of
  // what it reads.
  template <class Bear>
  void follow(c10::DeviceIndex device, std::size_t tensors, Bear&& bear) const {
    for (std::size_t i = 0; i < tensors; ++i)
      if (!pieces.names_result(i)) bear(i);
    MatmulLibrary called = matmul;
    const auto call = [&] {
      keep_matmul_workspace(device, std::exchange(called, MatmulLibrary::None));
    };
    c10::SmallVector<c10::Storage, 4> taken;
    for (const Piece& piece : pieces) {
      const auto number = static_cast<std::size_t>(piece.value);
      if (piece.kind == Piece::Kind::GiveBack) call();
      if (piece.kind == Piece::Kind::Take) taken.push_back(take(device, piece.value));
      else if (piece.kind == Piece::Kind::Result && number < tensors) bear(number);
      else if (piece.kind == Piece::Kind::GiveBack && number < taken.size()) taken[number] = {};
    }
    call();
  }

 private:
  c10::Storage take(c10::DeviceIndex device, std::int64_t bytes) const;
};

// Looks at a call's arguments.
using WorkspaceRule = Workspaces (*)(const CallFrame& frame);

// Null for an operator that takes none, or whose workspace nobody has measured. The name may
// have an overload: "aten::mm.out".
WorkspaceRule find_workspaces(std::string_view name);

}  // namespace tidemark::phantom
