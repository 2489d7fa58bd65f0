// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "copy/copy.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include <kdp/buffer.hpp>

#include "bench/clock.hpp"
#include "copy/mover.hpp"
#include "guard.hpp"
#include "unique_fd.hpp"
#include "units.hpp"

namespace kdp::tool::copy {
namespace {

struct Cpu {
    std::uint64_t user_us, system_us;
};

Cpu cpu_so_far()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto us = [](const timeval& time) {
        return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
               static_cast<std::uint64_t>(time.tv_usec);
    };
    return {us(usage.ru_utime), us(usage.ru_stime)};
}

/// Whether the pages of @p file can be received into; before its old content is lost.
Status check_receivable(int file, const std::string& name)
{
    struct statfs fs {};
    if (fstatfs(file, &fs) < 0)
        return error_from_errno(errno, name);
    if (fs.f_type == TMPFS_MAGIC || fs.f_type == HUGETLBFS_MAGIC)
        return ok();
    return Error{EOPNOTSUPP,
                 "data can be received into the pages of tmpfs, memfd and hugetlbfs only: other "
                 "file systems must be told before a page changes; use a file on tmpfs, or "
                 "--buffered"};
}

/// Open it, or make it if it is to be written to and not there yet.
Result<UniqueFd> open_file(const Options& options)
{
    const int flags = (options.to_device ? O_RDONLY : O_RDWR) | O_CLOEXEC;
    const char* const name = options.file.c_str();
    UniqueFd file(open(name, flags));
    const bool missing = !file && errno == ENOENT && !options.to_device;
    if (missing)
        file = UniqueFd(open(name, flags | O_CREAT | O_EXCL, 0666));
    struct stat st {};
    if (!file || fstat(file.get(), &st) < 0)
        return error_from_errno(errno, "open");
    if (!S_ISREG(st.st_mode))
        return Error{EINVAL, "it is no regular file"};
    const Status can =
        options.to_device || options.buffered ? ok() : check_receivable(file.get(), options.file);
    if (!can && missing)
        unlink(name);
    if (!can)
        return can.error();
    return file;
}

/// By io_uring if the driver and the kernel have it, unless one way was asked for.
Result<std::unique_ptr<DataPath>> open_device(const Options& options, Report& report)
{
    OpenOptions how;
    how.depth = options.depth;
    how.read_only = !options.to_device;
    report.mode = options.mode.value_or(KernelMode::uring);
    auto path = open_path(path_of(options, report.mode), how);
    if (path || options.mode)
        return path;
    const int code = path.error().code;
    if (code != EOPNOTSUPP && code != ENOSYS && code != EPERM)
        return path;
    report.mode = KernelMode::ioctl;
    return open_path(path_of(options, report.mode), how);
}

/// The paths' sentences name the device, and know nothing of this command.
Error with_advice(Error error, const Options& options)
{
    if (error.code == ENOTTY && !options.buffered)
        error.text += "; --buffered does without";
    return error;
}

std::uint32_t command_bytes(const Options& options, const NamespaceInfo& info)
{
    const std::uint64_t most = options.command_bytes.value_or(info.max_transfer);
    const std::uint64_t bytes = std::min<std::uint64_t>(most, info.max_transfer);
    return static_cast<std::uint32_t>(
        std::max<std::uint64_t>(bytes / info.block_size * info.block_size, info.block_size));
}

/// The file's last bytes, which fill no block, and zeroes.
Status write_tail(DataPath& path, int file, std::uint64_t at, const Options& options,
                  Report& report)
{
    const std::uint32_t block = path.info().block_size;
    const std::uint64_t rest = report.total - at;
    auto buffer = Buffer::allocate(block);
    if (!buffer)
        return buffer.error();
    const auto data = buffer->memory().first(block);
    if (const Status read = read_all(file, data.first(rest), at); !read)
        return read.error();
    if (const Status done = run_one(path, {Op::write, (options.offset + at) / block, data, 0});
        !done)
        return done.error();
    report.commands++;
    report.bytes += rest;
    report.padding_bytes = block - rest;
    return ok();
}

Status carry(DataPath& path, Stage& stage, int file, const Options& options,
             const Progress& progress, Report& report)
{
    const std::uint32_t block = path.info().block_size;
    const std::uint64_t whole = report.total / block * block;
    Job job;
    job.op = options.to_device ? Op::write : Op::read;
    job.lba = options.offset / block;
    job.depth = options.depth;
    job.command_bytes = static_cast<std::uint32_t>(report.command_bytes);
    job.progress = [&](std::uint64_t bytes) { progress(bytes, report.total); };
    auto moved = move(path, stage, job);
    if (!moved)
        return moved.error();
    report.bytes = moved->bytes;
    report.commands = moved->commands;
    report.interrupted = moved->interrupted;
    if (report.interrupted)
        return ok();
    if (whole < report.total)
        if (const Status tail = write_tail(path, file, whole, options, report); !tail)
            return tail.error();
    if (!options.to_device || !options.flush)
        return ok();
    if (const Status flushed = run_one(path, {Op::flush, 0, {}, 0}); !flushed)
        return flushed.error();
    report.commands++;
    report.flushed = true;
    return ok();
}

}  // namespace

Result<std::uint64_t> length_of(const Options& options, const NamespaceInfo& info,
                                std::uint64_t file_bytes)
{
    const std::uint64_t block = info.block_size, all = info.blocks * block;
    if (options.offset % block != 0)
        return Error{EINVAL, fmt::format("the offset {} is no multiple of the block size, {}",
                                         options.offset, block)};
    if (options.offset >= all)
        return Error{ERANGE, fmt::format("the offset {} is not inside the namespace, which has {}",
                                         options.offset, format_bytes(all))};
    const std::uint64_t room = all - options.offset;
    const std::uint64_t length = options.length.value_or(options.to_device ? file_bytes : room);
    if (length == 0)
        return Error{EINVAL, "the file is empty"};
    if (options.to_device && length > file_bytes)
        return Error{EINVAL, fmt::format("--length {}: the file has {} bytes", length, file_bytes)};
    if (length > room)
        return Error{ENOSPC, fmt::format("{} bytes are more than the {} that the namespace has "
                                         "from there on",
                                         length, room)};
    if (length % block != 0 && !options.pad)
        return Error{EINVAL,
                     fmt::format("{} bytes are no multiple of the block size, {}{}", length, block,
                                 options.to_device ? ": --pad fills the last block up with "
                                                     "zeroes"
                                                   : "")};
    return length;
}

Status run_on(DataPath& path, std::span<std::byte> memory, int file, const Options& options,
              const Progress& progress, Report& report)
{
    const NamespaceInfo& info = path.info();
    report.command_bytes = command_bytes(options, info);
    const std::uint64_t whole = report.total / info.block_size * info.block_size;
    if (options.buffered) {
        BufferStage stage({file, options.to_device, whole,
                           static_cast<std::size_t>(report.command_bytes),
                           memory.first(report.command_bytes * options.depth)});
        return carry(path, stage, file, options, progress, report);
    }
    RegionStage stage(path, {file, options.to_device ? Access::send : Access::receive, whole,
                             options.chunk_bytes, info.block_size});
    Status done = carry(path, stage, file, options, progress, report);
    report.regions = stage.regions();
    report.registrations = stage.registrations();
    report.region_bytes = stage.largest();
    return done;
}

std::variant<Report, Failure> run(const Options& options, const Progress& progress)
{
    if (options.to_device)
        if (const Status unused = check_unused(path_of(options, KernelMode::ioctl)); !unused)
            return Failure{"", unused.error()};
    Report report;
    Buffer buffer;  // outlives the path, which may still use it
    auto path = open_device(options, report);
    if (!path)
        return Failure{"", with_advice(path.error(), options)};
    auto file = open_file(options);
    if (!file)
        return Failure{options.file, file.error()};
    const NamespaceInfo& info = (*path)->info();
    report.device = info.device;

    struct stat st {};
    if (fstat(file->get(), &st) < 0)
        return Failure{options.file, error_from_errno(errno, "fstat")};
    const auto length = length_of(options, info, static_cast<std::uint64_t>(st.st_size));
    if (!length)
        return Failure{options.to_device ? options.file : options.device, length.error()};
    report.total = length.value();
    if (!options.to_device && ftruncate(file->get(), static_cast<off_t>(report.total)) < 0)
        return Failure{options.file,
                       error_from_errno(errno, fmt::format("a length of {}", report.total))};
    if (options.buffered) {
        auto memory = Buffer::allocate(std::size_t{command_bytes(options, info)} * options.depth);
        if (!memory)
            return Failure{"", memory.error()};
        buffer = std::move(memory).value();
    }

    const Cpu cpu = cpu_so_far();
    const std::uint64_t begin = bench::now_ns();
    const Status done = run_on(**path, buffer.memory(), file->get(), options, progress, report);
    report.elapsed_ns = bench::now_ns() - begin;
    report.cpu_user_us = cpu_so_far().user_us - cpu.user_us;
    report.cpu_system_us = cpu_so_far().system_us - cpu.system_us;
    if (!done)
        return Failure{fmt::format("{} to {}", options.to_device ? options.file : options.device,
                                   options.to_device ? options.device : options.file),
                       done.error()};
    return report;
}

}  // namespace kdp::tool::copy
