// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A response capsule as a controller sends it, and what its status becomes.
// Input: the capsule.
#include <nvmf/capsule.h>

#include <cerrno>

#include "fuzz.hpp"
#include "nvme_error.hpp"

namespace {

void check_command_identifier(std::uint16_t cid)
{
    FUZZ_CHECK(nvmf_cid_slot(cid) < NVMF_CID_SLOTS);
    FUZZ_CHECK(nvmf_cid_generation(cid) < 16);
    FUZZ_CHECK(nvmf_cid(nvmf_cid_slot(cid), nvmf_cid_generation(cid)) == cid);
}

void check_words(const nvmf_response& rsp)
{
    const bool success = (rsp.status & NVMF_SC_MASK) == NVMF_SC_SUCCESS;
    const int code = kdp::errno_from_nvme(rsp.status);
    FUZZ_CHECK(code >= 0 && code < 4096);
    FUZZ_CHECK((code == 0) == success);
    if (success)
        return;

    const kdp::Error error = kdp::error_from_nvme(rsp.status, "Read");
    FUZZ_CHECK(error.code == code);
    FUZZ_CHECK(error.nvme_status == rsp.status);
    FUZZ_CHECK(error.text.starts_with("Read failed: NVMe status 0x"));

    const kdp::Error refused = kdp::error_from_connect(rsp, "nqn.sub", "nqn.host", "192.0.2.1");
    FUZZ_CHECK(refused.code > 0 && refused.code < 4096);
    FUZZ_CHECK(refused.nvme_status == rsp.status);
    FUZZ_CHECK(refused.text.find("192.0.2.1") != std::string::npos);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fuzz::Copy capsule({data, size});
    auto rsp = fuzz::poisoned<nvmf_response>(0xa5);
    const nvmf_response before = rsp;
    const int rc = nvmf_response_parse(capsule.data(), capsule.size(), &rsp);

    if (size < NVMF_CQE_SIZE) {
        FUZZ_CHECK(rc == -EBADMSG);
        FUZZ_CHECK(fuzz::same_bytes(&rsp, &before, sizeof(rsp)));
        return 0;
    }
    FUZZ_CHECK(rc == 0);
    FUZZ_CHECK(rsp.result == fuzz::little(data, 0, 8));
    FUZZ_CHECK(rsp.sqhd == fuzz::little(data, 8, 2));
    FUZZ_CHECK(rsp.cid == fuzz::little(data, 12, 2));
    FUZZ_CHECK(rsp.status == fuzz::little(data, 14, 2) >> 1);
    check_command_identifier(rsp.cid);
    check_words(rsp);
    return 0;
}
