// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "copy/stage.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

namespace kdp::tool::copy {
namespace {

constexpr std::size_t chunks_at_once = 2;
constexpr std::uint64_t chunk_at_least = std::uint64_t{64} << 10;
constexpr std::uint64_t page = 4096;

}  // namespace

RegionStage::RegionStage(DataPath& path, const Setup& setup)
    : path_(path), setup_(setup), unit_(std::max<std::uint64_t>(page, setup.block_size))
{
    setup_.chunk_bytes = std::max(setup_.chunk_bytes / unit_ * unit_, unit_);
}

bool RegionStage::room() const noexcept
{
    return next_at_ < setup_.length && chunks_.size() < chunks_at_once;
}

/// Make the next chunk. False: it must wait for those before it.
Result<bool> RegionStage::add()
{
    for (;;) {
        const std::uint64_t bytes = std::min(setup_.chunk_bytes, setup_.length - next_at_);
        auto region = path_.register_file(setup_.file, next_at_, bytes, setup_.access);
        if (region) {
            regions_++;
            registrations_ += region->registrations();
            largest_ = std::max(largest_, bytes);
            chunks_.push_back({regions_, next_at_, std::move(region).value()});
            next_at_ += bytes;
            return true;
        }
        const int code = region.error().code;
        if (code == EINTR)
            return false;
        if (code == ENOMEM && bytes > std::max(chunk_at_least, unit_)) {
            setup_.chunk_bytes = std::max(bytes / 2 / unit_ * unit_, unit_);
            continue;
        }
        if ((code == ENOMEM || code == ENOSPC) && !chunks_.empty())
            return false;
        return region.error();
    }
}

Status RegionStage::prepare()
{
    if (!room())
        return ok();
    const auto added = add();
    return added ? ok() : Status(added.error());
}

Result<std::optional<Piece>> RegionStage::next(std::size_t most)
{
    const auto open = [](const Chunk& chunk) { return chunk.given < chunk.region.length(); };
    auto chunk = std::find_if(chunks_.begin(), chunks_.end(), open);
    if (chunk == chunks_.end()) {
        if (!room())
            return std::optional<Piece>();
        const auto added = add();
        if (!added)
            return added.error();
        if (!added.value())
            return std::optional<Piece>();
        chunk = std::prev(chunks_.end());
    }
    const std::size_t bytes = std::min<std::uint64_t>(most, chunk->region.length() - chunk->given);
    Piece piece;
    piece.at = chunk->at + chunk->given;
    piece.data = chunk->region.data().subspan(chunk->given, bytes);
    piece.owner = chunk->number;
    chunk->given += bytes;
    chunk->in_flight++;
    return std::optional<Piece>(piece);
}

Status RegionStage::done(const Piece& piece)
{
    const auto chunk = std::find_if(chunks_.begin(), chunks_.end(),
                                    [&](const Chunk& one) { return one.number == piece.owner; });
    if (chunk == chunks_.end() || --chunk->in_flight > 0 || chunk->given < chunk->region.length())
        return ok();
    Status removed = chunk->region.remove();
    chunks_.erase(chunk);
    return removed;
}

bool RegionStage::finished() const noexcept
{
    return next_at_ == setup_.length &&
           std::all_of(chunks_.begin(), chunks_.end(),
                       [](const Chunk& chunk) { return chunk.given == chunk.region.length(); });
}

BufferStage::BufferStage(const Setup& setup) : setup_(setup)
{
    for (std::uint64_t i = setup.memory.size() / setup.piece_bytes; i-- > 0;)
        free_.push_back(i);
}

Result<std::optional<Piece>> BufferStage::next(std::size_t most)
{
    if (finished() || free_.empty())
        return std::optional<Piece>();
    const std::size_t bytes =
        std::min<std::uint64_t>({most, setup_.piece_bytes, setup_.length - next_at_});
    Piece piece;
    piece.at = next_at_;
    piece.owner = free_.back();
    piece.data = setup_.memory.subspan(piece.owner * setup_.piece_bytes, bytes);
    if (setup_.to_device)
        if (const Status read = read_all(setup_.file, piece.data, piece.at); !read)
            return read.error();
    free_.pop_back();
    next_at_ += bytes;
    return std::optional<Piece>(piece);
}

Status BufferStage::done(const Piece& piece)
{
    free_.push_back(piece.owner);
    return setup_.to_device ? ok() : write_all(setup_.file, piece.data, piece.at);
}

Status read_all(int file, std::span<std::byte> data, std::uint64_t offset)
{
    while (!data.empty()) {
        const ssize_t n = pread(file, data.data(), data.size(), static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_from_errno(errno, fmt::format("reading the file at {}", offset));
        if (n == 0)
            return Error{EIO, fmt::format("the file ends at {}: it has become shorter", offset)};
        data = data.subspan(static_cast<std::size_t>(n));
        offset += static_cast<std::uint64_t>(n);
    }
    return ok();
}

Status write_all(int file, std::span<const std::byte> data, std::uint64_t offset)
{
    while (!data.empty()) {
        const ssize_t n = pwrite(file, data.data(), data.size(), static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_from_errno(errno, fmt::format("writing the file at {}", offset));
        data = data.subspan(static_cast<std::size_t>(n));
        offset += static_cast<std::uint64_t>(n);
    }
    return ok();
}

}  // namespace kdp::tool::copy
