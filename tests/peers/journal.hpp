// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What happened, a line an event on standard output, for the tests that look whether a
/// fault was really played: `EVENT key=value ...`, or with --json an object.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace kdp::peer {

class Journal {
public:
    explicit Journal(bool json) : json_(json) {}

    using Field = std::pair<std::string_view, std::string>;
    void note(std::string_view event, std::initializer_list<Field> fields = {});

private:
    bool json_;
};

}  // namespace kdp::peer
