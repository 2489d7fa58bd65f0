// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The statistics over rounds, and the shape of the results.
#include "bench/figures.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "bench/cost.hpp"
#include "bench/interrupts.hpp"
#include "bench/print_csv.hpp"
#include "bench/print_json.hpp"
#include "bench/print_text.hpp"
#include "bench/system_calls.hpp"

namespace {

using namespace kdp::tool::bench;

Turn turn_of(unsigned round, std::uint64_t ios, std::uint64_t latency_ns)
{
    Turn turn;
    turn.round = round;
    turn.ios = ios;
    turn.bytes = ios * 4096;
    turn.elapsed_ns = ios * latency_ns;
    turn.latency = {static_cast<double>(latency_ns), latency_ns, latency_ns, latency_ns,
                    latency_ns};
    turn.cost.voluntary_switches = ios;
    turn.cost.involuntary_switches = ios;
    turn.cost.process_cpu_ns = ios * 5000;
    return turn;
}

const Figure& figure(std::string_view key)
{
    for (const Figure& f : figures())
        if (f.key == key)
            return f;
    ADD_FAILURE() << "no figure " << key;
    return figures().front();
}

RunReport report_of_two()
{
    RunReport report;
    report.region_bytes = 64 << 20;
    report.why_no_system_calls = "because";
    report.paths = {{"verbs://h/n", "verbs:h", {}}, {"block:/dev/x,y", "block:x", {}}};
    PathResult known;
    for (unsigned round = 1; round <= 3; round++) {
        Turn turn = turn_of(round, 100, 100'000 * round);
        turn.fabric = FabricCounters{300, 200, 100, 0, {}};
        turn.counted_ios = 100;
        turn.system_calls = 200;
        turn.cost.interrupts = 50;
        known.turns.push_back(turn);
        known.reads.record(100'000 * round);
    }
    PathResult unknown = known;
    unknown.path = 1;
    for (Turn& turn : unknown.turns) {
        turn.fabric.reset();
        turn.system_calls.reset();
        turn.cost.interrupts.reset();
    }
    report.points.push_back({Shape{}, {known, unknown}});
    return report;
}

TEST(Figures, ValuesAndUnits)
{
    Turn turn = turn_of(1, 1000, 100'000);
    EXPECT_DOUBLE_EQ(*figure("iops").value(turn), 10'000);
    EXPECT_DOUBLE_EQ(*figure("bandwidth_mib_s").value(turn), 10'000 * 4096.0 / (1 << 20));
    EXPECT_DOUBLE_EQ(*figure("lat_mean_us").value(turn), 100);
    EXPECT_DOUBLE_EQ(*figure("lat_p99_us").value(turn), 100);
    EXPECT_DOUBLE_EQ(*figure("lat_max_us").value(turn), 100);
    EXPECT_DOUBLE_EQ(*figure("context_switches_per_io").value(turn), 2);
    EXPECT_DOUBLE_EQ(*figure("cpu_process_us_per_io").value(turn), 5);
    turn.cost.interrupts = 1500;
    EXPECT_DOUBLE_EQ(*figure("interrupts_per_io").value(turn), 1.5);
    turn.write_latency = Latencies{1000, 2000, 3000, 4000, 5000};
    EXPECT_DOUBLE_EQ(*figure("lat_write_mean_us").value(turn), 1);
    EXPECT_DOUBLE_EQ(*figure("lat_write_p50_us").value(turn), 2);
    EXPECT_DOUBLE_EQ(*figure("lat_write_p99_us").value(turn), 3);
    turn.cost.machine = MachineTime{7'000'000, std::nullopt, 1'000'000};
    EXPECT_DOUBLE_EQ(*figure("cpu_machine_us_per_io").value(turn), 7);
    EXPECT_DOUBLE_EQ(*figure("cpu_softirq_us_per_io").value(turn), 1);
    EXPECT_FALSE(figure("cpu_interrupt_us_per_io").value(turn));
    turn.fabric = FabricCounters{3000, 4000, 2000, 0, 4096 * 500};
    EXPECT_DOUBLE_EQ(*figure("doorbells_per_io").value(turn), 3);
    EXPECT_DOUBLE_EQ(*figure("registrations_per_io").value(turn), 0);
    EXPECT_DOUBLE_EQ(*figure("bytes_copied_per_byte").value(turn), 0.5);
}

TEST(Figures, UnknownIsNotZero)
{
    const Turn turn = turn_of(1, 10, 1000);
    for (const char* key :
         {"system_calls_per_io", "cpu_machine_us_per_io", "doorbells_per_io", "cqes_per_io",
          "bytes_copied_per_byte", "interrupts_per_io", "lat_read_p99_us", "lat_write_p99_us"})
        EXPECT_FALSE(figure(key).value(turn)) << key;
}

TEST(Figures, ARoundThatEndedEarlyCountsOnlyWhereNoOtherIs)
{
    std::vector<Turn> turns = {turn_of(1, 100, 1000), turn_of(2, 3, 9'000'000)};
    turns[1].interrupted = true;
    EXPECT_DOUBLE_EQ(summarise(figure("lat_mean_us"), turns)->max, 1);
    turns[0].interrupted = true;
    EXPECT_DOUBLE_EQ(summarise(figure("lat_mean_us"), turns)->max, 9000);
}

TEST(BenchJson, Shape)
{
    const auto json = to_json({}, {}, report_of_two());
    EXPECT_EQ(json["schema"], 2);
    EXPECT_TRUE(json["failure"].is_null());
    EXPECT_EQ(json["system_calls_unavailable"], "because");
    EXPECT_EQ(json["options"]["rw"], nlohmann::json({"randread"}));
    EXPECT_EQ(json["options"]["bs"], nlohmann::json({4096}));
    EXPECT_TRUE(json["options"]["read_percent"].is_null());
    EXPECT_TRUE(json["options"]["cpus"].is_null());
    ASSERT_EQ(json["paths"].size(), 2u);
    EXPECT_EQ(json["paths"][1]["label"], "block:x");
    EXPECT_TRUE(json["paths"][1]["rdma_device"].is_null());
    ASSERT_EQ(json["points"].size(), 1u);
    const auto& point = json["points"][0];
    EXPECT_EQ(point["rw"], "randread");
    EXPECT_EQ(point["read_percent"], 100);
    EXPECT_EQ(point["threads"], 1);
    ASSERT_EQ(point["results"].size(), 2u);
    const auto& known = point["results"][0];
    EXPECT_EQ(known["path"], 0);
    EXPECT_EQ(known["rounds"].size(), 3u);
    EXPECT_EQ(known["rounds"][1]["round"], 2);
    EXPECT_EQ(known["rounds"][1]["figures"].size(), figures().size());
    const auto& latency = known["summary"]["lat_mean_us"];
    EXPECT_DOUBLE_EQ(latency["mean"], 200);
    EXPECT_DOUBLE_EQ(latency["median"], 200);
    EXPECT_DOUBLE_EQ(latency["min"], 100);
    EXPECT_DOUBLE_EQ(latency["max"], 300);
    EXPECT_NEAR(latency["half_width"], 248.4, 0.1);  // 4.3027 * 100 / sqrt(3)
    EXPECT_EQ(known["rounds"][0]["totals"]["doorbells"], 300);
    EXPECT_EQ(known["rounds"][0]["totals"]["interrupts"], 50);
    EXPECT_EQ(known["rounds"][0]["figures"]["system_calls_per_io"], 2);
    EXPECT_EQ(known["percentiles_us"].size(), std::size(percents));
    EXPECT_EQ(known["percentiles_us"].back()[0], 100);
    EXPECT_EQ(known["percentiles_us"].back()[1], 300);
    EXPECT_TRUE(known["percentiles_read_us"].is_null());
    EXPECT_TRUE(known["failure"].is_null());
    const auto& unknown = point["results"][1];
    EXPECT_TRUE(unknown["summary"]["doorbells_per_io"].is_null());
    EXPECT_TRUE(unknown["rounds"][0]["figures"]["system_calls_per_io"].is_null());
    EXPECT_TRUE(unknown["rounds"][0]["totals"]["system_calls"].is_null());
    EXPECT_TRUE(unknown["rounds"][0]["totals"]["interrupts"].is_null());
}

TEST(BenchJson, OneRoundHasNoInterval)
{
    RunReport report = report_of_two();
    report.points[0].results[0].turns.resize(1);
    const auto json = to_json({}, {}, report);
    EXPECT_TRUE(json["points"][0]["results"][0]["summary"]["iops"]["half_width"].is_null());
}

TEST(BenchJson, Mixed)
{
    RunReport report = report_of_two();
    report.points[0].shape.workload = Workload::randrw;
    report.points[0].shape.read_percent = 70;
    const auto json = to_json({}, {}, report);
    const auto& result = json["points"][0]["results"][0];
    EXPECT_FALSE(result["percentiles_read_us"].is_null());
    EXPECT_TRUE(result["percentiles_write_us"].is_null());  // there was none
}

TEST(BenchJson, Failure)
{
    RunReport report = report_of_two();
    report.points[0].results[1].failure =
        Failure{"block:/dev/x", {EILSEQ, "the data do not verify", 0}};
    report.failure = report.points[0].results[1].failure;
    const auto json = to_json({}, {}, report);
    EXPECT_EQ(json["failure"]["errno_name"], "EILSEQ");
    EXPECT_EQ(json["failure"]["subject"], "block:/dev/x");
    EXPECT_EQ(json["points"][0]["results"][1]["failure"], json["failure"]);
    EXPECT_TRUE(json["points"][0]["results"][0]["failure"].is_null());
}

TEST(BenchText, TableHasMeansIntervalsAndDashes)
{
    const std::string text = to_text({}, {}, report_of_two());
    const auto line_of = [&](const std::string& heading) {
        const auto at = text.find("\n" + heading);
        return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    };
    EXPECT_NE(line_of("latency mean, us").find("200.0 ± 248.4"), std::string::npos) << text;
    EXPECT_NE(line_of("doorbells per I/O").find("3.000"), std::string::npos) << text;
    EXPECT_NE(line_of("doorbells per I/O").find("–"), std::string::npos) << text;
    EXPECT_NE(line_of("system calls per I/O").find("–"), std::string::npos) << text;
    EXPECT_NE(text.find("because"), std::string::npos);
    EXPECT_EQ(text.find("of reads"), std::string::npos);
}

TEST(BenchText, ASweepHasALineForEachPointAndPath)
{
    RunReport report = report_of_two();
    report.points.push_back(report.points.front());
    report.points.back().shape.depth = 16;
    report.points.back().results[1].failure = Failure{"block:/dev/x", {ENODEV, "it has gone", 0}};
    const std::string text = to_text({}, {}, report);
    EXPECT_NE(text.find("randread  4 KiB      1  [1] verbs:h"), std::string::npos) << text;
    EXPECT_NE(text.find("randread  4 KiB     16  [1] verbs:h"), std::string::npos) << text;
    EXPECT_NE(text.find("[2] block:x !"), std::string::npos) << text;
    EXPECT_NE(text.find("[2] block:x FAILED at randread, 4 KiB, depth 16"), std::string::npos)
        << text;
    EXPECT_NE(text.find("it has gone (ENODEV)"), std::string::npos) << text;
}

TEST(BenchCsv, OneLineForEachPointPathAndFigure)
{
    RunReport report = report_of_two();
    report.points[0].results[1].failure = Failure{"block:/dev/x", {ENODEV, "it has gone", 0}};
    const std::string csv = to_csv(report);
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'),
              static_cast<std::ptrdiff_t>(1 + 2 * figures().size()));
    EXPECT_NE(csv.find("\nrandread,100,4096,1,1,verbs:h,verbs://h/n,,3,lat_max_us,200,248."),
              std::string::npos)
        << csv;
    EXPECT_NE(csv.find("block:x,\"block:/dev/x,y\",ENODEV,3,doorbells_per_io,,,,,\n"),
              std::string::npos)
        << csv;
}

TEST(Distortions, SayWhatIsSoft)
{
    Environment env;
    EXPECT_TRUE(distortions(env).empty());
    env.rdma.push_back({"rxe0", "rxe", "CA", "Ethernet", "ACTIVE", 1024, "eth0", 1500});
    const auto sentences = distortions(env);
    ASSERT_EQ(sentences.size(), 2u);
    EXPECT_NE(sentences[0].find("system call"), std::string::npos);
    EXPECT_NE(sentences[1].find("1024"), std::string::npos);
    env.emulated = env.virtual_machine = true;
    EXPECT_NE(distortions(env)[2].find("ratios"), std::string::npos);
}

TEST(Cost, CountsThisProcess)
{
    const auto begin = cost_so_far();
    volatile std::uint64_t sink = 0;
    for (int i = 0; i < 3'000'000; i++)
        sink = sink + 1;
    EXPECT_GT(cost_between(begin, cost_so_far()).process_cpu_ns, 0u);
}

TEST(Interrupts, SumOfAllCpusAndKinds)
{
    const char* text =
        "           CPU0       CPU1       \n"
        "  1:          0          9   IO-APIC   1-edge      i8042\n"
        " 24:          3          0  PCI-MSIX-0000:00:03.0   0-edge      eth0 7\n"
        "LOC:       1000       2000   Local timer interrupts\n"
        "ERR:         50\n"
        "MIS:         60\n";
    EXPECT_EQ(sum_of_interrupts(text), 3012u);
    EXPECT_EQ(sum_of_interrupts("  CPU0\n 0: 5 UML timer"), 5u);
    EXPECT_FALSE(sum_of_interrupts(""));
    EXPECT_FALSE(sum_of_interrupts("no such file\n1: 2\n"));
}

TEST(Interrupts, OfThisMachineGrow)
{
    const auto before = interrupts_so_far();
    if (!before)
        GTEST_SKIP() << "no /proc/interrupts";
    EXPECT_GE(*interrupts_so_far(), *before);
}

TEST(SystemCalls, ThreadFilter)
{
    EXPECT_EQ(thread_filter({7}), "(common_pid==7)");
    EXPECT_EQ(thread_filter({7, 9, 10, 11, 12, 20}),
              "(common_pid==7||(common_pid>=9&&common_pid<=12)||common_pid==20)");
}

TEST(SystemCalls, CountIsExact)
{
    const auto counter = SystemCallCounter::start();
    if (!counter)
        GTEST_SKIP() << counter.error().text;
    const auto before = counter.value().count();
    for (int i = 0; i < 100; i++)
        getppid();
    EXPECT_EQ(counter.value().count().value() - before.value(), 100u);
}

}  // namespace
