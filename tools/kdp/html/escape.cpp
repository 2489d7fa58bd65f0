// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "html/escape.hpp"

namespace kdp::tool::html {
namespace {

/// @p text as UTF-8: what is none becomes U+FFFD. The JSON library has the decoder.
std::string valid_utf8(std::string_view text)
{
    using document::Json;
    const std::string quoted =
        Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
    return Json::parse(quoted).get<std::string>();
}

}  // namespace

std::string escape(std::string_view text)
{
    std::string out;
    for (const char c : valid_utf8(text))
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            case '\n':
            case '\t':
                out += c;
                break;
            default:
                if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
                    out += "\xef\xbf\xbd";
                else
                    out += c;
        }
    return out;
}

std::string script_json(const document::Json& json)
{
    std::string out;
    for (const char c : json.dump(-1, ' ', true, document::Json::error_handler_t::replace))
        switch (c) {  // outside of strings JSON has none of the three
            case '<':
                out += "\\u003c";
                break;
            case '>':
                out += "\\u003e";
                break;
            case '&':
                out += "\\u0026";
                break;
            default:
                out += c;
        }
    return out;
}

}  // namespace kdp::tool::html
