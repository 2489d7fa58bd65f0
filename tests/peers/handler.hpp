// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// From a command capsule to its answer on the wire, with whatever the script wants to be
/// wrong about it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "connection.hpp"
#include "controller.hpp"
#include "journal.hpp"
#include "loop.hpp"
#include "rules.hpp"

namespace kdp::peer {

using ConnectionPtr = std::shared_ptr<Connection>;

class Handler {
public:
    Handler(Loop& loop, Journal& journal, Rules& rules, Subsystem& subsystem, bool trace)
        : loop_(loop), journal_(journal), rules_(rules), subsystem_(subsystem), trace_(trace)
    {
    }

    /// @p task hangs up on every queue there is.
    void set_disconnect_all(std::function<void()> task) { disconnect_all_ = std::move(task); }

    void on_capsule(const ConnectionPtr& connection, std::span<const std::byte> capsule);

    /// Play what is due at @p event of @p connection (accepted, established).
    void on_connection(const ConnectionPtr& connection, Event event);

private:
    struct Command {
        ConnectionPtr connection;
        nvmf_sqe sqe{};
        std::optional<Remote> remote{};
        std::vector<Action> actions{};
        Answer answer{};

        [[nodiscard]] std::uint16_t cid() const { return nvmf_le16toh(sqe.cid); }
        [[nodiscard]] const Action* action(Verb verb) const;
        [[nodiscard]] bool has(Verb verb) const { return action(verb); }
    };
    using CommandPtr = std::shared_ptr<Command>;

    // handler.cpp: what the target does
    void execute(const CommandPtr& command, std::span<const std::byte> data);
    static bool ends(const Command& command);

    // answer.cpp: what the host sees of it
    void answer(const CommandPtr& command);
    bool answer_when_possible(const CommandPtr& command);
    void send_data(const CommandPtr& command);
    void send_responses(const CommandPtr& command, std::uint16_t cid,
                        std::optional<std::uint32_t> key);
    void send_after(const CommandPtr& command);
    void touch(const CommandPtr& command, const Action& action);
    bool hang_up(const CommandPtr& command);
    void play(const ConnectionPtr& connection, const Action& action);

    Loop& loop_;
    Journal& journal_;
    Rules& rules_;
    Subsystem& subsystem_;
    bool trace_;
    std::function<void()> disconnect_all_;
};

}  // namespace kdp::peer
