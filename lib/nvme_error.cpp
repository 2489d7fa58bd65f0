// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "nvme_error.hpp"

#include <cerrno>
#include <cstdio>

namespace kdp {

namespace {

// Base 2.0, figure 93: the generic status that this path meets beyond those of the wire header
constexpr std::uint16_t sc_namespace_write_protected = 0x0020;

struct Meaning {
    std::uint16_t status;
    int code;
    const char* words;
};

constexpr Meaning meanings[] = {
    {NVMF_SC_INVALID_OPCODE, EOPNOTSUPP, "invalid opcode"},
    {NVMF_SC_INVALID_FIELD, EINVAL, "invalid field in command"},
    {NVMF_SC_DATA_XFER_ERROR, EIO, "data transfer error"},
    {NVMF_SC_INTERNAL, EIO, "internal error"},
    {NVMF_SC_ABORT_REQ, EIO, "command abort requested"},
    {NVMF_SC_INVALID_NS, ENODEV, "invalid namespace or format"},
    {sc_namespace_write_protected, EROFS, "namespace is write protected"},
    {NVMF_SC_TRANSIENT_TRANSPORT, EIO, "transient transport error"},
    {NVMF_SC_LBA_RANGE, ERANGE, "LBA out of range"},
    {NVMF_SC_CAP_EXCEEDED, ENOSPC, "capacity exceeded"},
    {NVMF_SC_NS_NOT_READY, EAGAIN, "namespace not ready"},
    {NVMF_SC_RESERVATION_CONFLICT, EBUSY, "reservation conflict"},
    {NVMF_SC_CONNECT_FORMAT, EPROTO, "incompatible record format"},
    {NVMF_SC_CONNECT_CTRL_BUSY, EBUSY, "controller busy"},
    {NVMF_SC_CONNECT_INVALID_PARAM, EINVAL, "invalid connect parameters"},
    {NVMF_SC_CONNECT_RESTART_DISC, ENOENT, "restart discovery"},
    {NVMF_SC_CONNECT_INVALID_HOST, EACCES, "host not allowed"},
    {NVMF_SC_WRITE_FAULT, EIO, "write fault"},
    {NVMF_SC_READ_ERROR, EIO, "unrecovered read error"},
    {NVMF_SC_GUARD_CHECK, EILSEQ, "guard check error"},
    {NVMF_SC_COMPARE_FAILED, EIO, "compare failure"},
    {NVMF_SC_ACCESS_DENIED, EACCES, "access denied"},
};

const Meaning* find(std::uint16_t status) noexcept
{
    for (const Meaning& m : meanings)
        if (m.status == (status & NVMF_SC_MASK))
            return &m;
    return nullptr;
}

}  // namespace

int errno_from_nvme(std::uint16_t status) noexcept
{
    if ((status & NVMF_SC_MASK) == NVMF_SC_SUCCESS)
        return 0;
    const Meaning* m = find(status);
    return m ? m->code : EIO;
}

Error error_from_nvme(std::uint16_t status, const std::string& what)
{
    const Meaning* m = find(status);
    char number[16];

    std::snprintf(number, sizeof(number), "0x%03x", status & NVMF_SC_MASK);
    return Error{
        errno_from_nvme(status),
        what + " failed: NVMe status " + number + (m ? std::string(" (") + m->words + ")" : ""),
        status};
}

Error error_from_connect(const nvmf_response& response, const std::string& nqn,
                         const std::string& host_nqn, const std::string& where)
{
    const std::uint16_t sc = response.status & NVMF_SC_MASK;

    if (sc == NVMF_SC_CONNECT_INVALID_HOST)
        return Error{EACCES,
                     where + " does not let host " + host_nqn + " use " + nqn +
                         "; allow the host on the target",
                     response.status};
    if (sc == NVMF_SC_CONNECT_INVALID_PARAM && nvmf_connect_bad_is_data(response.result)) {
        if (nvmf_connect_bad_offset(response.result) == NVMF_CONNECT_BAD_SUBSYSNQN)
            return Error{ENOENT, where + " has no subsystem " + nqn + "; check the NQN",
                         response.status};
        if (nvmf_connect_bad_offset(response.result) == NVMF_CONNECT_BAD_HOSTNQN)
            return Error{EINVAL, where + " does not take the host NQN " + host_nqn,
                         response.status};
    }
    return error_from_nvme(response.status, "Connect to " + nqn + " at " + where);
}

}  // namespace kdp
