// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Kernels and copies of the CPU stream: each is a task with a name.
#include "cpu_kernels.hpp"
#include "cpu_stream.hpp"

#include <cstring>

namespace decoder {

namespace {

cpu::matrix host(tensor t) { return {static_cast<float*>(t.data), t.rows, t.columns}; }
cpu::indices host(id_list l) { return {static_cast<std::int32_t*>(l.data), l.size}; }
cpu::places host(const row_places& p) { return {host(p.sequences), host(p.positions)}; }
cpu::cache host(const kv_cache& c) { return {host(c.keys), host(c.values), c.capacity}; }

task kernel(const char* name, std::function<void()> run) {
  return {name, varve::activity_kind::kernel, 0, std::move(run)};
}

task copy(const char* name, void* to, const void* from, std::int64_t bytes) {
  return {name, varve::activity_kind::copy, bytes,
          [=] { std::memcpy(to, from, static_cast<std::size_t>(bytes)); }};
}

std::int64_t bytes(tensor t) { return t.rows * t.columns * static_cast<std::int64_t>(sizeof(float)); }
std::int64_t bytes(id_list l) { return l.size * static_cast<std::int64_t>(sizeof(std::int32_t)); }

}  // namespace

void cpu_stream::upload(tensor to, const float* from) {
  launch(copy("copy host to device", to.data, from, bytes(to)));
}

void cpu_stream::upload(id_list to, const std::int32_t* from) {
  launch(copy("copy host to device", to.data, from, bytes(to)));
}

void cpu_stream::download(float* to, tensor from) {
  launch(copy("copy device to host", to, from.data, bytes(from)));
}

void cpu_stream::download(std::int32_t* to, id_list from) {
  launch(copy("copy device to host", to, from.data, bytes(from)));
}

void cpu_stream::embedding(tensor out, tensor table, id_list tokens) {
  launch(kernel("embedding", [=] { cpu::embedding(host(out), host(table), host(tokens)); }));
}

void cpu_stream::rms_norm(tensor out, tensor x, tensor weight, float epsilon) {
  launch(kernel("rms_norm", [=] { cpu::rms_norm(host(out), host(x), host(weight), epsilon); }));
}

void cpu_stream::matmul(tensor out, tensor x, tensor weight) {
  launch(kernel(x.rows == 1 ? "sgemv" : "sgemm", [=] { cpu::matmul(host(out), host(x), host(weight)); }));
}

void cpu_stream::rope(tensor x, id_list positions, std::int64_t head_size, float base) {
  launch(kernel("rope", [=] { cpu::rope(host(x), host(positions), head_size, base); }));
}

void cpu_stream::store_kv(const kv_cache& cache, tensor keys, tensor values, const row_places& places) {
  launch(kernel("store_kv", [=] { cpu::store_kv(host(cache), host(keys), host(values), host(places)); }));
}

void cpu_stream::attention(tensor out, tensor queries, const kv_cache& cache, const row_places& places,
                           const head_shape& shape, std::int64_t bound) {
  launch(kernel("attention",
                [=] { cpu::attention(host(out), host(queries), host(cache), host(places), shape, bound); }));
}

void cpu_stream::swiglu(tensor gate, tensor up) {
  launch(kernel("swiglu", [=] { cpu::swiglu(host(gate), host(up)); }));
}

void cpu_stream::add(tensor x, tensor y) {
  launch(kernel("add", [=] { cpu::add(host(x), host(y)); }));
}

void cpu_stream::gather(tensor out, tensor x, id_list rows) {
  launch(kernel("gather", [=] { cpu::gather(host(out), host(x), host(rows)); }));
}

void cpu_stream::argmax(id_list out, tensor x) {
  launch(kernel("argmax", [=] { cpu::argmax(host(out), host(x)); }));
}

void cpu_stream::increment(id_list ids) {
  launch(kernel("increment", [=] { cpu::increment(host(ids)); }));
}

}  // namespace decoder
