#include "troupe/backend/plugin/plugins.hpp"

#include <dlfcn.h>

#include <array>
#include <cstring>
#include <exception>
#include <new>
#include <type_traits>

namespace troupe::backend {

namespace {

constexpr bool same(int c_number, DType dtype) { return c_number == static_cast<int>(dtype); }
static_assert(same(TROUPE_F64, DType::f64) && same(TROUPE_F32, DType::f32) && same(TROUPE_F16, DType::f16) &&
              same(TROUPE_BF16, DType::bf16) && same(TROUPE_F8E4M3, DType::f8e4m3) &&
              same(TROUPE_F8E5M2, DType::f8e5m2) && same(TROUPE_I8, DType::i8) && same(TROUPE_U8, DType::u8) &&
              same(TROUPE_I16, DType::i16) && same(TROUPE_I32, DType::i32) && same(TROUPE_U32, DType::u32) &&
              same(TROUPE_I64, DType::i64) && same(TROUPE_U64, DType::u64) && same(TROUPE_BOOL, DType::boolean) &&
              same(TROUPE_C64, DType::c64) && same(TROUPE_C128, DType::c128) && same(TROUPE_U16, DType::u16));
static_assert(TROUPE_U16 + 1 == kDTypes, "a new DType needs its number in troupe/plugin.h");
static_assert(TROUPE_READ == static_cast<int>(op::Access::read) &&
              TROUPE_WRITE == static_cast<int>(op::Access::write) &&
              TROUPE_UPDATE == static_cast<int>(op::Access::update) &&
              TROUPE_WRITE_PART == static_cast<int>(op::Access::part));
static_assert(TROUPE_LOG_DEBUG == static_cast<int>(LogLevel::debug) &&
              TROUPE_LOG_ERROR == static_cast<int>(LogLevel::error));
static_assert(sizeof(TroupeArray) == 40 && offsetof(TroupeArray, access) == 32 && sizeof(TroupeCall) == 64 &&
                  offsetof(TroupeCall, set_error) == 48 && offsetof(TroupeCall, function) == 56 &&
                  sizeof(TroupeFunction) == 16 && sizeof(TroupePlugin) == 32,
              "plugins that are already built rely on these; a change needs a new TROUPE_PLUGIN_ABI_VERSION");

constexpr std::size_t kListedFunctions = 32;
static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= 16, "a vector of bytes is aligned as troupe/plugin.h promises");

/// A call under way: what the plugin sees, and behind it what only we see. The functions that the plugin calls back get
/// the first member's address, which is this struct's.
struct Conversation {
  TroupeCall call;
  const LogFn* log;
  std::int64_t native_code;
  char error_text[1024];  // a buffer, so that nothing allocates, and so throws, below a plugin written in C
};
static_assert(std::is_standard_layout_v<Conversation> && offsetof(Conversation, call) == 0);

Conversation& conversation_of(const TroupeCall* call) noexcept {
  return *reinterpret_cast<Conversation*>(const_cast<TroupeCall*>(call));
}

void on_log(const TroupeCall* call, int level, const char* text) noexcept {
  const LogFn& log = *conversation_of(call).log;
  if (!log || text == nullptr) return;
  const bool known = TROUPE_LOG_DEBUG <= level && level <= TROUPE_LOG_ERROR;
  log(known ? static_cast<LogLevel>(level) : LogLevel::info, text);
}

void on_set_error(const TroupeCall* call, std::int64_t native_code, const char* text) noexcept {
  Conversation& conversation = conversation_of(call);
  conversation.native_code = native_code;
  const std::size_t size = text == nullptr ? 0 : strnlen(text, sizeof(conversation.error_text) - 1);
  std::memcpy(conversation.error_text, text == nullptr ? "" : text, size);
  conversation.error_text[size] = '\0';
}

std::string in_quotes(std::string_view text) {
  std::string all = "\"";
  all += text;
  all += '"';
  return all;
}

std::string hex(std::uint32_t number) {
  std::string digits = "0x00000000";
  for (std::size_t i = digits.size() - 1; i > 1; --i, number >>= 4) digits[i] = "0123456789abcdef"[number & 15];
  return digits;
}

Unexpected unusable(std::string_view path, std::string_view why) {
  std::string sentence(path);
  sentence += " is no plugin: ";
  sentence += why;
  return fail(ErrorKind::invalid_argument, std::move(sentence));
}

/// The loader's sentence about the failure that this thread has just had.
std::string loader_error(std::string_view path) {
  const char* text = dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps one per thread
  std::string_view rest = text == nullptr ? "the loader does not say why" : text;
  if (rest.starts_with(path) && rest.substr(path.size()).starts_with(": ")) rest.remove_prefix(path.size() + 2);
  return std::string(rest);
}

Result<const TroupePlugin*> table_of(void* handle, const std::string& path) {
  using Entry = const TroupePlugin* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(handle, "troupe_plugin"));
  if (entry == nullptr) return unusable(path, "it does not export the function troupe_plugin (see troupe/plugin.h)");
  try {
    const TroupePlugin* plugin = entry();
    TROUPE_TRY(check(plugin, path));
    return plugin;
  } catch (const std::exception& exception) {
    return unusable(path, std::string("its troupe_plugin() threw: ") + exception.what());
  } catch (...) {
    return unusable(path, "its troupe_plugin() threw an exception that is not a std::exception");
  }
}

const TroupeFunction* find_function(const TroupePlugin& plugin, std::string_view name) noexcept {
  const TroupeFunction* takes_all = nullptr;
  for (const TroupeFunction& function : std::span(plugin.functions, plugin.function_count)) {
    if (name == function.name) return &function;
    if (function.name == kAnyFunction) takes_all = &function;
  }
  return takes_all;
}

Unexpected no_function(const TroupePlugin& plugin, const op::PluginCall& op) {
  std::string sentence = "the plugin " + op.path + " has no function " + in_quotes(op.function) + "; ";
  if (plugin.function_count == 0) sentence += "it has none";
  for (std::size_t i = 0; i < plugin.function_count; ++i) {
    if (i == kListedFunctions) {
      sentence += " and " + std::to_string(plugin.function_count - i) + " more";
      break;
    }
    sentence += i == 0 ? "it has " : ", ";
    sentence += plugin.functions[i].name;
  }
  return fail(ErrorKind::invalid_argument, std::move(sentence));
}

ErrorOrigin origin_of(const TroupePlugin& plugin, const op::PluginCall& op, std::int64_t native_code) {
  return {.library = plugin.name, .native_code = native_code, .op = std::string(op.kName) + " " + op.function};
}

/// The error that the exception in flight stands for. Call it inside a `catch` block.
Error thrown(const TroupePlugin& plugin, const op::PluginCall& op) noexcept {
  try {
    const std::string subject = "the plugin's function " + op.function;
    try {
      throw;
    } catch (const std::bad_alloc&) {
      return Error(ErrorKind::out_of_memory, subject + " ran out of memory", origin_of(plugin, op, 0));
    } catch (const std::exception& exception) {
      return Error(ErrorKind::library_error, subject + " threw: " + exception.what(), origin_of(plugin, op, 0));
    } catch (...) {
      return Error(ErrorKind::library_error, subject + " threw: an exception that is not a std::exception",
                   origin_of(plugin, op, 0));
    }
  } catch (...) {  // no memory left for the sentence
    return Error(ErrorKind::out_of_memory);
  }
}

Result<void> run(const TroupePlugin& plugin, const TroupeFunction& function, const op::PluginCall& op,
                 Conversation& conversation, bool& has_refused) {
  try {
    const TroupeStatus status = function.call(&conversation.call);
    if (status == TROUPE_OK) return {};
    has_refused = status == TROUPE_REFUSED;
    std::string text = conversation.error_text;
    if (text.empty() && has_refused)
      text = "the plugin's function " + op.function + " refuses its arguments, and does not say why";
    if (text.empty()) text = "the plugin's function " + op.function + " returned " + std::to_string(status);
    const std::int64_t code = conversation.native_code != 0 ? conversation.native_code : status;
    return fail(Error(has_refused ? ErrorKind::invalid_argument : ErrorKind::library_error, std::move(text),
                      origin_of(plugin, op, code)));
  } catch (...) {
    return fail(thrown(plugin, op));
  }
}

}  // namespace

Result<void> check(const TroupePlugin* plugin, std::string_view path) {
  if (plugin == nullptr) return unusable(path, "its troupe_plugin() gave no table");
  if (plugin->magic != TROUPE_PLUGIN_MAGIC) {
    return unusable(path, "its magic number is " + hex(plugin->magic) + " and not " + hex(TROUPE_PLUGIN_MAGIC));
  }
  if (plugin->abi_version != TROUPE_PLUGIN_ABI_VERSION) {
    return fail(ErrorKind::invalid_argument, "the plugin " + std::string(path) + " has version " +
                                                 std::to_string(plugin->abi_version) +
                                                 " of the plugin interface, and this worker has version " +
                                                 std::to_string(TROUPE_PLUGIN_ABI_VERSION));
  }
  if (plugin->name == nullptr) return unusable(path, "its table has no name");
  if (plugin->function_count > kMaxPluginFunctions) {
    return unusable(path, "its table claims " + std::to_string(plugin->function_count) +
                              " functions, and the limit is " + std::to_string(kMaxPluginFunctions));
  }
  if (plugin->function_count > 0 && plugin->functions == nullptr) return unusable(path, "its functions are missing");
  for (const TroupeFunction& function : std::span(plugin->functions, plugin->function_count)) {
    if (function.name == nullptr || function.call == nullptr) {
      return unusable(path, "a function in its table has no name or no address");
    }
  }
  return {};
}

const Plugins::Loaded* Plugins::find(const std::string& path) const {
  const std::shared_lock lock(mutex_);
  const auto found = loaded_.find(path);
  return found == loaded_.end() ? nullptr : &found->second;  // stays where it is when others are added
}

Plugins::Loaded Plugins::find_or_load(const std::string& path) {
  if (const Loaded* loaded = find(path)) return *loaded;
  if (path.empty()) return fail(ErrorKind::invalid_argument, "a plugin's path is empty");
  if (const std::size_t zero = path.find('\0'); zero != std::string::npos) {
    return fail(ErrorKind::invalid_argument,
                "a plugin's path has a zero byte behind " + in_quotes(path.substr(0, zero)));
  }
  const std::lock_guard loading(loading_);
  if (const Loaded* loaded = find(path)) return *loaded;  // loaded by another thread while this one waited
  if (loaded_.size() >= limit_) {
    return fail(ErrorKind::out_of_memory, "the plugin " + path + " cannot be loaded: this worker has already loaded " +
                                              std::to_string(loaded_.size()) + " plugins, which is its limit");
  }
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return fail(ErrorKind::invalid_argument, "the plugin " + path + " cannot be loaded: " + loader_error(path));
  }
  Loaded loaded = table_of(handle, path);
  const std::lock_guard lock(mutex_);
  return loaded_.emplace(path, std::move(loaded)).first->second;
}

Result<void> Plugins::load(const std::string& path) {
  TROUPE_TRY(find_or_load(path));
  return {};
}

Result<bool> Plugins::prepare(const op::PluginCall& op) {
  const bool is_new = find(op.path) == nullptr;
  const TroupePlugin& plugin = *TROUPE_TRY(find_or_load(op.path));
  if (find_function(plugin, op.function) == nullptr) return no_function(plugin, op);
  return is_new;
}

Result<void> Plugins::call(const op::PluginCall& op, std::span<const PluginArgument> arrays, void* lane,
                           const LogFn& log, bool& has_refused) {
  if (arrays.size() > op::kMaxPluginArrays || op.parameters.size() > op::kMaxParameterBytes) {
    return fail(ErrorKind::invalid_argument, "a plugin call takes up to " + std::to_string(op::kMaxPluginArrays) +
                                                 " arrays and " + std::to_string(op::kMaxParameterBytes) +
                                                 " bytes of parameters");
  }
  const TroupePlugin& plugin = *TROUPE_TRY(find_or_load(op.path));
  const TroupeFunction* function = find_function(plugin, op.function);
  if (function == nullptr) return no_function(plugin, op);

  std::array<TroupeArray, op::kMaxPluginArrays> c_arrays{};
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const PluginArgument& array = arrays[i];
    c_arrays[i] = {.data = array.data,
                   .dtype = static_cast<std::uint32_t>(array.dtype),
                   .rank = static_cast<std::uint32_t>(array.shape.rank()),
                   .shape = array.shape.begin(),
                   .strides = array.strides.begin(),
                   .access = static_cast<std::uint32_t>(array.access)};
  }
  Conversation conversation{.call = {.struct_size = sizeof(TroupeCall),
                                     .array_count = static_cast<std::uint32_t>(arrays.size()),
                                     .arrays = c_arrays.data(),
                                     .parameters = op.parameters.data(),
                                     .parameter_bytes = op.parameters.size(),
                                     .lane = lane,
                                     .log = on_log,
                                     .set_error = on_set_error,
                                     .function = op.function.c_str()},
                            .log = &log,
                            .native_code = 0,
                            .error_text = {}};
  return run(plugin, *function, op, conversation, has_refused);
}

}  // namespace troupe::backend
