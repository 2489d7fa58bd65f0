// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kdp/data_path.hpp>

#include <cerrno>

namespace kdp {

Result<Region> DataPath::register_file(int, std::uint64_t, std::uint64_t, Access)
{
    return Error{EOPNOTSUPP, info().device +
                                 ": only a kernel: path to a device of kdp takes data of a file "
                                 "(kernel:/dev/kdpg0n1)"};
}

}  // namespace kdp
