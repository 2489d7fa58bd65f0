// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The name of a data path, and the address in it. Input: the text.
#include <arpa/inet.h>

#include <cerrno>
#include <string>

#include <fmt/format.h>

#include <nvmf/fabrics.h>
#include <kdp/address.hpp>
#include <kdp/uri.hpp>

#include "fabrics/endpoint.hpp"
#include "fuzz.hpp"

namespace {

std::string escaped(const std::string& text)
{
    std::string out;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
        out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return out;
}

std::string kernel_written_out(const kdp::PathUri& uri)
{
    return fmt::format("kernel:{}?sqpoll={}&buffers={}&mode={}", escaped(uri.device),
                       uri.sqpoll ? 1 : 0, kdp::buffers_name(uri.buffers),
                       kdp::kernel_mode_name(uri.mode));
}

std::string written_out(const kdp::PathUri& uri)
{
    if (uri.scheme == kdp::Scheme::kernel)
        return kernel_written_out(uri);
    if (uri.scheme == kdp::Scheme::block)
        return fmt::format("{}:{}{}", kdp::scheme_name(uri.scheme), escaped(uri.device),
                           uri.polled ? "?mode=uring-poll" : "");
    if (uri.scheme == kdp::Scheme::tcp)
        return fmt::format("tcp://{}:{}/{}?nsid={}&hdgst={}&ddgst={}&io_timeout={}",
                           escaped(uri.host), uri.port, escaped(uri.nqn), uri.nsid,
                           uri.hdgst ? 1 : 0, uri.ddgst ? 1 : 0, uri.io_timeout);
    return fmt::format("verbs://{}:{}/{}?nsid={}&wait={}&buffers={}&ctrl_loss_tmo={}&io_timeout={}",
                       escaped(uri.host), uri.port, escaped(uri.nqn), uri.nsid,
                       kdp::wait_name(uri.wait), uri.register_each ? "plain" : "region",
                       uri.ctrl_loss_tmo, uri.io_timeout);
}

void check_limits(const kdp::PathUri& uri)
{
    const bool ring = uri.mode != kdp::KernelMode::ioctl;
    FUZZ_CHECK(ring || (uri.buffers != kdp::Buffers::fixed && !uri.sqpoll));
    FUZZ_CHECK(uri.scheme == kdp::Scheme::kernel ||
               (!ring && uri.buffers == kdp::Buffers::plain && !uri.sqpoll));
    FUZZ_CHECK(uri.ctrl_loss_tmo <= 1'000'000 && uri.io_timeout <= 1'000'000);
    FUZZ_CHECK(uri.scheme == kdp::Scheme::tcp || (!uri.hdgst && !uri.ddgst));
    if (uri.scheme != kdp::Scheme::verbs && uri.scheme != kdp::Scheme::tcp) {
        FUZZ_CHECK(!uri.device.empty());
        FUZZ_CHECK(!uri.register_each && uri.wait == kdp::Wait::adaptive && !uri.ctrl_loss_tmo);
        FUZZ_CHECK(uri.host.empty() && uri.nqn.empty());
        FUZZ_CHECK(!uri.polled || uri.scheme == kdp::Scheme::block);
        return;
    }
    FUZZ_CHECK(uri.device.empty() && !uri.polled);
    FUZZ_CHECK(!uri.host.empty());
    FUZZ_CHECK(uri.port != 0);
    FUZZ_CHECK(!uri.nqn.empty() && uri.nqn.size() <= NVMF_NQN_SIZE);
    FUZZ_CHECK(uri.nsid != 0 && uri.nsid != 0xffffffff);
}

/// Numeric addresses only: others would ask a name server.
void check_address(const std::string& host, std::uint16_t port)
{
    const auto endpoint = kdp::fabrics::Endpoint::parse(host, port);
    if (endpoint) {
        const int family = endpoint.value().address.ss_family;
        FUZZ_CHECK(family == AF_INET || family == AF_INET6);
        FUZZ_CHECK(endpoint.value().text.ends_with(fmt::format(":{}", port)));
    } else {
        FUZZ_CHECK(endpoint.error().code == EINVAL && !endpoint.error().text.empty());
    }

    for (const int family : {AF_INET, AF_INET6}) {
        std::uint8_t binary[sizeof(in6_addr)];
        char text[INET6_ADDRSTRLEN];
        if (inet_pton(family, host.c_str(), binary) != 1)
            continue;
        const auto address = kdp::resolve(host, port);
        FUZZ_CHECK(address && endpoint);
        FUZZ_CHECK(address.value().family() == family && address.value().port() == port);
        FUZZ_CHECK(inet_ntop(family, binary, text, sizeof(text)));
        FUZZ_CHECK(address.value().host() == text);
        const auto copy = kdp::SocketAddress::from_bytes(
            {reinterpret_cast<const std::byte*>(&address.value().storage), address.value().length});
        FUZZ_CHECK(copy && copy.value().to_string() == address.value().to_string());
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fuzz::Copy text({data, size});
    const auto parsed = kdp::parse_uri({reinterpret_cast<const char*>(text.data()), text.size()});

    if (!parsed) {
        FUZZ_CHECK(parsed.error().code == EINVAL && !parsed.error().text.empty());
        return 0;
    }
    const kdp::PathUri& uri = parsed.value();
    check_limits(uri);

    const auto again = kdp::parse_uri(written_out(uri));
    FUZZ_CHECK(again);
    FUZZ_CHECK(again.value().scheme == uri.scheme && again.value().device == uri.device);
    FUZZ_CHECK(again.value().host == uri.host && again.value().port == uri.port);
    FUZZ_CHECK(again.value().polled == uri.polled && again.value().mode == uri.mode);
    FUZZ_CHECK(again.value().buffers == uri.buffers && again.value().sqpoll == uri.sqpoll);
    FUZZ_CHECK(again.value().hdgst == uri.hdgst && again.value().ddgst == uri.ddgst);
    FUZZ_CHECK(again.value().nqn == uri.nqn && again.value().nsid == uri.nsid);
    FUZZ_CHECK(again.value().wait == uri.wait && again.value().register_each == uri.register_each);
    FUZZ_CHECK(again.value().ctrl_loss_tmo == uri.ctrl_loss_tmo &&
               again.value().io_timeout == uri.io_timeout);
    if (uri.scheme == kdp::Scheme::verbs || uri.scheme == kdp::Scheme::tcp)
        check_address(uri.host, uri.port);
    return 0;
}
