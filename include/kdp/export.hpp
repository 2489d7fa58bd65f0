// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What the shared library exports: declarations that are marked so, and nothing else.
#pragma once

/// @def KDP_API
/// A declaration of libkdp's interface. The library is compiled with hidden visibility, so that
/// a public function or class without the mark does not link from outside.
#define KDP_API __attribute__((visibility("default")))
