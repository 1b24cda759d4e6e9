// The layout of the scratch folder, its shared counter, and the list of what is let through.
#include "tidemark/held_files/scratch.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "tidemark/held_files/system_calls.h"

namespace tidemark::held_files {
namespace {

struct Holding {
  std::string scratch;
  std::vector<std::string> let_through;
  std::atomic<std::uint64_t>* changes = nullptr;
};

// Set once, and never destroyed: files are opened before all else is there, and until all is gone.
Holding& holding() {
  static Holding& only = *new Holding;
  return only;
}

std::atomic<bool> g_is_holding = false;

constexpr std::array<std::string_view, 3> kSystemFolders = {"/dev", "/proc", "/sys"};
// Folders of caches, by a component of the path: compiled code that is loaded by its real name.
constexpr std::array<std::string_view, 3> kCacheParts = {"/__pycache__", "/torchinductor_",
                                                         "/torch_extensions"};

bool is_below(std::string_view name, std::string_view folder) {
  return name.starts_with(folder) && (name.size() == folder.size() || name[folder.size()] == '/');
}

std::atomic<std::uint64_t>* map_changes(const std::string& path) {
  const int file = kernel::open(path, O_RDWR | O_CREAT, 0600);
  if (file < 0) return nullptr;
  void* page = nullptr;
  if (syscall(SYS_ftruncate, file, sizeof(std::uint64_t)) == 0)
    page = mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  kernel::close(file);
  return page == MAP_FAILED ? nullptr : static_cast<std::atomic<std::uint64_t>*>(page);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string read_all(const std::string& path) {
  std::string text;
  const int file = kernel::open(path, O_RDONLY);
  if (file < 0) return text;
  char part[4096];
  for (long n; (n = syscall(SYS_read, file, part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(n));
  kernel::close(file);
  return text;
}

}  // namespace

bool begin_holding(const std::string& scratch, std::string_view let_through) {
  for (const char* folder : {"/held", "/gone", "/fresh"}) kernel::mkdir(scratch + folder, 0700);
  Holding& all = holding();
  all.changes = map_changes(scratch + "/changes");
  if (!all.changes) return false;
  all.scratch = scratch;
  all.let_through = split(let_through, ':');
  g_is_holding = true;
  return true;
}

bool is_holding() { return g_is_holding.load(std::memory_order_acquire); }
bool has_changes() { return holding().changes->load(std::memory_order_relaxed) != 0; }
void note_change() { holding().changes->fetch_add(1, std::memory_order_relaxed); }

std::string held(std::string_view name) { return (holding().scratch + "/held").append(name); }
std::string gone(std::string_view name) { return (holding().scratch + "/gone").append(name); }

std::string fresh() {
  static std::atomic<std::uint64_t> number = 0;
  return holding().scratch + "/fresh/" + std::to_string(getpid()) + "-" + std::to_string(number++);
}

bool is_in_scratch(std::string_view path) { return is_below(path, holding().scratch); }

std::string name_in_held(std::string path) {
  const std::string folder = held("");
  if (!is_below(path, folder)) return path;
  return path.size() == folder.size() ? "/" : path.substr(folder.size());
}

bool is_let_through(std::string_view name) {
  for (std::string_view folder : kSystemFolders)
    if (is_below(name, folder)) return true;
  for (std::string_view part : kCacheParts)
    if (name.find(part) != std::string_view::npos) return true;
  for (const std::string& folder : holding().let_through)
    if (is_below(name, folder)) return true;
  return is_in_scratch(name);
}

void note_made(const std::string& folder) {
  const int file = kernel::open(holding().scratch + "/made", O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file < 0) return;
  const std::string line = folder + "\n";
  [[maybe_unused]] const long written = syscall(SYS_write, file, line.data(), line.size());
  kernel::close(file);
}

std::vector<std::string> made_folders(const std::string& scratch) {
  return split(read_all(scratch + "/made"), '\n');
}

bool is_made(std::string_view folder) {
  for (const std::string& made : made_folders(holding().scratch))
    if (made == folder) return true;
  return false;
}

}  // namespace tidemark::held_files
