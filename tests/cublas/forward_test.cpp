// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Every entry point hands on what it was called with, bit by bit, and what it was answered.
#include <varve/varve.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "cublas/prototypes.hpp"
#include "standin_cublas/control.hpp"

namespace {

using testing::ElementsAreArray;
using testing::IsEmpty;
using testing::SizeIs;

alignas(64) std::array<unsigned char, 8192> memory{};

/// The i-th argument of a call: all bytes differ from those of others; or what may be looked into.
template <class Type>
Type argument(int i, bool sound) {
  Type out;
  if constexpr (std::is_pointer_v<Type>) {
    if (sound) {
      return &memory[static_cast<std::size_t>(i) * 256];
    }
  } else if constexpr (std::is_integral_v<Type>) {
    if (sound) {
      const auto number = static_cast<Type>(i);
      return static_cast<Type>(number + 1);
    }
  }
  unsigned char bytes[sizeof out];
  for (std::size_t k = 0; k < sizeof out; ++k) {
    bytes[k] = static_cast<unsigned char>(i * 13 + static_cast<int>(k) * 7 + 1);
  }
  std::memcpy(&out, bytes, sizeof out);
  return out;
}

template <class Result, class... Parameters>
void expect_forwarded(const char* name, Result (*function)(Parameters...), int answer, bool sound) {
  standin_cublas::reset();
  standin_cublas::answer(answer);
  auto number = [i = 0]() mutable { return i++; };
  const std::tuple<Parameters...> arguments{argument<Parameters>(number(), sound)...};
  if constexpr (std::is_void_v<Result>) {
    std::apply(function, arguments);
  } else {
    EXPECT_EQ(std::apply(function, arguments), answer) << name;
  }
  const auto expected =
      std::apply([](const auto&... all) { return standin_cublas::bytes_of(all...); }, arguments);
  const std::vector<standin_cublas::call> calls = standin_cublas::calls();
  ASSERT_THAT(calls, SizeIs(1)) << name;
  EXPECT_EQ(calls[0].name, name);
  EXPECT_THAT(calls[0].arguments, ElementsAreArray(expected)) << name;
}

void expect_all_forwarded(int answer, bool sound) {
  standin_cublas::load_lt();
#define EXPECT_FORWARDED(form, name, index, scalar, a, c) expect_forwarded(#name, &(name), answer, sound);
  VARVE_CUBLAS_ENTRIES(EXPECT_FORWARDED)
  if (!sound) {
    VARVE_CUBLASLT_ENTRIES(EXPECT_FORWARDED)
  }
#undef EXPECT_FORWARDED
}

varve::session_options no_gpu() {
  varve::session_options options;
  options.gpu.enabled = false;
  return options;
}

TEST(cublas_forwards, all_that_it_is_called_with_where_nothing_records) {
  expect_all_forwarded(0, false);
  expect_all_forwarded(13, false);
}

TEST(cublas_forwards, all_that_it_is_called_with_in_a_session_and_tells_no_work_of_calls_that_fail) {
  varve::session session{no_gpu()};
  {
    const varve::phase pass{varve::decode};
    expect_all_forwarded(14, false);  // no argument is looked at
  }
  const varve::trace t = session.stop();
  std::size_t mute = 0;  // whose failure nobody is told
#define COUNT_MUTE(form, name, index, scalar, a, c) \
  mute += std::is_void_v<VARVE_CUBLAS_RESULT_##form> ? 1 : 0;
  VARVE_CUBLAS_ENTRIES(COUNT_MUTE)
#undef COUNT_MUTE
  EXPECT_EQ(mute, 8U);
  EXPECT_THAT(t.works, SizeIs(mute));
}

TEST(cublas_forwards, all_that_it_is_called_with_in_a_session_where_calls_succeed) {
  varve::session session{no_gpu()};
  {
    const varve::phase pass{varve::decode};
    expect_all_forwarded(0, true);
  }
  const varve::trace t = session.stop();
  EXPECT_THAT(t.losses, IsEmpty());
  EXPECT_GT(t.works.size(), 80U);
  for (const varve::range_work& w : t.works) {
    EXPECT_EQ(w.source, varve::work_source::shapes);
  }
}

}  // namespace
