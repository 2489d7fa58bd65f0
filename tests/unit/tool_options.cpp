// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What the command line means: sizes, kdp bench's options, names of controllers.
#include <gtest/gtest.h>

#include <cerrno>

#include <kdp/control.hpp>

#include "bench/options.hpp"
#include "bench/print_text.hpp"
#include "report.hpp"
#include "text_table.hpp"
#include "units.hpp"

namespace {

using namespace kdp::tool;
using bench::Options;
using bench::RawOptions;
using bench::Workload;

TEST(Units, ParseSize)
{
    EXPECT_EQ(parse_size("512"), 512u);
    EXPECT_EQ(parse_size("4k"), 4096u);
    EXPECT_EQ(parse_size("4K"), 4096u);
    EXPECT_EQ(parse_size("64KiB"), 65536u);
    EXPECT_EQ(parse_size("1m"), 1u << 20);
    EXPECT_EQ(parse_size("2G"), std::uint64_t{2} << 30);
    EXPECT_EQ(parse_size("16777215T"), std::uint64_t{16777215} << 40);
    for (const char* bad :
         {"", "0", "k", "-1", "4kk", "4 k", "4kB", "1.5k", "16777216T", "18446744073709551616"})
        EXPECT_FALSE(parse_size(bad)) << bad;
}

TEST(Units, FormatBytes)
{
    EXPECT_EQ(format_bytes(0), "0 B");
    EXPECT_EQ(format_bytes(1023), "1023 B");
    EXPECT_EQ(format_bytes(4096), "4 KiB");
    EXPECT_EQ(format_bytes(std::uint64_t{3} << 29), "1.50 GiB");
    EXPECT_EQ(format_bytes(UINT64_MAX), "16 EiB");
}

TEST(Units, FormatFigureHasFourDigits)
{
    EXPECT_EQ(format_figure(0), "0");
    EXPECT_EQ(format_figure(12345.6), "12346");
    EXPECT_EQ(format_figure(999.96), "1000");
    EXPECT_EQ(format_figure(123.456), "123.5");
    EXPECT_EQ(format_figure(99.996), "100.0");
    EXPECT_EQ(format_figure(12.3456), "12.35");
    EXPECT_EQ(format_figure(2), "2.000");
    EXPECT_EQ(format_figure(0.12345), "0.1235");
}

TEST(TextTable, PadsAndCountsCodePoints)
{
    TextTable table({{"name", Align::left}, {"n", Align::right}});
    table.add_row({"a", "–"});
    table.add_row({"bb", "12"});
    EXPECT_EQ(table.to_string(), "name   n\n----  --\na      –\nbb    12\n");
}

TEST(PrintText, Wrap)
{
    EXPECT_EQ(bench::wrap("one two", 20, 2), "one two");
    EXPECT_EQ(bench::wrap("one two three", 8, 2), "one two\n  three");
    EXPECT_EQ(bench::wrap("unbreakable-word next", 5, 1), "unbreakable-word\n next");
}

TEST(Report, ErrorLine)
{
    EXPECT_EQ(error_line("connect", "192.0.2.1:4420", {ECONNREFUSED, "nobody listens", 0}),
              "kdp connect: 192.0.2.1:4420: nobody listens (ECONNREFUSED)");
    EXPECT_EQ(error_line("list", "", {4711, "odd", 0x4002}),
              "kdp list: odd (errno 4711, NVMe status 0x4002)");
}

TEST(Control, InstanceOfName)
{
    using kdp::control::instance_of_name;
    EXPECT_EQ(instance_of_name("kdp0"), 0u);
    EXPECT_EQ(instance_of_name("/dev/kdp12"), 12u);
    for (const char* bad :
         {"", "kdp", "kdp0n1", "kdpg0n1", "nvme0", "kdp-1", "kdp 1", "0", "kdp4294967296"})
        EXPECT_FALSE(instance_of_name(bad)) << bad;
}

Options good()
{
    Options options;
    options.uris = {"block:/dev/null"};
    return options;
}

void expect_refused(const RawOptions& raw, Options options, const std::string& words)
{
    const auto status = bench::complete_options(raw, options);
    ASSERT_FALSE(status) << words;
    EXPECT_EQ(status.error().code, EINVAL);
    EXPECT_NE(status.error().text.find(words), std::string::npos) << status.error().text;
}

TEST(BenchOptions, Defaults)
{
    Options options = good();
    ASSERT_TRUE(bench::complete_options({}, options));
    ASSERT_EQ(points(options).size(), 1u);
    const bench::Shape shape = points(options).front();
    EXPECT_EQ(shape.workload, Workload::randread);
    EXPECT_EQ(shape.read_percent, 100u);
    EXPECT_EQ(shape.block_bytes, 4096u);
    EXPECT_EQ(shape.depth, 1u);
    EXPECT_EQ(shape.threads, 1u);
    EXPECT_EQ(options.region_bytes, 64u << 20);
    EXPECT_FALSE(options.writes());
}

TEST(BenchOptions, Workloads)
{
    for (const auto w : {Workload::read, Workload::write, Workload::randread, Workload::randwrite,
                         Workload::rw, Workload::randrw})
        EXPECT_EQ(bench::parse_workload(bench::workload_name(w)), w);
    EXPECT_FALSE(bench::parse_workload(""));
    expect_refused({.workloads = "trim"}, good(), "--rw trim");
}

TEST(BenchOptions, Sizes)
{
    expect_refused({.block_bytes = "4q"}, good(), "--bs 4q");
    expect_refused({.block_bytes = "513"}, good(), "--bs 513");
    expect_refused({.block_bytes = "32m"}, good(), "--bs 32m");
    expect_refused({.region_bytes = "x"}, good(), "--size x");
    expect_refused({.depths = "32", .region_bytes = "64k"}, good(), "--size 64k");
    Options threads = good();
    threads.threads = 4;
    expect_refused({.depths = "8", .region_bytes = "64k"}, threads, "--threads");
}

TEST(BenchOptions, ASweepIsEachWithEach)
{
    Options options = good();
    options.allow_write = true;
    options.threads = 2;
    ASSERT_TRUE(bench::complete_options({.workloads = "randread,randrw,write",
                                         .block_bytes = "4k,64k",
                                         .depths = "1,4,16",
                                         .read_percent = 70},
                                        options));
    const auto shapes = points(options);
    ASSERT_EQ(shapes.size(), 3u * 2 * 3);
    EXPECT_EQ(shapes[1].depth, 4u);
    EXPECT_EQ(shapes[3].block_bytes, 65536u);
    EXPECT_EQ(shapes[6].workload, Workload::randrw);
    EXPECT_EQ(shapes[6].read_percent, 70u);
    EXPECT_TRUE(shapes[6].mixed());
    EXPECT_EQ(shapes[17].read_percent, 0u);
    EXPECT_EQ(shapes[17].threads, 2u);
}

TEST(BenchOptions, HalfOfAMixtureAreReadsIfNotToldOtherwise)
{
    Options options = good();
    options.allow_write = true;
    ASSERT_TRUE(bench::complete_options({.workloads = "rw"}, options));
    EXPECT_EQ(options.read_percent, 50u);
    EXPECT_EQ(points(options).front().read_percent, 50u);
}

TEST(BenchOptions, BadListsNameTheirPart)
{
    expect_refused({.workloads = "randread,"}, good(), "--rw :");
    expect_refused({.workloads = "read,read"}, good(), "read is there twice");
    expect_refused({.block_bytes = "4k,x"}, good(), "--bs x:");
    expect_refused({.block_bytes = "4k,4096"}, good(), "4096 is there twice");
    for (const char* bad : {"", "0", "1025", "-1", "1 2", "4294967297", "one"})
        expect_refused({.depths = bad}, good(), "--depth");
    for (const char* bad : {",", "-1", "x", "1024", "0,0"})
        expect_refused({.cpus = bad}, good(), "--cpus");
    expect_refused({.read_percent = 50}, good(), "--read-percent");
    Options writing = good();
    writing.allow_write = true;
    expect_refused({.workloads = "rw", .read_percent = 101}, writing, "--read-percent 101");
}

TEST(BenchOptions, Numbers)
{
    Options options = good();
    options.threads = 0;
    expect_refused({}, options, "--threads 0");
    options.threads = 257;
    expect_refused({}, options, "--threads 257");
    options = good();
    options.runtime_s = 0;
    expect_refused({}, options, "--runtime");
    options = good();
    options.threads = 4;
    options.ios = 3;
    expect_refused({}, options, "--ios 3");
}

TEST(BenchOptions, WritingWantsConsent)
{
    for (const char* workload : {"write", "randwrite", "rw", "randrw", "randread,write"}) {
        expect_refused({.workloads = workload}, good(), "--allow-write");
        Options options = good();
        options.allow_write = true;
        EXPECT_TRUE(bench::complete_options({.workloads = workload}, options));
    }
    Options verify = good();
    verify.verify = true;
    expect_refused({}, verify, "--verify fills");
    verify.allow_write = true;
    EXPECT_TRUE(bench::complete_options({}, verify));
}

TEST(BenchOptions, UrisAreParsed)
{
    Options options = good();
    options.uris.push_back("kernel:");
    expect_refused({}, options, "kernel:");
}

}  // namespace
