// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kdp/result.hpp>

#include <cstring>

namespace kdp {

Error error_from_errno(int code, const std::string& what)
{
    // strerror_r in its GNU spelling is thread safe and never fails
    char buffer[128];
    return Error{code, what + ": " + strerror_r(code, buffer, sizeof(buffer)), 0};
}

}  // namespace kdp
