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
    int code = 0;        ///< errno, positive
    std::string text{};  ///< what happened, to what, and what to do
    /// The Status Field of the controller's completion (status code, its type, Do Not Retry), or 0
    int nvme_status = 0;
};

/// The one funnel from errno to Error: "@p what: <strerror>".
[[nodiscard]] KDP_API Error error_from_errno(int code, const std::string& what);

/// A value of type T or an Error. Never both, never none.
///
///     auto opened = open_path(uri, options);
///     if (!opened)
///         return opened.error();             // converts to any Result
///     auto path = std::move(opened).value();
template <typename T>
class [[nodiscard]] Result {
public:
    /// Success.
    Result(T value) : v_(std::in_place_index<0>, std::move(value)) {}
    /// Failure.
    Result(Error error) : v_(std::in_place_index<1>, std::move(error)) {}

    /// Is there a value?
    [[nodiscard]] bool ok() const noexcept { return v_.index() == 0; }
    /// Is there a value?
    explicit operator bool() const noexcept { return ok(); }

    /// The value. Who asks a failure for it has a bug, and gets std::bad_variant_access.
    /// @{
    [[nodiscard]] T& value() & { return std::get<0>(v_); }
    [[nodiscard]] const T& value() const& { return std::get<0>(v_); }
    [[nodiscard]] T&& value() && { return std::get<0>(std::move(v_)); }
    T* operator->() { return &std::get<0>(v_); }
    T& operator*() { return std::get<0>(v_); }
    /// @}

    /// The error. Who asks a success for it gets std::bad_variant_access.
    [[nodiscard]] const Error& error() const { return std::get<1>(v_); }

private:
    std::variant<T, Error> v_;
};

/// Success without a value.
struct Unit {};
/// What an operation returns that gives nothing but may fail.
using Status = Result<Unit>;
/// Success, as a Status.
inline Status ok()
{
    return Unit{};
}

}  // namespace kdp
