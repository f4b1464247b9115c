#include "troupe/op/families.hpp"

namespace troupe::op {

Result<OpHeader> decode_header(wire::Reader& in) {
  OpHeader header;
  header.version = in.get<std::uint16_t>();
  header.kind = in.get<Kind>();
  if (!in.ok()) return fail(ErrorKind::invalid_argument, "the record is too short to be an op");
  if (header.version != kOpVersion)
    return fail(ErrorKind::invalid_argument, "the record is of op version " + std::to_string(header.version) +
                                                 ", and this is version " + std::to_string(kOpVersion));
  return header;
}

std::string name_of(Kind kind) {
  std::string name = "kind " + std::to_string(kind);
  with_each_op([&]<class Op>() {
    if (Op::kKind == kind) name.assign(Op::kName);
  });
  return name;
}

}  // namespace troupe::op
