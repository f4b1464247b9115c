#include "troupe/op/fields.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "troupe/core/json.hpp"

namespace troupe::inline v0::op {
namespace {

// ---- as text ----

/// The fewest digits that give the same number again.
std::string text_of(double number) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return {digits.data(), end};
}

std::string text_of(const Scalar& scalar) {
  if (scalar.dtype() == DType::boolean) return scalar.as<bool>() ? "true" : "false";
  if (scalar.dtype() == DType::u64) return std::to_string(scalar.as<std::uint64_t>());
  if (is_integer(scalar.dtype())) return std::to_string(scalar.as<std::int64_t>());
  if (!is_complex(scalar.dtype())) return text_of(scalar.as<double>());
  const auto number = scalar.as<std::complex<double>>();
  return text_of(number.real()) + (std::signbit(number.imag()) ? "" : "+") + text_of(number.imag()) + "i";
}

std::string text_of(const View& view) {
  std::array<char, 16> offset;
  const auto end = std::to_chars(offset.data(), offset.data() + offset.size(), offset_of(view.address), 16).ptr;
  std::string text = std::string(name(view.dtype)) + view.shape.to_string();
  if (!is_contiguous(view.shape, view.strides)) text += " strides " + view.strides.to_string();
  return text + " at " + std::to_string(chunk_of(view.address)) + "+0x" + std::string(offset.data(), end);
}

std::string hex(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[static_cast<std::size_t>(byte >> 4)];
    text += kDigits[static_cast<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};

std::string text_of(const FieldValue& value) {
  return std::visit(
      Overloaded{[](bool flag) { return std::string(flag ? "true" : "false"); },
                 [](std::int64_t number) { return std::to_string(number); },
                 [](std::uint64_t number) { return std::to_string(number); },
                 [](double number) { return text_of(number); },
                 [](const Choice& choice) { return std::string(choice.names[choice.number]); },
                 [](const View& view) { return text_of(view); }, [](const Scalar& scalar) { return text_of(scalar); },
                 [](const std::string& text) { return json_quoted(text); },
                 [](const std::vector<std::byte>& bytes) { return "0x" + hex(bytes); },
                 [](const std::vector<Argument>& arguments) {
                   std::string text = "[";
                   for (const Argument& argument : arguments)
                     text += (text.size() > 1 ? ", " : "") +
                             std::string(enum_names<Access>()[static_cast<std::size_t>(argument.access)]) + " " +
                             text_of(argument.view);
                   return text + "]";
                 }},
      value);
}

// ---- as JSON ----

template <class Numbers>
std::string json_list(const Numbers& numbers) {
  std::string text = "[";
  for (const std::int64_t number : numbers) text += (text.size() > 1 ? ", " : "") + std::to_string(number);
  return text + "]";
}

std::string json_of(double number) { return std::isfinite(number) ? text_of(number) : json_quoted(text_of(number)); }

std::string json_members(const View& view) {
  return "\"address\": " + std::to_string(view.address) + ", \"type\": " + json_quoted(name(view.dtype)) +
         ", \"shape\": " + json_list(view.shape) + ", \"strides\": " + json_list(view.strides);
}

/// What its number is when it is read again.
Scalar read_again(const Scalar& scalar) {
  return visit(scalar.dtype(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::integral<T>)
      return Scalar(scalar.as<T>());
    else
      return Scalar(convert<T>(scalar.as<std::complex<double>>()));
  });
}

std::string json_of(const Scalar& scalar) {
  const std::string type = "{\"type\": " + json_quoted(name(scalar.dtype()));
  const bool is_plain = scalar == read_again(scalar) && std::isfinite(std::abs(scalar.as<std::complex<double>>()));
  if (!is_plain) return type + ", \"bytes\": " + json_quoted(hex(scalar.bytes())) + "}";
  if (!is_complex(scalar.dtype())) return type + ", \"value\": " + text_of(scalar) + "}";
  const auto number = scalar.as<std::complex<double>>();
  return type + ", \"value\": [" + text_of(number.real()) + ", " + text_of(number.imag()) + "]}";
}

std::string json_of(const FieldValue& value) {
  return std::visit(Overloaded{[](bool flag) { return std::string(flag ? "true" : "false"); },
                               [](std::int64_t number) { return std::to_string(number); },
                               [](std::uint64_t number) { return std::to_string(number); },
                               [](double number) { return json_of(number); },
                               [](const Choice& choice) { return json_quoted(choice.names[choice.number]); },
                               [](const View& view) { return "{" + json_members(view) + "}"; },
                               [](const Scalar& scalar) { return json_of(scalar); },
                               [](const std::string& text) { return json_quoted(text); },
                               [](const std::vector<std::byte>& bytes) { return json_quoted(hex(bytes)); },
                               [](const std::vector<Argument>& arguments) {
                                 std::string text = "[";
                                 for (const Argument& argument : arguments)
                                   text +=
                                       (text.size() > 1 ? ", " : "") + std::string("{\"access\": ") +
                                       json_quoted(enum_names<Access>()[static_cast<std::size_t>(argument.access)]) +
                                       ", " + json_members(argument.view) + "}";
                                 return text + "]";
                               }},
                    value);
}

// ---- from JSON ----

template <class T>
bool read(const Json& json, T& number) {
  if (json.type() != Json::Type::number && json.type() != Json::Type::text) return false;
  const std::string& digits = json.spelling();
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size();
}

bool read(const Json& json, std::vector<std::byte>& bytes) {
  const std::string& digits = json.spelling();
  if (json.type() != Json::Type::text || digits.size() % 2 != 0) return false;
  bytes.clear();
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    unsigned byte = 0;
    if (std::from_chars(digits.data() + i, digits.data() + i + 2, byte, 16).ptr != digits.data() + i + 2) return false;
    bytes.push_back(static_cast<std::byte>(byte));
  }
  return true;
}

template <class Numbers>
bool read_list(const Json* json, Numbers& out) {
  if (!json || json->type() != Json::Type::list || json->list().size() > kMaxRank) return false;
  std::vector<std::int64_t> numbers(json->list().size());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (!read(json->list()[i], numbers[i])) return false;
  out = Numbers(std::span<const std::int64_t>(numbers));
  return true;
}

bool read_type(const Json& json, DType& dtype) {
  const Json* const type = json.find("type");
  const Result<DType> parsed = type ? parse_dtype(type->spelling()) : fail(ErrorKind::invalid_argument);
  if (parsed) dtype = *parsed;
  return parsed.has_value();
}

bool read(const Json& json, View& view) {
  const Json* const address = json.find("address");
  return address && read(*address, view.address) && read_type(json, view.dtype) &&
         read_list(json.find("shape"), view.shape) && read_list(json.find("strides"), view.strides) &&
         view.shape.rank() == view.strides.rank();
}

template <Element T>
bool read_element(const Json& json, Scalar& scalar) {
  if constexpr (std::same_as<T, bool>) {
    scalar = Scalar(json.boolean());
    return json.type() == Json::Type::boolean;
  } else if constexpr (std::integral<T>) {
    T number{};
    if (!read(json, number)) return false;
    scalar = Scalar(number);
    return true;
  } else {
    double real = 0, imaginary = 0;
    const bool is_pair = json.type() == Json::Type::list && json.list().size() == 2;
    if (is_pair ? !read(json.list()[0], real) || !read(json.list()[1], imaginary) : !read(json, real)) return false;
    scalar = Scalar(convert<T>(std::complex<double>(real, imaginary)));
    return true;
  }
}

bool read(const Json& json, Scalar& scalar) {
  DType dtype{};
  if (!read_type(json, dtype)) return false;
  if (const Json* const value = json.find("value"))
    return visit(dtype, [&]<class T>(std::type_identity<T>) { return read_element<T>(*value, scalar); });
  const Json* const spelled = json.find("bytes");
  std::vector<std::byte> bytes;
  if (!spelled || !read(*spelled, bytes) || bytes.size() != scalar.bytes().size()) return false;
  std::array<std::byte, 16> all{};
  std::ranges::copy(bytes, all.begin());
  scalar = Scalar::from_bytes(dtype, all);
  return true;
}

bool read(const Json& json, Choice& choice) {
  const auto found = std::ranges::find(choice.names, json.spelling());
  choice.number = static_cast<std::uint64_t>(found - choice.names.begin());
  return json.type() == Json::Type::text && found != choice.names.end();
}

bool read(const Json& json, std::vector<Argument>& arguments) {
  if (json.type() != Json::Type::list || json.list().size() > kMaxViews) return false;
  arguments.clear();
  for (const Json& one : json.list()) {
    Argument& argument = arguments.emplace_back();
    Choice access{.number = 0, .names = enum_names<Access>()};
    const Json* const spelled = one.find("access");
    if (!spelled || !read(*spelled, access) || !read(one, argument.view)) return false;
    argument.access = static_cast<Access>(access.number);
  }
  return true;
}

bool read(const Json& json, bool& flag) {
  flag = json.boolean();
  return json.type() == Json::Type::boolean;
}
bool read(const Json& json, std::string& text) {
  text = json.spelling();
  return json.type() == Json::Type::text;
}

class JsonSource final : public FieldSource {
 public:
  explicit JsonSource(const Json& json) noexcept : json_(json) {}

  Result<FieldValue> value_of(const std::string& name, const FieldValue& now) override {
    const Json* const member = json_.find(name);
    if (!member) return fail(ErrorKind::invalid_argument, "the field \"" + name + "\" is missing");
    ++used_;
    FieldValue value = now;
    if (std::visit([&](auto& alternative) { return read(*member, alternative); }, value)) return value;
    return fail(ErrorKind::invalid_argument, "the field \"" + name + "\" cannot have the value that is given");
  }
  std::size_t used() const noexcept { return used_; }

 private:
  const Json& json_;
  std::size_t used_ = 0;
};

const OpInfo* find_by_name(std::string_view name) {
  for (const FamilyOps* family : families())
    for (const OpInfo& info : family->ops)
      if (info.name == name) return &info;
  return nullptr;
}

/// Equal, also when it is a NaN.
bool same(const FieldValue& a, const FieldValue& b) {
  if (a == b) return true;
  const double* const x = std::get_if<double>(&a);
  const double* const y = std::get_if<double>(&b);
  return x && y && std::isnan(*x) && std::isnan(*y);
}

}  // namespace

std::vector<Field> fields_of(const AnyOp& op) {
  std::vector<Field> fields;
  op.info().list(op.get(), fields);
  return fields;
}

std::uint64_t digest(const AnyOp& op) {
  std::string text(op.info().name);
  for (Field& field : fields_of(op)) {
    if (field.name.ends_with("address")) continue;
    if (View* const view = std::get_if<View>(&field.value)) view->address = 0;
    if (auto* const arguments = std::get_if<std::vector<Argument>>(&field.value))
      for (Argument& argument : *arguments) argument.view.address = 0;
    text += " " + text_of(field.value);
  }
  return std::hash<std::string>()(text);
}

std::string describe(const AnyOp& op) {
  std::string text(op.info().name);
  const char* separator = "(";
  for (const Field& field : fields_of(op)) {
    text += separator + field.name + "=" + text_of(field.value);
    separator = ", ";
  }
  return text + (*separator == '(' ? "()" : ")");
}

std::string difference(const AnyOp& one, const AnyOp& other) {
  if (one.info().kind != other.info().kind)
    return std::string(one.info().name) + " against " + std::string(other.info().name);
  std::string text;
  const auto add = [&](const std::string& name, const std::string& here, const std::string& there) {
    text += (text.empty() ? "" : "; ") + name + ": " + here + " against " + there;
  };
  const std::vector<Field> ours = fields_of(one), theirs = fields_of(other);
  const auto named = [](const std::vector<Field>& fields, const std::string& name) {
    const auto found = std::ranges::find(fields, name, &Field::name);
    return found == fields.end() ? nullptr : &*found;
  };
  for (const Field& field : ours) {
    const Field* const there = named(theirs, field.name);
    if (!there)
      add(field.name, text_of(field.value), "nothing");
    else if (!same(field.value, there->value))
      add(field.name, text_of(field.value), text_of(there->value));
  }
  for (const Field& field : theirs)
    if (!named(ours, field.name)) add(field.name, "nothing", text_of(field.value));
  return text;
}

std::string to_json(const AnyOp& op) {
  std::string text = "{\"op\": " + json_quoted(op.info().name);
  for (const Field& field : fields_of(op)) text += ", " + json_quoted(field.name) + ": " + json_of(field.value);
  return text + "}";
}

Result<AnyOp> from_json(std::string_view text) {
  const Json json = TROUPE_TRY(Json::parse(text));
  const Json* const name = json.find("op");
  const OpInfo* const info = name ? find_by_name(name->spelling()) : nullptr;
  if (!info)
    return fail(ErrorKind::invalid_argument,
                name ? "there is no op \"" + name->spelling() + "\"" : std::string("the field \"op\" is missing"));
  AnyOp op(*info);
  JsonSource source(json);
  if (Result<void> good = info->assign(op.get(), source); !good)
    return fail(ErrorKind::invalid_argument, std::string(info->name) + ": " + std::string(good.error().message()));
  if (source.used() + 1 == json.members().size()) return op;
  const std::vector<Field> known = fields_of(op);
  for (const auto& [member, value] : json.members())
    if (member != "op" && std::ranges::find(known, member, &Field::name) == known.end())
      return fail(ErrorKind::invalid_argument, std::string(info->name) + " has no field \"" + member + "\"");
  return fail(ErrorKind::invalid_argument, std::string(info->name) + ": a field is given twice");
}

}  // namespace troupe::inline v0::op
