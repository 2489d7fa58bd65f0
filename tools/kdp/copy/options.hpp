// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What kdp copy is asked to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <kdp/result.hpp>
#include <kdp/uri.hpp>

namespace kdp::tool::copy {

/// Where data come from or go to: "/dev/kdpg0n1@1g", "image.raw".
struct Place {
    std::string name;
    std::uint64_t offset = 0;  ///< bytes; of a device only
    bool device = false;       ///< a character device
};

/// What exists under the whole @p text is that. Else what follows the last '@' is an offset, if
/// what stands before is a character device. Anything else is the name of a file. EINVAL for an
/// offset that is none.
[[nodiscard]] Result<Place> parse_place(const std::string& text);

struct Options {
    bool to_device = true;  ///< from file to device, or the other way round
    std::string device{};
    std::uint64_t offset = 0;  ///< in the device, bytes
    std::string file{};
    std::optional<std::uint64_t> length{};  ///< bytes; empty: all of the file, or up to the end
    unsigned depth = 16;                    ///< commands in flight
    std::optional<std::uint64_t> command_bytes{};  ///< at most; empty: as many as the path takes
    std::uint64_t chunk_bytes = std::uint64_t{32} << 20;  ///< a region at most
    std::optional<KernelMode> mode{};  ///< empty: io_uring if there is any, else ioctl
    bool buffered = false;             ///< through memory of this process
    bool pad = false;                  ///< the last block may be filled up with zeroes
    bool flush = true;
    bool json = false;
};

/// The texts of the command line that need more than a number.
struct RawOptions {
    std::string source{};
    std::string destination{};
    std::string length{};
    std::string command_bytes{};
    std::string chunk_bytes = "32m";
    std::string mode{};
};

/// Parse @p raw into @p options and check that everything fits together. The error's text names
/// what is wrong; its code is EINVAL.
[[nodiscard]] Status complete_options(const RawOptions& raw, Options& options);

/// The path to the device of @p options.
[[nodiscard]] PathUri path_of(const Options& options, KernelMode mode);

}  // namespace kdp::tool::copy
