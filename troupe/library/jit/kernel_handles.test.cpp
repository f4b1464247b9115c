// Kernels by handle, structs with pointers, headers and flags that are given as texts, images that are loaded: on the
// CPU.
#include "troupe/library/jit/host_kernels.test.hpp"

namespace troupe {
namespace {

using KernelHandles = HostKernels;

constexpr const char* kSaxpy = R"(
  __global__ void saxpy(int n, float a, const float* x, float* y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];
  }
  struct Layer { const float* weights; float* out[2]; int n; };
  __global__ void forward(Layer layer, float by) {
    for (int i = threadIdx.x; i < layer.n; i += blockDim.x)
      for (int k = 0; k < 2; ++k) layer.out[k][i] = by * layer.weights[i] + k;
  }
  __global__ void any(void* p, const void* q, double d) {})";

struct Layer {
  const float* weights;
  float* out[2];
  int n;
};

TEST_F(KernelHandles, are_launched_with_arrays_and_numbers) {
  const Program program = compiled(kSaxpy);
  const auto saxpy = value(program.kernel<void(int, float, const float*, float*)>("saxpy"));
  const Array<float> x = array_of(counted(1000)), y = filled(device, {1000}, 1.0f);
  const Grid grid{.blocks = 3, .threads = 64};
  value(device.jit().launch(saxpy, grid, 1000, 0.5f, x, y).get());
  value(device.jit().launch(saxpy, grid, std::int16_t{1000}, 1, reads(x), updates(y)).get());
  const AnyKernel by_name = value(program.kernel("saxpy"));
  value(device.jit().launch(by_name, grid, 1000, 0.5f, reads(x), updates(y)).get());
  const std::vector<float> result = values_of(y);
  for (std::size_t i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], 1.0f + 2.0f * static_cast<float>(i));
}

TEST_F(KernelHandles, say_what_is_done_with_arrays) {
  const Program program = compiled(kSaxpy);
  const auto saxpy = value(program.kernel<void(int, float, const float*, float*)>("saxpy"));
  const Array<float> x = array_of(counted(8)), y = array_of(counted(8));
  EXPECT_EQ(kind_of(device.jit().launch(saxpy, {}, 8, 1.0f, x, reads(x)).get()), static_cast<ErrorKind>(255));
  const Result<void> wrong = device.jit().launch(saxpy, {}, 8, 1.0f, writes(x), y).get();
  EXPECT_TRUE(says(wrong.error(), "launch: argument 3 of saxpy(int, float, float const*, float*) is only read"))
      << wrong.error().to_string();
  const Result<void> other = device.jit().launch(saxpy, {}, 8, 1.0f, x, writes(filled(device, {8}, 1.0))).get();
  EXPECT_TRUE(says(other.error(), "points to another type; an array of f64 was given")) << other.error().to_string();
  const auto any = value(program.kernel<void(void*, const void*, double)>("any"));
  value(device.jit().launch(any, {}, x, filled(device, {2}, 1), 3).get());
  value(device.jit().launch(any, {}, nullptr, nullptr, 3.0f).get());
}

TEST_F(KernelHandles, have_the_signature_of_the_source) {
  const Program program = compiled(kSaxpy);
  const auto said = [](const auto& kernel) { return kernel ? std::string() : std::string(kernel.error().message()); };
  const std::string of_saxpy = " of saxpy(int, float, float const*, float*) ";
  EXPECT_EQ(said(program.kernel<void(int, float, const float*)>("saxpy")),
            "kernel: saxpy(int, float, float const*, float*) takes 4 arguments and was given 3");
  EXPECT_EQ(said(program.kernel<void(int, double, const float*, float*)>("saxpy")),
            "kernel: argument 2" + of_saxpy + "has 4 bytes; a double was given");
  EXPECT_EQ(said(program.kernel<void(int, float, const int*, float*)>("saxpy")),
            "kernel: argument 3" + of_saxpy + "points to another type; an array of i32 was given");
  EXPECT_EQ(said(program.kernel<void(int, float, float*, float*)>("saxpy")),
            "kernel: argument 3" + of_saxpy + "is const, and the signature says that it is not");
  EXPECT_EQ(said(program.kernel<void(int, float, const float*, const float*)>("saxpy")),
            "kernel: argument 4" + of_saxpy + "is not const, and the signature says that it is");
  EXPECT_EQ(said(program.kernel<void(int, float, const float*, void*)>("saxpy")),
            "kernel: argument 4" + of_saxpy + "points to another type; a pointer to void was given");
  EXPECT_TRUE(said(program.kernel("axpy")).starts_with("kernel: the program has no kernel axpy; it has saxpy("));
  EXPECT_EQ(said(Program().kernel("saxpy")), "kernel: the program is empty; compile it first");
  EXPECT_EQ(std::string(device.jit().launch(AnyKernel(), {}).get().error().message()),
            "launch: the kernel is an empty handle; take one from a program");
}

TEST_F(KernelHandles, keep_their_program) {
  const auto saxpy = value(compiled(kSaxpy).kernel<void(int, float, const float*, float*)>("saxpy"));
  const Array<float> x = array_of(counted(8)), y = filled(device, {8}, 0.0f);
  kill_worker(device);
  value(device.jit().launch(saxpy, {}, 8, 1.0f, x, y).get());
  EXPECT_EQ(values_of(y), counted(8));
}

TEST_F(KernelHandles, take_structs_whose_pointers_point_to_arrays) {
  const Program program = compiled(kSaxpy);
  const Array<float> weights = array_of(counted(100));
  const Array<float> first = value(device.array<float>({100})), second = value(device.array<float>({100}));
  KernelStruct<Layer> layer({.weights = nullptr, .out = {}, .n = 100});
  layer.point(&Layer::weights, reads(weights))
      .point(&Layer::out, 0, writes(first))
      .point(&Layer::out, 1, writes(second));
  launch(program, "forward", {.threads = 32}, layer, 2.0f);
  EXPECT_EQ(values_of(first), counted(100, 2));
  const auto forward = value(program.kernel<void(Layer, float)>("forward"));
  kill_worker(device);
  value(device.jit().launch(forward, {.threads = 32}, layer, 3.0f).get());
  std::vector<float> expected = counted(100, 3);
  EXPECT_EQ(values_of(first), expected);
  for (float& number : expected) number += 1;
  EXPECT_EQ(values_of(second), expected);
}

TEST_F(KernelHandles, order_launches_by_the_pointers_of_structs) {
  const Program program = compiled(kSaxpy);
  const Array<float> a = array_of(counted(1000)), b = value(device.array<float>({1000})),
                     c = value(device.array<float>({1000}));
  for (int i = 0; i < 50; ++i) {
    KernelStruct<Layer> there({.weights = nullptr, .out = {}, .n = 1000}),
        back({.weights = nullptr, .out = {}, .n = 1000});
    there.point(&Layer::weights, reads(a)).point(&Layer::out, 0, writes(b)).point(&Layer::out, 1, writes(c));
    back.point(&Layer::weights, reads(b)).point(&Layer::out, 0, writes(a)).point(&Layer::out, 1, writes(c));
    value(device.jit().launch(program, "forward", {.threads = 64}, there, 2.0f).submit());
    value(device.jit().launch(program, "forward", {.threads = 64}, back, 0.5f).submit());
  }
  EXPECT_EQ(values_of(a), counted(1000));
}

TEST_F(KernelHandles, refuse_pointers_of_structs_that_are_not_what_they_say) {
  const Program program = compiled(kSaxpy);
  const Array<float> floats = array_of(counted(8));
  const auto said = [&](const KernelStruct<Layer>& layer) {
    return std::string(device.jit().launch(program, "forward", {}, layer, 1.0f).get().error().message());
  };
  EXPECT_EQ(said(KernelStruct<Layer>().point(&Layer::weights, updates(floats))),
            "launch: a pointer of a struct is const; say reads(array)");
  EXPECT_EQ(said(KernelStruct<Layer>().point(&Layer::weights, reads(filled(device, {8}, 1)))),
            "launch: a pointer of a struct points to f32; an array of i32 was given");
  EXPECT_EQ(said(KernelStruct<Layer>().point(&Layer::out, 2, updates(floats))),
            "launch: a pointer of a struct is declared beyond the end of its array of pointers");
  EXPECT_TRUE(said(KernelStruct<Layer>().point(&Layer::out, 0, updates(value(floats.slice(0, 0, 8, 2)))))
                  .starts_with("launch: what a pointer of a struct points to is a view whose elements do not lie"));
}

TEST_F(KernelHandles, are_of_sources_with_headers_and_flags_that_are_texts) {
  KernelSource source(R"(
    #include "tiles/tile.cuh"
    #include <names.h>
    __global__ void name(char* out) {
      const char* text = TITLE;
      for (int i = 0; i < WIDTH; ++i) out[i] = text[i];
    })");
  source.add_header("tiles/tile.cuh",
                    "#pragma once\n#include \"names.h\"\n#define WIDTH (kWidth)\n"
                    "__global__ void of_header(int* a) { extern __shared__ int b[]; *a = kWidth; }");
  source.add_header("names.h", "#pragma once\nconstexpr int kWidth = 9;\n");
  source.add_flag("-DTITLE=\"two 'words\"");
  const Program program = value(device.jit().compile(source, {.flags = "-DNOTHING"}).get());
  const Array<std::int8_t> out = value(device.array<std::int8_t>({9}));
  launch(program, "name", {}, writes(out));
  const std::vector<std::int8_t> text = values_of(out);
  EXPECT_EQ(std::string(text.begin(), text.end()), "two 'word");
  const Array<std::int32_t> width = filled(device, {1}, 0);
  launch(program, "of_header", {}, updates(width));
  EXPECT_EQ(values_of(width)[0], 9);
}

TEST_F(KernelHandles, are_of_no_header_that_cannot_be_included) {
  const auto said = [&](const char* name, std::string text) {
    const auto made =
        device.jit().compile(KernelSource("__global__ void f() {}").add_header(name, std::move(text))).get();
    return made ? std::string() : std::string(made.error().message());
  };
  for (const char* const name : {"", "/etc/passwd", "../up.h", "a/../../b.h", "folder/", "tab\tin.h", "a\"b.h"})
    EXPECT_TRUE(said(name, "").find("has no name that can be included") != std::string::npos) << name;
  EXPECT_EQ(said("a.h", std::string("\0", 1)), "compile: the header \"a.h\" has a zero byte");
  EXPECT_EQ(said("a.h", "#include <cuda_fp16.h>\n"),
            "kernels on the CPU have no half precision (cuda_fp16.h), which line 1 needs of a.h");
  const auto twice =
      device.jit().compile(KernelSource("__global__ void f() {}").add_header("a.h", "").add_header("a.h", "")).get();
  EXPECT_EQ(std::string(twice.error().message()), "compile: the header \"a.h\" is given twice");
}

TEST_F(KernelHandles, are_of_images_that_were_compiled_before) {
  const Program program = compiled(kSaxpy);
  const std::vector<std::byte> image(program.image().begin(), program.image().end());
  const Program again = value(device.jit().load(image));
  EXPECT_EQ(again.kernels(), program.kernels());
  const Array<float> x = array_of(counted(8)), y = filled(device, {8}, 0.0f);
  launch(again, "saxpy", {}, 8, 2.0f, reads(x), updates(y));
  EXPECT_EQ(values_of(y), counted(8, 2));
  const Result<Program> none = device.jit().load(std::as_bytes(std::span("no image", 8)));
  EXPECT_EQ(std::string(none.error().message()),
            "load: 8 bytes are no cubin, no fatbin, no PTX and no image of a Program");
  const std::string_view ptx = "//\n// Generated\n//\n\n.version 8.5\n.target sm_90\n";
  const Result<Program> of_gpu = device.jit().load(std::as_bytes(std::span(ptx.data(), ptx.size())));
  EXPECT_EQ(of_gpu.error().kind(), ErrorKind::unsupported);
  EXPECT_EQ(std::string(of_gpu.error().message()), "load: the image is for a GPU, and this device is a CPU");
}

TEST_F(KernelHandles, fill_the_device_and_are_refused_grids_that_it_cannot_run) {
  const Program program = compiled(R"(
    __global__ void f(unsigned* blocks) {
      if (threadIdx.x == 0) atomicAdd(blocks, 1u);
      if (blockIdx.x == 0) blocks[1] = gridDim.x;
    })");
  const Array<std::uint32_t> blocks = filled(device, {2}, 0U);
  launch(program, "f", {.threads = 8, .fills_device = true}, updates(blocks));
  EXPECT_GE(values_of(blocks)[0], 1U);
  EXPECT_EQ(values_of(blocks)[0], values_of(blocks)[1]);
  const Error cooperative = launched(program, "f", {.cooperative = true}, updates(blocks)).error();
  EXPECT_EQ(cooperative.kind(), ErrorKind::unsupported);
  EXPECT_TRUE(says(cooperative, "launch: a CPU runs no cooperative grid: its blocks are not there at once"));
  const Error clusters = launched(program, "f", {.blocks = 2, .cluster = 2}, updates(blocks)).error();
  EXPECT_TRUE(says(clusters, "launch: a CPU runs no clusters of blocks"));
  EXPECT_EQ(device.generation(), 1);
}

}  // namespace
}  // namespace troupe
