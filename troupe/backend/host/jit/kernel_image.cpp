#include "troupe/backend/host/jit/kernel_image.hpp"

#include <elf.h>

#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "troupe/backend/host/jit/include/kernel_abi.h"

namespace troupe::host {
namespace {

constexpr std::string_view kSection = "troupe_kernels";
constexpr unsigned char kIsKernel = 0x10;  // what NVRTC sets
constexpr std::size_t kMostKernels = 4096;
#if defined(__x86_64__)
constexpr std::uint16_t kMachine = EM_X86_64;
constexpr std::uint64_t kRelative = R_X86_64_RELATIVE;
#else
constexpr std::uint16_t kMachine = EM_AARCH64;
constexpr std::uint64_t kRelative = R_AARCH64_RELATIVE;
#endif

class Image {
 public:
  explicit Image(std::span<const std::byte> bytes) : bytes_(bytes) {
    const auto header = at<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_machine != kMachine)
      return;
    is_ours_ = true;
    for (std::uint64_t i = 0; i < header->e_shnum; ++i)
      if (const auto section = at<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr))) sections_.push_back(*section);
    if (header->e_shstrndx >= sections_.size()) return;
    for (const Elf64_Shdr& section : sections_)
      if (text(sections_[header->e_shstrndx], section.sh_name) == kSection) records_ = section;
  }

  bool is_ours() const noexcept { return is_ours_; }

  template <class T>
  std::optional<T> at(std::uint64_t offset) const {
    T value;
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof value) return std::nullopt;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  /// By the address of a kernel: its record. There, the loader writes the address.
  std::unordered_map<std::uint64_t, std::uint64_t> records() const {
    std::unordered_map<std::uint64_t, std::uint64_t> records;
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != SHT_RELA) continue;
      for (std::uint64_t i = 0; i + sizeof(Elf64_Rela) <= section.sh_size; i += sizeof(Elf64_Rela)) {
        const auto entry = at<Elf64_Rela>(section.sh_offset + i);
        if (!entry || records.size() == kMostKernels) break;
        const std::uint64_t offset = entry->r_offset - records_.sh_addr;
        if (ELF64_R_TYPE(entry->r_info) == kRelative && entry->r_offset >= records_.sh_addr &&
            offset < records_.sh_size && offset % sizeof(troupe_kernel_record) == 0)
          records.emplace(static_cast<std::uint64_t>(entry->r_addend), entry->r_offset);
      }
    }
    return records;
  }
  int instance_of(std::uint64_t record) const {
    const auto value = at<troupe_kernel_record>(record - records_.sh_addr + records_.sh_offset);
    return value ? value->instance : 0;
  }

  /// `see(symbol, name, where the symbol stands)` for each function.
  template <class See>
  void each_function(const See& see) const {
    for (const Elf64_Shdr& table : sections_) {
      if (table.sh_type != SHT_SYMTAB || table.sh_link >= sections_.size()) continue;
      for (std::uint64_t i = 0; i + sizeof(Elf64_Sym) <= table.sh_size; i += sizeof(Elf64_Sym)) {
        const auto symbol = at<Elf64_Sym>(table.sh_offset + i);
        if (!symbol) break;
        if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC)
          see(*symbol, text(sections_[table.sh_link], symbol->st_name), table.sh_offset + i);
      }
    }
  }

 private:
  std::string_view text(const Elf64_Shdr& texts, std::uint32_t offset) const {
    if (texts.sh_offset > bytes_.size() || texts.sh_size > bytes_.size() - texts.sh_offset || offset >= texts.sh_size)
      return {};
    const std::string_view rest(reinterpret_cast<const char*>(bytes_.data() + texts.sh_offset + offset),
                                texts.sh_size - offset);
    return rest.substr(0, rest.find('\0'));
  }

  std::span<const std::byte> bytes_;
  std::vector<Elf64_Shdr> sections_;
  Elf64_Shdr records_{};
  bool is_ours_ = false;
};

}  // namespace

bool is_cpu_image(std::span<const std::byte> image) { return Image(image).is_ours(); }

std::vector<KernelInImage> kernels_in(std::span<const std::byte> bytes) {
  const Image image(bytes);
  const auto records = image.records();
  std::vector<KernelInImage> kernels;
  image.each_function([&](const Elf64_Sym& symbol, std::string_view name, std::uint64_t) {
    const auto record = records.find(symbol.st_value);
    if (record == records.end() || name.empty() || kernels.size() == kMostKernels) return;
    kernels.push_back({std::string(name), record->second, image.instance_of(record->second)});
  });
  return kernels;
}

void mark_kernels(std::span<std::byte> bytes) {
  const Image image(bytes);
  const auto records = image.records();
  image.each_function([&](Elf64_Sym symbol, std::string_view, std::uint64_t where) {
    if (!records.contains(symbol.st_value)) return;
    symbol.st_other |= kIsKernel;
    std::memcpy(bytes.data() + where, &symbol, sizeof symbol);
  });
}

}  // namespace troupe::host
