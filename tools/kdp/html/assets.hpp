// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// What is written into each page as it is; built in from the files of the same names.
#pragma once

#include <string_view>

namespace kdp::tool::html {

extern const std::string_view uplot_js;    ///< third_party/uplot/uPlot.iife.min.js
extern const std::string_view uplot_css;   ///< third_party/uplot/uPlot.min.css
extern const std::string_view report_js;   ///< html/report.js
extern const std::string_view report_css;  ///< html/report.css

}  // namespace kdp::tool::html
