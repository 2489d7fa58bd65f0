// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

namespace kdp::tool {
namespace {

/// A new file, of no name that anybody has put there before: what is found is left alone, also a
/// link to something else.
UniqueFd create_beside(const std::string& name, std::string& temporary)
{
    UniqueFd fd;
    for (int i = 0; i < 100 && !fd; i++) {
        temporary = fmt::format("{}.{}-{}.tmp", name, getpid(), i);
        fd = UniqueFd(open(temporary.c_str(), O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, 0666));
        if (!fd && errno != EEXIST)
            break;
    }
    return fd;
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& name)
{
    OutputFile file;
    file.name_ = name;
    struct stat status {};
    const bool exists = stat(name.c_str(), &status) == 0;
    if (!exists || S_ISREG(status.st_mode)) {
        // through a symbolic link: the file, not the link, is replaced
        std::error_code error;
        if (const auto real = std::filesystem::canonical(name, error); !error)
            file.name_ = real;
        file.fd_ = create_beside(file.name_, file.temporary_);
    } else {
        file.fd_ = UniqueFd(open(name.c_str(), O_WRONLY | O_CLOEXEC));
    }
    if (!file.fd_) {
        const int code = errno;
        file.temporary_.clear();
        return error_from_errno(code, name);
    }
    return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : name_(std::move(other.name_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::move(other.fd_)),
      error_(other.error_)
{
}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept
{
    std::swap(name_, other.name_);
    std::swap(temporary_, other.temporary_);
    std::swap(fd_, other.fd_);
    std::swap(error_, other.error_);
    return *this;
}

OutputFile::~OutputFile()
{
    if (!temporary_.empty())
        unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view text)
{
    while (error_ == 0 && !text.empty()) {
        const ssize_t written = ::write(fd_.get(), text.data(), text.size());
        if (written >= 0)
            text.remove_prefix(static_cast<std::size_t>(written));
        else if (errno != EINTR)
            error_ = errno;
    }
}

Status OutputFile::commit()
{
    // a pipe has nothing to be synchronised: EINVAL
    if (error_ == 0 && fsync(fd_.get()) < 0 && errno != EINVAL && errno != EROFS)
        error_ = errno;
    fd_.reset();
    if (error_ == 0 && !temporary_.empty() && rename(temporary_.c_str(), name_.c_str()) < 0)
        error_ = errno;
    if (error_ != 0)
        return error_from_errno(error_, fmt::format("writing {}", name_));
    temporary_.clear();
    return ok();
}

Status write_file(const std::string& name, std::string_view text)
{
    auto file = OutputFile::create(name);
    if (!file)
        return file.error();
    file->write(text);
    return file->commit();
}

}  // namespace kdp::tool
