// The table of large blocks, and what happens to one that is touched.
#include "tidemark/libtorch/phantom/values/hollow_memory.h"

#include <c10/core/CPUAllocator.h>

#include <map>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "tidemark/engine/base/units.h"
#include "tidemark/libtorch/phantom/log/session.h"
#include "tidemark/libtorch/phantom/values/host_faults.h"
#include "tidemark/libtorch/phantom/values/host_mapping.h"

namespace tidemark::phantom {
namespace {

struct Block {
  explicit Block(HostMapping pages) : mapping(std::move(pages)) {}

  HostMapping mapping;
  bool is_hollow = false;   // closed: its contents are the program's
  bool is_touched = false;  // ordinary memory: nothing is known of its contents
  bool is_counted = false;  // against the budget
  bool is_lost = false;     // it was read beyond the budget
  Program program;
};

struct HollowMemory {
  // Locks are taken in this order. Nobody touches tensors' memory while holding one.
  std::mutex record_lock;                  // one block gets new contents at a time
  std::mutex fill_lock;                    // one block is filled at a time
  std::mutex blocks_lock;                  // the table, and what is in it
  std::map<std::uintptr_t, Block> blocks;  // the large ones that are alive, by address
  std::int64_t budget = 0, filled = 0;
  c10::Allocator* allocator_before = nullptr;
};
auto& g_memory = *new HollowMemory;      // never destroyed: blocks outlive the library
thread_local bool t_is_filling = false;  // of the thread that fills

std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

Block* block_at(const void* address) {
  auto next = g_memory.blocks.upper_bound(number_of(address));
  if (next == g_memory.blocks.begin()) return nullptr;
  Block& block = std::prev(next)->second;
  return block.mapping.contains(address) ? &block : nullptr;
}

// oneDNN frees by address alone, whatever the size: a block must be found by its address.
void release_block(void* data) {
  std::unique_lock lock(g_memory.blocks_lock);
  const auto block = g_memory.blocks.extract(number_of(data));
  if (block && block.mapped().is_counted)
    g_memory.filled -= static_cast<std::int64_t>(block.mapped().mapping.bytes());
  lock.unlock();
  if (block) c10::profiledCPUMemoryReporter().Delete(data);
  else g_memory.allocator_before->raw_deleter()(data);
}

class HollowAllocator final : public c10::Allocator {
 public:
  explicit HollowAllocator(c10::Allocator* inner) : inner_(inner) {}

  c10::DataPtr allocate(std::size_t size) override {
    if (static_cast<std::int64_t>(size) < kHollowBytes) return inner_->allocate(size);
    HostMapping mapping(size);
    void* data = mapping.data();
    if (!data) return inner_->allocate(size);  // which says what is wrong
    {
      std::lock_guard lock(g_memory.blocks_lock);
      g_memory.blocks.try_emplace(number_of(data), std::move(mapping));
    }
    c10::profiledCPUMemoryReporter().New(data, size);
    return {data, data, &release_block, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release_block; }
  void copy_data(void* to, const void* from, std::size_t count) const override {
    default_copy_data(to, from, count);
  }

 private:
  c10::Allocator* inner_;
};

// Call with the table locked.
Block* block_of(const at::Tensor& tensor) {
  return is_over_block(tensor) ? block_at(tensor.storage().data_ptr().get()) : nullptr;
}

void tell_of_loss(const Program& program, const std::string& why) {
  if (StorageLog* log = storage_log())
    log->diagnose("values-given-up", Severity::Warning, describe_source(program->line),
                  "the values of a CPU tensor that was made here were taken as zeros: " + why);
}

// Zeros, from now on.
void lose_values(Block& block, const std::string& why) {
  Program program;
  {
    std::lock_guard lock(g_memory.blocks_lock);
    block.mapping.open();
    block.is_hollow = false;
    block.is_touched = block.is_lost = true;
    program = std::move(block.program);
  }
  tell_of_loss(program, why);
}

bool fits_budget(const Block& block) {
  std::lock_guard lock(g_memory.blocks_lock);
  return g_memory.filled + static_cast<std::int64_t>(block.mapping.bytes()) <= g_memory.budget;
}

// Puts the filled pages in place, unless the block has another program by now.
bool publish(Block& block, HostMapping filled, const Program& program) {
  std::lock_guard lock(g_memory.blocks_lock);
  if (block.program != program) return false;
  if (!block.mapping.take(std::move(filled)))
    throw std::runtime_error("the system keeps no more maps of memory");
  block.is_hollow = false;
  block.is_touched = block.is_counted = true;
  block.program.reset();
  g_memory.filled += static_cast<std::int64_t>(block.mapping.bytes());
  return true;
}

void run_program(Block& block) {
  bool is_done = false;
  while (!is_done) {
    Program program;
    {
      std::lock_guard lock(g_memory.blocks_lock);
      program = block.program;
    }
    HostMapping filled(block.mapping.bytes());
    if (!filled.data()) throw std::runtime_error("the system has no memory for them");
    replay(program, filled.data());
    is_done = publish(block, std::move(filled), program);
  }
}

void fill(Block& block) {
  t_is_filling = true;
  try {
    if (fits_budget(block)) run_program(block);
    else
      lose_values(block, "with them, what was read of such tensors would take more than " +
                             format_bytes(g_memory.budget) + " (--host-memory)");
  } catch (const c10::Error& error) {
    lose_values(block, error.what_without_backtrace());
  } catch (const std::exception& error) {
    lose_values(block, error.what());
  }
  t_is_filling = false;
}

// None of the touching thread's state (Python, autograd, modes, a parallel region) may reach the
// operators.
void fill_apart(Block& block) {
  std::thread apart;
  try {
    apart = std::thread([&] { fill(block); });
  } catch (const std::system_error&) {  // no more threads
    return fill(block);
  }
  apart.join();
}

bool fill_at(const void* address) {
  std::lock_guard filling(g_memory.fill_lock);
  Block* block = nullptr;
  {
    std::lock_guard lock(g_memory.blocks_lock);
    block = block_at(address);
    if (!block) return false;
    if (!block->is_hollow) return true;  // another thread was quicker
  }
  fill_apart(*block);
  return true;
}

}  // namespace

std::unique_lock<std::mutex> lock_recording() { return std::unique_lock(g_memory.record_lock); }

bool is_over_block(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().is_cpu() && tensor.has_storage() &&
         tensor.storage().data_ptr().get_deleter() == &release_block;
}

std::optional<Contents> untouched_contents(const at::Tensor& tensor) {
  std::lock_guard lock(g_memory.blocks_lock);
  Block* block = block_of(tensor);
  if (!block || block->is_touched) return std::nullopt;
  block->is_touched = !block->is_hollow && !block->mapping.is_untouched();
  if (block->is_touched) return std::nullopt;
  return Contents{block->program, block->mapping.bytes(), Layout::of(tensor)};
}

bool set_contents(const at::Tensor& tensor, Program program) {
  std::lock_guard lock(g_memory.blocks_lock);
  hear_touches(&fill_at);
  Block* block = block_of(tensor);
  const bool is_hollow = program != nullptr;
  if (is_hollow != block->is_hollow &&
      !(is_hollow ? block->mapping.close() : block->mapping.open()))
    return false;
  block->is_hollow = is_hollow;
  block->program = std::move(program);
  return true;
}

void drop_contents(const at::Tensor& tensor) {
  std::lock_guard lock(g_memory.blocks_lock);
  Block* block = block_of(tensor);
  if (!block || !block->is_hollow || !block->mapping.open()) return;
  block->is_hollow = false;
  block->program.reset();
}

void fill_storage(const c10::Storage& storage) {
  if (storage.data_ptr().get_deleter() == &release_block) fill_at(storage.data_ptr().get());
}

bool has_lost_values(const at::Tensor& tensor) {
  if (!is_over_block(tensor)) return false;
  std::lock_guard lock(g_memory.blocks_lock);
  const Block* block = block_of(tensor);
  return block && block->is_lost;
}

bool is_filling() { return t_is_filling; }

void install_hollow_memory(std::int64_t budget_bytes) {
  g_memory.budget = budget_bytes;
  g_memory.allocator_before = c10::GetCPUAllocator();
  // Blocks may outlive the session, so their allocator does too.
  static HollowAllocator allocator(g_memory.allocator_before);
  c10::SetCPUAllocator(&allocator, /*priority=*/255);
}

void remove_hollow_memory() { c10::SetCPUAllocator(g_memory.allocator_before, /*priority=*/255); }

void watch_hollow_memory() {
  std::lock_guard lock(g_memory.blocks_lock);
  hear_touches(&fill_at);
}

void hold_hollow_memory() {
  g_memory.record_lock.lock();
  g_memory.fill_lock.lock();
  g_memory.blocks_lock.lock();
}

void let_go_of_hollow_memory() {
  g_memory.blocks_lock.unlock();
  g_memory.fill_lock.unlock();
  g_memory.record_lock.unlock();
}

}  // namespace tidemark::phantom
