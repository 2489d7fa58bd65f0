// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "control_parse.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace kdp::control {
namespace {

/// Reads attributes of one nest and remembers the first that has a wrong length.
class Reader {
public:
    explicit Reader(nlattr** attributes) : attributes_(attributes) {}

    template <typename T>
    void number(int type, T& value)
    {
        const nlattr* a = attributes_[type];
        if (!a)
            return;
        if (nla_len(a) != sizeof(T))
            return fail(type);
        std::memcpy(&value, nla_data(a), sizeof(T));
    }

    void string(int type, std::string& value)
    {
        const nlattr* a = attributes_[type];
        if (!a)
            return;
        const auto* chars = static_cast<const char*>(nla_data(a));
        value.assign(chars, strnlen(chars, static_cast<std::size_t>(nla_len(a))));
    }

    template <typename Bytes>
    void bytes(int type, std::optional<Bytes>& value)
    {
        const nlattr* a = attributes_[type];
        if (!a)
            return;
        if (nla_len(a) != static_cast<int>(sizeof(Bytes)))
            return fail(type);
        std::memcpy(value.emplace().data(), nla_data(a), sizeof(Bytes));
    }

    void address(int type, SocketAddress& value)
    {
        const nlattr* a = attributes_[type];
        if (!a)
            return;
        const auto parsed = SocketAddress::from_bytes(
            {static_cast<const std::byte*>(nla_data(a)), static_cast<std::size_t>(nla_len(a))});
        if (!parsed)
            return fail(type);
        value = parsed.value();
    }

    void require(int type)
    {
        if (!attributes_[type])
            fail(type);
    }

    void fail(int type)
    {
        if (!bad_)
            bad_ = type;
    }

    [[nodiscard]] Status status() const
    {
        if (!bad_)
            return ok();
        return Error{EPROTO, fmt::format("attribute {} of the answer is missing or has a wrong "
                                         "length: kdp and kdp_host are of different versions",
                                         bad_)};
    }

private:
    nlattr** attributes_;
    int bad_ = 0;
};

Result<Namespace> parse_namespace(nlattr* nest)
{
    nlattr* attributes[KDP_A_MAX + 1] = {};
    if (nla_parse_nested(attributes, KDP_A_MAX, nest, nullptr) < 0)
        return Error{EPROTO, "a namespace in the answer cannot be parsed"};
    Namespace ns;
    Reader reader(attributes);
    reader.require(KDP_A_NSID);
    reader.number(KDP_A_NSID, ns.nsid);
    reader.string(KDP_A_NAME, ns.disk);
    reader.string(KDP_A_NS_CHAR_NAME, ns.char_device);
    reader.number(KDP_A_NS_BLOCKS, ns.blocks);
    reader.number(KDP_A_NS_BLOCK_SIZE, ns.block_size);
    reader.bytes(KDP_A_NS_UUID, ns.uuid);
    reader.bytes(KDP_A_NS_NGUID, ns.nguid);
    reader.bytes(KDP_A_NS_EUI64, ns.eui64);
    if (const Status status = reader.status(); !status)
        return status.error();
    return ns;
}

Status parse_stats(nlattr* nest, Stats& stats)
{
    nlattr* attributes[KDP_S_MAX + 1] = {};
    if (nla_parse_nested(attributes, KDP_S_MAX, nest, nullptr) < 0)
        return Error{EPROTO, "the counters in the answer cannot be parsed"};
    Reader reader(attributes);
    for (int id = KDP_S_PAD + 1; id <= KDP_S_MAX; id++)
        reader.number(id, stats.by_id[static_cast<std::size_t>(id)]);
    return reader.status();
}

}  // namespace

Result<Controller> parse_controller(nlattr** attributes)
{
    Controller c;
    Reader reader(attributes);
    reader.require(KDP_A_INSTANCE);
    reader.require(KDP_A_NAME);
    reader.number(KDP_A_INSTANCE, c.instance);
    reader.string(KDP_A_NAME, c.name);
    reader.number(KDP_A_STATE, c.state);
    reader.address(KDP_A_TRADDR, c.traddr);
    reader.string(KDP_A_SUBNQN, c.subsystem_nqn);
    reader.string(KDP_A_HOSTNQN, c.host_nqn);
    reader.number(KDP_A_CNTLID, c.cntlid);
    reader.string(KDP_A_SERIAL, c.serial);
    reader.string(KDP_A_MODEL, c.model);
    reader.string(KDP_A_FIRMWARE, c.firmware);
    reader.string(KDP_A_RDMA_DEVICE, c.rdma_device);
    reader.number(KDP_A_NR_IO_QUEUES, c.nr_io_queues);
    reader.number(KDP_A_NR_WRITE_QUEUES, c.nr_write_queues);
    reader.number(KDP_A_NR_POLL_QUEUES, c.nr_poll_queues);
    reader.number(KDP_A_QUEUE_SIZE, c.queue_size);
    reader.number(KDP_A_KATO_MS, c.keep_alive_ms);
    reader.number(KDP_A_CQ_MODE, c.cq_mode);
    reader.number(KDP_A_SPIN_US, c.spin_us);
    reader.number(KDP_A_CTRL_LOSS_TMO, c.ctrl_loss_tmo);
    reader.number(KDP_A_FAST_IO_FAIL_TMO, c.fast_io_fail_tmo);
    reader.number(KDP_A_RECONNECT_DELAY, c.reconnect_delay);
    reader.number(KDP_A_RECONNECTS, c.reconnects);
    reader.string(KDP_A_REASON, c.reason);
    reader.number(KDP_A_MAX_TRANSFER, c.max_transfer);
    reader.number(KDP_A_INLINE_SIZE, c.inline_size);
    if (const Status status = reader.status(); !status)
        return status.error();
    if (attributes[KDP_A_STATS]) {
        if (const Status status = parse_stats(attributes[KDP_A_STATS], c.stats); !status)
            return status.error();
    }
    if (nlattr* list = attributes[KDP_A_NAMESPACES]) {
        nlattr* nest;
        int rest;
        nla_for_each_nested(nest, list, rest)
        {
            if (nla_type(nest) != KDP_A_NAMESPACE)
                continue;
            auto ns = parse_namespace(nest);
            if (!ns)
                return ns.error();
            c.namespaces.push_back(std::move(ns).value());
        }
    }
    return c;
}

Result<Queue> parse_queue(nlattr** attributes)
{
    Queue q;
    Reader reader(attributes);
    for (const int type : {KDP_A_INSTANCE, KDP_A_NAME, KDP_A_QID})
        reader.require(type);
    reader.number(KDP_A_INSTANCE, q.instance);
    reader.string(KDP_A_NAME, q.controller);
    reader.number(KDP_A_QID, q.qid);
    reader.number(KDP_A_CPU, q.cpu);
    reader.number(KDP_A_CQ_MODE, q.cq_mode);
    reader.number(KDP_A_QUEUE_SET, q.set);
    reader.number(KDP_A_QUEUE_SIZE, q.depth);
    if (const Status status = reader.status(); !status)
        return status.error();
    if (attributes[KDP_A_STATS]) {
        if (const Status status = parse_stats(attributes[KDP_A_STATS], q.stats); !status)
            return status.error();
    }
    return q;
}

Result<Event> parse_event(nlattr** attributes)
{
    Event event;
    Reader reader(attributes);
    for (const int type : {KDP_A_INSTANCE, KDP_A_NAME, KDP_A_STATE})
        reader.require(type);
    reader.number(KDP_A_INSTANCE, event.instance);
    reader.string(KDP_A_NAME, event.controller);
    reader.number(KDP_A_STATE, event.state);
    reader.string(KDP_A_SUBNQN, event.subsystem_nqn);
    reader.number(KDP_A_RECONNECTS, event.reconnects);
    reader.string(KDP_A_REASON, event.reason);
    if (const Status status = reader.status(); !status)
        return status.error();
    return event;
}

Result<Connected> parse_connected(nlattr** attributes)
{
    Connected connected;
    Reader reader(attributes);
    reader.require(KDP_A_INSTANCE);
    reader.require(KDP_A_NAME);
    reader.number(KDP_A_INSTANCE, connected.instance);
    reader.string(KDP_A_NAME, connected.name);
    if (const Status status = reader.status(); !status)
        return status.error();
    return connected;
}

}  // namespace kdp::control
