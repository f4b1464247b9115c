// What a device refuses by itself, side by side, on the host: options, names of devices, arrays, writes. Those of the
// ops are in op/refusals.test.cpp, those of the libraries in library/refusals.test.cpp.
#include "troupe/device/refusals.test.hpp"

namespace troupe {
namespace {

using enum ErrorKind;

class DeviceRefusals : public RefusalTest {};

TEST_F(DeviceRefusals, of_options) {
  const auto with = [&](const DeviceOptions& options) { return system.device("host", options); };
  refused(with({.vault_limit_bytes = 0}), "vault_limit_bytes is 0; it must be positive");
  refused(with({.host_limit_bytes = 0}), "host_limit_bytes is 0; it must be positive");
  refused(with({.ring_units = 1000}), "ring_units is 1000; it must be a power of two from 256 to 1048576");
  refused(with({.lanes = Lanes::pool(0)}), "Lanes::pool has 0 lanes; it must have 1 to 16");
  refused(with({.lanes = Lanes().prefer(op::Family::blas, 1)}),
          "Lanes prefer a family other than op::Family::memory; only Lanes::per_family() gives each family a lane");
  refused(with({.max_restarts = -1}), "max_restarts is -1; it must not be negative");
  refused(with({.restart_window = Duration(0)}), "restart_window is 0 s; it must be positive");
  refused(with({.start_timeout = Duration(-1)}), "start_timeout is -1 ns; it must be positive");
  SystemOptions still;
  still.deterministic_seed = 1;
  System virtual_time(still);
  refused(virtual_time.device("host"),
          "a system with deterministic_seed cannot have devices: a worker runs in real time", unsupported);
}

TEST_F(DeviceRefusals, of_devices_that_are_not_there) {
  const std::string last = std::to_string(system.devices().size() - 1);
  refused(system.device(99), "there is no device 99; this machine has devices 0 to " + last);
  refused(system.device(-1), "there is no device -1; this machine has devices 0 to " + last);
}

TEST_F(DeviceRefusals, of_arrays) {
  const Device device = open();
  const Array<float> a = filled(device, {2, 3}, 1.0f);
  refused(device.array<float>({-1}), "the shape [-1] has a negative extent; extents must be 0 or more");
  refused(device.write(a, std::vector<float>{1.0f}).get(),
          "write: the array is [2, 3]; it needs 6 elements, and 1 are given");
  refused(device.fill(AnyArray(), 1.0f).get(), "fill: out is an empty handle: default-constructed or moved from");
  refused(device.copy(a, filled(open(), {2, 3}, 1.0f)).get(), "copy: out belongs to another device");
  refused(device.copy(a, a).get(), "copy: in and out overlap, and the op would write one of them; use another array");
  refused(AnyArray(a).as<double>(), "the array is f32; it must be f64");
  refused(AnyArray().slice(0, 0, 1), "slice: the array is an empty handle: default-constructed or moved from");
  refused(a.slice(2, 0, 1), "slice: the array is [2, 3]; it has no dimension 2");
  refused(a.slice(1, 0, 2, 0), "slice: step is 0; it must not be 0");
  refused(a.slice(1, 0, 5), "slice from 0 to 5 with step 1 does not lie in dimension 1 of [2, 3]");
  refused(a.select(1, 3), "select: index is 3; dimension 1 of [2, 3] has 3 indices, counted from 0");
  refused(a.transpose().reshape({6}),
          "reshape: the array is [3, 2] with strides [1, 3]; it must be contiguous: copy it first");
  refused(a.reshape({-1, -1}), "reshape of [2, 3] to [-1, -1]: only one extent may be -1");
  refused(a.reshape({-1, 4}), "reshape of [2, 3] to [-1, 4]: no extent in place of -1 gives as many elements");
  refused(a.reshape({5}), "reshape of [2, 3] to [5]: both must have as many elements");
  refused(a.broadcast({4, 4}),
          "broadcast of [2, 3] to [4, 4]: counted from the last dimension, extents must be equal or 1");
  refused(HostArray<float>::from(a.transpose()), "the array is [3, 2] with strides [1, 3]; it must be contiguous");
}

TEST_F(DeviceRefusals, of_what_is_sealed_and_of_what_cannot_be) {
  const Device device = open();
  const Array<float> a = value(device.sealable_array<float>({2, 3}));
  const Array<float> other = filled(device, {2, 3}, 1.0f);
  const std::string no_own_chunk = ": the array shares its chunk of memory with others; make it with sealable_array";
  for (const AnyArray& shared :
       std::vector<AnyArray>{other, value(device.host_array<float>({3})), value(device.managed_array<float>({3}))}) {
    refused(device.seal(shared).get(), "seal" + no_own_chunk);
    refused(device.unseal(shared).get(), "unseal" + no_own_chunk);
  }
  refused(device.seal(AnyArray()).get(), "seal: the array is an empty handle: default-constructed or moved from");
  refused(open().seal(a).get(), "seal: the array belongs to another device");
  refused(device.sealable_array<float>({-1}), "the shape [-1] has a negative extent; extents must be 0 or more");
  value(device.fill(a, 1.0f).get());
  Call<void> made_before = device.fill(a, 2.0f);
  value(device.seal(a).get());
  refused(device.fill(a, 1.0f).get(), "fill: out is sealed; unseal it first");
  refused(device.fill(value(a.slice(0, 1, 2)), 1.0f).get(), "fill: out is sealed; unseal it first");
  refused(device.copy(other, a).get(), "copy: out is sealed; unseal it first");
  refused(device.write(a, std::vector<float>(6)).get(), "write: the array is sealed; unseal it first");
  refused(device.blas().gemm(filled(device, {2, 2}, 1.0f), other, a).get(), "gemm: c is sealed; unseal it first");
  refused(bad(device, "scale", {updates(a)}).get(), "call: array 0 is sealed; unseal it first");
  refused(std::move(made_before).get(), "fill: an array that it writes is sealed; unseal it first");
}

}  // namespace
}  // namespace troupe
