// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Counts of one run beside the times of another.
#include "analyze/counted.hpp"
#include "analyze/counted_sums.hpp"
#include "analyze/sentence.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {

namespace {

using namespace analysis;

/// Work that differs by more is other work.
constexpr double alike = 0.05;

bool differ(double a, double b) noexcept { return std::fabs(a - b) > alike * std::max(a, b); }

/// What the passes of a kind process, on average.
struct batch_size {
  double passes = 0;
  double prefill = 0;
  double decode = 0;
  double sequences = 0;

  batch_size() = default;
  explicit batch_size(const phase_row& p) noexcept
      : passes{static_cast<double>(p.passes)},
        prefill{static_cast<double>(p.prefill_tokens)},
        decode{static_cast<double>(p.decode_tokens)},
        sequences{static_cast<double>(p.sequences)} {}
  void add(const batch_size& other) noexcept {
    passes += other.passes;
    prefill += other.prefill;
    decode += other.decode;
    sequences += other.sequences;
  }
  [[nodiscard]] std::string text() const {
    std::string out;
    const auto say = [&](double sum, const char* what) {
      if (sum > 0) {
        out += (out.empty() ? "" : ", ") + number_of(sum / passes) + ' ' + what;
      }
    };
    say(prefill, "prefill tokens");
    say(decode, "decode tokens");
    say(sequences, "sequences");
    return out.empty() ? "unknown size" : out;
  }
  friend bool differ(const batch_size& a, const batch_size& b) noexcept {
    return a.passes > 0 && b.passes > 0 &&
           (differ(a.prefill / a.passes, b.prefill / b.passes) ||
            differ(a.decode / a.passes, b.decode / b.passes) ||
            differ(a.sequences / a.passes, b.sequences / b.passes));
  }
};

/// Of some calls.
struct count_of_calls {
  counted_work counted;
  declared_work declared;  // of a call

  /// The mean of calls of both.
  void add(const count_of_calls& other) {
    const auto mine = static_cast<double>(counted.calls);
    const auto others = static_cast<double>(other.counted.calls);
    const double all = mine + others;
    if (!(all > 0)) {
      return;
    }
    add_calls(counted, other.counted);
    const auto mean = [&](double a, double b) { return (a * mine + b * others) / all; };
    const bool both = declared.bytes > 0 && other.declared.bytes > 0;
    declared.bytes = both ? mean(declared.bytes, other.declared.bytes) : 0;
    declared.flops = both ? mean(declared.flops, other.declared.flops) : 0;
  }
};

/// A run that counted, to be looked up by what rows of another run have in common with its.
class counting_run {
 public:
  explicit counting_run(const report& r) : all_{quantities_of(r)} {
    for (const row& one : r.layers) {
      if (one.counted) {
        counts_[key_of(one, "layer " + one.path)].push_back(
            {one.batch, {*one.counted, declared_in(one.inclusive)}, false});
      }
    }
    for (const phase_row& p : r.phases) {
      if (p.counted) {
        counts_[key_of(p, whole_pass_key)].push_back({p.batch, {*p.counted, declared_in(p)}, false});
      }
      sizes_[key_of(p, {})].emplace_back(p.batch, batch_size{p});
    }
  }

  std::optional<count_of_calls> find(const row& one) { return find_in(one, "layer " + one.path); }
  std::optional<count_of_calls> find(const phase_row& p) { return find_in(p, whole_pass_key); }

  /// Of the passes that the counts of a row are of.
  template <class Row>
  [[nodiscard]] batch_size size(const Row& one) const {
    batch_size out;
    const auto found = sizes_.find(key_of(one, {}));
    if (found != sizes_.end()) {
      for (const auto& [batch, one_size] : found->second) {
        if (fits(batch, one.batch)) {
          out.add(one_size);
        }
      }
    }
    return out;
  }

  /// Rows that nobody has asked for.
  [[nodiscard]] std::uint64_t left() const {
    std::uint64_t n = 0;
    for (const auto& [row, all] : counts_) {
      n += static_cast<std::uint64_t>(
          std::count_if(all.begin(), all.end(), [](const entry& e) { return !e.taken; }));
    }
    return n;
  }

 private:
  using key = std::tuple<std::string, std::string, std::uint32_t, std::string>;
  struct entry {
    std::string batch;
    count_of_calls count;
    bool taken;
  };
  static constexpr const char* whole_pass_key = "pass";

  template <class Row>
  static key key_of(const Row& one, std::string path) {
    return {one.phase, one.model, one.device, std::move(path)};
  }
  static bool fits(const std::string& a, const std::string& b) { return a == b || a.empty() || b.empty(); }

  template <class Row>
  std::optional<count_of_calls> find_in(const Row& one, std::string path) {
    std::optional<count_of_calls> out;
    const auto found = counts_.find(key_of(one, std::move(path)));
    if (found == counts_.end()) {
      return out;
    }
    for (entry& e : found->second) {
      if (fits(e.batch, one.batch)) {
        e.taken = true;
        if (out) {
          out->add(e.count);
          set_means(out->counted, all_);
        } else {
          out = e.count;
        }
      }
    }
    return out;
  }

  std::set<quantity> all_;
  std::map<key, std::vector<entry>> counts_;
  std::map<key, std::vector<std::pair<std::string, batch_size>>> sizes_;
};

std::string work_text(const declared_work& d) {
  return rate_of(d.bytes, "B") + " and " + rate_of(d.flops, "FLOP");
}

/// What is against letting rates of a report rest on the counts of another run.
class comparison {
 public:
  comparison(const report& r, const counting_run& counted) {
    for (const phase_row& p : r.phases) {
      const batch_size here{p};
      const batch_size there = counted.size(p);
      if (differ(here, there)) {
        other_sizes_[key{p.phase, p.model, p.device, p.batch}] =
            "it was counted in passes of " + there.text() + ", these are of " + here.text();
      }
    }
  }

  template <class Row>
  [[nodiscard]] std::string against(const Row& one, const declared_work& here,
                                    const declared_work& there) const {
    const auto other = other_sizes_.find(key{one.phase, one.model, one.device, one.batch});
    if (other != other_sizes_.end()) {
      return other->second;
    }
    const bool both = here.bytes > 0 && there.bytes > 0;
    return both && (differ(here.bytes, there.bytes) || differ(here.flops, there.flops))
               ? "the calls that were counted declare " + work_text(there) + ", these " + work_text(here) +
                     ": another batch or context"
               : std::string{};
  }

 private:
  using key = std::tuple<std::string, std::string, std::uint32_t, std::string>;
  std::map<key, std::string> other_sizes_;
};

/// What an earlier call has put there.
void forget_counts(report& r) {
  std::erase_if(r.quality.collectors, [](const collector_status& c) { return c.name == "counters"; });
  std::erase_if(r.quality.losses, [](const loss& l) { return l.where == "counters"; });
  std::erase_if(r.findings, [](const finding& f) { return f.what == finding::kind::counted_difference; });
}

}  // namespace

void add_counted(report& r, const report& counted) {
  counting_run run{counted};
  const comparison compared{r, run};
  std::uint64_t refused = 0;
  std::map<const void*, std::string> against;
  const auto join = [&](auto& one, const declared_work& here) {
    const auto found = run.find(one);
    one.counted = found ? std::optional{found->counted} : std::nullopt;
    if (found) {
      std::string why = compared.against(one, here, found->declared);
      refused += why.empty() ? 0U : 1U;
      against.emplace(&one, std::move(why));
    }
  };
  for (row& one : r.layers) {
    join(one, declared_in(one.inclusive));
  }
  for (phase_row& p : r.phases) {
    join(p, declared_in(p));
  }
  forget_counts(r);
  for (const collector_status& c : counted.quality.collectors) {
    if (c.name == "counters") {
      r.quality.collectors.push_back(c);
    }
  }
  for (const loss& l : counted.quality.losses) {
    if (l.where == "counters") {
      r.quality.losses.push_back(l);
    }
  }
  const auto lose = [&](const char* what, std::uint64_t count) {
    if (count != 0) {
      r.quality.losses.push_back({what, "counters", count});
    }
  };
  lose("rows whose counts are of other work, by tokens or by what is declared: not used for verdicts",
       refused);
  lose("counted rows without a row of times: another path, phase, model, device or batch", run.left());
  settle_counts(
      r, {[&](const row& one) { return against[&one]; }, [&](const phase_row& p) { return against[&p]; }});
}

}  // namespace v0
}  // namespace varve
