#include "troupe/backend/host/jit/kernel_source.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "troupe/backend/host/jit/kernel_tokens.hpp"

namespace troupe::host {
namespace {

struct Refused {
  std::string_view word;
  std::string_view what;
};
/// What is refused wherever the word stands.
constexpr std::array kRefused{
    Refused{"asm", "inline PTX"},
    Refused{"__asm__", "inline PTX"},
    Refused{"__asm", "inline PTX"},
    Refused{"cooperative_groups", "cooperative groups"},
    Refused{"nvcuda", "tensor cores by wmma"},
    Refused{"wmma", "tensor cores by wmma"},
    Refused{"texture", "textures"},
    Refused{"surface", "surfaces"},
    Refused{"cudaTextureObject_t", "textures"},
    Refused{"cudaSurfaceObject_t", "surfaces"},
    Refused{"__cluster_dims__", "clusters of blocks"},
    Refused{"__managed__", "managed variables"},
    Refused{"__half", "half precision (__half)"},
    Refused{"__half2", "half precision (__half2)"},
    Refused{"half2", "half precision (half2)"},
    Refused{"__nv_bfloat16", "bfloat16 (__nv_bfloat16)"},
    Refused{"__nv_bfloat162", "bfloat16 (__nv_bfloat162)"},
    Refused{"__nv_fp8_e4m3", "eight-bit floating-point numbers"},
    Refused{"__nv_fp8_e5m2", "eight-bit floating-point numbers"},
    Refused{"cudaLaunchDevice", "kernels that launch kernels"},
    Refused{"__dp4a", "__dp4a"},
    Refused{"__pipeline_memcpy_async", "asynchronous copies"},
};
/// Headers of which a CPU has nothing.
constexpr std::array kRefusedHeaders{
    Refused{"cooperative_groups", "cooperative groups"},
    Refused{"mma.h", "tensor cores by wmma"},
    Refused{"cuda_fp16", "half precision (cuda_fp16.h)"},
    Refused{"cuda_bf16", "bfloat16 (cuda_bf16.h)"},
    Refused{"cuda_fp8", "eight-bit floating-point numbers (cuda_fp8.h)"},
    Refused{"cuda_pipeline", "asynchronous copies"},
    Refused{"cuda/", "libcu++"},
    Refused{"cub/", "CUB"},
    Refused{"thrust/", "Thrust"},
};

class Rewriter {
 public:
  explicit Rewriter(std::string_view source) : source_(source), tokens_(tokens_of(source)) {}

  Result<std::string> rewrite(std::string_view instances) {
    for (std::size_t i = 0; i < tokens_.size(); ++i) TROUPE_TRY(look_at(i));
    std::multimap<std::size_t, const Edit*> in_order;  // of several at one place, the first is first
    for (const Edit& edit : edits_) in_order.emplace(edit.begin, &edit);
    std::string text;
    std::size_t done = 0;
    for (const auto& [begin, edit] : in_order) {
      if (begin < done) continue;  // inside of what was written anew
      text += source_.substr(done, begin - done);
      text += edit->text;
      done = edit->end;
    }
    text += source_.substr(done);
    int number = 0;
    while (!instances.empty()) {
      const std::size_t end = std::min(instances.find('\t'), instances.size());
      text += "\n#line 1 \"instances\"\nTROUPE_KERNEL(" + std::to_string(++number) + ", &" +
              std::string(instances.substr(0, end)) + ")";
      instances.remove_prefix(std::min(end + 1, instances.size()));
    }
    return text + "\n";
  }

 private:
  struct Edit {
    std::size_t begin, end;  // in the source
    std::string text;
  };

  std::string_view text(std::size_t i) const {
    return i < tokens_.size() ? source_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin)
                              : std::string_view();
  }
  std::string line_of(std::size_t i) const {
    return std::to_string(1 + std::ranges::count(source_.substr(0, tokens_[i].begin), '\n'));
  }
  Unexpected refuse(std::string_view what, std::size_t i) const {
    return fail(ErrorKind::unsupported,
                "kernels on the CPU have no " + std::string(what) + ", which line " + line_of(i) + " needs");
  }
  void replace(std::size_t first, std::size_t last, std::string by) {
    // The lines of the source stay where they are.
    for (const char c : source_.substr(tokens_[first].begin, tokens_[last].end - tokens_[first].begin))
      if (c == '\n') by += '\n';
    edits_.push_back({tokens_[first].begin, tokens_[last].end, std::move(by)});
  }

  Result<void> look_at(std::size_t i) {
    const Token& token = tokens_[i];
    const std::string_view word = text(i);
    if (token.kind == Token::Kind::directive) return look_at_directive(i);
    follow(i);
    if (token.kind == Token::Kind::mark && word == "<" && text(i + 1) == "<" && text(i + 2) == "<" && touches(i, 3))
      return refuse("kernels that launch kernels (<<<)", i);
    if (token.kind != Token::Kind::word) return {};
    const auto* const refused = std::ranges::find(kRefused, word, &Refused::word);
    if (refused != kRefused.end() && !is_name_of_something_else(i)) return refuse(refused->what, i);
    if (word == "__noinline__" && text(i - 1) != "(") replace(i, i, "__attribute__((noinline))");
    if (word == "static" && text(i + 1) == "__shared__") replace(i, i, "");
    if (word == "extern") rewrite_dynamic(i);
    if (word == "__global__" && !token.in_directive) TROUPE_TRY(name_kernel(i));
    if (is_one_of(word, {"__constant__", "__device__"}) && !token.in_directive) name_variables(i);
    return {};
  }
  bool touches(std::size_t i, std::size_t count) const {
    for (std::size_t k = i + 1; k < i + count; ++k)
      if (tokens_[k].begin != tokens_[k - 1].end) return false;
    return true;
  }
  /// "surface" and "texture" are words that people use for their own things: only those of CUDA have a type behind.
  bool is_name_of_something_else(std::size_t i) const {
    return is_one_of(text(i), {"texture", "surface"}) && text(i + 1) != "<";
  }
  Result<void> look_at_directive(std::size_t i) const {
    const std::string_view line = text(i);
    if (line.find("include") == std::string_view::npos) return {};
    for (const Refused& header : kRefusedHeaders)
      if (line.find("<" + std::string(header.word)) != std::string_view::npos ||
          line.find("\"" + std::string(header.word)) != std::string_view::npos)
        return refuse(header.what, i);
    return {};
  }

  /// Where braces are not those of a namespace, and whether this declaration began with `template`.
  void follow(std::size_t i) {
    const std::string_view word = text(i);
    if (tokens_[i].in_directive) return;
    if (word == "{") {
      braces_.push_back(opens_namespace(i));
      is_template_ = false;
    } else if (word == "}") {
      if (!braces_.empty()) braces_.pop_back();
      is_template_ = false;
    } else if (word == ";") {
      is_template_ = false;
    } else if (word == "template") {
      is_template_ = true;
    }
  }
  bool opens_namespace(std::size_t i) const {
    for (std::size_t k = i; k-- > 0 && i - k < 64;) {
      const std::string_view word = text(k);
      if (word == "namespace" || word == "extern") return true;
      if (is_one_of(word, {";", "}", "{", ")", "="})) return false;
    }
    return false;
  }
  bool is_in_function() const { return std::ranges::find(braces_, false) != braces_.end(); }

  /// `extern __shared__ T name[];` becomes a pointer to what a launch has given.
  void rewrite_dynamic(std::size_t i) {
    std::size_t last = i;
    bool is_shared = false;
    while (last < tokens_.size() && text(last) != ";" && last - i < 64) is_shared |= text(last++) == "__shared__";
    if (!is_shared || text(last) != ";" || last < i + 4 || text(last - 1) != "]" || text(last - 2) != "[") return;
    std::string type;
    for (std::size_t k = i + 1; k < last - 3; ++k) {
      if (text(k) == "__shared__" || text(k) == "volatile") continue;
      if (is_one_of(text(k), {"__align__", "alignas", "__attribute__"})) {
        k = behind_parentheses(k + 1) - 1;
        continue;
      }
      type += std::string(text(k)) + " ";
    }
    replace(i, last,
            std::string(is_in_function() ? "" : "static thread_local ") + type + "* const " +
                std::string(text(last - 3)) + " = static_cast<" + type + "*>(::troupe_kernel::dynamic_shared());");
  }
  /// Behind the parentheses that begin here; here, where none do.
  std::size_t behind_parentheses(std::size_t i) const {
    if (text(i) != "(") return i;
    int depth = 0;
    for (; i < tokens_.size(); ++i) {
      if (text(i) == "(") ++depth;
      if (text(i) == ")" && --depth == 0) return i + 1;
    }
    return i;
  }
  std::size_t behind_braces(std::size_t i) const {
    int depth = 0;
    for (; i < tokens_.size(); ++i) {
      if (tokens_[i].kind == Token::Kind::directive || tokens_[i].in_directive) continue;
      if (text(i) == "{") ++depth;
      if (text(i) == "}" && --depth == 0) return i + 1;
    }
    return i;
  }

  /// Behind a declaration of variables, says which there are. Functions, members and what is inside of functions are
  /// none.
  void name_variables(std::size_t i) {
    if (i < behind_variables_ || is_template_ || is_in_function() || (i > 0 && text(i - 1) == "extern") ||
        (i > 1 && text(i - 2) == "extern"))
      return;
    std::vector<std::string> names;
    std::string name;  // the last word of a declarator before what ends its name
    bool is_constant = false, is_named = false;
    int depth = 0;
    std::size_t at = i;
    for (; at < tokens_.size() && (text(at) != ";" || depth != 0); ++at) {
      const std::string_view word = text(at);
      if (tokens_[at].kind == Token::Kind::directive || word == "extern" || word == "operator") return;
      is_constant |= word == "__constant__";
      if (!is_named && is_one_of(word, {"__align__", "alignas", "__attribute__", "decltype", "__launch_bounds__"})) {
        at = behind_parentheses(at + 1) - 1;
        continue;
      }
      if (!is_named && word == "(" && depth == 0) return;  // a function
      if (depth == 0 && is_one_of(word, {"=", "[", "{", ","}) && !is_named) {
        names.push_back(name);
        is_named = true;
      }
      if (word == "," && depth == 0) is_named = false;
      if (is_one_of(word, {"(", "[", "{"}) || (word == "<" && !is_named)) ++depth;
      if (is_one_of(word, {")", "]", "}"}) || (word == ">" && !is_named)) --depth;
      if (tokens_[at].kind == Token::Kind::word && depth == 0 && !is_named) name = word;
    }
    if (at == tokens_.size()) return;
    if (!is_named) names.push_back(name);
    behind_variables_ = at;
    std::string all;
    for (const std::string& each : names)
      if (!each.empty()) all += std::string(" TROUPE_VARIABLE(") + (is_constant ? "1, " : "0, ") + each + ")";
    edits_.push_back({tokens_[at].end, tokens_[at].end, std::move(all)});
  }

  /// Behind a kernel's last brace, says that it is one.
  Result<void> name_kernel(std::size_t i) {
    if (is_template_) return {};  // of which instances are named
    std::size_t open = i + 1;
    for (; open < tokens_.size() && text(open) != "("; ++open) {
      if (is_one_of(text(open), {"__launch_bounds__", "__attribute__", "__align__", "alignas", "__maxnreg__"}))
        open = behind_parentheses(open + 1) - 1;
      if (is_one_of(text(open), {";", "{", "}"})) return {};
    }
    std::size_t name_begin = open - 1, close = behind_parentheses(open);
    if (text(close) == "(") {  // the name was made by a macro
      open = close;
      close = behind_parentheses(open);
    }
    const std::string name = joined(name_begin, open);
    while (close < tokens_.size() && !is_one_of(text(close), {";", "{"})) ++close;
    if (text(close) != "{") return {};  // declared here, and defined elsewhere
    const std::size_t end = behind_braces(close);
    if (end > tokens_.size() || end == 0 || text(end - 1) != "}")
      return fail(ErrorKind::invalid_argument, "the kernel " + name + " in line " + line_of(i) + " has no end");
    const std::string parameters = without_defaults(open + 1, close);
    edits_.push_back({tokens_[end - 1].end, tokens_[end - 1].end,
                      " TROUPE_KERNEL(0, static_cast<void (*)(" + parameters + ")>(&" + name + "))"});
    return {};
  }
  std::string joined(std::size_t begin, std::size_t end) const {
    std::string all;
    for (std::size_t k = begin; k < end; ++k) {
      if (tokens_[k].kind == Token::Kind::directive) continue;
      all += (all.empty() ? "" : blank_before(k)) + std::string(text(k));
    }
    return all;
  }
  /// Marks that touch stay together: `::` and `&&` are two here.
  std::string blank_before(std::size_t k) const {
    const bool are_one =
        k > 0 && touches(k - 1, 2) && tokens_[k].kind == Token::Kind::mark && tokens_[k - 1].kind == Token::Kind::mark;
    return are_one ? "" : " ";
  }
  /// The parameters up to the parenthesis that closes them, in one line.
  std::string without_defaults(std::size_t begin, std::size_t brace) const {
    std::string all;
    int depth = 0;
    bool is_default = false;
    for (std::size_t k = begin; k < brace; ++k) {
      const std::string_view word = text(k);
      if (tokens_[k].kind == Token::Kind::directive) continue;
      if (is_one_of(word, {"(", "[", "<"})) ++depth;
      if (word == ")" && depth == 0) break;
      if (is_one_of(word, {")", "]", ">"})) --depth;
      if (depth == 0 && word == "=") is_default = true;
      if (depth == 0 && word == ",") is_default = false;
      if (!is_default) all += (all.empty() ? "" : blank_before(k)) + std::string(word);
    }
    return all;
  }

  std::string_view source_;
  std::vector<Token> tokens_;
  std::vector<Edit> edits_;
  std::vector<bool> braces_;  // whether each that is open is a namespace's
  bool is_template_ = false;
  std::size_t behind_variables_ = 0;  // that were named
};

}  // namespace

Result<std::string> cpu_source(std::string_view source, std::string_view instances) {
  return Rewriter(source).rewrite(instances);
}

}  // namespace troupe::host
