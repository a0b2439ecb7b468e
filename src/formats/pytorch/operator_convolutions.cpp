// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Work of convolutions.
#include "formats/pytorch/operator_terms.hpp"

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

/// Elements of the result along one dimension.
amount window_count(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                    std::int64_t dilation) {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  if (size > most || kernel > most || padding > most || dilation > most || padding < 0 || dilation < 1 ||
      kernel < 1 || stride < 1) {
    return amount::unknown();
  }
  const std::int64_t room = size + 2 * padding - (dilation * (kernel - 1) + 1);  // below 2^61
  return room < 0 ? amount::unknown() : amount{room / stride + 1};
}

/// Likewise where the convolution is transposed.
amount spread(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
              std::int64_t further, std::int64_t dilation) {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  if (size < 1 || size > most || kernel < 1 || kernel > most || stride < 1 || stride > most || padding < 0 ||
      padding > most || further < 0 || further > most || dilation < 1 || dilation > most) {
    return amount::unknown();
  }
  const std::int64_t all =
      (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + further + 1;  // < 2^62
  return all < 0 ? amount::unknown() : amount{all};
}

/// Of a list the number along a dimension; one number stands for all.
std::int64_t at(const std::vector<std::int64_t>& list, std::size_t i) noexcept {
  return list.size() == 1 ? list[0] : i < list.size() ? list[i] : -1;
}

std::optional<terms> convolution_of(const inputs& in, const operator_input& bias, std::size_t stride,
                                    std::size_t padding, std::size_t dilation) {
  const auto& x = in[0].sizes;
  const auto& w = in[1].sizes;
  if (x.size() < 3 || w.size() != x.size()) {
    return std::nullopt;
  }
  const auto strides = whole_numbers(in[stride].value);
  const auto paddings = whole_numbers(in[padding].value);
  const auto dilations = whole_numbers(in[dilation].value);
  if (!strides || !paddings || !dilations) {
    return std::nullopt;
  }
  terms t;
  t.pipe = product_pipe(in[0]);
  t.weights = size_of(in[1]) + size_of(bias);
  amount out = amount{x[0]} * w[0];
  for (std::size_t i = 0; i + 2 < x.size(); ++i) {
    out = out * window_count(x[i + 2], w[i + 2], at(*strides, i), at(*paddings, i), at(*dilations, i));
  }
  t.flops = out * product(w, 1) * 2;
  t.activations = size_of(in[0]) + out * element_size(in[0]);
  return t;
}

/// Where in the list of inputs its numbers stand.
struct transposed_form {
  std::size_t stride, padding, output_padding, groups, dilation;
};

/// Each element of the input is multiplied with all that its channel's filters hold.
std::optional<terms> transposed(const inputs& in, const operator_input& bias, const transposed_form& form) {
  const auto& x = in[0].sizes;
  const auto& w = in[1].sizes;
  if (x.size() < 3 || w.size() != x.size() || w[0] != x[1]) {
    return std::nullopt;
  }
  const auto strides = whole_numbers(in[form.stride].value);
  const auto paddings = whole_numbers(in[form.padding].value);
  const auto further = whole_numbers(in[form.output_padding].value);
  const auto dilations = whole_numbers(in[form.dilation].value);
  const auto groups = whole_numbers(in[form.groups].value);
  if (!strides || !paddings || !further || !dilations || !groups || groups->size() != 1) {
    return std::nullopt;
  }
  amount out = amount{x[0]} * w[1] * groups->front();
  for (std::size_t i = 0; i + 2 < x.size(); ++i) {
    out = out *
          spread(x[i + 2], w[i + 2], at(*strides, i), at(*paddings, i), at(*further, i), at(*dilations, i));
  }
  terms t;
  t.pipe = product_pipe(in[0]);
  t.weights = size_of(in[1]) + size_of(bias);
  t.flops = elements(in[0]) * product(w, 1) * 2;
  t.activations = size_of(in[0]) + out * element_size(in[0]);
  return t;
}

std::optional<terms> conv(const inputs& in) { return convolution_of(in, in[2], 3, 4, 5); }
std::optional<terms> conv_transpose(const inputs& in) { return transposed(in, in[2], {3, 4, 5, 6, 7}); }
std::optional<terms> convolution(const inputs& in) {
  return in[6].value == "False"  ? conv(in)
         : in[6].value == "True" ? transposed(in, in[2], {3, 4, 7, 8, 5})
                                 : std::nullopt;
}
std::optional<terms> cudnn_convolution_transpose(const inputs& in) {
  return transposed(in, {}, {4, 2, 3, 6, 5});
}
std::optional<terms> cudnn_convolution(const inputs& in) { return convolution_of(in, {}, 3, 2, 4); }

constexpr known_operator known_convolutions[] = {
    {"aten::conv1d", conv, true},
    {"aten::conv2d", conv, true},
    {"aten::conv3d", conv, true},
    {"aten::conv_transpose1d", conv_transpose, true},
    {"aten::conv_transpose2d", conv_transpose, true},
    {"aten::conv_transpose3d", conv_transpose, true},
    {"aten::convolution", convolution, true},
    {"aten::_convolution", convolution, true},
    {"aten::cudnn_convolution", cudnn_convolution, true},
    {"aten::cudnn_convolution_transpose", cudnn_convolution_transpose, true},
};

}  // namespace

const known_operator* find_convolution(std::string_view name) noexcept {
  return find(name, known_convolutions);
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
