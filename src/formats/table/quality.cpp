// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/parts.hpp"
#include "formats/table/text.hpp"
#include "formats/table/units.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace varve::table {

namespace {

constexpr double enough_attributed = 0.95;

/// Sentences, each with the mark of its kind in front.
class sentences {
 public:
  explicit sentences(const style& s) : style_{s} {}

  void say(std::string_view text) { add("  ", text); }
  void warn(std::string_view text) { add(style_.warning("! "), text); }
  /// "<n> <what>", where there are any.
  void warn_of(std::int64_t n, std::string_view one, std::string_view many, std::string_view rest) {
    if (n != 0) {
      warn(count(n) + ' ' + std::string{n == 1 ? one : many} + ' ' + std::string{rest});
    }
  }
  [[nodiscard]] const std::string& text() const noexcept { return out_; }

 private:
  void add(std::string_view mark, std::string_view text) {
    constexpr std::size_t indent = 4;
    out_ += "  ";
    out_ += mark;
    out_ += flow({std::string{text}}, " ", indent, style_.text_width());
    out_ += '\n';
  }

  const style& style_;
  std::string out_;
};

void attribution(const report_quality& q, sentences& out) {
  if (q.activities == 0 && q.event_spans > 0) {
    out.warn(
        "No work on a GPU was recorded, only " + count(q.event_spans) +
        (q.event_spans == 1 ? " span" : " spans") +
        " of passes between CUDA events: a span holds the GPU's idle time too, and what ran in it, in which "
        "layer, is not known. It counts as unrecorded. Times of layers are the host's own.");
    return;
  }
  if (q.activities == 0) {
    out.warn("No work on a GPU was recorded: nothing ran, or no collector saw it. Times are the host's own.");
    return;
  }
  const std::string share = percent(q.attributed, 1.0) + " %";
  if (q.attributed <= 0) {
    out.warn("No GPU time belongs to a layer: mark layers, or look at the kernels (--by kernel).");
  } else if (q.attributed < enough_attributed) {
    out.warn("Only " + share + " of the GPU time belongs to a layer: mark what runs outside of them.");
  } else {
    out.say((q.attributed < 1 ? share + " of the" : "All") + " GPU time belongs to a layer.");
  }
  if (q.unmatched > 0) {
    std::string some = count(q.unmatched) + " of " + counted(q.activities, "activity", "activities");
    if (q.unmatched_kernels > 0 && q.unmatched_kernels < q.unmatched) {
      some = counted(q.unmatched_kernels, "kernel") + " (" + some + ')';
    }
    // A report may come from a file with any numbers in it.
    const std::int64_t most = q.unmatched;
    const std::int64_t by_flow = std::clamp<std::int64_t>(q.activities_by_flow, 0, most);
    const std::int64_t unknown =
        most - by_flow - std::clamp<std::int64_t>(q.activities_by_operator, 0, most - by_flow);
    const std::string layer = unknown == 0      ? "Operators or flows tell their layer"
                              : unknown == most ? "Their layer is unknown"
                                                : "The layer of " + count(unknown) + " is unknown";
    out.warn(some + " had no launch in the window: launched before it, or the record is missing. " + layer +
             ", and idle time before them counts as unrecorded. Begin to record earlier, or wait for the GPU "
             "before you do.");
  }
}

void inference(const report_quality& q, sentences& out) {
  if (q.inferred_passes == pass_inference::module_calls) {
    out.say(
        "No passes of the model are marked. They are inferred from the calls of the outermost module: where "
        "one begins "
        "and ends is a guess (--phase-rule names others).");
  } else if (q.inferred_passes == pass_inference::repeated_annotations) {
    out.say(
        "No passes of the model are marked. They are inferred: an annotation that repeats and holds most "
        "launches is "
        "taken as one (--phase-rule names others).");
  }
  if (q.inferred_prefills > 0) {
    out.say(
        "In each call of generate the first call of the model is taken as the prefill, the others as "
        "decode.");
  }
  if (q.steady && q.ramp_passes > 0) {
    out.say("Steady view: " + counted(q.ramp_passes, "pass is", "passes are") +
            " apart as \"(ramp)\": of another batch than most of their kind, or the first after a change.");
  }
  if (q.steady) {
    std::string names;
    for (const std::string& name : q.unsized_names) {
      names += (names.empty() ? " (" : ", ") + printable(name);
    }
    names += names.empty() ? "" : q.unsized_kinds > std::ssize(q.unsized_names) ? ", …)" : ")";
    out.warn_of(q.unsized_kinds, "kind of pass" + names + " carries", "kinds of pass" + names + " carry",
                "no batch that repeats: whether passes are ramps can't be told, so none is set apart.");
  }
}

/// What has its range from something else than its thread or its call, and how sure that is.
void elsewhere(const report_quality& q, sentences& out) {
  const auto say = [&](std::int64_t n, std::string_view one, std::string_view many) {
    if (n != 0) {
      out.say(count(n) + ' ' + std::string{n == 1 ? one : many});
    }
  };
  say(q.calls_by_operator, "call counts for the range around its operator, on another thread.",
      "calls count for the ranges around their operators, on another thread.");
  say(q.calls_by_forward, "backward call counts for the layer of its forward operator, below \"backward\".",
      "backward calls count for the layers of their forward operators, below \"backward\".");
  say(q.calls_backward, "backward call counts for \"backward\" alone: no layer of its is known.",
      "backward calls count for \"backward\" alone: no layers of theirs are known.");
  say(q.calls_by_pass,
      "call on a thread without ranges counts for the pass that was open on another one: an inference.",
      "calls on threads without ranges count for the pass that was open on another one: an inference.");
  say(q.activities_by_operator, "activity without a launch counts for the range around its operator.",
      "activities without a launch count for the ranges around their operators.");
  say(q.activities_by_flow, "activity without a launch counts for the range that a flow event leads from.",
      "activities without a launch count for the ranges that flow events lead from.");
}

void damage(const report_quality& q, sentences& out) {
  out.warn_of(q.untimed, "activity has", "activities have",
              "no usable times: counted, but no time is added.");
  out.warn_of(
      q.negative_delays, "activity begins", "activities begin",
      "before the call that launched it: the clocks of host and device disagree. Left out of the queue "
      "delays.");
  out.warn_of(q.duplicate_correlations, "correlation id is", "correlation ids are",
              "used by several calls: each activity went to the latest call before it.");
  out.warn_of(
      q.unlabelled_nodes, "graph activity has", "graph activities have",
      "no label of their own and count to the range that launched their graph. In a session of varve, "
      "call varve::arm() before graphs are captured.");
  out.warn_of(
      q.stale_nodes, "graph activity may carry", "graph activities may carry",
      "the layer of an earlier version of the graph: it was updated, and which node became which could not "
      "be shown.");
  out.warn_of(
      q.inferred_nodes, "graph activity is", "graph activities are",
      "in layers that are inferred from repeated kernels, not recorded: where a layer begins and what it is "
      "called, the trace doesn't say.");
  out.warn_of(q.positioned_nodes, "graph activity has", "graph activities have",
              q.captures_given
                  ? "no layer, only a place in a graph: the traces of captures given lend none."
                  : "no layer, only a place in a graph: give the traces of the capture (--captures).");
  if (q.lent_nodes > 0) {
    out.say(count(q.lent_nodes) +
            (q.lent_nodes == 1 ? " graph activity has its" : " graph activities have their") +
            " layer from a trace of the capture, matched in order.");
  }
  out.warn_of(q.graph_launches_without_kernels, "graph launch has", "graph launches have",
              "no activities in the trace: that time is called unrecorded, and layers lack it.");
  const std::int64_t by_look = std::min(q.graph_launches_short, q.graph_launches_short_by_look);
  out.warn_of(q.graph_launches_short - by_look, "graph launch has", "graph launches have",
              "fewer activities than others of the same graph: some records are missing.");
  out.warn_of(by_look, "graph launch looks like an incomplete launch",
              "graph launches look like incomplete launches",
              "of another graph (records may be missing): idle time after them counts as unrecorded.");
  out.warn_of(q.clipped_ranges, "range was", "ranges were",
              "open when the recording began or ended: cut there.");
  for (const loss& l : q.losses) {
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    out.warn(count(static_cast<std::int64_t>(std::min(l.count, most))) + " × " + printable(l.what) +
             (l.where.empty() ? "" : " (" + printable(l.where) + ')'));
  }
}

void sources(const report& r, sentences& out) {
  const report_quality& q = r.quality;
  std::string clock;
  if (!q.clock.empty()) {
    clock = "Clock: " + printable(q.clock) + ". ";
  }
  if (q.clock_error > 0) {
    clock += "Times are known to within " + duration(q.clock_error) + ". ";
  }
  if (q.own_overhead > 0) {
    clock += "varve itself took " + duration(q.own_overhead) + " of the host's time. ";
  }
  if (!clock.empty()) {
    clock.pop_back();
    out.say(clock);
  }
  for (const collector_status& c : q.collectors) {
    std::string text = printable(c.name);
    if (!c.version.empty()) {
      text.append(" ").append(printable(c.version));
    }
    text += c.state == collector_state::unavailable ? " is not available"
            : c.state == collector_state::running   ? " (still running)"
                                                    : "";
    if (!c.detail.empty()) {
      text.append(": ").append(printable(c.detail));
    }
    if (c.state == collector_state::unavailable) {
      out.warn(text);
    } else {
      out.say(text);
    }
  }
}

/// Whose word work is, where it is not that of operators' shapes alone.
void work_known(const report& r, sentences& out) {
  constexpr std::array<const char*, work_sources> names{"by counters", "as the engine declared it",
                                                        "by the shapes of operators' inputs",
                                                        "by the model's description"};
  const auto& known = r.quality.work_known;
  constexpr auto shapes = static_cast<std::size_t>(work_source::shapes);
  std::string text;
  bool others = false;
  for (std::size_t k = 0; k < work_sources; ++k) {
    if (known[k] > 0) {
      text += (text.empty() ? "" : ", ") + std::string{names[k]} + " for " + percent(known[k], 1) + " %";
      others = others || k != shapes;
    }
  }
  if (others) {
    out.say("FLOPs and bytes are known " + text + " of the GPU time" +
            (r.collectives.empty() ? "." : ", collectives left out."));
  } else if (r.operators.work_share > 0) {
    out.say("FLOPs and bytes are from the shapes of operators' inputs, known for those that launched " +
            percent(r.operators.work_share, 1) + " % of the GPU time.");
  }
}

/// What a row of the table of GPUs became of several devices: each was held against its own clock.
std::string other_clocks(const report& r, const ceilings& first) {
  double least = first.clock;
  double most = first.clock;
  for (const device_row& d : r.devices) {
    if (d.ceilings && d.ceilings->name == first.name) {
      least = std::min(least, d.ceilings->clock);
      most = std::max(most, d.ceilings->clock);
    }
  }
  return least < most ? "; on all of that name " + number(least / 1e9) + " to " + number(most / 1e9) + " GHz"
                      : "";
}

/// The ceilings that roofs are by.
void ceilings_used(const report& r, sentences& out) {
  const bool used = std::any_of(r.phases.begin(), r.phases.end(),
                                [](const phase_row& p) { return p.total.roof.total > 0; });
  std::vector<std::string> named;
  for (const device_row& d : r.devices) {
    if (!used || !d.ceilings || std::find(named.begin(), named.end(), d.ceilings->name) != named.end()) {
      continue;
    }
    named.push_back(d.ceilings->name);
    const ceilings& c = *d.ceilings;
    out.say("Roofs are those of " + printable(c.name) + ", " + bytes(c.bandwidth) + "/s of its memory" +
            (c.measured ? ", measured" : "") + (c.source.empty() ? "." : ": " + printable(c.source)) +
            other_clocks(r, c));
  }
}

}  // namespace

std::string quality(const report& r, const style& s) {
  const report_quality& q = r.quality;
  sentences out{s};
  attribution(q, out);
  if (q.implicit_pass) {
    out.say(
        "No passes are marked: the whole trace counts as one, and its idle time holds whatever else the "
        "program did.");
  }
  inference(q, out);
  work_known(r, out);
  ceilings_used(r, out);
  if (q.live_cpu) {
    out.say(
        "The activities ran on the host's own cores, so idle time measures the operating system's scheduler "
        "too.");
  }
  elsewhere(q, out);
  damage(q, out);
  sources(r, out);
  return s.bold("What the numbers rest on") + '\n' + out.text();
}

}  // namespace varve::table
