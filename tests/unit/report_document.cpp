// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Reading documents: what is right is read, and what is not is refused by name.
#include <gtest/gtest.h>

#include <cerrno>

#include "document/tables.hpp"
#include "fixtures.hpp"

namespace {

using namespace kdp::tool;
using namespace kdp::tool::document;
using test::load_bench;
using test::load_json;

TEST(Document, ReadsABenchmark)
{
    const Bench bench = load_bench("winner");
    ASSERT_EQ(bench.paths.size(), 3u);
    ASSERT_EQ(bench.points.size(), 4u);
    EXPECT_EQ(bench.points[3].bs, 16384u);
    EXPECT_EQ(bench.points[3].depth, 4u);
    const PathResult* verbs = bench.points[0].find(2);
    ASSERT_NE(verbs, nullptr);
    EXPECT_EQ(verbs->rounds, 3u);
    EXPECT_EQ(verbs->ios, 6000u);
    const Estimate* latency = verbs->find("lat_mean_us");
    ASSERT_NE(latency, nullptr);
    EXPECT_NEAR(latency->mean, 36, 2);
    EXPECT_EQ(latency->rounds, 3u);
    EXPECT_TRUE(latency->half_width);
    EXPECT_EQ(verbs->find("bandwidth_mib_s"), nullptr) << "null is not known, never 0";
    EXPECT_FALSE(bench.environment.emulated);
}

TEST(Document, ReadsWhatFailedAndWhatIsMissing)
{
    const Bench failed = load_bench("failed");
    ASSERT_TRUE(failed.failure);
    EXPECT_EQ(failed.failure->errno_name, "ETIMEDOUT");
    EXPECT_TRUE(failed.interrupted);
    EXPECT_TRUE(failed.points[1].find(2)->failure);
    EXPECT_EQ(load_bench("missing").points[1].find(2), nullptr);
    EXPECT_TRUE(load_bench("empty").points.empty());
    EXPECT_FALSE(load_bench("single_round").points[0].results[0].find("iops")->half_width);
}

TEST(Document, ReadsExperiments)
{
    const auto lossy = std::get<Experiment>(test::load("experiment"));
    ASSERT_EQ(lossy.charts.size(), 2u);
    EXPECT_TRUE(lossy.charts[0].log);
    ASSERT_EQ(lossy.charts[0].places().size(), 4u);
    EXPECT_EQ(lossy.charts[0].places()[1].name, "0.01");
    EXPECT_FALSE(lossy.charts[0].series[1].find(lossy.charts[0].places()[3])->mean);
    const auto polling = std::get<Experiment>(test::load("experiment_names"));
    EXPECT_TRUE(polling.charts[0].named());
    EXPECT_EQ(polling.charts[0].places()[2].name, "event");
    EXPECT_EQ(polling.x_unit, "");
}

TEST(Document, PathsWithOneLabelAreToldApart)
{
    Json json = load_json("winner");
    for (int i = 0; i < 3; i++)
        json["paths"][i]["label"] = "kernel:kdpg0n1";
    json["paths"][1]["uri"] = "kernel:/dev/kdpg0n1";
    json["paths"][2]["uri"] = "kernel:/dev/kdpg0n1";
    const auto read = read_bench(json);
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(read.value().paths[0].name, "kernel:kdpg0n1 mode=uring&buffers=region");
    EXPECT_EQ(read.value().paths[1].name, "kernel:kdpg0n1 [2]");
    EXPECT_EQ(read.value().paths[2].name, "kernel:kdpg0n1 [3]");
}

std::string error_of(const std::string& text)
{
    const auto read = parse_document(text);
    if (read)
        return "(read)";
    EXPECT_EQ(read.error().code, EINVAL);
    return read.error().text;
}

TEST(Document, RefusesWhatIsNoDocument)
{
    EXPECT_NE(error_of("").find("empty"), std::string::npos);
    EXPECT_NE(error_of(" \n").find("empty"), std::string::npos);
    EXPECT_NE(error_of("{\"schema\": 2,").find("no JSON"), std::string::npos);
    EXPECT_NE(error_of("{\"schema\": 2,").find("line 1"), std::string::npos);
    EXPECT_NE(error_of("\xff\xfe").find("no JSON"), std::string::npos);
    EXPECT_NE(error_of("{\"a\": 1e999}").find("no JSON"), std::string::npos);
    EXPECT_NE(error_of("[]").find("neither"), std::string::npos);
    EXPECT_NE(error_of("{}").find("neither"), std::string::npos);
    EXPECT_NE(error_of("3").find("neither"), std::string::npos);
    const std::string cut = test::slurp(test::data_file("winner"));
    for (std::size_t length = 1; length < cut.size(); length += 997)
        EXPECT_NE(error_of(cut.substr(0, length)), "(read)") << length;
}

TEST(Document, RefusesAnotherSchema)
{
    Json json = load_json("winner");
    json["schema"] = 1;
    EXPECT_NE(error_of(json.dump()).find("schema 1, and this kdp reads 2"), std::string::npos);
    json["schema"] = 3;
    EXPECT_NE(error_of(json.dump()).find("schema 3"), std::string::npos);
    json["schema"] = "2";
    EXPECT_NE(error_of(json.dump()).find("schema: a whole number"), std::string::npos);
    json = load_json("experiment");
    json["schema"] = 2;
    EXPECT_NE(error_of(json.dump()).find("experiment of schema 2"), std::string::npos);
}

/// Every member that a pointer names is taken away, and must be missed by its name.
TEST(Document, NamesTheMemberThatIsMissing)
{
    const Json json = load_json("winner");
    for (const char* pointer : {"/schema",
                                "/environment",
                                "/environment/kernel",
                                "/environment/distortions",
                                "/environment/rdma_devices/0/software",
                                "/options",
                                "/interrupted",
                                "/failure",
                                "/paths/1/uri",
                                "/paths/1/label",
                                "/points",
                                "/points/0/bs",
                                "/points/2/depth",
                                "/points/2/threads",
                                "/points/0/rw",
                                "/points/0/results",
                                "/points/0/results/1/path",
                                "/points/0/results/1/summary",
                                "/points/0/results/1/summary/iops/mean",
                                "/points/0/results/1/summary/iops/half_width",
                                "/points/0/results/1/percentiles_us",
                                "/points/0/results/1/rounds",
                                "/points/0/results/1/rounds/2/ios",
                                "/points/0/results/1/projection",
                                "/points/0/results/1/failure"}) {
        const Json::json_pointer whole(pointer);
        Json lacking = json;
        lacking[whole.parent_pointer()].erase(whole.back());
        const std::string text = error_of(lacking.dump());
        EXPECT_NE(text.find(whole.back() + ": missing"), std::string::npos)
            << pointer << ": " << text;
        Json wrong = json;
        wrong[whole] = Json::array({Json::array()});
        EXPECT_NE(error_of(wrong.dump()), "(read)") << pointer;
    }
    EXPECT_EQ(error_of([&] {
                  Json lacking = json;
                  lacking["points"][0]["results"][1]["summary"]["iops"].erase("mean");
                  return lacking.dump();
              }()),
              "points[0].results[1].summary.iops.mean: missing");
}

TEST(Document, RefusesWhatCannotBe)
{
    const Json json = load_json("winner");
    const auto with = [&](const char* pointer, const Json& value) {
        Json changed = json;
        changed[Json::json_pointer(pointer)] = value;
        return error_of(changed.dump());
    };
    EXPECT_NE(with("/points/0/results/0/path", 3).find("index into"), std::string::npos);
    EXPECT_NE(with("/points/0/results/0/path", -1).find("whole number"), std::string::npos);
    EXPECT_NE(with("/points/0/results/0/path", 1).find("already"), std::string::npos);
    EXPECT_NE(with("/points/0/bs", 0).find("at least 1"), std::string::npos);
    EXPECT_NE(with("/points/0/bs", 16384).find("earlier point"), std::string::npos);
    EXPECT_NE(with("/points/0/results/0/summary/iops/half_width", -1).find("not negative"),
              std::string::npos);
    EXPECT_NE(with("/points/0/results/0/percentiles_us/1/0", 20).find("ascending"),
              std::string::npos);
    Json single = load_json("single_round");
    single["points"][0]["results"][0]["summary"]["iops"]["half_width"] = 1;
    EXPECT_NE(error_of(single.dump()).find("fewer than two rounds"), std::string::npos);
    Json mixed = load_json("experiment");
    mixed["charts"][0]["series"][0]["points"][1]["x"] = "some";
    EXPECT_NE(error_of(mixed.dump()).find("all numbers or all names"), std::string::npos);
}

TEST(Document, TablesHaveEveryFigureThatIsKnown)
{
    const Bench bench = load_bench("winner");
    const auto tables = tables_of(bench, bench.loads().front());
    for (const Table& table : tables)
        EXPECT_NE(table.title, "bandwidth") << "no path knows it";
    const auto it = std::find_if(tables.begin(), tables.end(),
                                 [](const Table& t) { return t.title == "latency, mean"; });
    ASSERT_NE(it, tables.end());
    ASSERT_EQ(it->rows.size(), 4u);
    EXPECT_EQ(it->rows[2].heads, (std::vector<std::string>{"16k", "1"}));
    const Estimate* estimate = bench.points[2].find(0)->find("lat_mean_us");
    EXPECT_EQ(it->rows[2].cells[0].value, estimate->mean);

    Cell small = cell_of(0.0851, 0.01), large = cell_of(123.456, 4.56), none;
    const std::vector<Cell*> column = {&small, &large, &none};
    align_decimals(column);
    EXPECT_EQ(small.mean, "0.085");
    EXPECT_EQ(large.mean, "123.456");
    EXPECT_EQ(large.half_width, "4.560");
    EXPECT_EQ(none.mean, "");
    Cell few = cell_of(3, 0), many = cell_of(285, std::nullopt);
    const std::vector<Cell*> things = {&few, &none, &many};
    align_decimals(things);
    EXPECT_EQ(few.mean, "3");
    EXPECT_EQ(few.half_width, "0");
    EXPECT_EQ(many.mean, "285");

    EXPECT_EQ(cell_of(12.3456, 0.5).half_width, "0.50");
    EXPECT_EQ(cell_of(12345, 17.4).half_width, "17");
    const Bench failed = load_bench("failed");
    const auto of_failed = tables_of(failed, failed.loads().front());
    EXPECT_EQ(of_failed.front().rows[1].cells[2].mean, "failed");
}

TEST(Document, TextHasNothingThatATerminalObeys)
{
    const std::string text = to_text(load_bench("hostile"));
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_NE(text.find("a?[31m"), std::string::npos);
    EXPECT_NE(to_text(load_bench("failed")).find("the run ended early: verbs://"),
              std::string::npos);
    EXPECT_NE(to_text(load_bench("empty")).find("nothing was measured"), std::string::npos);
    EXPECT_NE(to_text(std::get<Experiment>(test::load("experiment"))).find("4600 ± 120"),
              std::string::npos);
}

}  // namespace
