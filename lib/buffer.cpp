// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kdp/buffer.hpp>

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace kdp {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;

constexpr std::size_t round_up(std::size_t value, std::size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

}  // namespace

Result<Buffer> Buffer::allocate(std::size_t size)
{
    if (size == 0)
        return Error{EINVAL, "a buffer of 0 bytes"};
    if (size > SIZE_MAX / 2)
        return error_from_errno(ENOMEM, "buffer");
    const std::size_t alignment = size >= huge_page ? huge_page : page;
    const std::size_t length = round_up(size, page);
    const std::size_t mapped = length + (alignment > page ? alignment : 0);

    void* start = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return error_from_errno(errno, "buffer of " + std::to_string(size) + " bytes");
    Buffer buffer;
    buffer.map_ = {static_cast<std::byte*>(start), mapped};
    const auto address = reinterpret_cast<std::uintptr_t>(start);
    std::byte* const first = buffer.map_.data() + (round_up(address, alignment) - address);
    buffer.memory_ = {first, length};
    // A refusal costs speed only. RDMA pins the pages: a child must not make them copy-on-write.
    if (alignment > page)
        (void)madvise(first, length, MADV_HUGEPAGE);
    (void)madvise(first, length, MADV_DONTFORK);
    std::memset(first, 0, length);
    return buffer;
}

Buffer::~Buffer()
{
    if (!map_.empty())
        munmap(map_.data(), map_.size());
}

}  // namespace kdp
