// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The sentence of an extended ack. Input: a netlink message; its length is set to what there is.
#include "fuzz.hpp"
#include "netlink.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < sizeof(nlmsghdr))
        return 0;
    const fuzz::Copy message({data, size});
    auto* header = reinterpret_cast<nlmsghdr*>(message.data());
    header->nlmsg_len = static_cast<std::uint32_t>(size);

    const std::string text = kdp::extended_ack_text(header);
    const std::string_view whole(reinterpret_cast<const char*>(message.data()), size);
    FUZZ_CHECK(text.find('\0') == std::string::npos);
    FUZZ_CHECK(whole.find(text, sizeof(nlmsghdr)) != std::string_view::npos || text.empty());
    FUZZ_CHECK((header->nlmsg_flags & NLM_F_ACK_TLVS) || text.empty());
    return 0;
}
