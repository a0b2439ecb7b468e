/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: the varve authors
 *
 * varve for C: markers, and sessions that leave their report in a file. C11; also the ABI that the
 * C++ markers of marker.hpp are built on, so both feed one recorder per process.
 *
 *     varve_range pass = varve_phase_begin(VARVE_DECODE);
 *     varve_range attention = varve_layer_begin("attention", 3);
 *     ...                                       // launches kernels
 *     attention = varve_next(attention, "mlp", 3);  // ends it and begins the following layer
 *     varve_end(attention);
 *     varve_end(pass);
 *
 * Names must be string literals or come from varve_label(): only their address is stored on the
 * marker's path. With no session, no tool and no arming a marker costs one load and a branch; with
 * VARVE_DISABLE defined it costs nothing. No function here throws, prints or exits. All are thread
 * safe unless they say otherwise; a range ends on the thread that began it.
 */
#ifndef VARVE_VARVE_H
#define VARVE_VARVE_H

#include <stddef.h>
#include <stdint.h>

#define VARVE_VERSION_MAJOR 0
#define VARVE_VERSION_MINOR 1
#define VARVE_VERSION_PATCH 0
#define VARVE_VERSION (VARVE_VERSION_MAJOR * 10000 + VARVE_VERSION_MINOR * 100 + VARVE_VERSION_PATCH)

#if defined(VARVE_STATIC)
#define VARVE_API
#else
#define VARVE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#define VARVE_NOEXCEPT noexcept
#define VARVE_INT_(value) static_cast<int>(value)
#else
#define VARVE_NOEXCEPT
#define VARVE_INT_(value) ((int)(value))
#endif

/** A range that has no index among its peers. */
#define VARVE_NO_INDEX INT32_MIN

/** Kinds of forward pass that reports know by name; any other literal is a kind of the user's. */
#define VARVE_PREFILL "prefill"
#define VARVE_DECODE "decode"
#define VARVE_MIXED "mixed"
#define VARVE_DRAFT "draft"
#define VARVE_VERIFY "verify"
#define VARVE_LOAD "load"
#define VARVE_CAPTURE "capture"
#define VARVE_WARM_UP "warm-up"

typedef enum varve_kind { VARVE_KIND_PHASE = 0, VARVE_KIND_LAYER = 1, VARVE_KIND_OP = 2 } varve_kind;

/**
 * What a pass carries, for prefill and decode apart, besides its name.
 * "Context" of a sequence is the number of tokens that its last query attends to.
 */
typedef enum varve_attribute {
  VARVE_PREFILL_TOKENS = 0, /**< query tokens of the sequences in prefill */
  VARVE_PREFILL_SEQUENCES = 1,
  VARVE_PREFILL_CONTEXT_TOKENS = 2, /**< sum of the contexts */
  VARVE_PREFILL_QUERY_CONTEXT = 3,  /**< sum over sequences of query tokens x context */
  VARVE_DECODE_TOKENS = 4,
  VARVE_DECODE_SEQUENCES = 5,
  VARVE_DECODE_CONTEXT_TOKENS = 6,
  VARVE_DECODE_QUERY_CONTEXT = 7,
  VARVE_LOGIT_TOKENS = 8, /**< tokens whose logits are computed */
  VARVE_EMITTED_TOKENS = 9,
  VARVE_ACCEPTED_TOKENS = 10 /**< draft tokens that verification accepted */
} varve_attribute;

/** An open range. Copyable; `id` 0 means that nothing records it, and ending it does nothing. */
typedef struct varve_range {
  uint64_t id;
  uint64_t nvtx;
} varve_range;

/** A name made at run time: interned once, then as cheap as a literal. Valid for ever. */
typedef struct varve_label_t {
  const char* name; /**< NUL-terminated */
  int32_t index;    /**< or VARVE_NO_INDEX */
} varve_label_t;

/**
 * Where FLOPs run: the unit, the type of the factors and, where it makes a difference, of the accumulator.
 * "Tensor" is matrix units, the others are the cores that also do everything else.
 */
typedef enum varve_math {
  VARVE_MATH_UNKNOWN = 0,
  VARVE_MATH_MIXED = 1, /**< several: of sums only */
  VARVE_MATH_FP64 = 2,
  VARVE_MATH_FP64_TENSOR = 3,
  VARVE_MATH_FP32 = 4,
  VARVE_MATH_FP16 = 5, /**< two a lane, as HFMA2 */
  VARVE_MATH_TF32_TENSOR = 6,
  VARVE_MATH_FP16_TENSOR = 7,      /**< accumulated in FP32 */
  VARVE_MATH_FP16_TENSOR_FP16 = 8, /**< accumulated in FP16 */
  VARVE_MATH_BF16_TENSOR = 9,
  VARVE_MATH_FP8_TENSOR = 10, /**< accumulated in FP32 */
  VARVE_MATH_FP4_TENSOR = 11,
  VARVE_MATH_INT8_TENSOR = 12,
  VARVE_MATH_INT8_DP4A = 13
} varve_math;

/** FLOPs and bytes that an engine declares for a range; a multiply-add is two FLOPs. */
typedef struct varve_work_t {
  int64_t flops;
  int64_t weight_bytes;     /**< parameters read */
  int64_t kv_bytes;         /**< KV cache read and written */
  int64_t activation_bytes; /**< everything else read and written */
  varve_math math;          /**< where the FLOPs run */
} varve_work_t;

/** Query tokens and context of one sequence of a batch, in tokens. */
typedef struct varve_sequence_tokens {
  uint32_t tokens;
  uint32_t context;
} varve_sequence_tokens;

/** The life of a user request. Copyable; `id` 0 means that nothing records it. */
typedef struct varve_request {
  uint64_t id;
} varve_request;

/** Steps of a label path that a handoff carries; of deeper paths the innermost steps are left out. */
#define VARVE_HANDOFF_DEPTH 16

/** Where a thread stands, to be continued on another thread. Copyable; all zero it is nowhere. */
typedef struct varve_handoff_t {
  uint64_t id;
  uint32_t depth;
  uint32_t kinds[VARVE_HANDOFF_DEPTH];
  varve_label_t path[VARVE_HANDOFF_DEPTH];
} varve_handoff_t;

/** Interns `name` (any bytes up to the NUL) and pairs it with `index`. Takes a lock: call it once. Names stay
 * for as long as the process: of more than 262144 all further ones become "(further names)". */
VARVE_API varve_label_t varve_label(const char* name, int32_t index) VARVE_NOEXCEPT;

/**
 * Interns a label parsed from one text by the rule "everything after the last '-', '_' or '.', if it
 * is a decimal number, is the index": "ffn_out-12" is {"ffn_out", 12}; "norm" has no index.
 */
VARVE_API varve_label_t varve_label_parse(const char* text) VARVE_NOEXCEPT;

/** Version of the library that is loaded, to be compared with VARVE_VERSION of the headers. */
VARVE_API int varve_version(void) VARVE_NOEXCEPT;

/**
 * From now on keep each thread's label stack and the labels of captured graph nodes, and nothing
 * else, so that a session started hours later still gives replayed kernels their layers. Returns 0,
 * or -1 when this process holds a second copy of varve, whose markers this one does not see
 * (session.status() names it); this copy is armed all the same. Idempotent.
 */
VARVE_API int varve_arm(void) VARVE_NOEXCEPT;
/**
 * varve_arm(), and GPUs make records too from now on, which are thrown away until a session starts: on some
 * drivers turning them on late stalls an engine for seconds. Costs what recording kernels costs.
 */
VARVE_API int varve_arm_devices(void) VARVE_NOEXCEPT;
/** Undoes varve_arm() and varve_arm_devices(): labels of captured graph nodes are forgotten unless a session
 * runs. */
VARVE_API void varve_disarm(void) VARVE_NOEXCEPT;

/**
 * Starts a session with default options. Returns 0, or -1 and, where `why` is given, a message of at
 * most `size` bytes with its NUL that names the cause (another session runs, say).
 */
VARVE_API int varve_session_start(char* why, size_t size) VARVE_NOEXCEPT;

/**
 * Stops the session that varve_session_start() began and writes its report, as the table that
 * `varve report` prints, to the file `path` (mode 0600; "-" is standard output). Returns 0, or -1
 * and a message in `why` as above; the session goes on when the file cannot be opened.
 */
VARVE_API int varve_session_stop(const char* path, char* why, size_t size) VARVE_NOEXCEPT;

/* --- below: what the inline functions and marker.hpp call. Not for direct use. ----------------- */

/** Bits of varve_state_. Zero is the common case: nothing to do. */
enum {
  VARVE_STATE_RECORDING = 1, /* a session runs */
  VARVE_STATE_ARMED = 2,     /* label stacks are kept */
  VARVE_STATE_NVTX = 4,      /* an NVTX tool is attached */
  VARVE_STATE_FRESH = 8      /* nobody has looked for an NVTX tool yet: the first marker does */
};
extern VARVE_API uint32_t varve_state_;

VARVE_API uint64_t varve_push_(int kind, const char* name, int32_t index) VARVE_NOEXCEPT;
VARVE_API void varve_pop_(uint64_t id) VARVE_NOEXCEPT;
VARVE_API uint64_t varve_next_(uint64_t id, const char* name, int32_t index) VARVE_NOEXCEPT;
VARVE_API varve_range varve_open_(int kind, const char* name, int32_t index) VARVE_NOEXCEPT;
VARVE_API void varve_close_(varve_range range) VARVE_NOEXCEPT;
/**
 * The range ends now, as another thread than its own says: its time is right from here on. On its own thread
 * it stays open, for what is begun and launched there, until varve_pop_().
 */
VARVE_API void varve_end_elsewhere_(uint64_t id) VARVE_NOEXCEPT;
VARVE_API varve_range varve_step_(varve_range range, const char* name, int32_t index) VARVE_NOEXCEPT;
VARVE_API void varve_attribute_(uint64_t id, int attribute, int64_t value) VARVE_NOEXCEPT;
VARVE_API void varve_model_(uint64_t id, const char* name) VARVE_NOEXCEPT;
VARVE_API void varve_stream_(uint64_t id, void* cuda_stream) VARVE_NOEXCEPT;
VARVE_API void varve_declare_(uint64_t id, const varve_work_t* work) VARVE_NOEXCEPT;
/**
 * Of a library whose calls tell their work by their shapes: adds it to the calling thread's innermost range,
 * where the engine's own word goes before it. Nothing outside of ranges. NULL: it could not be told.
 */
VARVE_API void varve_declare_here_(const varve_work_t* work) VARVE_NOEXCEPT;
VARVE_API void varve_sequence_(uint64_t id, int decode, uint32_t tokens, uint32_t context) VARVE_NOEXCEPT;
VARVE_API uint64_t varve_request_begin_(const char* name, int32_t index) VARVE_NOEXCEPT;
VARVE_API void varve_request_end_(uint64_t id) VARVE_NOEXCEPT;
VARVE_API void varve_serves_(uint64_t pass, uint64_t request) VARVE_NOEXCEPT;
VARVE_API void varve_here_(varve_handoff_t* where) VARVE_NOEXCEPT;
VARVE_API uint64_t varve_adopt_(const varve_handoff_t* where) VARVE_NOEXCEPT;
/**
 * Of a library that the CUDA driver tells of its initialisation (CUDA_INJECTION64_PATH). 0: it will pass that
 * on, so CUPTI is left alone until then; 1: CUDA is being initialised. A session or arming that waited
 * begins.
 */
VARVE_API void varve_cuda_(int initialised) VARVE_NOEXCEPT;
/** Copies the texts of names that live in a module about to be unloaded. */
VARVE_API void varve_unload_(void) VARVE_NOEXCEPT;

static inline uint32_t varve_load_state_(void) VARVE_NOEXCEPT {
  return __atomic_load_n(&varve_state_, __ATOMIC_RELAXED);
}

#if !defined(VARVE_DISABLE)

/* One per module: runs when a plugin is unloaded, while its literals can still be read. */
__attribute__((weak, visibility("hidden"), destructor)) void varve_unload_module_(void) VARVE_NOEXCEPT;
void varve_unload_module_(void) VARVE_NOEXCEPT { varve_unload_(); }

static inline varve_range varve_begin_(int kind, const char* name, int32_t index) VARVE_NOEXCEPT {
  varve_range none = {0, 0};
  return __builtin_expect(varve_load_state_() != 0, 0) ? varve_open_(kind, name, index) : none;
}

/** Ends a range, in any order, on the thread that began it. Ending it twice does nothing. */
static inline void varve_end(varve_range range) VARVE_NOEXCEPT {
  if (__builtin_expect(range.id != 0, 0)) {
    varve_close_(range);
  }
}

/** Sets (a later value replaces an earlier one) an attribute of a pass, also after it has ended. */
static inline void varve_set(varve_range pass, varve_attribute attribute, int64_t value) VARVE_NOEXCEPT {
  if (__builtin_expect(pass.id != 0, 0)) {
    varve_attribute_(pass.id, VARVE_INT_(attribute), value);
  }
}

/** Names the model that a pass belongs to ("target", "draft"): a literal or a label's name. */
static inline void varve_set_model(varve_range pass, const char* name) VARVE_NOEXCEPT {
  if (__builtin_expect(pass.id != 0, 0)) {
    varve_model_(pass.id, name);
  }
}

/**
 * Names the stream (a CUstream or cudaStream_t) that a pass runs on, before it launches anything: once for
 * each of its streams, on the thread that began it. Where CUPTI is taken by another tool, a session then
 * measures the pass's span on the GPU by CUDA events around it; where CUPTI works, and where nothing records,
 * it does nothing. The stream outlives the pass. NULL is the legacy default stream of the current context.
 */
static inline void varve_stream(varve_range pass, void* cuda_stream) VARVE_NOEXCEPT {
  if (__builtin_expect(pass.id != 0, 0)) {
    varve_stream_(pass.id, cuda_stream);
  }
}

/** Adds work to a range. */
static inline void varve_declare(varve_range range, varve_work_t work) VARVE_NOEXCEPT {
  if (__builtin_expect(range.id != 0, 0)) {
    varve_declare_(range.id, &work);
  }
}

/**
 * Ends a range and begins the layer that follows it, with one clock read; the result is ended by varve_end()
 * or another varve_next(). On the thread that began the range. Where nothing recorded the range, it begins
 * the layer.
 */
static inline varve_range varve_next(varve_range range, const char* name, int32_t index) VARVE_NOEXCEPT {
  return __builtin_expect((range.id | varve_load_state_()) != 0, 0) ? varve_step_(range, name, index) : range;
}

/**
 * Notes the calling thread's innermost range and label path in `where` (not NULL), for another thread. Costs
 * a copy of the path; when nothing records, `where` is made to be nowhere.
 */
static inline void varve_here(varve_handoff_t* where) VARVE_NOEXCEPT {
  where->id = 0;
  where->depth = 0;
  if (__builtin_expect(varve_load_state_() != 0, 0)) {
    varve_here_(where);
  }
}

/**
 * From now until varve_end() of the result, what the calling thread marks and launches belongs to the place
 * that `from` (not NULL) was taken in, which may have ended since. The result is of that place: attributes
 * and work given to it go there. Nothing when `from` is nowhere.
 */
static inline varve_range varve_adopt(const varve_handoff_t* from) VARVE_NOEXCEPT {
  varve_range adopted = {0, 0};
  if (__builtin_expect(from->depth != 0 && varve_load_state_() != 0, 0)) {
    adopted.id = varve_adopt_(from);
  }
  return adopted;
}

/**
 * Begins the life of a user request, at its arrival; `index` tells requests apart, a number of the engine's
 * own. Requests are bound to no thread: any may link and end them. Recorded only while a session runs.
 */
static inline varve_request varve_request_begin(const char* name, int32_t index) VARVE_NOEXCEPT {
  varve_request request = {0};
  if (__builtin_expect((varve_load_state_() & VARVE_STATE_RECORDING) != 0, 0)) {
    request.id = varve_request_begin_(name, index);
  }
  return request;
}

/** Ends a request, at its last token. Once. */
static inline void varve_request_end(varve_request request) VARVE_NOEXCEPT {
  if (__builtin_expect(request.id != 0, 0)) {
    varve_request_end_(request.id);
  }
}

/** Links a request to a pass that serves it, before the request ends. */
static inline void varve_serves(varve_range pass, varve_request request) VARVE_NOEXCEPT {
  if (__builtin_expect(pass.id != 0 && request.id != 0, 0)) {
    varve_serves_(pass.id, request.id);
  }
}

static inline void varve_set_batch_(varve_range pass, int first, const varve_sequence_tokens* sequences,
                                    size_t count) VARVE_NOEXCEPT {
  int64_t number = 0;
  int64_t tokens = 0;
  int64_t context = 0;
  int64_t products = 0;
  size_t i;
  if (__builtin_expect(pass.id == 0, 1)) {
    return;
  }
  for (i = 0; i < count; ++i) {
    int64_t product = sequences[i].tokens;
    product *= sequences[i].context;
    varve_sequence_(pass.id, first == VARVE_DECODE_TOKENS, sequences[i].tokens, sequences[i].context);
    number += 1;
    tokens += sequences[i].tokens;
    context += sequences[i].context;
    products += product;
  }
  varve_attribute_(pass.id, first, tokens);
  varve_attribute_(pass.id, first + 1, number);
  varve_attribute_(pass.id, first + 2, context);
  varve_attribute_(pass.id, first + 3, products);
}

/**
 * Tells the sequences in prefill of a pass one by one, `count` of them, and sets VARVE_PREFILL_TOKENS,
 * _SEQUENCES, _CONTEXT_TOKENS and _QUERY_CONTEXT to their sums. Once a pass, also after it has ended.
 */
static inline void varve_set_prefill_batch(varve_range pass, const varve_sequence_tokens* sequences,
                                           size_t count) VARVE_NOEXCEPT {
  varve_set_batch_(pass, VARVE_PREFILL_TOKENS, sequences, count);
}

/** The same of the sequences in decode, with VARVE_DECODE_TOKENS and the following. */
static inline void varve_set_decode_batch(varve_range pass, const varve_sequence_tokens* sequences,
                                          size_t count) VARVE_NOEXCEPT {
  varve_set_batch_(pass, VARVE_DECODE_TOKENS, sequences, count);
}

#else

static inline varve_range varve_begin_(int kind, const char* name, int32_t index) VARVE_NOEXCEPT {
  varve_range none = {0, 0};
  (void)kind, (void)name, (void)index;
  return none;
}
static inline void varve_end(varve_range range) VARVE_NOEXCEPT { (void)range; }
static inline void varve_set(varve_range pass, varve_attribute attribute, int64_t value) VARVE_NOEXCEPT {
  (void)pass, (void)attribute, (void)value;
}
static inline void varve_set_model(varve_range pass, const char* name) VARVE_NOEXCEPT {
  (void)pass, (void)name;
}
static inline void varve_stream(varve_range pass, void* cuda_stream) VARVE_NOEXCEPT {
  (void)pass, (void)cuda_stream;
}
static inline void varve_declare(varve_range range, varve_work_t work) VARVE_NOEXCEPT {
  (void)range, (void)work;
}
static inline varve_range varve_next(varve_range range, const char* name, int32_t index) VARVE_NOEXCEPT {
  (void)name, (void)index;
  return range;
}
static inline void varve_here(varve_handoff_t* where) VARVE_NOEXCEPT {
  where->id = 0;
  where->depth = 0;
}
static inline varve_range varve_adopt(const varve_handoff_t* from) VARVE_NOEXCEPT {
  varve_range none = {0, 0};
  (void)from;
  return none;
}
static inline varve_request varve_request_begin(const char* name, int32_t index) VARVE_NOEXCEPT {
  varve_request none = {0};
  (void)name, (void)index;
  return none;
}
static inline void varve_request_end(varve_request request) VARVE_NOEXCEPT { (void)request; }
static inline void varve_serves(varve_range pass, varve_request request) VARVE_NOEXCEPT {
  (void)pass, (void)request;
}
static inline void varve_set_prefill_batch(varve_range pass, const varve_sequence_tokens* sequences,
                                           size_t count) VARVE_NOEXCEPT {
  (void)pass, (void)sequences, (void)count;
}
static inline void varve_set_decode_batch(varve_range pass, const varve_sequence_tokens* sequences,
                                          size_t count) VARVE_NOEXCEPT {
  (void)pass, (void)sequences, (void)count;
}

#endif

/** Begins a forward pass of the given kind (VARVE_DECODE, …). */
static inline varve_range varve_phase_begin(const char* kind) VARVE_NOEXCEPT {
  return varve_begin_(VARVE_KIND_PHASE, kind, VARVE_NO_INDEX);
}
/** Begins a named, indexed part of a pass. */
static inline varve_range varve_layer_begin(const char* name, int32_t index) VARVE_NOEXCEPT {
  return varve_begin_(VARVE_KIND_LAYER, name, index);
}
/** Begins a part of a layer. */
static inline varve_range varve_op_begin(const char* name, int32_t index) VARVE_NOEXCEPT {
  return varve_begin_(VARVE_KIND_OP, name, index);
}

#ifdef __cplusplus
}
#endif

#endif /* VARVE_VARVE_H */
