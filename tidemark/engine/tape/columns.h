// The events of a tape, column by column: 38 bytes an event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

#include "tidemark/engine/base/large_pages.h"
#include "tidemark/engine/tape/event.h"

namespace tidemark {

// An array that grows without filling or copying what it need not: large blocks move by
// remapping, and a reader overwrites every byte anyway.
template <class T>
class Column {
 public:
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  // Keeps the first values; the rest is not initialised.
  void reallocate(std::size_t capacity) {
    void* grown = std::realloc(static_cast<void*>(data_.get()), capacity * sizeof(T));
    static_cast<void>(grown ? data_.release() : nullptr);
    own(grown, capacity);
  }
  // Forgets all values; the new are all of zero bytes, which fresh memory of a system is anyway.
  void allocate_zeros(std::size_t capacity) { own(std::calloc(capacity, sizeof(T)), capacity); }

 private:
  void own(void* memory, std::size_t capacity) {
    if (!memory) throw std::bad_alloc();
    data_.reset(static_cast<T*>(memory));
    prefer_large_pages(memory, capacity * sizeof(T));
  }
  struct Free {
    void operator()(T* data) const { std::free(static_cast<void*>(data)); }
  };
  std::unique_ptr<T, Free> data_;
};

// Some of the columns of an event.
struct ColumnSet {
  bool time_ns = false, bytes = false, subject = false, scope = false, stack = false, call = false,
       stream = false, kind = false, category = false, phase = false, device = false;

  constexpr ColumnSet operator|(const ColumnSet& o) const {
    return {time_ns || o.time_ns,   bytes || o.bytes, subject || o.subject, scope || o.scope,
            stack || o.stack,       call || o.call,   stream || o.stream,   kind || o.kind,
            category || o.category, phase || o.phase, device || o.device};
  }
};
inline constexpr ColumnSet kAllColumns = {true, true, true, true, true, true,
                                          true, true, true, true, true};

// Rows beside each other, of each column.
struct EventRows {
  std::span<std::int64_t> time_ns, bytes;
  std::span<std::uint32_t> subject, scope, stack, call;
  std::span<std::uint16_t> stream;
  std::span<std::uint8_t> kind, category, phase, device;

  std::size_t size() const { return kind.size(); }
  // Calls visit(values) for each column, in the order of the file.
  template <class Visit>
  void for_each_column(Visit&& visit) const {
    visit(time_ns), visit(bytes);
    visit(subject), visit(scope), visit(stack), visit(call);
    visit(stream);
    visit(kind), visit(category), visit(phase), visit(device);
  }
};

class EventColumns {
 public:
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  void clear() { size_ = 0; }
  void reserve(std::size_t capacity);
  // Adds rows whose values are not initialised; the caller fills them.
  void grow_to(std::size_t size);
  // They stay where they are until more is added than there is capacity for.
  EventRows rows(std::size_t first, std::size_t count);

  void push(const Event& e) {
    if (size_ == capacity_) reserve(capacity_ < 1024 ? 1024 : capacity_ + capacity_ / 2);
    set(size_++, e);
  }

  Event operator[](std::size_t i) const { return row<kAllColumns>(i); }
  // An event of which only some columns are read; the others are as in an event of nothing.
  template <ColumnSet kColumns>
  Event row(std::size_t i) const {
    Event e;
    if constexpr (kColumns.time_ns) e.time_ns = time_ns_.data()[i];
    if constexpr (kColumns.bytes) e.bytes = bytes_.data()[i];
    if constexpr (kColumns.subject) e.subject = subject_.data()[i];
    if constexpr (kColumns.scope) e.scope = ScopeId(scope_.data()[i]);
    if constexpr (kColumns.stack) e.stack = StackId(stack_.data()[i]);
    if constexpr (kColumns.call) e.call = CallId(call_.data()[i]);
    if constexpr (kColumns.stream) e.stream = StreamId(stream_.data()[i]);
    if constexpr (kColumns.kind) e.kind = static_cast<Kind>(kind_.data()[i]);
    if constexpr (kColumns.category) e.category = static_cast<Category>(category_.data()[i]);
    if constexpr (kColumns.phase) e.phase = static_cast<Phase>(phase_.data()[i]);
    if constexpr (kColumns.device) e.device = DeviceId(device_.data()[i]);
    return e;
  }

  // Calls visit(name, span of values) for each column, in the order of the file.
  template <class Visit>
  void for_each_column(Visit&& visit) const {
    visit("time_ns", std::span(time_ns_.data(), size_));
    visit("bytes", std::span(bytes_.data(), size_));
    visit("subject", std::span(subject_.data(), size_));
    visit("scope", std::span(scope_.data(), size_));
    visit("stack", std::span(stack_.data(), size_));
    visit("call", std::span(call_.data(), size_));
    visit("stream", std::span(stream_.data(), size_));
    visit("kind", std::span(kind_.data(), size_));
    visit("category", std::span(category_.data(), size_));
    visit("phase", std::span(phase_.data(), size_));
    visit("device", std::span(device_.data(), size_));
  }

  std::span<const std::int64_t> times_ns() const { return {time_ns_.data(), size_}; }
  std::span<const std::int64_t> bytes() const { return {bytes_.data(), size_}; }
  std::span<const std::uint32_t> subjects() const { return {subject_.data(), size_}; }
  std::span<const std::uint32_t> scopes() const { return {scope_.data(), size_}; }
  std::span<const std::uint32_t> stacks() const { return {stack_.data(), size_}; }
  std::span<const std::uint32_t> calls() const { return {call_.data(), size_}; }
  std::span<const std::uint16_t> streams() const { return {stream_.data(), size_}; }
  std::span<const std::uint8_t> kinds() const { return {kind_.data(), size_}; }
  std::span<const std::uint8_t> categories() const { return {category_.data(), size_}; }
  std::span<const std::uint8_t> phases() const { return {phase_.data(), size_}; }
  std::span<const std::uint8_t> devices() const { return {device_.data(), size_}; }

  static constexpr std::size_t kCount = 11;
  static constexpr std::size_t kBytesPerEvent = 2 * 8 + 4 * 4 + 2 + 4;

 private:
  void set(std::size_t i, const Event& e) {
    time_ns_.data()[i] = e.time_ns;
    bytes_.data()[i] = e.bytes;
    subject_.data()[i] = e.subject;
    scope_.data()[i] = e.scope.value;
    stack_.data()[i] = e.stack.value;
    call_.data()[i] = e.call.value;
    stream_.data()[i] = e.stream.value;
    kind_.data()[i] = static_cast<std::uint8_t>(e.kind);
    category_.data()[i] = static_cast<std::uint8_t>(e.category);
    phase_.data()[i] = static_cast<std::uint8_t>(e.phase);
    device_.data()[i] = e.device.value;
  }

  Column<std::int64_t> time_ns_, bytes_;
  Column<std::uint32_t> subject_, scope_, stack_, call_;
  Column<std::uint16_t> stream_;
  Column<std::uint8_t> kind_, category_, phase_, device_;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace tidemark
