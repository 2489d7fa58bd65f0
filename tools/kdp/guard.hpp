// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// The rules that keep the tool from overwriting what is in use.
///
/// Writing is refused on a block device, a character device whose block device stands beside it,
/// or a file that
///   - somebody holds: mounted, swap, member of a RAID or device mapper, opened exclusively;
///   - has partitions: the kernel's, or a GPT or MBR that it has not read. That is for a benchmark,
///     which overwrites what happens to be there; a copy says itself what it overwrites.
/// What another host does with a remote namespace cannot be known, nor can a verbs:// or
/// tcp:// path see that this host has it mounted through another path.
#pragma once

#include <string>

#include <kdp/result.hpp>
#include <kdp/uri.hpp>

namespace kdp::tool {

/// EBUSY with a sentence if writing to @p uri is refused.
[[nodiscard]] Status check_writable(const PathUri& uri);

/// The same, whatever partitions there are.
[[nodiscard]] Status check_unused(const PathUri& uri);

}  // namespace kdp::tool
