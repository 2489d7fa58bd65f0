// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Where the data of a copy lie while commands carry them: in the file's own pages, or in memory
/// of this process.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <vector>

#include <kdp/data_path.hpp>

namespace kdp::tool::copy {

/// The data of one command.
struct Piece {
    std::uint64_t at = 0;  ///< bytes into what is copied
    std::span<std::byte> data;
    std::uint64_t owner = 0;  ///< for the stage
};

/// What is copied is the file's first length bytes, whole blocks.
class Stage {
public:
    virtual ~Stage() = default;
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;

    /// The next piece, @p most bytes at most. Nullopt: there is no more, or none before a command
    /// is done or a signal has been looked at.
    [[nodiscard]] virtual Result<std::optional<Piece>> next(std::size_t most) = 0;
    /// The command of @p piece has succeeded.
    [[nodiscard]] virtual Status done(const Piece& piece) = 0;
    /// Something that will be needed soon, while commands are under way.
    [[nodiscard]] virtual Status prepare() { return ok(); }
    /// All pieces were given.
    [[nodiscard]] virtual bool finished() const noexcept = 0;

protected:
    Stage() = default;
};

/// The file's pages, chunk by chunk, each a region for as long as its commands take. There are two,
/// so that commands of one are in flight while the other comes and goes.
class RegionStage final : public Stage {
public:
    struct Setup {
        int file = -1;
        Access access = Access::send;
        std::uint64_t length = 0;       ///< bytes
        std::uint64_t chunk_bytes = 0;  ///< at most; smaller when more cannot be pinned
        std::uint32_t block_size = 512;
    };

    /// @p path outlives it.
    RegionStage(DataPath& path, const Setup& setup);

    [[nodiscard]] Result<std::optional<Piece>> next(std::size_t most) override;
    [[nodiscard]] Status done(const Piece& piece) override;
    [[nodiscard]] Status prepare() override;
    [[nodiscard]] bool finished() const noexcept override;

    [[nodiscard]] std::uint64_t regions() const noexcept { return regions_; }
    /// Memory registrations of the RDMA device that these took.
    [[nodiscard]] std::uint64_t registrations() const noexcept { return registrations_; }
    /// Of the largest region, bytes.
    [[nodiscard]] std::uint64_t largest() const noexcept { return largest_; }

private:
    struct Chunk {
        std::uint64_t number;
        std::uint64_t at;  // bytes into what is copied
        Region region;
        std::uint64_t given = 0;  // bytes
        unsigned in_flight = 0;
    };

    [[nodiscard]] bool room() const noexcept;
    [[nodiscard]] Result<bool> add();

    DataPath& path_;
    Setup setup_;
    std::uint64_t unit_;  // chunks are multiples of it
    std::list<Chunk> chunks_;
    std::uint64_t next_at_ = 0;
    std::uint64_t regions_ = 0;
    std::uint64_t registrations_ = 0;
    std::uint64_t largest_ = 0;
};

/// Memory of this process, which read(2) fills or write(2) empties, as other programs do it.
class BufferStage final : public Stage {
public:
    struct Setup {
        int file = -1;
        bool to_device = true;
        std::uint64_t length = 0;     ///< bytes
        std::size_t piece_bytes = 0;  ///< of one command at most
        std::span<std::byte> memory;  ///< a multiple of piece_bytes; outlives the path
    };

    explicit BufferStage(const Setup& setup);

    [[nodiscard]] Result<std::optional<Piece>> next(std::size_t most) override;
    [[nodiscard]] Status done(const Piece& piece) override;
    [[nodiscard]] bool finished() const noexcept override { return next_at_ == setup_.length; }

private:
    Setup setup_;
    std::vector<std::uint64_t> free_;  // places in the memory
    std::uint64_t next_at_ = 0;
};

/// Read all of @p data from @p offset of @p file. EIO when it ends before.
[[nodiscard]] Status read_all(int file, std::span<std::byte> data, std::uint64_t offset);
[[nodiscard]] Status write_all(int file, std::span<const std::byte> data, std::uint64_t offset);

}  // namespace kdp::tool::copy
