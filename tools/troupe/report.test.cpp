#include "tools/troupe/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tools/troupe/findings_of.test.hpp"

namespace troupe::tool {
namespace {

/// The only line of that thing. A thing that is there twice, or not at all, fails the test.
Line line_of(const Report& report, std::string_view thing) {
  std::vector<Line> found;
  for (const Section& section : report.sections)
    std::ranges::copy_if(section.lines, std::back_inserter(found),
                         [&](const Line& line) { return line.thing == thing; });
  EXPECT_EQ(found.size(), 1u) << thing;
  return found.empty() ? Line{} : found[0];
}

bool has(const Report& report, std::string_view thing) {
  return std::ranges::any_of(report.sections, [&](const Section& section) {
    return std::ranges::find(section.lines, thing, &Line::thing) != section.lines.end();
  });
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

TEST(DoctorReport, of_a_server_in_order_has_its_gpus_and_nothing_to_do_about_them) {
  const Report report = judge(server(1));
  EXPECT_TRUE(report.works());
  EXPECT_EQ(report.conclusion, "1 GPU can be used.");
  EXPECT_EQ(line_of(report, "GPU 0").found, "NVIDIA H200, 140 GiB, compute capability 9.0");
  EXPECT_EQ(line_of(report, "  id").found, "GPU-0");
  for (const char* thing : {"driver", "kernel driver", "GPU 0", "  memory", "  sharing", "  device"})
    EXPECT_EQ(line_of(report, thing).state, State::ok) << thing;
  EXPECT_EQ(judge(server(8)).conclusion, "8 GPUs can be used.");
}

TEST(DoctorReport, of_a_machine_without_a_gpu_says_that_it_works_all_the_same) {
  const Report report = judge(laptop());
  EXPECT_TRUE(report.works());
  EXPECT_EQ(report.conclusion, "No GPU can be used here; programs run on the host device.");
  EXPECT_EQ(line_of(report, "kernel driver").state, State::missing);
  EXPECT_EQ(line_of(report, "driver").state, State::missing);
  EXPECT_EQ(line_of(report, "cuBLAS").found, "13.1.0  /cuda/libcublas.so.13");
  EXPECT_EQ(line_of(report, "cuTENSOR").state, State::missing);
  EXPECT_TRUE(contains(line_of(report, "cuTENSOR").advice, "without a GPU")) << line_of(report, "cuTENSOR").advice;
}

TEST(DoctorReport, has_advice_for_each_gap_and_for_nothing_else) {
  std::vector<Findings> all = {laptop(), server(0), server(2)};
  Findings poor = server(2);
  poor.machine.control_node = ControlNode::forbidden;
  poor.machine.shared_memory = fail(ErrorKind::unsupported);
  poor.machine.open_files_limit = 256;
  poor.machine.locked_memory_limit_bytes = 65536;
  poor.machine.visible_devices = "0,1";
  poor.facts->backends = {"host"};
  poor.facts->blas = library_of("BLAS", "", "");
  poor.facts->lapack = library_of("LAPACK", "", "");
  poor.facts->other_blas[2].problem = "it takes 64-bit integers";
  poor.facts->gpus[0].can_export_memory = false;
  poor.facts->gpus[0].is_exclusive = true;
  for (Trial& trial : poor.trials) trial.outcome = fail(ErrorKind::device_lost);
  all.push_back(poor);
  poor.facts->driver.problem = "it does not start";
  all.push_back(poor);
  poor.facts->complete = false;
  all.push_back(poor);
  poor.worker_version = "troupe 2";
  all.push_back(poor);
  poor.worker = fail(ErrorKind::invalid_argument, "there is none");
  all.push_back(poor);
  for (const Findings& findings : all)
    for (const Section& section : judge(findings).sections)
      for (const Line& line : section.lines)
        EXPECT_EQ(line.advice.empty(), line.state == State::ok) << line.thing << ": " << line.advice;
}

TEST(DoctorReport, says_which_blas_is_used_and_why_others_are_not) {
  Findings findings = laptop();
  EXPECT_EQ(line_of(judge(findings), "BLAS").found, "OpenBLAS 0.3.21  /lib/libopenblas.so.0");
  EXPECT_EQ(line_of(judge(findings), "  not found").found, "MKL, Arm PL, BLIS");
  findings.facts->other_blas[1].problem = "cblas_cgemm gives a wrong answer";
  EXPECT_EQ(line_of(judge(findings), "  not used").found, "Arm PL");
  EXPECT_EQ(line_of(judge(findings), "  not used").advice, "It was passed over: cblas_cgemm gives a wrong answer.");
  EXPECT_EQ(line_of(judge(findings), "  not found").found, "MKL, BLIS");
}

TEST(DoctorReport, of_a_worker_that_is_missing_or_of_another_version_is_broken_and_goes_no_further) {
  Findings findings = server(1);
  findings.facts = fail(ErrorKind::stopped);
  findings.trials.clear();
  findings.worker_version = "troupe 2";
  Report report = judge(findings);
  EXPECT_FALSE(report.works());
  EXPECT_EQ(line_of(report, "version").state, State::broken);
  EXPECT_EQ(line_of(report, "version").found, "\"troupe 2\", and this program is \"troupe 1\"");
  EXPECT_FALSE(has(report, "survey"));
  EXPECT_FALSE(has(report, "cuBLAS"));

  findings.worker = fail(ErrorKind::invalid_argument, "looked everywhere");
  report = judge(findings);
  EXPECT_FALSE(report.works());
  EXPECT_EQ(line_of(report, "executable").advice, "looked everywhere.");
  EXPECT_FALSE(has(report, "version"));
}

TEST(DoctorReport, of_a_worker_that_hangs_says_at_what) {
  Findings findings = server(1);
  findings.facts->complete = false;
  findings.facts->looking_at = "the NVIDIA driver";
  findings.why_facts_end = "it did not end within 20 s";
  const Report report = judge(findings);
  EXPECT_FALSE(report.works());
  EXPECT_EQ(line_of(report, "survey").found, "stopped at the NVIDIA driver: it did not end within 20 s");
  EXPECT_EQ(line_of(report, "host device").state, State::ok);
}

TEST(DoctorReport, of_a_driver_that_does_not_start_is_broken_where_there_is_a_gpu) {
  Findings findings = server(0);
  findings.facts->driver.problem = "cuInit answered 803";
  EXPECT_FALSE(judge(findings).works());
  EXPECT_EQ(line_of(judge(findings), "driver").found, "cuInit answered 803");
  findings.facts->driver = library_of("driver", "", "");
  EXPECT_FALSE(judge(findings).works()) << "the kernel driver is there, libcuda is not";
  findings.facts->driver.problem = "cuInit answered 34";
  findings.machine.control_node = ControlNode::missing;
  EXPECT_TRUE(judge(findings).works()) << "no GPU, and a library that cannot find one";
  EXPECT_EQ(line_of(judge(findings), "driver").state, State::note);
}

TEST(DoctorReport, of_a_gpu_that_may_not_be_opened_is_broken) {
  Findings findings = server(0);
  findings.machine.control_node = ControlNode::forbidden;
  EXPECT_FALSE(judge(findings).works());
}

TEST(DoctorReport, says_when_all_gpus_are_hidden) {
  Findings findings = server(0);
  findings.machine.visible_devices = "";
  const Report report = judge(findings);
  EXPECT_TRUE(report.works());
  EXPECT_TRUE(contains(line_of(report, "visible GPUs").advice, "hides every GPU"));
}

TEST(DoctorReport, of_a_worker_without_cuda_does_not_blame_the_driver) {
  Findings findings = server(0);
  findings.facts->backends = {"host"};
  findings.machine.visible_devices = "0";
  const Report report = judge(findings);
  EXPECT_TRUE(report.works());
  EXPECT_EQ(line_of(report, "backends").state, State::note);
  EXPECT_TRUE(contains(line_of(report, "GPU").advice, "built without CUDA"));
  EXPECT_FALSE(has(report, "visible GPUs"));
}

TEST(DoctorReport, says_what_a_gpu_cannot_do) {
  Findings findings = server(1);
  findings.facts->gpus[0].can_export_memory = false;
  findings.facts->gpus[0].is_exclusive = true;
  const Report report = judge(findings);
  EXPECT_TRUE(report.works());
  EXPECT_TRUE(contains(line_of(report, "  memory").advice, "do not outlive a worker"));
  EXPECT_TRUE(contains(line_of(report, "  sharing").advice, "no standby"));
}

TEST(DoctorReport, of_gpus_of_which_none_computes_is_broken_and_of_which_one_does_is_not) {
  Findings findings = server(2);
  findings.trials[1].outcome = fail(ErrorKind::device_lost, "it fell off the bus");
  EXPECT_TRUE(judge(findings).works());
  EXPECT_EQ(judge(findings).conclusion, "1 GPU can be used.");
  findings.trials[2].outcome = fail(ErrorKind::device_lost, "so did this one");
  EXPECT_FALSE(judge(findings).works());
  EXPECT_EQ(judge(findings).conclusion, "2 things are broken; see above.");
}

TEST(DoctorReport, of_a_host_device_that_does_not_compute_is_broken) {
  Findings findings = laptop();
  findings.trials[0].outcome = fail(ErrorKind::timeout);
  EXPECT_FALSE(judge(findings).works());
  EXPECT_EQ(line_of(judge(findings), "host device").state, State::broken);
}

TEST(DoctorReport, says_where_to_get_a_library_and_when_it_is_too_new_for_the_driver) {
  Findings findings = server(1);
  findings.facts->driver.version = "12.8";
  const Report report = judge(findings);
  EXPECT_EQ(line_of(report, "cuBLAS").state, State::note);
  EXPECT_TRUE(contains(line_of(report, "cuBLAS").advice, "CUDA 12.8"));
  EXPECT_TRUE(contains(line_of(report, "cuTENSOR").advice, "Install it,"));
  findings.facts->libraries[1].problem = "libcutensor.so.2 cannot be opened: no libcublasLt.so.13";
  EXPECT_EQ(line_of(judge(findings), "cuTENSOR").state, State::missing);
  EXPECT_EQ(line_of(judge(findings), "cuTENSOR").found, findings.facts->libraries[1].problem);
}

TEST(DoctorReport, says_what_limits_are_worth) {
  Findings findings = laptop();
  findings.machine.open_files_limit = 1024;
  findings.machine.locked_memory_limit_bytes = 8 << 20;
  const Report report = judge(findings);
  EXPECT_TRUE(report.works());
  EXPECT_TRUE(contains(line_of(report, "open files").advice, "about 64 GiB")) << line_of(report, "open files").advice;
  EXPECT_EQ(line_of(report, "locked memory").found, "8 MiB");
}

TEST(DoctorReport, says_which_sandbox_the_machine_can_give) {
  Findings findings = laptop();
  EXPECT_EQ(line_of(judge(findings), "sandbox").state, State::ok);
  EXPECT_EQ(line_of(judge(findings), "sandbox").found, "standard and strict");
  findings.machine.sandbox.landlock = 5;
  EXPECT_EQ(line_of(judge(findings), "sandbox").state, State::note);
  EXPECT_TRUE(contains(line_of(judge(findings), "sandbox").advice, "signals"));
  findings.machine.sandbox = {};
  EXPECT_TRUE(judge(findings).works());
  EXPECT_EQ(line_of(judge(findings), "sandbox").state, State::note);
  EXPECT_TRUE(contains(line_of(judge(findings), "sandbox").found, "Landlock"));
  EXPECT_TRUE(contains(line_of(judge(findings), "sandbox").found, "seccomp"));
}

}  // namespace
}  // namespace troupe::tool
