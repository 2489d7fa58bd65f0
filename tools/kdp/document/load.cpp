// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "document/load.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

namespace kdp::tool::document {
namespace {

struct Close {
    void operator()(FILE* file) const
    {
        if (file != stdin)
            (void)std::fclose(file);
    }
};

Result<std::string> read_file(const std::string& name)
{
    const std::unique_ptr<FILE, Close> file(name == "-" ? stdin : std::fopen(name.c_str(), "re"));
    if (!file)
        return error_from_errno(errno, "cannot be opened");
    std::string text;
    char buffer[1 << 16];
    while (const std::size_t got = std::fread(buffer, 1, sizeof(buffer), file.get())) {
        if (text.size() + got > largest_document)
            return Error{EFBIG, fmt::format("larger than {} MiB: no document of kdp's",
                                            largest_document >> 20)};
        text.append(buffer, got);
    }
    if (std::ferror(file.get()))
        return error_from_errno(errno, "cannot be read");
    return text;
}

template <typename T>
Result<Document> as_document(Result<T> read)
{
    if (!read)
        return read.error();
    return Document(std::move(*read));
}

}  // namespace

Result<Document> parse_document(std::string_view text)
{
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        return Error{EINVAL, "empty: a document of kdp bench --json is expected"};
    Json json;
    try {
        json = Json::parse(text);
    } catch (const Json::exception& wrong) {
        // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
        const std::string_view what = wrong.what();
        const auto bracket = what.find("] ");
        return Error{EINVAL, fmt::format("no JSON: {}", bracket == std::string_view::npos
                                                            ? what
                                                            : what.substr(bracket + 2))};
    }
    if (json.is_object() && json.contains("experiment"))
        return as_document(read_experiment(json));
    if (json.is_object() && json.contains("paths"))
        return as_document(read_bench(json));
    return Error{EINVAL,
                 "neither a benchmark (kdp bench --json) nor an experiment: it has no \"paths\" "
                 "and no \"experiment\""};
}

Result<Document> load_document(const std::string& name)
{
    const auto text = read_file(name);
    if (!text)
        return text.error();
    return parse_document(text.value());
}

}  // namespace kdp::tool::document
