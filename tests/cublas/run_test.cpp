// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// `varve run` on engines that multiply in a layer: 2·2·4·8 + 2·3·4·8 = 320 FLOPs.
#include <cstdlib>

#include "inject/run_fixture.hpp"

namespace {

using testing::HasSubstr;
using testing_support::outcome;

class cublas_run : public varve_test::over_run {
 protected:
  static const varve::row* layer(const varve::report& r) { return r.find({"layer", 0, VARVE_DECODE}); }

  void expect_flops(std::int64_t flops) {
    const varve::report r = report();
    ASSERT_NE(layer(r), nullptr);
    EXPECT_EQ(layer(r)->inclusive.declared.flops, flops);
    EXPECT_TRUE(r.quality.losses.empty());
  }
};

TEST_F(cublas_run, sees_the_products_of_an_engine_whose_cublas_is_its_own) {
  const outcome o = run_command({VARVE_ENGINE});
  EXPECT_EQ(o.code, 0) << o.err;
  expect_flops(320);
}

TEST_F(cublas_run, leaves_them_to_the_library_that_an_engine_is_linked_with) {
  const outcome o = run_command({VARVE_LINKED_ENGINE});
  EXPECT_EQ(o.code, 0) << o.err;
  expect_flops(320);
}

TEST_F(cublas_run, leaves_products_alone_where_it_is_asked_to) {
  const outcome o = run_command({VARVE_ENGINE}, {"--no-cublas"});
  EXPECT_EQ(o.code, 0) << o.err;
  expect_flops(0);
}

TEST_F(cublas_run, keeps_what_the_engine_loads_first) {
  const outcome o = run_command({"/bin/sh", "-c", "echo $LD_PRELOAD"}, {}, {"LD_PRELOAD=" VARVE_PRELOAD});
  EXPECT_THAT(o.out, HasSubstr(VARVE_PRELOAD ":" VARVE_PRELOAD));
}

TEST_F(cublas_run, preloads_what_needs_no_library_but_those_of_c) {
  const std::string listing = files.path("needed");
  const std::string command = "readelf -d " VARVE_PRELOAD " | grep NEEDED > " + listing;
  ASSERT_EQ(std::system(command.c_str()), 0);
  const std::string needed = testing_support::content_of(listing);
  EXPECT_THAT(needed, HasSubstr("libc.so"));
  for (const char* const cxx : {"libstdc++", "libgcc", "libvarve", "libcu"}) {
    EXPECT_THAT(needed, Not(HasSubstr(cxx)));
  }
}

}  // namespace
