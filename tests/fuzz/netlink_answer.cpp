// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The module's answers: attributes to a Controller, and the controller to JSON.
// Input: the attributes of a message.
#include <netlink/attr.h>
#include <netlink/msg.h>

#include <cerrno>

#include "control_parse.hpp"
#include "controller_json.hpp"
#include "fuzz.hpp"
#include "json_text.hpp"
#include "netlink.hpp"

namespace {

using kdp::control::Controller;
using kdp::control::Namespace;

/// Attributes by type, as libnl hands them on; they lie in the message.
struct Attributes {
    explicit Attributes(void* first, std::size_t size)
    {
        usable = nla_parse(by_type, KDP_A_MAX, static_cast<nlattr*>(first), static_cast<int>(size),
                           nullptr) == 0;
    }
    nlattr* by_type[KDP_A_MAX + 1]{};
    bool usable;
};

void put_namespace(nl_msg* m, const Namespace& ns)
{
    nlattr* nest = nla_nest_start(m, KDP_A_NAMESPACE);
    FUZZ_CHECK(nest);
    FUZZ_CHECK(nla_put_u32(m, KDP_A_NSID, ns.nsid) == 0);
    FUZZ_CHECK(nla_put_string(m, KDP_A_NAME, ns.disk.c_str()) == 0);
    FUZZ_CHECK(nla_put_string(m, KDP_A_NS_CHAR_NAME, ns.char_device.c_str()) == 0);
    FUZZ_CHECK(nla_put_u64(m, KDP_A_NS_BLOCKS, ns.blocks) == 0);
    FUZZ_CHECK(nla_put_u32(m, KDP_A_NS_BLOCK_SIZE, ns.block_size) == 0);
    const auto id = [m](int type, const auto& value) {
        if (value)
            FUZZ_CHECK(nla_put(m, type, static_cast<int>(value->size()), value->data()) == 0);
    };
    id(KDP_A_NS_UUID, ns.uuid);
    id(KDP_A_NS_NGUID, ns.nguid);
    id(KDP_A_NS_EUI64, ns.eui64);
    nla_nest_end(m, nest);
}

/// As the module writes it.
void put_controller(nl_msg* m, const Controller& c)
{
    const auto u32 = [m](int type, std::uint32_t value) {
        FUZZ_CHECK(nla_put_u32(m, type, value) == 0);
    };
    const auto text = [m](int type, const std::string& value) {
        FUZZ_CHECK(nla_put_string(m, type, value.c_str()) == 0);
    };
    u32(KDP_A_INSTANCE, c.instance);
    text(KDP_A_NAME, c.name);
    u32(KDP_A_STATE, c.state);
    if (!c.traddr.empty())
        FUZZ_CHECK(nla_put(m, KDP_A_TRADDR, static_cast<int>(c.traddr.length), &c.traddr.storage) ==
                   0);
    text(KDP_A_SUBNQN, c.subsystem_nqn);
    text(KDP_A_HOSTNQN, c.host_nqn);
    u32(KDP_A_CNTLID, c.cntlid);
    text(KDP_A_SERIAL, c.serial);
    text(KDP_A_MODEL, c.model);
    text(KDP_A_FIRMWARE, c.firmware);
    text(KDP_A_RDMA_DEVICE, c.rdma_device);
    u32(KDP_A_NR_IO_QUEUES, c.nr_io_queues);
    u32(KDP_A_QUEUE_SIZE, c.queue_size);
    u32(KDP_A_KATO_MS, c.keep_alive_ms);
    u32(KDP_A_CQ_MODE, c.cq_mode);
    u32(KDP_A_SPIN_US, static_cast<std::uint32_t>(c.spin_us));
    u32(KDP_A_MAX_TRANSFER, c.max_transfer);
    u32(KDP_A_INLINE_SIZE, c.inline_size);
    nlattr* stats = nla_nest_start(m, KDP_A_STATS);
    for (int id = KDP_S_PAD + 1; id <= KDP_S_MAX; id++)
        FUZZ_CHECK(nla_put_u64(m, id, c.stats.by_id[static_cast<std::size_t>(id)]) == 0);
    nla_nest_end(m, stats);
    nlattr* list = nla_nest_start(m, KDP_A_NAMESPACES);
    for (const Namespace& ns : c.namespaces)
        put_namespace(m, ns);
    nla_nest_end(m, list);
}

void check_controller(const Controller& c, std::size_t size)
{
    for (const std::string* text :
         {&c.name, &c.subsystem_nqn, &c.host_nqn, &c.serial, &c.model, &c.firmware, &c.rdma_device})
        FUZZ_CHECK(text->size() <= size && text->find('\0') == std::string::npos);
    FUZZ_CHECK(c.traddr.empty() || c.traddr.family() == AF_INET || c.traddr.family() == AF_INET6);
    // a namespace has its header and its identifier
    FUZZ_CHECK(c.namespaces.size() <= size / 12);
}

/// Written as the module would and parsed again, it is the same; and it can be shown.
void check_round_trip(const Controller& c)
{
    const kdp::NlMessage message(nlmsg_alloc_size(64 << 10));
    FUZZ_CHECK(message && nlmsg_put(message.get(), 0, 0, NLMSG_MIN_TYPE, 0, 0));
    put_controller(message.get(), c);
    const auto* header = nlmsg_hdr(message.get());
    Attributes attributes(nlmsg_data(header), static_cast<std::size_t>(nlmsg_datalen(header)));
    FUZZ_CHECK(attributes.usable);
    const auto again = kdp::control::parse_controller(attributes.by_type);
    FUZZ_CHECK(again);

    const auto json = kdp::tool::controllers_to_json({c});
    FUZZ_CHECK(json == kdp::tool::controllers_to_json({again.value()}));
    FUZZ_CHECK(!kdp::tool::json_text(json).empty());
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size > 8192)  // so that the answer fits the message above
        return 0;
    const fuzz::Copy message({data, size});
    Attributes attributes(message.data(), message.size());
    if (!attributes.usable)
        return 0;

    const auto controller = kdp::control::parse_controller(attributes.by_type);
    const auto connected = kdp::control::parse_connected(attributes.by_type);
    if (!connected) {
        FUZZ_CHECK(connected.error().code == EPROTO);
        FUZZ_CHECK(!controller);
    }
    if (!controller) {
        FUZZ_CHECK(controller.error().code == EPROTO);
        return 0;
    }
    FUZZ_CHECK(connected.value().instance == controller.value().instance);
    FUZZ_CHECK(connected.value().name == controller.value().name);
    check_controller(controller.value(), size);
    check_round_trip(controller.value());
    return 0;
}
