// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// kdp report: tables and a page from what was measured earlier.

#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "command.hpp"
#include "document/load.hpp"
#include "document/tables.hpp"
#include "html/page.hpp"
#include "output_file.hpp"
#include "report.hpp"

namespace kdp::tool {
namespace {

struct Arguments {
    std::vector<std::string> files;
    std::string html;
};

int make_report(const Arguments& arguments)
{
    std::vector<html::NamedDocument> documents;
    for (const std::string& file : arguments.files) {
        auto document = document::load_document(file);
        if (!document)
            return report("report", file, document.error());
        documents.push_back({file == "-" ? "" : file, std::move(*document)});
    }
    if (!arguments.html.empty()) {
        const Status written = write_file(arguments.html, html::page(documents, {}));
        if (!written)
            return report("report", "", written.error());
    }
    for (const html::NamedDocument& named : documents) {
        std::string text;
        if (documents.size() > 1)
            text = fmt::format("{}# {}\n\n", &named == &documents.front() ? "" : "\n", named.name);
        text += std::visit([](const auto& one) { return document::to_text(one); }, named.document);
        (void)std::fputs(text.c_str(), stdout);
    }
    return finish_output("report");
}

}  // namespace

void add_report(CLI::App& app, Run& run)
{
    auto arguments = std::make_shared<Arguments>();
    CLI::App* sub = app.add_subcommand(
        "report", "Tables and an HTML page from the JSON of kdp bench and of experiments");
    sub->add_option("file", arguments->files,
                    "JSON of kdp bench --json or of an experiment; - is standard input")
        ->type_name("FILE")
        ->required();
    sub->add_option("--html", arguments->html,
                    "Write one self-contained page: charts, advice, all figures")
        ->type_name("OUT");
    sub->callback([arguments, &run] { run = [arguments] { return make_report(*arguments); }; });
}

}  // namespace kdp::tool
