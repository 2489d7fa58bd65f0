// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Feeds a harness each file of a corpus once, without libFuzzer: replay DIRECTORY-OR-FILE...
// An input that violates a property ends the program; the name on stderr is its.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz.hpp"

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const fs::path& path)
{
    if (!fs::is_directory(path))
        return {path};
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(path))
        if (entry.is_regular_file())
            files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

void feed(const std::vector<std::uint8_t>& bytes)
{
    const fuzz::Copy exact(bytes);
    LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

}  // namespace

int main(int argc, char** argv)
{
    std::size_t count = 0;

    feed({});
    for (int i = 1; i < argc; i++) {
        for (const fs::path& file : files_of(argv[i])) {
            std::ifstream in(file, std::ios::binary);
            if (!in) {
                std::fprintf(stderr, "%s: cannot be read\n", file.c_str());
                return 1;
            }
            std::fprintf(stderr, "%s\n", file.c_str());
            feed({std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()});
            count++;
        }
    }
    if (!count) {
        std::fprintf(stderr, "no inputs; usage: %s DIRECTORY-OR-FILE...\n", argv[0]);
        return 1;
    }
    std::printf("%zu inputs, every property held\n", count);
    return 0;
}
