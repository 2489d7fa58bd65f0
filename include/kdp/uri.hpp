// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The name of a data path.
///
///     kernel:/dev/kdpg0n1                          NVMe passthrough by ioctl(2)
///     kernel:/dev/kdpg0n1?mode=uring&buffers=region
///     block:/dev/kdp0n1                            a block device or a regular file
///     block:/dev/kdp0n1?mode=uring-poll            polled by whoever waits; or mode=uring
///     verbs://192.0.2.1:4420/nqn.2024-01.org.example:disk?nsid=1
///     verbs://[fe80::1%25eth0]/nqn.2024-01.org.example:disk
///     tcp://192.0.2.1:4420/nqn.2024-01.org.example:disk?nsid=1&ddgst=1
///
/// %XX stands for a byte anywhere behind the scheme: %25 for '%', %3F for '?'.
///
/// kernel: takes
///     mode=ioctl       a system call an I/O, which sleeps until it is done (the default)
///     mode=uring       io_uring commands (NVME_URING_CMD_IO), a batch a system call
///     mode=uring-poll  the same, completions polled for by whoever waits (IORING_SETUP_IOPOLL)
///     buffers=plain    memory is mapped for each I/O anew (the default)
///     buffers=fixed    register_buffer() registers with the ring; io_uring modes only
///     buffers=region   register_buffer() adds a region (<kdp/kdp_ioctl.h>); kdp's devices only
///     sqpoll=1         a kernel thread takes what is submitted (IORING_SETUP_SQPOLL); io_uring
///                      modes only
/// verbs: takes
///     nsid=N           the namespace (1)
///     wait=adaptive    wait() polls for a millisecond, then sleeps (the default)
///     wait=poll        wait() polls and never sleeps
///     wait=event       wait() sleeps at once
///     buffers=region   register_buffer() registers with the RDMA device (the default)
///     buffers=plain    memory is registered for each I/O anew, and deregistered behind it
///     ctrl_loss_tmo=S  after the controller is lost, connect again for so many seconds, and send
///                      again what was in flight; 0: everything fails at once (the default)
///     io_timeout=S     a controller that leaves an I/O unanswered for so many seconds is lost
///                      (30); 0: it may take for ever
/// tcp: takes
///     nsid=N           the namespace (1)
///     io_timeout=S     as of verbs: (30)
///     hdgst=1          a CRC32C of each PDU's header
///     ddgst=1          a CRC32C of each PDU's data; computed by this CPU, it costs a pass over
///     them
/// Of a parameter that is given twice the last one counts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <kdp/export.hpp>
#include <kdp/result.hpp>

namespace kdp {

/// What stands before the colon.
enum class Scheme : std::uint8_t { kernel, block, verbs, tcp };

/// As it is written, without the colon: "verbs".
[[nodiscard]] KDP_API std::string_view scheme_name(Scheme scheme) noexcept;

/// How commands come to the driver of a kernel: device.
enum class KernelMode : std::uint8_t { ioctl, uring, uring_poll };

/// What a kernel: path makes of memory that it is told of.
enum class Buffers : std::uint8_t { plain, fixed, region };

/// How wait() of a verbs: path waits.
enum class Wait : std::uint8_t { adaptive, poll, event };

/// As they are written in a URI: "uring-poll", "region", "event".
/// @{
[[nodiscard]] KDP_API std::string_view kernel_mode_name(KernelMode mode) noexcept;
[[nodiscard]] KDP_API std::string_view buffers_name(Buffers buffers) noexcept;
[[nodiscard]] KDP_API std::string_view wait_name(Wait wait) noexcept;
/// @}

/// A name of a path, taken apart. Which fields count, the scheme says.
struct PathUri {
    Scheme scheme = Scheme::kernel;       ///< which path
    std::string device{};                 ///< kernel, block: the node or file
    std::string host{};                   ///< verbs, tcp: numeric address, without brackets
    std::uint16_t port = 4420;            ///< verbs, tcp
    std::string nqn{};                    ///< verbs, tcp: subsystem, 1 to 223 bytes
    std::uint32_t nsid = 1;               ///< verbs, tcp
    bool polled = false;                  ///< block: mode=uring-poll
    KernelMode mode = KernelMode::ioctl;  ///< kernel
    Buffers buffers = Buffers::plain;     ///< kernel
    bool sqpoll = false;                  ///< kernel
    Wait wait = Wait::adaptive;           ///< verbs
    bool register_each = false;           ///< verbs: buffers=plain
    std::uint32_t ctrl_loss_tmo = 0;      ///< verbs: seconds
    std::uint32_t io_timeout = 30;        ///< verbs, tcp: seconds; 0: none
    bool hdgst = false;                   ///< tcp: header digests
    bool ddgst = false;                   ///< tcp: data digests
};

/// EINVAL with a sentence that quotes what is wrong: an unknown scheme or parameter, an empty
/// part, a port or namespace identifier out of range, a broken %XX, a NUL byte, parameters that
/// do not go together.
[[nodiscard]] KDP_API Result<PathUri> parse_uri(std::string_view uri);

/// Whether mode, buffers and sqpoll go together: else EINVAL with a sentence.
[[nodiscard]] KDP_API Status check_together(const PathUri& uri);

}  // namespace kdp
