// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The documents in tests/unit/data.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "document/load.hpp"

namespace kdp::tool::test {

inline std::string data_file(const std::string& name)
{
    return std::string(KDP_TEST_DATA "/") + name + ".json";
}

inline std::string slurp(const std::string& path)
{
    const std::ifstream file(path);
    EXPECT_TRUE(file) << path;
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

inline document::Document load(const std::string& name)
{
    auto read = document::load_document(data_file(name));
    if (!read)
        throw std::runtime_error(name + ": " + read.error().text);
    return std::move(*read);
}

inline document::Bench load_bench(const std::string& name)
{
    return std::get<document::Bench>(load(name));
}

inline document::Json load_json(const std::string& name)
{
    return document::Json::parse(slurp(data_file(name)));
}

}  // namespace kdp::tool::test
