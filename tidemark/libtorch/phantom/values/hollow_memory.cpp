// An allocator over the CPU's own that remembers, for each large block, whether it was written.
#include "tidemark/libtorch/phantom/values/hollow_memory.h"

#include <c10/core/CPUAllocator.h>

#include <mutex>
#include <unordered_map>

namespace tidemark::phantom {
namespace {

struct Block {
  c10::DataPtr inner;
  bool is_hollow = false;
};

std::mutex g_blocks_lock;
// The large ones that are alive, by address; never destroyed, since blocks outlive the library.
auto& g_blocks = *new std::unordered_map<const void*, Block>;
c10::Allocator* g_allocator_before = nullptr;

// oneDNN frees by address alone, whatever the size: a block must be found by its address.
void release_block(void* data) {
  std::unique_lock lock(g_blocks_lock);
  const auto block = g_blocks.extract(data);
  lock.unlock();
  if (!block) g_allocator_before->raw_deleter()(data);
}

class HollowAllocator final : public c10::Allocator {
 public:
  explicit HollowAllocator(c10::Allocator* inner) : inner_(inner) {}

  c10::DataPtr allocate(std::size_t size) override {
    c10::DataPtr pointer = inner_->allocate(size);
    if (static_cast<std::int64_t>(size) < kHollowBytes) return pointer;
    void* data = pointer.get();
    const c10::Device device = pointer.device();
    std::lock_guard lock(g_blocks_lock);
    g_blocks.insert_or_assign(data, Block{std::move(pointer)});
    return {data, data, &release_block, device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release_block; }
  void copy_data(void* to, const void* from, std::size_t count) const override {
    default_copy_data(to, from, count);
  }

 private:
  c10::Allocator* inner_;
};

Block* block_of(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.device().is_cpu() || !tensor.has_storage()) return nullptr;
  const c10::DataPtr& pointer = tensor.storage().data_ptr();
  if (pointer.get_deleter() != &release_block) return nullptr;
  std::lock_guard lock(g_blocks_lock);
  const auto found = g_blocks.find(pointer.get());
  return found == g_blocks.end() ? nullptr : &found->second;
}

}  // namespace

bool is_hollow(const at::Tensor& tensor) {
  const Block* block = block_of(tensor);
  return block && block->is_hollow;
}

bool may_be_hollow(const at::Tensor& tensor) {
  return block_of(tensor) && at::isFloatingType(tensor.scalar_type());
}

void set_hollow(const at::Tensor& tensor, bool hollow) {
  if (Block* block = block_of(tensor)) block->is_hollow = hollow;
}

void install_hollow_memory() {
  g_allocator_before = c10::GetCPUAllocator();
  // Blocks may outlive the session, so their allocator does too.
  static HollowAllocator allocator(g_allocator_before);
  c10::SetCPUAllocator(&allocator, /*priority=*/255);
}

void remove_hollow_memory() { c10::SetCPUAllocator(g_allocator_before, /*priority=*/255); }

}  // namespace tidemark::phantom
