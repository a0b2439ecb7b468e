// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// varve-calibrate-gpu: measures what the GPU of this machine reaches, keeps it as ceilings, prints it. A
// program of its own, so that the tool varve needs nothing of CUDA.
#include "ceilings/measure.hpp"

#include "cli/machine.hpp"
#include "cli/output.hpp"

#include <varve/io.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <system_error>

namespace {

using namespace varve::ceilings_of_gpu;

/// As those of varve, and one of its own.
enum exit_code : int { success = 0, failed = 1, usage = 2, unwritable = 3, without_gpu = 5 };

constexpr const char* help =
    "varve calibrate --gpu [N] [OPTIONS]\n"
    "varve-calibrate-gpu [OPTIONS]\n"
    "Measures what a GPU reaches: bytes a second of a copy, a triad and reads of memory, FLOP a second of\n"
    "products by cuBLAS, and the clock meanwhile; keeps the medians as a file that varve report --device "
    "takes.\n"
    "Takes about a quarter of a minute of an idle GPU, and a quarter of its memory at most for the former.\n"
    "  --gpu N        the one that CUDA counts as N among those visible; default 0\n"
    "  --output FILE  write to FILE; default devices/GPU.json in $XDG_CONFIG_HOME/varve or ~/.config/varve\n"
    "  --json         print what FILE holds, in place of the table\n"
    "  --name TEXT    what the device is called; default the GPU's and the machine's name\n"
    "  --samples N    runs of each kind, of which the median counts; default 9; slow ones are fewer\n"
    "  --order N      of the matrices, a multiple of 16; default 8192\n"
    "  --memory MIB   that each array takes; default eight times the last cache, 256 at least\n"
    "  --help\n"
    "Exit codes: 0 measured, 1 something failed, 2 wrong use, 3 the file cannot be written, 5 no GPU to "
    "measure\n";

struct options {
  std::string output;
  std::string name;
  std::int64_t samples = 9;
  std::int64_t order = 8192;
  std::int64_t memory = 0;
  std::int64_t gpu = 0;
  bool json = false;
  bool help = false;
};

/// Throws std::invalid_argument.
options parse(int argc, const char* const* argv) {
  options o;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t equals = word.find('=');
    const std::string flag = word.substr(0, equals);
    if (word == "--help" || word == "-h" || word == "--json") {
      (word == "--json" ? o.json : o.help) = true;
      continue;
    }
    std::string* const text = flag == "--output" ? &o.output : flag == "--name" ? &o.name : nullptr;
    std::int64_t* const number = flag == "--samples"  ? &o.samples
                                 : flag == "--order"  ? &o.order
                                 : flag == "--memory" ? &o.memory
                                 : flag == "--gpu"    ? &o.gpu
                                                      : nullptr;
    if (text == nullptr && number == nullptr) {
      throw std::invalid_argument{"unknown option " + flag + "; --help lists the options"};
    }
    if (equals == std::string::npos && i + 1 == argc) {
      throw std::invalid_argument{flag + " needs a value"};
    }
    const std::string value = equals != std::string::npos ? word.substr(equals + 1) : argv[++i];
    if (text != nullptr) {
      *text = value;
      continue;
    }
    constexpr std::int64_t most = 100000;
    const std::int64_t least = number == &o.gpu ? 0 : 1;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), *number);
    if (error != std::errc{} || end != value.data() + value.size() || *number < least || *number > most) {
      throw std::invalid_argument{flag + ": " + value + " is no number from " + std::to_string(least) +
                                  " to 100000"};
    }
  }
  if (o.order % 16 != 0 || o.order > 32768) {
    throw std::invalid_argument{"--order: no multiple of 16 up to 32768"};
  }
  return o;
}

std::string place(const options& o, const std::string& device) {
  if (!o.output.empty()) {
    return o.output;
  }
  const std::string folder = varve::cli::devices_folder();
  if (folder.empty()) {
    throw varve::cli::output_error{
        "neither $XDG_CONFIG_HOME nor $HOME says where to keep the result: name a file with --output"};
  }
  std::error_code wrong;
  std::filesystem::create_directories(folder, wrong);
  if (wrong) {
    throw varve::cli::output_error{folder + ": " + wrong.message()};
  }
  std::string name = device;
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return c == '/' || c == '\\' || static_cast<unsigned char>(c) <= ' '; }, '_');
  return folder + '/' + name + ".json";
}

void calibrate(const options& o) {
  const gpu device{static_cast<int>(o.gpu)};
  const varve::device_info& about = device.about();
  const std::string file = place(o, about.name);
  constexpr std::int64_t mebi = std::int64_t{1} << 20U;
  const std::int64_t bytes = array_bytes(o.memory * mebi, about.l2_bytes, device.free_bytes());
  if (bytes == 0) {
    throw std::runtime_error{"too little memory is free on the GPU: end what else uses it"};
  }
  const int samples = static_cast<int>(o.samples);
  std::string notes;
  if (!device.clock_error().empty()) {
    notes = "no clock was read, and rates hold at whatever it was: " + device.clock_error() + '\n';
  }
  std::vector<measurement> all = measure_streams(device, bytes, samples);
  const std::vector<measurement> products = measure_products(device, o.order, samples, notes);
  all.insert(all.end(), products.begin(), products.end());

  const std::string host = varve::cli::host_name();
  const std::string name = !o.name.empty() ? o.name : about.name + (host.empty() ? "" : " (" + host + ')');
  const std::string how = "varve-calibrate-gpu: medians of up to " + std::to_string(samples) +
                          " runs; arrays of " + std::to_string(bytes / mebi) +
                          " MiB; products of matrices of order " + std::to_string(o.order) + " by cuBLAS " +
                          std::to_string(cublasLtGetVersion());
  const varve::ceilings measured = ceilings_from(all, about, name, how);
  const std::string document = with_samples(varve::to_json(measured), all);
  varve::cli::write_file(file, document);
  if (o.json) {
    varve::cli::write_standard_error(notes);
  }
  varve::cli::write_standard_output(
      o.json ? document
             : name + "\n\n" + to_table(measured, all, varve::find_ceilings(about)) + notes + "kept in " +
                   file + "; use: varve report TRACE --device " + file + '\n');
}

}  // namespace

int main(int argc, char** argv) {
  const auto say = [](const std::exception& e) { std::cerr << "varve-calibrate-gpu: " << e.what() << '\n'; };
  try {
    const options o = parse(argc, argv);
    if (o.help) {
      std::cout << help;
      return success;
    }
    calibrate(o);
    return success;
  } catch (const std::invalid_argument& e) {
    say(e);
    return usage;
  } catch (const no_gpu& e) {
    say(e);
    return without_gpu;
  } catch (const varve::cli::output_error& e) {
    say(e);
    return unwritable;
  } catch (const std::exception& e) {
    say(e);
    return failed;
  }
}
