// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// One I/O in, one completion out, whatever the path: kernel passthrough, a
/// block device, or NVMe over RDMA or TCP spoken in user space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <kdp/export.hpp>
#include <kdp/region.hpp>
#include <kdp/result.hpp>

namespace kdp {

/// What an Io does. A flush makes what was written and completed before it durable.
enum class Op : std::uint8_t { read, write, flush };

/// One I/O. The data lie in @p data, whole logical blocks; empty for flush.
/// The memory belongs to the path from submit() until the completion came out.
struct Io {
    Op op = Op::read;             ///< what to do
    std::uint64_t lba = 0;        ///< first logical block
    std::span<std::byte> data{};  ///< bytes: a multiple of the block size, at most max_transfer
    std::uint64_t tag = 0;        ///< handed back with the completion
};

/// How one I/O ended. Completions come in any order.
struct Completion {
    std::uint64_t tag = 0;  ///< of the Io
    int status = 0;         ///< 0, or an errno value (positive)
    int nvme_status = 0;    ///< the controller's status where the path knows it, else 0
};

/// What lies at the other end of a path, as it was when the path was opened.
struct NamespaceInfo {
    std::uint64_t blocks = 0;        ///< logical blocks
    std::uint32_t block_size = 0;    ///< bytes
    std::uint32_t max_transfer = 0;  ///< bytes in one Io at most
    std::string provider;            ///< RDMA device below, "rxe0", where known; else empty
    std::string device;              ///< device node or address, for people
};

/// What a path has done so far, exact counts; a path leaves at 0 what it cannot know.
struct PathCounters {
    /// calls of ibv_post_send and ibv_post_recv; with io_uring those of io_uring_enter(2) that
    /// submit, unknown with sqpoll=1; tcp: batches of commands that were sent, a sendmsg(2) each
    /// unless the socket is full. The calls that data asked for by the controller take are not in
    /// it.
    std::uint64_t doorbells = 0;
    std::uint64_t work_requests = 0;  ///< send and receive work requests posted
    std::uint64_t completions = 0;    ///< CQEs taken
    /// memory registrations: of the RDMA device, or buffers of the ring. What a driver registers
    /// for each command by itself is the driver's to count.
    std::uint64_t registrations = 0;
};

/// How to open a path.
struct OpenOptions {
    unsigned depth = 1;                   ///< I/Os in flight at most; submit() takes no more
    std::uint32_t keep_alive_ms = 15000;  ///< verbs, tcp: keep-alive timeout
    std::string host_nqn{};               ///< verbs, tcp: empty for the default
    /// no write will come: block: opens the node read-only; kernel: has regions to receive only
    bool read_only = false;
};

/// Not thread safe: one thread at a time drives a path. A kernel: path with io_uring belongs to the
/// thread that submits first, for good: submit() by another one fails with EEXIST.
/// Lifetime: the destructor waits for I/O in flight, then closes in order.
class KDP_API DataPath {
public:
    virtual ~DataPath() = default;
    DataPath(const DataPath&) = delete;
    DataPath& operator=(const DataPath&) = delete;

    /// What lies at the other end; the same for as long as the path is open.
    [[nodiscard]] virtual const NamespaceInfo& info() const noexcept = 0;

    /// Tell the path about memory that I/O will use from now on, so that it can
    /// register it once. Paths that need none return success. I/O on memory that is
    /// not registered fails with EFAULT on the paths that need it (verbs).
    virtual Status register_buffer(std::span<std::byte> memory) = 0;

    /// Register a range of a regular file's page cache, so that I/O goes from it or to it without
    /// passing through other memory. Parts of the region's data() are Io::data from then on; it
    /// must be gone before the path is. Errors: those of Region::add_file(); EOPNOTSUPP on paths
    /// other than kernel: (with any mode and buffers).
    [[nodiscard]] virtual Result<Region> register_file(int file, std::uint64_t offset,
                                                       std::uint64_t length, Access access);

    /// Start a batch with one doorbell. Returns how many of @p batch were taken, from the
    /// front; fewer than all means that `depth` is reached. An invalid Io (length, range,
    /// memory) is taken and completes with EINVAL, ERANGE or EFAULT.
    virtual Result<std::size_t> submit(std::span<const Io> batch) = 0;

    /// The same for who calls wait() next: a path that can start a batch and wait in one system
    /// call puts the start off until then, or until poll() or submit(); an error of the start
    /// comes out of that call. Other paths start the batch at once.
    virtual Result<std::size_t> queue(std::span<const Io> batch) { return submit(batch); }

    /// Collect completions without sleeping, at most out.size(). Returns how many.
    virtual Result<std::size_t> poll(std::span<Completion> out) = 0;

    /// Collect at least one completion, sleeping or spinning as the path does it.
    /// Returns 0 only when nothing is in flight. ETIMEDOUT after @p timeout_ms.
    virtual Result<std::size_t> wait(std::span<Completion> out, int timeout_ms) = 0;

    /// What was done so far. By the thread that drives the path.
    [[nodiscard]] virtual PathCounters counters() const noexcept { return {}; }

protected:
    DataPath() = default;
};

/// Open a path by its URI:
///   kernel:/dev/kdpg0n1              NVMe passthrough by ioctl, ?mode=uring, ?mode=uring-poll;
///                                    &buffers=fixed, &buffers=region
///   block:/dev/kdp0n1                any block device, O_DIRECT, io_uring; ?mode=uring-poll
///   verbs://ADDR:PORT/NQN?nsid=1     NVMe over RDMA in user space; [v6] in brackets;
///                                    &wait=poll, &buffers=plain, &ctrl_loss_tmo=60
///   tcp://ADDR:PORT/NQN?nsid=1       NVMe over TCP in user space, &hdgst=1, &ddgst=1: digests
/// Errors: EINVAL for a URI that does not parse; what the path's open gave.
[[nodiscard]] KDP_API Result<std::unique_ptr<DataPath>> open_path(const std::string& uri,
                                                                  const OpenOptions& options);

struct PathUri;
/// The same for one that is parsed, or was never a text.
[[nodiscard]] KDP_API Result<std::unique_ptr<DataPath>> open_path(const PathUri& uri,
                                                                  const OpenOptions& options);

/// The same for several threads: @p count paths (1 to 65534) to one namespace, each to be driven by
/// a thread of its own, at the same time. What can be shared is shared: verbs: and tcp: have one
/// controller with an I/O queue for each path; kernel: and block: open the device @p count times.
/// Each path registers memory for itself. The paths may be destroyed in any order, by any thread.
/// All or none: EBUSY, and how many there are, when a controller has fewer I/O queues to give.
[[nodiscard]] KDP_API Result<std::vector<std::unique_ptr<DataPath>>> open_paths(
    const PathUri& uri, const OpenOptions& options, unsigned count);

}  // namespace kdp
