// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// A file that is there whole, or not at all.
#pragma once

#include <string>
#include <string_view>

#include <kdp/result.hpp>

#include "unique_fd.hpp"

namespace kdp::tool {

/// Written under a name of its own beside the one it shall have, and renamed at the end: a run that
/// is killed, or a disk that is full, leaves an older file as it was. What is no regular file (a
/// pipe, /dev/stdout) is written as it stands.
class OutputFile {
public:
    /// Makes the temporary file, so that a directory that is not there is known before hours of
    /// measuring. The errno of open(2), with @p name.
    [[nodiscard]] static Result<OutputFile> create(const std::string& name);

    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&& other) noexcept;
    /// Removes the temporary file if there was no commit().
    ~OutputFile();

    /// Append. An error (ENOSPC) is kept for commit(); what follows is not written then.
    void write(std::string_view text);

    /// Everything is written, on the disk, and has its name; or the first error there was.
    [[nodiscard]] Status commit();

private:
    OutputFile() = default;

    std::string name_;
    std::string temporary_;  // empty: written as it stands
    UniqueFd fd_;
    int error_ = 0;  // errno of the first failed write
};

/// The whole of @p text as the file @p name.
[[nodiscard]] Status write_file(const std::string& name, std::string_view text);

}  // namespace kdp::tool
