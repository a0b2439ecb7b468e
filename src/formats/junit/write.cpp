// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// JUnit's XML as CI systems read it: a suite, a test case each entry, <failure> where a limit is exceeded,
// <error> where an entry could not be checked.
#include "formats/input/json_text.hpp"

#include <varve/io.hpp>

#include <ostream>

namespace varve {
inline namespace v0 {

namespace junit {
namespace {

/// Text for XML 1.0, also inside an attribute: control characters and what is no character there become
/// U+FFFD, since no escape allows them.
std::string escaped(std::string_view text) {
  constexpr std::string_view replacement = "\xEF\xBF\xBD";
  const std::string valid = input::valid_utf8(text);
  std::string out;
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const char c = valid[i];
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\t':
        out += "&#9;";
        break;
      case '\n':
        out += "&#10;";
        break;
      case '\r':
        out += "&#13;";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
          out += replacement;
        } else if (valid.compare(i, 3, "\xEF\xBF\xBE") == 0 || valid.compare(i, 3, "\xEF\xBF\xBF") == 0) {
          out += replacement;
          i += 2;
        } else {
          out += c;
        }
    }
  }
  return out;
}

const char* kind_of(budget_status status) noexcept {
  return status == budget_status::exceeded         ? "exceeded"
         : status == budget_status::not_measurable ? "not measurable"
                                                   : "error";
}

void write_case(std::ostream& out, const budget_outcome& e, const std::string& suite) {
  out << "    <testcase classname=\"" << suite << "\" name=\"" << escaped(e.name) << "\" time=\"0\"";
  if (e.status == budget_status::ok) {
    out << ">\n      <system-out>" << escaped(e.message) << "</system-out>\n";
  } else {
    const char* const element = e.status == budget_status::exceeded ? "failure" : "error";
    out << ">\n      <" << element << " type=\"" << kind_of(e.status) << "\" message=\"" << escaped(e.message)
        << "\">" << escaped(e.message) << "</" << element << ">\n";
  }
  out << "    </testcase>\n";
}

}  // namespace
}  // namespace junit

void write_junit(std::ostream& out, const budget_result& result, const std::string& suite) {
  const std::string name = junit::escaped(suite);
  const std::size_t failures = result.count(budget_status::exceeded);
  const std::size_t errors = result.count(budget_status::not_measurable) + result.count(budget_status::error);
  const std::string counts = "tests=\"" + std::to_string(result.entries.size()) + "\" failures=\"" +
                             std::to_string(failures) + "\" errors=\"" + std::to_string(errors) +
                             "\" time=\"0\"";
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites " << counts << ">\n  <testsuite name=\""
      << name << "\" " << counts << ">\n";
  for (const budget_outcome& e : result.entries) {
    junit::write_case(out, e, name);
  }
  out << "  </testsuite>\n</testsuites>\n";
}

}  // namespace v0
}  // namespace varve
