// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kdp/uri.hpp>

#include <gtest/gtest.h>

#include <cerrno>

namespace {

using kdp::Buffers;
using kdp::KernelMode;
using kdp::parse_uri;
using kdp::Scheme;

void expect_refused(const std::string& uri, const std::string& words)
{
    const auto parsed = parse_uri(uri);
    ASSERT_FALSE(parsed) << uri;
    EXPECT_EQ(parsed.error().code, EINVAL) << uri;
    EXPECT_NE(parsed.error().text.find(words), std::string::npos)
        << uri << ": " << parsed.error().text;
}

TEST(Uri, Kernel)
{
    const auto uri = parse_uri("kernel:/dev/kdpg0n1");
    ASSERT_TRUE(uri);
    EXPECT_EQ(uri.value().scheme, Scheme::kernel);
    EXPECT_EQ(uri.value().device, "/dev/kdpg0n1");
    EXPECT_EQ(uri.value().mode, KernelMode::ioctl);
    EXPECT_EQ(uri.value().buffers, Buffers::plain);
    EXPECT_FALSE(uri.value().sqpoll);
}

TEST(Uri, KernelModes)
{
    EXPECT_EQ(parse_uri("kernel:/dev/x?mode=ioctl").value().mode, KernelMode::ioctl);
    EXPECT_EQ(parse_uri("kernel:/dev/x?mode=uring").value().mode, KernelMode::uring);
    EXPECT_EQ(parse_uri("kernel:/dev/x?mode=uring-poll").value().mode, KernelMode::uring_poll);
    EXPECT_EQ(parse_uri("kernel:/dev/x?mode=uring&mode=ioctl").value().mode, KernelMode::ioctl);
    EXPECT_FALSE(parse_uri("kernel:/dev/x?mode=uring-poll").value().polled) << "block: only";
    for (const char* bad : {"", "poll", "Uring", "uring_poll", "uring-poll2", "ioctl "})
        expect_refused(std::string("kernel:/dev/x?mode=") + bad, "ioctl, uring or uring-poll");
}

TEST(Uri, KernelBuffers)
{
    for (const char* mode : {"ioctl", "uring", "uring-poll"}) {
        const std::string uri = std::string("kernel:/dev/x?mode=") + mode;
        EXPECT_EQ(parse_uri(uri + "&buffers=plain").value().buffers, Buffers::plain);
        EXPECT_EQ(parse_uri(uri + "&buffers=region").value().buffers, Buffers::region);
    }
    EXPECT_EQ(parse_uri("kernel:/dev/x?buffers=region").value().buffers, Buffers::region);
    // in any order
    EXPECT_EQ(parse_uri("kernel:/dev/x?buffers=fixed&mode=uring").value().buffers, Buffers::fixed);
    EXPECT_EQ(parse_uri("kernel:/dev/x?mode=uring-poll&buffers=fixed").value().buffers,
              Buffers::fixed);
    expect_refused("kernel:/dev/x?buffers=fixed", "mode=uring");
    expect_refused("kernel:/dev/x?buffers=fixed&mode=ioctl", "mode=uring");
    expect_refused("kernel:/dev/x?buffers=", "plain, fixed or region");
    expect_refused("kernel:/dev/x?buffers=pinned", "plain, fixed or region");
    expect_refused("block:/dev/x?buffers=fixed", "no such parameter");
}

TEST(Uri, KernelSqpoll)
{
    EXPECT_TRUE(parse_uri("kernel:/dev/x?mode=uring&sqpoll=1").value().sqpoll);
    EXPECT_TRUE(parse_uri("kernel:/dev/x?sqpoll=1&mode=uring-poll").value().sqpoll);
    EXPECT_FALSE(parse_uri("kernel:/dev/x?sqpoll=0").value().sqpoll);
    expect_refused("kernel:/dev/x?sqpoll=1", "mode=uring");
    expect_refused("kernel:/dev/x?mode=uring&sqpoll=2", "0 or 1");
    expect_refused("kernel:/dev/x?mode=uring&sqpoll", "0 or 1");
    expect_refused("block:/dev/x?sqpoll=1", "no such parameter");
}

TEST(Uri, BlockWithEscapes)
{
    const auto uri = parse_uri("block:/tmp/a%20b%3Fc%25");
    ASSERT_TRUE(uri);
    EXPECT_EQ(uri.value().scheme, Scheme::block);
    EXPECT_EQ(uri.value().device, "/tmp/a b?c%");
}

TEST(Uri, BlockModes)
{
    EXPECT_FALSE(parse_uri("block:/dev/x").value().polled);
    EXPECT_FALSE(parse_uri("block:/dev/x?mode=uring").value().polled);
    EXPECT_TRUE(parse_uri("block:/dev/x?mode=uring-poll").value().polled);
    EXPECT_FALSE(parse_uri("block:/dev/x?mode=uring-poll&mode=uring").value().polled);
    expect_refused("block:/dev/x?mode=ioctl", "mode=ioctl");
    expect_refused("block:/dev/x?mode=", "uring or uring-poll");
    expect_refused("verbs://h/n?mode=uring-poll", "no such parameter");
}

TEST(Uri, VerbsInFull)
{
    const auto uri =
        parse_uri("verbs://192.0.2.1:4421/nqn.2014-08.org.nvmexpress:uuid:77000000-0000?nsid=3");
    ASSERT_TRUE(uri);
    EXPECT_EQ(uri.value().scheme, Scheme::verbs);
    EXPECT_EQ(uri.value().host, "192.0.2.1");
    EXPECT_EQ(uri.value().port, 4421);
    EXPECT_EQ(uri.value().nqn, "nqn.2014-08.org.nvmexpress:uuid:77000000-0000");
    EXPECT_EQ(uri.value().nsid, 3u);
}

TEST(Uri, Tcp)
{
    auto uri = parse_uri("tcp://192.0.2.1/nqn.x:y");
    ASSERT_TRUE(uri);
    EXPECT_EQ(uri.value().scheme, Scheme::tcp);
    EXPECT_EQ(uri.value().host, "192.0.2.1");
    EXPECT_EQ(uri.value().port, 4420);
    EXPECT_EQ(uri.value().nqn, "nqn.x:y");
    EXPECT_EQ(uri.value().nsid, 1u);
    EXPECT_FALSE(uri.value().hdgst || uri.value().ddgst);

    uri = parse_uri("tcp://[fd77::1]:4421/n?ddgst=1&nsid=3&hdgst=0");
    ASSERT_TRUE(uri);
    EXPECT_EQ(uri.value().host, "fd77::1");
    EXPECT_EQ(uri.value().port, 4421);
    EXPECT_EQ(uri.value().nsid, 3u);
    EXPECT_TRUE(uri.value().ddgst);
    EXPECT_FALSE(uri.value().hdgst);
    EXPECT_TRUE(parse_uri("tcp://h/n?hdgst=1").value().hdgst);

    expect_refused("tcp://h/n?hdgst=2", "hdgst=2: it is 0 or 1");
    expect_refused("tcp://h/n?ddgst", "0 or 1");
    expect_refused("tcp://h/n?nsid=0", "nsid=0");
    expect_refused("tcp://h/n?mode=uring", "tcp: knows no such parameter");
    expect_refused("tcp://h/n?buffers=region", "no such parameter");
    expect_refused("tcp://h/n?wait=poll", "no such parameter");
    expect_refused("verbs://h/n?hdgst=1", "no such parameter");
    expect_refused("kernel:/dev/x?ddgst=1", "no such parameter");
    expect_refused("tcp:h/n", "tcp: is followed by //ADDRESS");
    expect_refused("tcp://h", "tcp://ADDRESS:PORT/NQN");
}

TEST(Uri, VerbsDefaults)
{
    const auto uri = parse_uri("verbs://storage.example.org/nqn.x:y");
    ASSERT_TRUE(uri);
    EXPECT_EQ(uri.value().host, "storage.example.org");
    EXPECT_EQ(uri.value().port, 4420);
    EXPECT_EQ(uri.value().nsid, 1u);
}

TEST(Uri, VerbsIpv6)
{
    auto uri = parse_uri("verbs://[fd77::1]:4420/nqn.x");
    ASSERT_TRUE(uri);
    EXPECT_EQ(uri.value().host, "fd77::1");
    EXPECT_EQ(uri.value().port, 4420);

    uri = parse_uri("verbs://[fe80::1%25eth0]/nqn.x");
    ASSERT_TRUE(uri);
    EXPECT_EQ(uri.value().host, "fe80::1%eth0");
}

TEST(Uri, NqnKeepsSlashesAndIsDecoded)
{
    const auto uri = parse_uri("verbs://h/nqn.x:a/b%3Fc");
    ASSERT_TRUE(uri);
    EXPECT_EQ(uri.value().nqn, "nqn.x:a/b?c");
}

TEST(Uri, NsidBounds)
{
    EXPECT_EQ(parse_uri("verbs://h/n?nsid=4294967294").value().nsid, 4294967294u);
    expect_refused("verbs://h/n?nsid=0", "nsid=0");
    expect_refused("verbs://h/n?nsid=4294967295", "namespace identifier");
    expect_refused("verbs://h/n?nsid=4294967296", "namespace identifier");
    expect_refused("verbs://h/n?nsid=1x", "nsid=1x");
    expect_refused("verbs://h/n?nsid=", "namespace identifier");
    expect_refused("verbs://h/n?nsid=-1", "namespace identifier");
}

TEST(Uri, NqnBounds)
{
    EXPECT_TRUE(parse_uri("verbs://h/" + std::string(223, 'n')));
    expect_refused("verbs://h/" + std::string(224, 'n'), "224 bytes");
    expect_refused("verbs://h/", "NQN");
    expect_refused("verbs://h", "NQN");
}

TEST(Uri, RefusesWithASentence)
{
    expect_refused("", "names no path");
    expect_refused("/dev/kdp0n1", "names no path");
    expect_refused("smb://h/n", "smb:");
    expect_refused("Kernel:/dev/x", "Kernel:");
    expect_refused("kernel:", "followed by a device");
    expect_refused("block:?x=1", "followed by a device");
    expect_refused("verbs:h/n", "//ADDRESS");
    expect_refused("verbs:///n", "address is empty");
    expect_refused("verbs://:4420/n", "address is empty");
    expect_refused("verbs://fd77::1/n", "brackets");
    expect_refused("verbs://[fd77::1/n", "closing bracket");
    expect_refused("verbs://[fd77::1]x/n", "port is expected");
    expect_refused("verbs://h:0/n", "1 to 65535");
    expect_refused("verbs://h:65536/n", "1 to 65535");
    expect_refused("verbs://h:/n", "1 to 65535");
    expect_refused("verbs://h:44a/n", "1 to 65535");
    expect_refused("block:/a%2", "%XX");
    expect_refused("block:/a%zz", "no byte");
    expect_refused("block:/a%00", "no byte");
    // what is behind a NUL would be lost on the way to the kernel or the target
    expect_refused(std::string("block:/a\0b", 10), "NUL");
    expect_refused(std::string("verbs://h/n\0x", 13), "NUL");
}

TEST(Uri, RefusesUnknownParameters)
{
    expect_refused("block:/dev/x?direct=1", "direct");
    expect_refused("kernel:/dev/x?nsid=1", "nsid");
    expect_refused("verbs://h/n?nsid=1&depth=4", "depth");
    expect_refused("verbs://h/n?NSID=1", "NSID");
}

TEST(Uri, VerbsWaits)
{
    EXPECT_EQ(parse_uri("verbs://a/n").value().wait, kdp::Wait::adaptive);
    for (const auto wait : {kdp::Wait::adaptive, kdp::Wait::poll, kdp::Wait::event})
        EXPECT_EQ(parse_uri("verbs://a/n?wait=" + std::string(kdp::wait_name(wait))).value().wait,
                  wait);
    for (const char* bad : {"", "spin", "Poll", "polls"})
        expect_refused(std::string("verbs://a/n?wait=") + bad, "poll, event or adaptive");
    expect_refused("kernel:/dev/x?wait=poll", "kernel: knows no such parameter");
    expect_refused("block:/dev/x?wait=poll", "block: knows no such parameter");
}

TEST(Uri, VerbsBuffers)
{
    EXPECT_FALSE(parse_uri("verbs://a/n").value().register_each);
    EXPECT_FALSE(parse_uri("verbs://a/n?buffers=region").value().register_each);
    EXPECT_TRUE(parse_uri("verbs://a/n?buffers=plain").value().register_each);
    expect_refused("verbs://a/n?buffers=fixed", "region or plain");
    expect_refused("verbs://a/n?buffers=", "region or plain");
}

TEST(Uri, VerbsLossTime)
{
    EXPECT_EQ(parse_uri("verbs://a/n").value().ctrl_loss_tmo, 0U);
    EXPECT_EQ(parse_uri("verbs://a/n?ctrl_loss_tmo=600").value().ctrl_loss_tmo, 600U);
    EXPECT_EQ(parse_uri("verbs://a/n?ctrl_loss_tmo=1000000").value().ctrl_loss_tmo, 1000000U);
    for (const char* bad : {"", "-1", "1000001", "5s", "4294967296"})
        expect_refused(std::string("verbs://a/n?ctrl_loss_tmo=") + bad, "0 to 1000000 seconds");
    expect_refused("kernel:/dev/x?ctrl_loss_tmo=1", "kernel: knows no such parameter");
}

TEST(Uri, TimeOfAnIo)
{
    for (const std::string path : {"verbs://a/n", "tcp://a/n"}) {
        EXPECT_EQ(parse_uri(path).value().io_timeout, 30U);
        EXPECT_EQ(parse_uri(path + "?io_timeout=0").value().io_timeout, 0U);
        EXPECT_EQ(parse_uri(path + "?io_timeout=1000000").value().io_timeout, 1000000U);
        for (const char* bad : {"", "-1", "1000001", "5s"})
            expect_refused(path + "?io_timeout=" + bad, "0 to 1000000 seconds");
    }
    expect_refused("block:/dev/x?io_timeout=1", "block: knows no such parameter");
}

}  // namespace
