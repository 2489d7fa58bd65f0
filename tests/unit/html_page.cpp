// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The page: whole, alone, and proof against what its texts may hold.
#include "html/page.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <regex>

#include "command.hpp"
#include "fixtures.hpp"
#include "html/assets.hpp"
#include "html/charts.hpp"
#include "html/escape.hpp"
#include "output_file.hpp"

namespace {

using namespace kdp::tool;
using document::Json;
using test::data_file;
using test::load_bench;

std::size_t count(const std::string& text, const std::string& what)
{
    std::size_t times = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
        times++;
    return times;
}

std::string page_of(const std::string& name)
{
    const html::NamedDocument named{name, test::load(name)};
    return html::page(std::span(&named, 1), {});
}

/// The page's data, as a browser would take them.
Json data_of(const std::string& page)
{
    const std::string begin = "id=\"kdp-data\">";
    const auto from = page.find(begin) + begin.size();
    return Json::parse(page.substr(from, page.find("</script>", from) - from));
}

TEST(HtmlEscape, Text)
{
    EXPECT_EQ(html::escape("<a href=\"x\">'&amp;"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;amp;");
    EXPECT_EQ(html::escape("µ – ±"), "µ – ±");
    EXPECT_EQ(html::escape("a\x1b[31m\x7f\tb\n"), "a\xef\xbf\xbd[31m\xef\xbf\xbd\tb\n");
    EXPECT_EQ(html::escape("\xff"), "\xef\xbf\xbd");
    EXPECT_EQ(html::escape(std::string_view("a\0b", 3)),
              "a\xef\xbf\xbd"
              "b");
}

TEST(HtmlEscape, ScriptJson)
{
    const Json hostile = {{"</script>", "<!--<script>&\xe2\x80\xa8\xff"}};
    const std::string text = html::script_json(hostile);
    for (const char c : text) {
        EXPECT_TRUE(c != '<' && c != '>' && c != '&');
        EXPECT_TRUE(static_cast<unsigned char>(c) < 0x80);
    }
    EXPECT_EQ(Json::parse(text)["</script>"], "<!--<script>&\xe2\x80\xa8\xef\xbf\xbd");
}

TEST(HtmlPage, HostileNamesStayText)
{
    const std::string page = page_of("hostile");
    EXPECT_EQ(count(page, "<script"), 3u);
    EXPECT_EQ(count(page, "</script"), 3u);
    EXPECT_EQ(count(page, "<img"), 0u);
    EXPECT_EQ(count(page, "<!--"), 0u);
    EXPECT_EQ(page.find('\x1b'), std::string::npos);
    EXPECT_GT(count(page, "&lt;/script&gt;&lt;script&gt;alert(1)"), 3u) << "shown, as text";
    const Json data = data_of(page);
    EXPECT_EQ(data[0]["variants"][0]["series"][0]["name"], load_bench("hostile").paths[0].name);
}

TEST(HtmlPage, HoldsWhatItShowsAndAsksForNothing)
{
    for (const char* name : {"winner", "tie", "crossing", "missing", "noisy", "single_round",
                             "failed", "empty", "experiment", "experiment_names"}) {
        const std::string page = page_of(name);
        EXPECT_TRUE(page.starts_with("<!DOCTYPE html>")) << name;
        EXPECT_TRUE(page.ends_with("</html>\n")) << name;
        EXPECT_EQ(count(page, "<script"), count(page, "</script")) << name;
        EXPECT_EQ(count(page, "<table"), count(page, "</table>")) << name;
        EXPECT_EQ(count(page, "<tr>"), count(page, "</tr>")) << name;
        EXPECT_EQ(count(page, "<figure id="), count(page, "</figure>")) << name;
        EXPECT_NE(page.find("default-src 'none'"), std::string::npos) << name;
        const std::regex loads(R"((src|href)\s*=\s*["']?(https?:|//))");
        EXPECT_FALSE(std::regex_search(page, loads)) << name;
        for (const Json& chart : data_of(page)) {
            EXPECT_NE(page.find("<figure id=\"" + chart["id"].get<std::string>() + "\""),
                      std::string::npos);
            EXPECT_FALSE(chart["y"]["label"].get<std::string>().empty()) << "units on all axes";
        }
    }
    EXPECT_NE(page_of("winner").find(html::uplot_js), std::string::npos);
}

TEST(HtmlPage, SaysWhatLowersItsWorth)
{
    const std::string failed = page_of("failed");
    EXPECT_NE(failed.find("this says nothing of your fabric"), std::string::npos);
    EXPECT_NE(failed.find("The run failed"), std::string::npos);
    EXPECT_NE(failed.find("The run was interrupted"), std::string::npos);
    EXPECT_NE(failed.find("Soft-RoCE (rxe) does in software"), std::string::npos);
    EXPECT_NE(page_of("empty").find("Nothing was measured"), std::string::npos);
    EXPECT_NE(page_of("tie").find("no difference shown"), std::string::npos);
}

TEST(HtmlPage, ProjectionsAreMarkedAndHaveTheirFormula)
{
    Json json = test::load_json("winner");
    EXPECT_EQ(page_of("winner").find("PROJECTION"), std::string::npos);
    json["points"][0]["results"][0]["projection"] = {{"latency_us", 8.5},
                                                     {"iops_per_core", nullptr},
                                                     {"formula_latency", "rtt + <cost>"},
                                                     {"formula_iops", "1 / cost"}};
    auto read = document::read_bench(json);
    ASSERT_TRUE(read);
    const html::NamedDocument named{"", std::move(*read)};
    const std::string page = html::page(std::span(&named, 1), {});
    EXPECT_NE(page.find("PROJECTION"), std::string::npos);
    EXPECT_NE(page.find("Computed, not measured"), std::string::npos);
    EXPECT_NE(page.find("rtt + &lt;cost&gt;"), std::string::npos);
    EXPECT_NE(page.find("8.500"), std::string::npos);
}

const Json& chart_of(const std::vector<html::Chart>& charts, const std::string& id)
{
    for (const html::Chart& chart : charts)
        if (chart.id == id)
            return chart.data;
    throw std::runtime_error("no chart " + id);
}

TEST(HtmlCharts, HaveTheDocumentsFigures)
{
    const auto bench = load_bench("crossing");
    const auto charts = html::charts_of(bench, "d1-");
    const Json& iops = chart_of(charts, "d1-iops");
    ASSERT_EQ(iops["variants"].size(), 2u) << "a variant a block size";
    const Json& series = iops["variants"][1]["series"][0];
    EXPECT_EQ(series["x"], Json({0.0, 2.0, 3.0, 4.0})) << "depth 1, 4, 8, 16 by logarithm";
    EXPECT_EQ(series["y"][2], bench.points[6].find(0)->find("iops")->mean);
    EXPECT_EQ(series["half"][2], *bench.points[6].find(0)->find("iops")->half_width);
    EXPECT_EQ(chart_of(charts, "d1-sizes")["x"]["ticks"][1]["label"], "16k");
    const Json& parts = chart_of(charts, "d1-cpu")["variants"][0]["bars"][0]["parts"];
    EXPECT_EQ(parts.size(), 1u) << "the process alone: the machine's is not known";
}

/// A percentile above which there is less than one I/O would be the maximum under another name.
TEST(HtmlCharts, CurvesEndWhereThereIsNothingAbove)
{
    auto bench = load_bench("winner");
    const auto places = [&] {
        return html::charts_of(bench, "")[0].data["variants"][0]["series"][0]["x"].size();
    };
    ASSERT_EQ(bench.points[0].results[0].ios, 6000u);
    EXPECT_EQ(places(), 4u) << "50, 90, 99, 99.9";
    bench.points[0].results[0].ios = 10'001;
    EXPECT_EQ(places(), 5u);
    bench.points[0].results[0].ios = 50;
    EXPECT_EQ(places(), 2u);
}

TEST(HtmlCharts, PartsOfCpuTime)
{
    Json json = test::load_json("winner");
    for (const auto& [key, value] :
         {std::pair{"cpu_application_us_per_io", 3.0}, std::pair{"cpu_other_us_per_io", 1.0}})
        json["points"][0]["results"][1]["summary"][key] = {{"mean", value},
                                                           {"half_width", nullptr},
                                                           {"median", value},
                                                           {"min", value},
                                                           {"max", value}};
    const auto read = document::read_bench(json);
    ASSERT_TRUE(read) << read.error().text;
    const auto charts = html::charts_of(read.value(), "");
    const Json& cpu = chart_of(charts, "cpu");
    ASSERT_EQ(cpu["variants"].size(), 1u);
    ASSERT_EQ(cpu["variants"][0]["bars"].size(), 1u) << "a path without samples has no bar";
    EXPECT_EQ(cpu["variants"][0]["bars"][0]["parts"],
              Json({{{"kind", 0}, {"value", 3.0}}, {{"kind", 7}, {"value", 1.0}}}));
}

TEST(HtmlCharts, Experiments)
{
    const auto lossy = std::get<document::Experiment>(test::load("experiment"));
    const auto charts = html::charts_of(lossy, "");
    ASSERT_EQ(charts.size(), 2u);
    EXPECT_EQ(charts[0].data["x"]["label"], "packet loss, %");
    EXPECT_EQ(charts[0].data["variants"][0]["series"][1]["x"].size(), 3u) << "null is left out";
    EXPECT_EQ(charts[1].data["variants"][0]["series"][1]["color"], 2) << "one color a name";
}

/// kdp's subcommand, as main() runs it.
int run_command(void (*add)(CLI::App&, Run&), std::vector<std::string> arguments)
{
    CLI::App app;
    Run run;
    add(app, run);
    std::reverse(arguments.begin(), arguments.end());
    app.parse(arguments);
    return run();
}

class ReportCommand : public testing::Test {
protected:
    void SetUp() override
    {
        char name[] = "/tmp/kdp-report.XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        directory_ = name;
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }

    [[nodiscard]] std::string in(const std::string& name) const { return directory_ + "/" + name; }
    [[nodiscard]] std::size_t files() const
    {
        const std::filesystem::directory_iterator all(directory_);
        return static_cast<std::size_t>(std::distance(begin(all), end(all)));
    }
    /// The exit status; what was said on stderr goes to said_.
    int run(void (*add)(CLI::App&, kdp::tool::Run&), const std::vector<std::string>& arguments)
    {
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        const int status = run_command(add, arguments);
        printed_ = testing::internal::GetCapturedStdout();
        said_ = testing::internal::GetCapturedStderr();
        return status;
    }

    std::string directory_, printed_, said_;
};

TEST_F(ReportCommand, PrintsTablesAndWritesThePage)
{
    EXPECT_EQ(run(add_report, {"report", data_file("winner"), data_file("experiment"), "--html",
                               in("out.html")}),
              exit_ok)
        << said_;
    EXPECT_NE(printed_.find("latency, mean, µs"), std::string::npos);
    EXPECT_NE(printed_.find("4600 ± 120"), std::string::npos);
    const std::string page = test::slurp(in("out.html"));
    EXPECT_EQ(count(page, "<article"), 2u);
    EXPECT_TRUE(page.ends_with("</html>\n"));
    EXPECT_EQ(files(), 1u);
}

TEST_F(ReportCommand, BadInputLeavesNoPage)
{
    std::ofstream(in("bad.json")) << "{\"schema\": 2, \"paths\": [";
    std::ofstream(in("old.html")) << "what was there";
    EXPECT_EQ(run(add_report, {"report", in("bad.json"), "--html", in("old.html")}), exit_failed);
    EXPECT_NE(said_.find("bad.json: no JSON: parse error at line 1"), std::string::npos) << said_;
    EXPECT_EQ(test::slurp(in("old.html")), "what was there");
    EXPECT_EQ(run(add_report, {"report", in("none.json"), "--html", in("out.html")}), exit_failed);
    EXPECT_NE(said_.find("ENOENT"), std::string::npos) << said_;
    EXPECT_EQ(run(add_report, {"report", directory_}), exit_failed);
    EXPECT_NE(said_.find("EISDIR"), std::string::npos) << said_;
    EXPECT_EQ(files(), 2u);
}

TEST_F(ReportCommand, APlaceThatCannotBeWrittenIsSaid)
{
    EXPECT_EQ(run(add_report, {"report", data_file("tie"), "--html", in("no/out.html")}),
              exit_failed);
    EXPECT_NE(said_.find("ENOENT"), std::string::npos) << said_;
    EXPECT_EQ(run(add_report, {"report", data_file("tie"), "--html", "/dev/full"}), exit_failed);
    EXPECT_NE(said_.find("ENOSPC"), std::string::npos) << said_;
    struct stat st;
    ASSERT_EQ(stat("/dev/full", &st), 0);
    EXPECT_TRUE(S_ISCHR(st.st_mode)) << "the device is still one";
}

/// A limit on files' sizes fails in the middle of writing, as a full disk does.
TEST_F(ReportCommand, AFullDiskLeavesTheOldPage)
{
    std::ofstream(in("out.html")) << "what was there";
    const auto page = html::bench_page(test::load_json("tie"));
    ASSERT_TRUE(page);
    ASSERT_GT(page.value().size(), 10'000u);
    (void)std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    rlimit small = before;
    small.rlim_cur = 10'000;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const kdp::Status written = write_file(in("out.html"), page.value());
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, EFBIG);
    EXPECT_EQ(test::slurp(in("out.html")), "what was there");
    EXPECT_EQ(files(), 1u) << "no partial file";
}

TEST_F(ReportCommand, AdviseFromAFile)
{
    EXPECT_EQ(run(add_advise, {"advise", "--from", data_file("crossing")}), exit_ok) << said_;
    EXPECT_NE(
        printed_.find("at 4k–16k: verbs:10.77.0.1 up to depth 4, kernel:kdpg0n1 from depth 8"),
        std::string::npos)
        << printed_;
    EXPECT_EQ(run(add_advise, {"advise", "--from", data_file("crossing"), "--json", "--need",
                               "sharing,filesystem", "--html", in("out.html")}),
              exit_ok)
        << said_;
    const Json advice = Json::parse(printed_);
    EXPECT_EQ(advice["needs"], Json({"filesystem", "sharing"}));
    EXPECT_TRUE(advice["candidates"].empty());
    EXPECT_NE(test::slurp(in("out.html")).find("No path that was measured meets"),
              std::string::npos);
}

TEST_F(ReportCommand, AdviseRefusesWhatMakesNoSense)
{
    EXPECT_EQ(run(add_advise, {"advise"}), exit_usage);
    EXPECT_EQ(run(add_advise, {"advise", "block:/dev/null", "--from", data_file("tie")}),
              exit_usage);
    EXPECT_EQ(run(add_advise, {"advise", "--from", data_file("tie"), "--need", "speed"}),
              exit_usage);
    EXPECT_NE(said_.find("--need speed: it is one of filesystem"), std::string::npos) << said_;
    EXPECT_EQ(run(add_advise, {"advise", "--from", data_file("experiment")}), exit_failed);
    EXPECT_NE(said_.find("an experiment"), std::string::npos) << said_;
    EXPECT_EQ(run(add_advise, {"advise", "block:/dev/null", "--bs", "nothing"}), exit_usage);
}

/// The whole way: measured here, on files, and advised on.
TEST_F(ReportCommand, AdviseMeasures)
{
    for (const char* name : {"a", "b"}) {
        std::ofstream file(in(name));
        file << std::string(1 << 20, 'x');
    }
    EXPECT_EQ(run(add_advise, {"advise", "block:" + in("a"), "block:" + in("b"), "--bs", "4k",
                               "--depth", "1,2", "--ios", "20", "--rounds", "2", "--size", "1m",
                               "--save", in("kept.json"), "--json"}),
              exit_ok)
        << said_;
    const Json advice = Json::parse(printed_);
    EXPECT_EQ(advice["comparisons"].size(), 4u);
    EXPECT_EQ(advice["comparisons"][0]["points"].size(), 2u);
    EXPECT_TRUE(document::load_document(in("kept.json")));
    EXPECT_EQ(
        run(add_advise, {"advise", "block:" + in("none"), "--ios", "20", "--html", in("no.html")}),
        exit_failed);
    EXPECT_NE(said_.find("ENOENT"), std::string::npos) << said_;
}

}  // namespace
