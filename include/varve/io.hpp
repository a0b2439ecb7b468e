// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Files: traces of other tools in, reports out and in. Target varve::io.
// Input is taken as hostile: see SECURITY.md for the limits. Every function throws varve::error with the
// file's name, the place and the cause.
#ifndef VARVE_IO_HPP
#define VARVE_IO_HPP

#include <varve/budget.hpp>
#include <varve/compare.hpp>
#include <varve/device.hpp>
#include <varve/model.hpp>
#include <varve/report.hpp>
#include <varve/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {

/// What is wrong with a file: "trace.json.gz: byte 1024: unexpected end of gzip stream".
class VARVE_API error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What annotations and calls of modules with a certain text are taken as.
struct naming_rule {
  enum class kind : std::uint8_t { phase, layer, op, ignore };
  /// ECMAScript regular expression, at most 512 bytes and without back-references, sought in the first 512
  /// bytes of an annotation's text or of a module's ("nn.Module: Linear_3"). Of what its groups caught, the
  /// first that is all digits is the index, and the first other one the name where `name` gives none; without
  /// such groups the name is what it would be without the rule.
  std::string pattern;
  kind as = kind::phase;
  std::string name;
  bool annotations = true;  ///< whether it looks at annotations
  bool modules = true;      ///< and at calls of modules
};

/// Throws varve::error when the pattern of `rule` is not a regular expression, or too long or costly.
VARVE_API void check(const naming_rule& rule);

struct read_options {
  /// The first that fits decides, before all names that varve knows (docs/phases.md). read_pytorch() throws
  /// varve::error for one that check() refuses.
  std::vector<naming_rule> rules;
  /// Bytes that a file may hold, or unpack to when it is compressed. A well-formed trace is read in pieces,
  /// in little more memory than its records take; one that must be mended is read as a whole, and may then
  /// hold 4 GiB − 1 of JSON at most (SECURITY.md has the worst cases).
  std::uint64_t max_unpacked = std::uint64_t{4} << 30U;
  /// Called now and then with bytes done and in all (0: unknown). What it throws ends the reading.
  std::function<void(std::uint64_t, std::uint64_t)> progress;
  /// Traces that were recorded while graphs were captured (vLLM's capture_traces, SGLang's
  /// graph_capture_profile), or folders of them (their .json and .json.gz files): they lend their modules to
  /// the kernels of replayed graphs. A file of a folder that can't be read is left out and counted in the
  /// losses.
  std::vector<std::string> captures{};
  /// How many layers the model has: layers are inferred from repeated kernels of graphs only where as many
  /// are found. 0: as many as there are modules of some class, or any number where no module is in the
  /// traces.
  std::size_t layers = 0;
};

/// What a file is, from its first bytes.
enum class file_kind : std::uint8_t { pytorch, report_json, unknown };
[[nodiscard]] VARVE_API file_kind identify(const std::string& path);

/// Reads a PyTorch profiler (Kineto) trace, plain or gzip. Kernels, copies and sets become activities, calls
/// of the runtime and the driver become calls, user annotations become ranges nested by containment on each
/// thread: passes where they are an engine's (docs/phases.md), else ops. Where none is a pass, passes are
/// inferred if the trace repeats itself, and trace::inferred_passes says how. Calls are joined to ranges by
/// thread and time; those of threads without ranges by their operators, backward ones to derived ranges below
/// "backward", else to the one pass that was open. Activities of graphs get nodes (trace::graph_nodes) with a
/// label path: the module of a trace of the capture, a layer inferred from repeated kernels, or their place
/// in the graph; which of these, graph_node::source says. What cannot be taken as it is, is skipped or
/// repaired, and counted in trace::losses; a file that ends early is read up to its last whole event, and the
/// losses say where that is. Traces of XLA have the same form and are read as far as they carry kernels and
/// what launched them. One that write_chrome_trace() wrote comes back as it was: its ranges are taken as they
/// are told, not from names and times, and `rules`, `captures` and `layers` change nothing.
[[nodiscard]] VARVE_API trace read_pytorch(const std::string& path, const read_options& options = {});

/// Writes a trace as Chrome JSON, for Perfetto, chrome://tracing and what reads traces of the PyTorch
/// profiler: ranges as annotations on their threads, requests on rows of their own, calls with arrows to what
/// they launched, kernels, copies and sets on the streams of their devices. Each event has in "args" under
/// "varve" what only varve knows, and so has the document, before its events: read_pytorch() gives the same
/// records back, in the same order (attributes, work and the like range by range), and analyze() the same
/// report. Nothing is held back until the end: memory is a few bytes a string and a range. Calls whose name
/// was not recorded are named after the commonest of their kind ("cudaLaunchKernel").
///
/// Not carried: bytes of names that are no UTF-8 (each becomes U+FFFD) and what is beyond 64 KiB of one;
/// labels nested deeper than 128, or in paths of more than 4096 bytes (the label around them is taken, and a
/// loss counts them); times beyond ±146 years (taken as there); records without all of their columns; what
/// refers to a record that is not there; all but the last value that a pass has for one attribute, and of its
/// models; all but the first of an activity's collectives.
///
/// Throws varve::error when `to` refuses more.
VARVE_API void write_chrome_trace(const trace& t, std::ostream& to);
/// The same into a file that only its owner may read. It is whole or not there: it gets its name, and
/// replaces what had it, once all is written. A device or pipe is written to as it is.
VARVE_API void write_chrome_trace(const trace& t, const std::string& path);

/// Version of the JSON schema that write_json() follows (docs/report-schema.md).
inline constexpr int report_schema = 1;

/// Writes the report as one JSON document, all times in nanoseconds, in pieces of some 64 KiB: the text is
/// never in memory as a whole. What goes wrong is the stream's to tell.
VARVE_API void write_json(std::ostream& out, const report& r);
/// What write_json() writes.
[[nodiscard]] VARVE_API std::string to_json(const report& r);
/// Reads what these wrote; equal to the original in every field.
[[nodiscard]] VARVE_API report read_report(const std::string& path, const read_options& options = {});

/// A comparison as one JSON document, all times in nanoseconds (docs/compare.md has the fields); bytes of
/// names that are no UTF-8 become U+FFFD, numbers that are not finite null. Throws only std::bad_alloc.
[[nodiscard]] VARVE_API std::string to_json(const comparison& c);

/// Describes a model by its config.json as Hugging Face publishes it; `path` is the file, or the folder that
/// it lies in. Fields that are missing have the defaults of the model's class in transformers; sizes without
/// one must be there. Weights are as quantization_config says, or hf_quant_config.json beside the file; a
/// missing torch_dtype is taken as bfloat16, what engines load then. Not described: layers for several tokens
/// a step (num_nextn_predict_layers), encoders of images and sound. Throws varve::error, which names the
/// field that is missing, wrong or not known, and what to do.
[[nodiscard]] VARVE_API model read_model(const std::string& path);
/// Ceilings of a device from a JSON file that a person or varve calibrate wrote (docs/devices.md has the
/// fields). Throws varve::error that names the field for one that is unknown, of a wrong type, negative, 0,
/// or so small or large that its unit must be wrong.
[[nodiscard]] VARVE_API ceilings read_ceilings(const std::string& path);
/// What read_ceilings() reads; what is unknown is left out.
VARVE_API void write_json(std::ostream& out, const ceilings& device);
[[nodiscard]] VARVE_API std::string to_json(const ceilings& device);

/// Reads a budget as JSON (docs/budgets.md has the fields). Throws varve::error that names the field by its
/// place ("entries[3].at_most") for one that is unknown, there twice or of a wrong type, for a figure that
/// there is not, and for a limit whose unit is missing or wrong.
[[nodiscard]] VARVE_API budget read_budget(const std::string& path);
/// What read_budget() reads, equal in every field.
VARVE_API void write_json(std::ostream& out, const budget& b);
[[nodiscard]] VARVE_API std::string to_json(const budget& b);

/// Writes what check() found as JUnit XML for CI systems: one suite of this name, a test case each entry,
/// <failure> where a limit is exceeded, <error> where an entry could not be checked.
VARVE_API void write_junit(std::ostream& out, const budget_result& result, const std::string& suite);

}  // namespace v0
}  // namespace varve

#endif  // VARVE_IO_HPP
