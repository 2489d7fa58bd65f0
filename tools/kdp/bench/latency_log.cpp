// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench/latency_log.hpp"

#include <iterator>

#include <fmt/format.h>

namespace kdp::tool::bench {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 16;

}  // namespace

Result<LatencyLog> LatencyLog::create(const std::string& name)
{
    auto file = OutputFile::create(name);
    if (!file)
        return file.error();
    file->write("point\tpath\tround\tthread\top\tlba\tns\n");
    return LatencyLog(std::move(file).value());
}

void LatencyLog::append(unsigned round, unsigned thread, const LogRecords& records)
{
    std::string text;
    for (const LogRecord& record : records) {
        fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{}\t{}\t{}\t{}\n", point_, path_,
                       round, thread, record.op == Op::read ? "read" : "write", record.lba,
                       record.ns);
        if (text.size() >= piece_bytes) {
            file_.write(text);
            text.clear();
        }
    }
    file_.write(text);
}

}  // namespace kdp::tool::bench
