// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Who this host is, from what is given and from files. Input: five texts with a byte 0xff between
// them: the NQN and the identifier that are given; /etc/nvme/hostnqn, hostid, /etc/machine-id.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include <nvmf/fabrics.h>
#include <kdp/host_id.hpp>

#include "fuzz.hpp"

namespace {

/// A file in memory with a path.
class File {
public:
    explicit File(const char* name) : fd_(memfd_create(name, MFD_CLOEXEC)) { FUZZ_CHECK(fd_ >= 0); }
    ~File() { close(fd_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    void set(std::string_view text) const
    {
        FUZZ_CHECK(ftruncate(fd_, 0) == 0);
        FUZZ_CHECK(pwrite(fd_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
    }
    [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

private:
    int fd_;
};

void check_uuid(std::string_view text)
{
    const auto id = kdp::parse_uuid(text);
    std::string plain;

    if (!id)
        return;
    const std::string canonical = kdp::format_uuid(*id);
    FUZZ_CHECK(canonical.size() == 36);
    FUZZ_CHECK(kdp::parse_uuid(canonical) == id);
    for (const char c : text)
        plain += static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
    if (text.size() == 32)
        for (const std::size_t at : {8, 13, 18, 23})
            plain.insert(at, "-");
    FUZZ_CHECK(plain == canonical);
}

/// The whole name goes into Connect.
void check_on_the_wire(const kdp::HostIdentity& host)
{
    nvmf_connect_data data;

    FUZZ_CHECK(nvmf_connect_data_fill(&data, host.id.data(), 1, "nqn.sub", host.nqn.c_str()) == 0);
    FUZZ_CHECK(host.nqn == data.hostnqn);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const File hostnqn("hostnqn"), hostid("hostid"), machine("machine-id");
    static const kdp::HostIdentitySources sources{hostnqn.path(), hostid.path(), machine.path()};
    fuzz::Input input(data, size);
    const std::string nqn(input.text(0xff)), id(input.text(0xff));

    hostnqn.set(input.text(0xff));
    hostid.set(input.text(0xff));
    machine.set(input.text(0xff));
    check_uuid(nqn);
    check_uuid(id);

    const auto host = kdp::host_identity(nqn, id, sources);
    if (!host) {
        FUZZ_CHECK(host.error().code == EINVAL || host.error().code == ENOENT);
        FUZZ_CHECK(!host.error().text.empty());
        return 0;
    }
    FUZZ_CHECK(!host.value().nqn.empty() && host.value().nqn.size() <= NVMF_NQN_SIZE);
    FUZZ_CHECK(nqn.empty() || host.value().nqn == nqn);
    FUZZ_CHECK(id.empty() || kdp::parse_uuid(id) == host.value().id);
    check_on_the_wire(host.value());
    return 0;
}
