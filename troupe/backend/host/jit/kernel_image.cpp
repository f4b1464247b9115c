#include "troupe/backend/host/jit/kernel_image.hpp"

#include <elf.h>

#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "troupe/backend/host/jit/include/kernel_abi.h"

namespace troupe::host {
namespace {

constexpr std::string_view kKernels = "troupe_kernels";
constexpr std::string_view kVariables = "troupe_variables";
constexpr unsigned char kIsOurs = 0x10;  // what NVRTC sets, of kernels
constexpr unsigned char kIsConstant = 0x20;
constexpr std::uint64_t kRecordBytes = 32;
static_assert(sizeof(troupe_kernel_record) == kRecordBytes && sizeof(troupe_variable_record) <= kRecordBytes,
              "records are aligned to as much");
constexpr std::size_t kMostRecords = 4096;  // of each kind
#if defined(__x86_64__)
constexpr std::uint16_t kMachine = EM_X86_64;
constexpr std::uint64_t kRelative = R_X86_64_RELATIVE;
#else
constexpr std::uint16_t kMachine = EM_AARCH64;
constexpr std::uint64_t kRelative = R_AARCH64_RELATIVE;
#endif

class Image {
 public:
  /// By the address of a kernel or a variable: its record. There, the loader writes the address.
  using Records = std::unordered_map<std::uint64_t, std::uint64_t>;

  explicit Image(std::span<const std::byte> bytes) : bytes_(bytes) {
    const auto header = at<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_machine != kMachine)
      return;
    is_ours_ = true;
    for (std::uint64_t i = 0; i < header->e_shnum; ++i)
      if (const auto section = at<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr))) sections_.push_back(*section);
    if (header->e_shstrndx < sections_.size()) names_ = sections_[header->e_shstrndx];
  }

  bool is_ours() const noexcept { return is_ours_; }

  template <class T>
  std::optional<T> at(std::uint64_t offset) const {
    T value;
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof value) return std::nullopt;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  /// Those in the section of that name.
  Records records(std::string_view name) const {
    const Elf64_Shdr all = section(name);
    Records records;
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != SHT_RELA) continue;
      for (std::uint64_t i = 0; i + sizeof(Elf64_Rela) <= section.sh_size; i += sizeof(Elf64_Rela)) {
        const auto entry = at<Elf64_Rela>(section.sh_offset + i);
        if (!entry || records.size() == kMostRecords) break;
        const std::uint64_t offset = entry->r_offset - all.sh_addr;
        if (ELF64_R_TYPE(entry->r_info) == kRelative && entry->r_offset >= all.sh_addr && offset < all.sh_size &&
            offset % kRecordBytes == 0)
          records.emplace(static_cast<std::uint64_t>(entry->r_addend), entry->r_offset);
      }
    }
    return records;
  }
  /// Zeros when it is not there.
  template <class Record>
  Record record(std::string_view name, std::uint64_t address) const {
    const Elf64_Shdr all = section(name);
    return at<Record>(address - all.sh_addr + all.sh_offset).value_or(Record{});
  }

  /// `see(symbol, name, where the symbol stands)` for each of a type.
  template <class See>
  void each(unsigned type, const See& see) const {
    for (const Elf64_Shdr& table : sections_) {
      if (table.sh_type != SHT_SYMTAB || table.sh_link >= sections_.size()) continue;
      for (std::uint64_t i = 0; i + sizeof(Elf64_Sym) <= table.sh_size; i += sizeof(Elf64_Sym)) {
        const auto symbol = at<Elf64_Sym>(table.sh_offset + i);
        if (!symbol) break;
        if (ELF64_ST_TYPE(symbol->st_info) == type)
          see(*symbol, text(sections_[table.sh_link], symbol->st_name), table.sh_offset + i);
      }
    }
  }

 private:
  Elf64_Shdr section(std::string_view name) const {
    for (const Elf64_Shdr& section : sections_)
      if (text(names_, section.sh_name) == name) return section;
    return {};
  }
  std::string_view text(const Elf64_Shdr& texts, std::uint32_t offset) const {
    if (texts.sh_offset > bytes_.size() || texts.sh_size > bytes_.size() - texts.sh_offset || offset >= texts.sh_size)
      return {};
    const std::string_view rest(reinterpret_cast<const char*>(bytes_.data() + texts.sh_offset + offset),
                                texts.sh_size - offset);
    return rest.substr(0, rest.find('\0'));
  }

  std::span<const std::byte> bytes_;
  std::vector<Elf64_Shdr> sections_;
  Elf64_Shdr names_{};
  bool is_ours_ = false;
};

}  // namespace

bool is_cpu_image(std::span<const std::byte> image) { return Image(image).is_ours(); }

std::vector<KernelInImage> kernels_in(std::span<const std::byte> bytes) {
  const Image image(bytes);
  const Image::Records records = image.records(kKernels);
  std::vector<KernelInImage> kernels;
  image.each(STT_FUNC, [&](const Elf64_Sym& symbol, std::string_view name, std::uint64_t) {
    const auto record = records.find(symbol.st_value);
    if (record == records.end() || name.empty() || kernels.size() == kMostRecords) return;
    kernels.push_back(
        {std::string(name), record->second, image.record<troupe_kernel_record>(kKernels, record->second).instance});
  });
  return kernels;
}

std::vector<VariableInImage> variables_in(std::span<const std::byte> bytes) {
  const Image image(bytes);
  const Image::Records records = image.records(kVariables);
  std::vector<VariableInImage> variables;
  image.each(STT_OBJECT, [&](const Elf64_Sym& symbol, std::string_view name, std::uint64_t) {
    const auto record = records.find(symbol.st_value);
    if (record == records.end() || name.empty() || variables.size() == kMostRecords) return;
    if (image.record<troupe_variable_record>(kVariables, record->second).is_const == 0)
      variables.push_back({std::string(name), record->second});
  });
  return variables;
}

void mark_symbols(std::span<std::byte> bytes) {
  const Image image(bytes);
  const Image::Records kernels = image.records(kKernels), variables = image.records(kVariables);
  const auto mark = [&](Elf64_Sym symbol, std::uint64_t where, unsigned char bits) {
    symbol.st_other |= bits;
    std::memcpy(bytes.data() + where, &symbol, sizeof symbol);
  };
  image.each(STT_FUNC, [&](const Elf64_Sym& symbol, std::string_view, std::uint64_t where) {
    if (kernels.contains(symbol.st_value)) mark(symbol, where, kIsOurs);
  });
  image.each(STT_OBJECT, [&](const Elf64_Sym& symbol, std::string_view, std::uint64_t where) {
    const auto found = variables.find(symbol.st_value);
    if (found == variables.end()) return;
    const auto record = image.record<troupe_variable_record>(kVariables, found->second);
    if (record.is_const == 0) mark(symbol, where, record.is_constant != 0 ? kIsOurs | kIsConstant : kIsOurs);
  });
}

}  // namespace troupe::host
