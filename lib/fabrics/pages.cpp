// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "pages.hpp"

#include <cerrno>
#include <string>

#include <sys/mman.h>

namespace kdp::fabrics {

Result<Pages> Pages::allocate(std::size_t bytes)
{
    void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (base == MAP_FAILED)
        return error_from_errno(errno,
                                "cannot allocate " + std::to_string(bytes) + " bytes for a queue");
    return Pages(static_cast<std::byte*>(base), bytes);
}

Pages::~Pages()
{
    if (base_)
        munmap(base_, bytes_);
}

}  // namespace kdp::fabrics
