// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "journal.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kdp::peer {

void Journal::note(std::string_view event, std::initializer_list<Field> fields)
{
    std::string line;

    if (json_) {
        nlohmann::ordered_json object;
        object["event"] = event;
        for (const auto& [key, value] : fields)
            object[std::string(key)] = value;
        line = object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    } else {
        line = event;
        for (const auto& [key, value] : fields) {
            const bool quote = value.empty() || value.find(' ') != std::string::npos;
            const std::string_view mark = quote ? "\"" : "";
            line += fmt::format(" {}={}{}{}", key, mark, value, mark);
        }
    }
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

}  // namespace kdp::peer
