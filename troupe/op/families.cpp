#include "troupe/op/families.hpp"

namespace troupe::op {

Error why_no_header(const wire::Reader& in, std::uint16_t version) {
  if (!in.ok()) return Error(ErrorKind::invalid_argument, "the record is too short to be an op");
  return Error(ErrorKind::invalid_argument, "the record is of op version " + std::to_string(version) +
                                                ", and this is version " + std::to_string(kOpVersion));
}

std::string name_of(Kind kind) {
  std::string name = "kind " + std::to_string(kind);
  with_each_op([&]<class Op>() {
    if (Op::kKind == kind) name.assign(Op::kName);
  });
  return name;
}

}  // namespace troupe::op
