// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kdp/version.hpp>

namespace kdp {

std::string_view version() noexcept
{
    return header_version;
}

}  // namespace kdp
