// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The statistics over rounds, and the shape of the results.
#include "bench/figures.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "bench/cost.hpp"
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
    for (std::uint64_t i = 0; i < ios; i++)
        turn.latency.record(latency_ns);
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
    PathReport known{"verbs://h/n", "verbs:h", {}, {}};
    known.info.blocks = 1024;
    known.info.block_size = 512;
    for (unsigned round = 1; round <= 3; round++) {
        Turn turn = turn_of(round, 100, 100'000 * round);
        turn.fabric = FabricCounters{300, 200, 100, 0, {}};
        turn.counted_ios = 100;
        turn.system_calls = 200;
        known.turns.push_back(turn);
    }
    PathReport unknown = known;
    unknown.uri = "block:/dev/x";
    unknown.label = "block:x";
    for (Turn& turn : unknown.turns) {
        turn.fabric.reset();
        turn.system_calls.reset();
    }
    report.paths = {known, unknown};
    return report;
}

TEST(Summary, MedianAndSpread)
{
    EXPECT_FALSE(summarise(std::vector<double>{}));
    const auto one = summarise({5});
    EXPECT_EQ(one->median, 5);
    EXPECT_EQ(one->min, 5);
    const auto odd = summarise({9, 1, 5});
    EXPECT_EQ(odd->median, 5);
    EXPECT_EQ(odd->min, 1);
    EXPECT_EQ(odd->max, 9);
    EXPECT_EQ(summarise({4, 1, 3, 100})->median, 3.5);
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
    for (const char* key : {"system_calls_per_io", "cpu_machine_us_per_io", "doorbells_per_io",
                            "cqes_per_io", "bytes_copied_per_byte"})
        EXPECT_FALSE(figure(key).value(turn)) << key;
}

TEST(BenchJson, Shape)
{
    const auto json = to_json({}, {}, report_of_two());
    EXPECT_EQ(json["schema"], 1);
    EXPECT_TRUE(json["failure"].is_null());
    EXPECT_EQ(json["system_calls_unavailable"], "because");
    ASSERT_EQ(json["paths"].size(), 2u);
    const auto& known = json["paths"][0];
    EXPECT_EQ(known["rounds"].size(), 3u);
    EXPECT_EQ(known["rounds"][1]["round"], 2);
    EXPECT_EQ(known["rounds"][1]["figures"].size(), figures().size());
    EXPECT_DOUBLE_EQ(known["summary"]["lat_mean_us"]["median"], 200);
    EXPECT_DOUBLE_EQ(known["summary"]["lat_mean_us"]["min"], 100);
    EXPECT_DOUBLE_EQ(known["summary"]["lat_mean_us"]["max"], 300);
    EXPECT_EQ(known["rounds"][0]["totals"]["doorbells"], 300);
    EXPECT_EQ(known["rounds"][0]["figures"]["system_calls_per_io"], 2);
    const auto& unknown = json["paths"][1];
    EXPECT_TRUE(unknown["summary"]["doorbells_per_io"].is_null());
    EXPECT_TRUE(unknown["rounds"][0]["figures"]["system_calls_per_io"].is_null());
    EXPECT_TRUE(unknown["rounds"][0]["totals"]["system_calls"].is_null());
    EXPECT_TRUE(unknown["rdma_device"].is_null());
}

TEST(BenchJson, Failure)
{
    RunReport report;
    report.failure = Failure{"block:/dev/x", {EILSEQ, "the data do not verify", 0}};
    const auto json = to_json({}, {}, report);
    EXPECT_EQ(json["failure"]["errno_name"], "EILSEQ");
    EXPECT_EQ(json["failure"]["subject"], "block:/dev/x");
    EXPECT_EQ(json["paths"].size(), 0u);
}

TEST(BenchText, TableHasMediansAndDashes)
{
    const std::string text = to_text({}, {}, report_of_two());
    const auto line_of = [&](const std::string& heading) {
        const auto at = text.find("\n" + heading);
        return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    };
    EXPECT_NE(line_of("latency mean, us").find("200.0 (100.0-300.0)"), std::string::npos) << text;
    EXPECT_NE(line_of("doorbells per I/O").find("3.000"), std::string::npos) << text;
    EXPECT_NE(line_of("doorbells per I/O").find("–"), std::string::npos) << text;
    EXPECT_NE(line_of("system calls per I/O").find("–"), std::string::npos) << text;
    EXPECT_NE(text.find("because"), std::string::npos);
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
