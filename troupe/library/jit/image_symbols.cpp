#include "troupe/library/jit/image_symbols.hpp"

#include <cxxabi.h>
#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

namespace troupe::inline v0::detail {
namespace {

constexpr std::size_t kMostSymbols = 4096;  // of each kind
constexpr std::size_t kMostSymbolBytes = 4096;
constexpr std::uint64_t kMostVariableBytes = std::uint64_t{1} << 40;
// Among the bits of `st_other` that ELF leaves to the processor. NVRTC sets the first one, of functions; the variables
// of a GPU are told apart by their sections.
constexpr unsigned char kIsOurs = 0x10;
constexpr unsigned char kIsConstant = 0x20;

class ElfImage {
 public:
  explicit ElfImage(std::span<const std::byte> image) : image_(image) {
    const auto file = read_at<Elf64_Ehdr>(0);
    if (!file || std::memcmp(file->e_ident, ELFMAG, SELFMAG) != 0 || file->e_ident[EI_CLASS] != ELFCLASS64 ||
        file->e_shentsize != sizeof(Elf64_Shdr))
      return;
    file_ = *file;
    is_elf_ = true;
  }

  ImageSymbols symbols() const {
    ImageSymbols all{
        .is_readable = is_elf_, .is_for_gpu = is_elf_ && file_.e_machine == EM_CUDA, .kernels = {}, .variables = {}};
    for (std::uint64_t i = 0; is_elf_ && i < file_.e_shnum; ++i) {
      const auto table = section(i);
      if (!table || table->sh_type != SHT_SYMTAB) continue;
      const auto texts = section(table->sh_link);
      if (!texts) continue;
      for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
        const auto symbol = read_at<Elf64_Sym>(table->sh_offset + at);
        if (!symbol) break;
        if (const std::string_view text = text_at(*texts, symbol->st_name); !text.empty()) add(all, *symbol, text);
      }
    }
    return all;
  }

 private:
  template <class Header>
  std::optional<Header> read_at(std::uint64_t at) const {
    Header header;
    if (at > image_.size() || image_.size() - at < sizeof header) return std::nullopt;
    std::memcpy(&header, image_.data() + at, sizeof header);
    return header;
  }
  std::optional<Elf64_Shdr> section(std::uint64_t i) const {
    return i < file_.e_shnum ? read_at<Elf64_Shdr>(file_.e_shoff + i * sizeof(Elf64_Shdr)) : std::nullopt;
  }
  std::string_view text_at(const Elf64_Shdr& texts, std::uint32_t at) const {
    if (texts.sh_offset > image_.size() || texts.sh_size > image_.size() - texts.sh_offset || at >= texts.sh_size)
      return {};
    const std::string_view rest(reinterpret_cast<const char*>(image_.data() + texts.sh_offset + at),
                                texts.sh_size - at);
    const std::size_t end = rest.find('\0');
    return end == std::string_view::npos || end > kMostSymbolBytes ? std::string_view() : rest.substr(0, end);
  }
  void add(ImageSymbols& all, const Elf64_Sym& symbol, std::string_view text) const {
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if (type == STT_FUNC && (symbol.st_other & kIsOurs) != 0 && all.kernels.size() < kMostSymbols)
      all.kernels.emplace_back(text);
    if (type != STT_OBJECT || symbol.st_size == 0 || symbol.st_size > kMostVariableBytes || text.starts_with('$') ||
        all.variables.size() == kMostSymbols)
      return;
    bool is_variable = (symbol.st_other & kIsOurs) != 0, is_constant = (symbol.st_other & kIsConstant) != 0;
    if (all.is_for_gpu) {
      const auto its_section = section(symbol.st_shndx), names = section(file_.e_shstrndx);
      if (!its_section || !names) return;
      const std::string_view name = text_at(*names, its_section->sh_name);
      is_constant = name == ".nv.constant3";
      is_variable = is_constant || name == ".nv.global" || name == ".nv.global.init";
    }
    if (is_variable) all.variables.push_back({std::string(text), symbol.st_size, is_constant});
  }

  std::span<const std::byte> image_;
  Elf64_Ehdr file_{};
  bool is_elf_ = false;
};

}  // namespace

ImageSymbols symbols_in(std::span<const std::byte> image) { return ElfImage(image).symbols(); }

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> readable(
      symbol.starts_with("_Z") ? abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status) : nullptr, std::free);
  return readable ? readable.get() : std::string();
}

}  // namespace troupe::inline v0::detail
