// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The private data of an accepted and of a rejected connection, and those that we send.
// Input: the private data.
#include <nvmf/rdma.h>

#include <cerrno>

#include "fuzz.hpp"

namespace {

void check_accept(const fuzz::Copy& data)
{
    const int rc = nvmf_rdma_rep_parse(data.data(), data.size());
    const bool good = data.size() >= 32 && fuzz::little(data.data(), 0, 2) == 0 &&
                      fuzz::little(data.data(), 2, 2) != 0;

    if (!good) {
        FUZZ_CHECK(rc == -EPROTO);
        return;
    }
    FUZZ_CHECK(rc >= 1 && rc <= 65535);
    FUZZ_CHECK(static_cast<unsigned>(rc) == fuzz::little(data.data(), 2, 2));
}

void check_reject(const fuzz::Copy& data)
{
    const int status = nvmf_rdma_rej_parse(data.data(), data.size());

    // whole, and of the format that we know: else it says nothing
    const bool good = data.size() >= 4 && fuzz::little(data.data(), 0, 2) == 0;

    FUZZ_CHECK(status >= 0 && status <= 65535);
    FUZZ_CHECK(static_cast<unsigned>(status) == (good ? fuzz::little(data.data(), 2, 2) : 0));
    FUZZ_CHECK(std::strlen(nvmf_rdma_rej_text(status)) > 0);
}

void check_request(fuzz::Input input)
{
    const auto qid = input.number<std::uint16_t>();
    const auto entries = input.number<std::uint16_t>();
    const auto cntlid = input.number<std::uint16_t>();
    auto req = fuzz::poisoned<nvmf_rdma_cm_req>(0xa5);

    nvmf_rdma_req_fill(&req, qid, entries, cntlid);
    FUZZ_CHECK(fuzz::little(&req, 0, 2) == 0);
    FUZZ_CHECK(fuzz::little(&req, 2, 2) == qid);
    FUZZ_CHECK(fuzz::little(&req, 4, 2) == entries);
    FUZZ_CHECK(entries == 0 || fuzz::little(&req, 6, 2) + 1 == entries);
    FUZZ_CHECK(fuzz::little(&req, 8, 2) == (qid ? cntlid : 0));
    FUZZ_CHECK(fuzz::zero(&req, 10, 32));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fuzz::Copy copy({data, size});

    check_accept(copy);
    check_reject(copy);
    FUZZ_CHECK(nvmf_rdma_rep_parse(nullptr, size) == -EPROTO);
    FUZZ_CHECK(nvmf_rdma_rej_parse(nullptr, size) == 0);
    check_request({data, size});
    return 0;
}
