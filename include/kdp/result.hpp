// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/// @file
/// Results: a value, or an error with a code and a text that says what happened.
#pragma once

#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include <kdp/export.hpp>

namespace kdp {

/// What went wrong: an errno value, the NVMe status if the controller gave one,
/// and a sentence for people.
struct Error {
    int code = 0;         ///< errno, positive
    std::string text;     ///< what happened, to what, and what to do
    int nvme_status = 0;  ///< NVMF_SC_* with DNR, or 0
};

/// The one funnel from errno to Error: "@p what: <strerror>".
[[nodiscard]] KDP_API Error error_from_errno(int code, const std::string& what);

/// A value of type T or an Error. Never both, never none.
template <typename T>
class [[nodiscard]] Result {
public:
    Result(T value) : v_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : v_(std::in_place_index<1>, std::move(error)) {}

    [[nodiscard]] bool ok() const noexcept { return v_.index() == 0; }
    explicit operator bool() const noexcept { return ok(); }

    [[nodiscard]] T& value() & { return std::get<0>(v_); }
    [[nodiscard]] const T& value() const& { return std::get<0>(v_); }
    [[nodiscard]] T&& value() && { return std::get<0>(std::move(v_)); }
    T* operator->() { return &std::get<0>(v_); }
    T& operator*() { return std::get<0>(v_); }

    [[nodiscard]] const Error& error() const { return std::get<1>(v_); }

private:
    std::variant<T, Error> v_;
};

/// Success without a value.
struct Unit {};
using Status = Result<Unit>;
inline Status ok()
{
    return Unit{};
}

}  // namespace kdp
