// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Markers: which part of which forward pass the calling thread is in.
//
//     varve::phase pass{varve::decode};
//     pass.decode_tokens(16).sequences(16).context_tokens(16 * 900);
//     for (int i = 0; i < 32; ++i) {
//       varve::layer attention{"attention", i};
//       run_attention(i);  // launches kernels
//     }
//
// A marker is noexcept, immovable and never allocates on its path. With no session, no tool and no
// arming it is one load and a branch; with VARVE_DISABLE it is empty and the same code compiles. A
// marker belongs to the thread that made it; different threads need no synchronisation.
#ifndef VARVE_MARKER_HPP
#define VARVE_MARKER_HPP

#include <varve/varve.h>
#include <varve/work.hpp>
#include <varve/work_formulas.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <type_traits>

// A literal is checked at compile time where the compiler can (clang < 17 crashes on some uses).
#if defined(__cpp_consteval) && (!defined(__clang__) || __clang_major__ >= 17)
#define VARVE_CONSTEVAL consteval
#else
#define VARVE_CONSTEVAL constexpr
#endif

namespace varve {
inline namespace v0 {

/// A label's name: a string literal. Choose between constants at run time with
/// `moe ? varve::name{"moe"} : varve::name{"mlp"}`; make names at run time with varve::label.
class name {
 public:
  template <std::size_t N>
  // NOLINTNEXTLINE(google-explicit-constructor)
  VARVE_CONSTEVAL name(const char (&literal)[N]) noexcept : text_{literal} {}
  template <std::size_t N>
  name(char (&buffer)[N]) = delete;  // a buffer may change or die: use varve::label

  [[nodiscard]] constexpr const char* c_str() const noexcept { return text_; }

 private:
  const char* text_;
};

/// A name and index made at run time; interned for ever, then as cheap as a literal. Making one takes
/// a lock and may allocate: make it once, when the model is built. Copyable, thread safe.
class label {
 public:
  /// `text` is copied.
  explicit label(const char* text, std::int32_t index = VARVE_NO_INDEX) noexcept
      : label_{varve_label(text, index)} {}
  /// Splits "ffn_out-12" into {"ffn_out", 12}; see varve_label_parse().
  [[nodiscard]] static label parse(const char* text) noexcept { return label{varve_label_parse(text)}; }

  [[nodiscard]] const char* c_str() const noexcept { return label_.name; }
  [[nodiscard]] std::int32_t index() const noexcept { return label_.index; }

 private:
  explicit label(varve_label_t interned) noexcept : label_{interned} {}
  varve_label_t label_;
};

/// The kind of a forward pass. Any literal makes a kind of the user's: `varve::phase_kind{"embed"}`.
class phase_kind {
 public:
  template <std::size_t N>
  VARVE_CONSTEVAL explicit phase_kind(const char (&literal)[N]) noexcept
      : text_{literal}, prefill_{std::string_view{literal} == VARVE_PREFILL} {}
  [[nodiscard]] constexpr const char* c_str() const noexcept { return text_; }
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr operator std::string_view() const noexcept { return text_; }
  [[nodiscard]] constexpr bool is_prefill() const noexcept { return prefill_; }

 private:
  const char* text_;
  bool prefill_;
};

inline constexpr phase_kind prefill{VARVE_PREFILL};
inline constexpr phase_kind decode{VARVE_DECODE};
inline constexpr phase_kind mixed{VARVE_MIXED};
inline constexpr phase_kind draft{VARVE_DRAFT};
inline constexpr phase_kind verify{VARVE_VERIFY};
inline constexpr phase_kind load{VARVE_LOAD};
inline constexpr phase_kind capture{VARVE_CAPTURE};
inline constexpr phase_kind warm_up{VARVE_WARM_UP};

/// Query tokens and context of one sequence of a batch.
struct sequence_tokens {
  std::uint32_t tokens;
  std::uint32_t context;
};

#if defined(VARVE_DISABLE)
inline namespace disabled {
#else
inline namespace enabled {
#endif

namespace detail {

template <class Index>
constexpr std::int32_t to_index(Index index) noexcept {
  static_assert(std::is_integral_v<Index> || std::is_enum_v<Index>, "an index is an integer");
  return static_cast<std::int32_t>(index);
}

/// varve_state_, or a constant zero where markers are disabled.
inline std::uint32_t state() noexcept {
#if defined(VARVE_DISABLE)
  return 0;
#else
  return varve_load_state_();
#endif
}
inline bool active() noexcept { return __builtin_expect(state() != 0, 0); }
inline bool recording() noexcept { return (state() & VARVE_STATE_RECORDING) != 0; }

inline std::uint64_t push(int kind, const char* name, std::int32_t index) noexcept {
  return active() ? varve_push_(kind, name, index) : 0;
}

/// Evaluates `make` only while a session records; an exception from it is counted, not passed on.
template <class Make>
void declare(std::uint64_t id, Make&& make) noexcept {
  if (id == 0 || !recording()) {
    return;
  }
#if defined(__cpp_exceptions)
  try {
#endif
    const work w = static_cast<Make&&>(make)();
    const varve_work_t declared{w.flops, w.weight_bytes, w.kv_bytes, w.activation_bytes,
                                static_cast<varve_math>(w.pipe)};
    varve_declare_(id, &declared);
#if defined(__cpp_exceptions)
  } catch (...) {
    varve_declare_(id, nullptr);
  }
#endif
}

/// What a scope keeps of its open range: 0 when nothing records it, and no storage where markers are
/// disabled.
#if defined(VARVE_DISABLE)
struct open_id {
  constexpr open_id(std::uint64_t /*id*/) noexcept {}              // NOLINT(google-explicit-constructor)
  constexpr operator std::uint64_t() const noexcept { return 0; }  // NOLINT(google-explicit-constructor)
};
#else
using open_id = std::uint64_t;
#endif

/// A scope's open range.
class scope {
 public:
  scope(const scope&) = delete;
  scope(scope&&) = delete;
  scope& operator=(const scope&) = delete;
  scope& operator=(scope&&) = delete;

  /// Ends the range before the scope does.
  void end() noexcept {
    if (__builtin_expect(id_ != 0, 0)) {
      varve_pop_(id_);
      id_ = 0;
    }
  }

  /// Adds the work that `make()` returns (a varve::work) to the range. `make` runs only while recording.
  template <class Make>
  void work(Make&& make) noexcept {
    declare(id_, static_cast<Make&&>(make));
  }

 protected:
  scope(int kind, const char* name, std::int32_t index) noexcept : id_{push(kind, name, index)} {}
  ~scope() {
    if (__builtin_expect(id_ != 0, 0)) {
      varve_pop_(id_);
    }
  }

  open_id id_;
};

/// The attributes of a pass, for what derives from it and has a member `attribute_id()`.
template <class Pass>
class pass_attributes {
 public:
  /// Query tokens of this pass in prefill or decode; sequences() and the like that follow mean that side.
  Pass& prefill_tokens(std::int64_t n) noexcept { return side(false).put(VARVE_PREFILL_TOKENS, n); }
  Pass& decode_tokens(std::int64_t n) noexcept { return side(true).put(VARVE_DECODE_TOKENS, n); }
  /// Sequences of the side last named (at first: prefill in a prefill pass, decode in any other).
  Pass& sequences(std::int64_t n) noexcept { return sided(VARVE_PREFILL_SEQUENCES, n); }
  /// Sum of the sequences' contexts, of the side last named.
  Pass& context_tokens(std::int64_t n) noexcept { return sided(VARVE_PREFILL_CONTEXT_TOKENS, n); }
  /// Sum over sequences of query tokens x context, of the side last named.
  Pass& query_context(std::int64_t n) noexcept { return sided(VARVE_PREFILL_QUERY_CONTEXT, n); }
  Pass& logit_tokens(std::int64_t n) noexcept { return put(VARVE_LOGIT_TOKENS, n); }
  Pass& emitted_tokens(std::int64_t n) noexcept { return put(VARVE_EMITTED_TOKENS, n); }
  Pass& accepted_tokens(std::int64_t n) noexcept { return put(VARVE_ACCEPTED_TOKENS, n); }

  /// The model that the pass belongs to, where an engine runs several ("target", "draft").
  Pass& model(name which) noexcept {
    if (self().attribute_id() != 0) {
      varve_model_(self().attribute_id(), which.c_str());
    }
    return self();
  }

  /// Names the stream (a CUstream or cudaStream_t) that the pass runs on, before it launches anything: once
  /// for each of its streams, on the thread that began it. Where CUPTI is taken by another tool, a session
  /// then measures the pass's span on the GPU by CUDA events around it; where CUPTI works, and where nothing
  /// records, it does nothing. The stream outlives the pass. nullptr is the legacy default stream of the
  /// current context.
  Pass& stream(void* cuda_stream) noexcept {
    if (__builtin_expect(self().attribute_id() != 0, 0)) {
      varve_stream_(self().attribute_id(), cuda_stream);
    }
    return self();
  }

  /// One entry a sequence, of the side last named; also sets that side's tokens, sequences, context and
  /// query-context sums from it. `Sequences` is any range of sequence_tokens.
  template <class Sequences>
  Pass& batch(const Sequences& sequences) noexcept {
    if (self().attribute_id() == 0) {
      return self();
    }
    std::int64_t count = 0;
    std::int64_t tokens = 0;
    std::int64_t context = 0;
    std::int64_t product = 0;
    for (const sequence_tokens& s : sequences) {
      varve_sequence_(self().attribute_id(), decode_side_ ? 1 : 0, s.tokens, s.context);
      ++count;
      tokens += s.tokens;
      context += s.context;
      product += static_cast<std::int64_t>(s.tokens) * s.context;
    }
    return sided(VARVE_PREFILL_TOKENS, tokens)
        .sequences(count)
        .context_tokens(context)
        .query_context(product);
  }
  Pass& batch(std::initializer_list<sequence_tokens> sequences) noexcept {
    return batch<std::initializer_list<sequence_tokens>>(sequences);
  }

 protected:
  explicit pass_attributes(bool decode_side) noexcept : decode_side_{decode_side} {}

  bool decode_side_;

 private:
  Pass& self() noexcept { return static_cast<Pass&>(*this); }
  pass_attributes& side(bool is_decode) noexcept {
    decode_side_ = is_decode;
    return *this;
  }
  Pass& sided(int prefill_attribute, std::int64_t n) noexcept {
    return put(prefill_attribute + (decode_side_ ? VARVE_DECODE_TOKENS - VARVE_PREFILL_TOKENS : 0), n);
  }
  Pass& put(int attribute, std::int64_t n) noexcept {
    if (__builtin_expect(self().attribute_id() != 0, 0)) {
      varve_attribute_(self().attribute_id(), attribute, n);
    }
    return self();
  }
};

}  // namespace detail

/// Sets attributes of a pass later, also after it has ended. Copyable; use it on the pass's thread.
class pass_ref : public detail::pass_attributes<pass_ref> {
 public:
  [[nodiscard]] std::uint64_t attribute_id() const noexcept { return id_; }

 private:
  friend class phase;
  friend class handle;
  pass_ref(std::uint64_t id, bool decode_side) noexcept : pass_attributes{decode_side}, id_{id} {}
  std::uint64_t id_;
};

class phase;

/// The life of one user request, from arrival to its last token: not bound to a thread or a scope.
/// Movable; link it to the passes that serve it with phase::serves().
class request {
 public:
  /// `index` tells requests apart: a number of the engine's own.
  template <class Index>
  request(name what, Index index) noexcept
      : id_{detail::recording() ? varve_request_begin_(what.c_str(), detail::to_index(index)) : 0} {}
  request(request&& other) noexcept : id_{other.id_} { other.id_ = 0; }
  request& operator=(request&& other) noexcept {
    if (this != &other) {
      end();
      id_ = other.id_;
      other.id_ = 0;
    }
    return *this;
  }
  request(const request&) = delete;
  request& operator=(const request&) = delete;
  ~request() { end(); }

  void end() noexcept {
    if (id_ != 0) {
      varve_request_end_(id_);
      id_ = 0;
    }
  }

 private:
  friend class phase;
  std::uint64_t id_;
};

/// One forward pass of a kind: `varve::phase pass{varve::decode};`
class phase : public detail::scope, public detail::pass_attributes<phase> {
 public:
  explicit phase(phase_kind kind) noexcept
      : scope{VARVE_KIND_PHASE, kind.c_str(), VARVE_NO_INDEX},
        pass_attributes{!kind.is_prefill()},
        pass_id_{id_} {}

  /// Links a request to the pass that served it.
  phase& serves(const request& r) noexcept {
    if (pass_id_ != 0 && r.id_ != 0) {
      varve_serves_(pass_id_, r.id_);
    }
    return *this;
  }

  /// For attributes that are known only later.
  [[nodiscard]] pass_ref ref() const noexcept { return {pass_id_, decode_side_}; }
  [[nodiscard]] std::uint64_t attribute_id() const noexcept { return pass_id_; }

 private:
  std::uint64_t pass_id_;  // survives end()
};

/// A named part of a pass, with its number among its peers: `varve::layer attention{"attention", i};`
class layer : public detail::scope {
 public:
  explicit layer(name what) noexcept : scope{VARVE_KIND_LAYER, what.c_str(), VARVE_NO_INDEX} {}
  template <class Index>
  layer(name what, Index index) noexcept : scope{VARVE_KIND_LAYER, what.c_str(), detail::to_index(index)} {}
  explicit layer(const label& what) noexcept : scope{VARVE_KIND_LAYER, what.c_str(), what.index()} {}
};

/// A part of a layer.
class op : public detail::scope {
 public:
  explicit op(name what) noexcept : scope{VARVE_KIND_OP, what.c_str(), VARVE_NO_INDEX} {}
  template <class Index>
  op(name what, Index index) noexcept : scope{VARVE_KIND_OP, what.c_str(), detail::to_index(index)} {}
  explicit op(const label& what) noexcept : scope{VARVE_KIND_OP, what.c_str(), what.index()} {}
};

/// Layers that follow one another without a gap: next() ends one and begins the following with one
/// clock read.
class sequence : public detail::scope {
 public:
  explicit sequence(name what) noexcept : scope{VARVE_KIND_LAYER, what.c_str(), VARVE_NO_INDEX} {}
  template <class Index>
  sequence(name what, Index index) noexcept
      : scope{VARVE_KIND_LAYER, what.c_str(), detail::to_index(index)} {}
  explicit sequence(const label& what) noexcept : scope{VARVE_KIND_LAYER, what.c_str(), what.index()} {}

  void next(name what) noexcept { advance(what.c_str(), VARVE_NO_INDEX); }
  template <class Index>
  void next(name what, Index index) noexcept {
    advance(what.c_str(), detail::to_index(index));
  }
  void next(const label& what) noexcept { advance(what.c_str(), what.index()); }

 private:
  void advance(const char* what, std::int32_t index) noexcept {
    if (__builtin_expect(id_ != 0, 0)) {
      id_ = varve_next_(id_, what, index);
    } else {
      id_ = detail::push(VARVE_KIND_LAYER, what, index);
    }
  }
};

/// A range whose begin and end are not in one scope (a loop over graph nodes). Copyable; end it once, on
/// the thread that began it, in any order: `varve::handle h = varve::begin_layer("mlp", i); … h.end();`
class handle {
 public:
  handle() noexcept : range_{0, 0}, decode_side_{true} {}
  void end() noexcept {
    varve_end(range_);
    range_ = {0, 0};
  }
  template <class Make>
  void work(Make&& make) noexcept {
    detail::declare(range_.id, static_cast<Make&&>(make));
  }
  /// Attributes, when the handle is of a pass.
  [[nodiscard]] pass_ref ref() const noexcept { return {range_.id, decode_side_}; }

 private:
  friend handle begin_phase(phase_kind kind) noexcept;
  template <class Index>
  friend handle begin_layer(name what, Index index) noexcept;
  template <class Index>
  friend handle begin_op(name what, Index index) noexcept;
  friend handle begin_layer(const label& what) noexcept;
  friend handle begin_op(const label& what) noexcept;
  explicit handle(varve_range range, bool decode_side = true) noexcept
      : range_{range}, decode_side_{decode_side} {}
  varve_range range_;
  bool decode_side_;
};

[[nodiscard]] inline handle begin_phase(phase_kind kind) noexcept {
  return handle{varve_phase_begin(kind.c_str()), !kind.is_prefill()};
}
template <class Index>
[[nodiscard]] handle begin_layer(name what, Index index) noexcept {
  return handle{varve_layer_begin(what.c_str(), detail::to_index(index))};
}
template <class Index>
[[nodiscard]] handle begin_op(name what, Index index) noexcept {
  return handle{varve_op_begin(what.c_str(), detail::to_index(index))};
}
[[nodiscard]] inline handle begin_layer(const label& what) noexcept {
  return handle{varve_layer_begin(what.c_str(), what.index())};
}
[[nodiscard]] inline handle begin_op(const label& what) noexcept {
  return handle{varve_op_begin(what.c_str(), what.index())};
}

/// Where a thread stands, to be continued on another: `auto h = varve::here(); … varve::adopt a{h};`
class handoff {
 public:
  handoff() noexcept : where_{} {}

 private:
  friend handoff here() noexcept;
  friend class adopt;
  varve_handoff_t where_;
};

/// The calling thread's innermost range and label path. Costs a copy of the path; nothing when off.
[[nodiscard]] inline handoff here() noexcept {
  handoff h;
  if (detail::active()) {
    varve_here_(&h.where_);
  }
  return h;
}

/// While it lives, what this thread marks and launches belongs to the place that `here()` was taken in,
/// which may have ended since.
class adopt {
 public:
  explicit adopt(const handoff& from) noexcept
      : id_{from.where_.depth != 0 && detail::active() ? varve_adopt_(&from.where_) : 0} {}
  adopt(const adopt&) = delete;
  adopt& operator=(const adopt&) = delete;
  ~adopt() {
    if (__builtin_expect(id_ != 0, 0)) {
      varve_pop_(id_);
    }
  }

 private:
  std::uint64_t id_;
};

}  // namespace enabled or disabled

/// varve_arm(), varve_arm_devices(), varve_disarm(): see varve.h. False when the process holds a second copy.
inline bool arm() noexcept { return varve_arm() == 0; }
inline bool arm_devices() noexcept { return varve_arm_devices() == 0; }
inline void disarm() noexcept { varve_disarm(); }

/// The loaded library's version, as VARVE_VERSION counts it; differing minor versions do not mix.
inline int version() noexcept { return varve_version(); }

}  // namespace v0
}  // namespace varve

#endif  // VARVE_MARKER_HPP
