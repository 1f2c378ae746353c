#include "convert/fit_edges.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include <tendril/checked.hpp>

#include "base/parallel.hpp"  // parallel_ranges
#include "place/narrow.hpp"

namespace tendril::convert {
namespace {

constexpr std::int64_t piece = std::int64_t{1} << 20U;  // numbers between two calls of on_progress

class edge_fitter {
 public:
  edge_fitter(workspace const& space, std::vector<std::shared_ptr<formats::mapped_file const>>& files,
              cpu_exec const& exec)
      : space_(space), files_(files), exec_(exec)
  {
  }

  template <class Number>
  packed_array pack(char const* name, std::int64_t size, int width, Number const& number) const
  {
    auto const bits = static_cast<std::uint32_t>(width);
    std::int64_t const num_words = packed_numbers::num_words(size, bits);
    work_file file(space_, file_name(name));
    std::vector<std::uint32_t> words;
    for (std::int64_t first = 0; first < size; first += piece) {
      if (exec_.on_progress) { exec_.on_progress({"encoding", first, size}); }
      std::int64_t const here = std::min(piece, size - first);
      std::int64_t const bits_here = checked_product("bits of a piece", here, width);
      words.assign(static_cast<std::size_t>((bits_here + 31) / 32), 0);
      base::parallel_ranges(exec_, here, place::packed_at_once, [&](std::int64_t begin, std::int64_t end) {
        place::pack_range(first + begin, first + end, bits, number, words.data() + (begin / 32) * width);
      });
      file.write(std::span<std::uint32_t const>(words));
    }
    words.assign(static_cast<std::size_t>(num_words - file.num_bytes() / 4), 0);
    file.write(std::span<std::uint32_t const>(words));
    file.close();
    return {mapped<std::uint32_t>(name), size, bits};
  }

  /// [size] numbers of an array, in a file.
  template <class T, class Number>
  shared_array<T> unpacked(char const* name, std::int64_t size, Number const& number) const
  {
    work_file file(space_, file_name(name));
    std::vector<T> out;
    for (std::int64_t first = 0; first < size; first += piece) {
      if (exec_.on_progress) { exec_.on_progress({"unpacking", first, size}); }
      out.resize(static_cast<std::size_t>(std::min(piece, size - first)));
      base::parallel_ranges(exec_, std::ssize(out), place::packed_at_once, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          out[static_cast<std::size_t>(i)] = static_cast<T>(number(first + i));
        }
      });
      file.write(std::span<T const>(out));
    }
    file.close();
    return mapped<T>(name);
  }

 private:
  [[nodiscard]] static std::string file_name(char const* array) { return std::string("part-fitted-") + array; }

  template <class T>
  shared_array<T> mapped(char const* name) const
  {
    auto const file = formats::mapped_file::open(space_.path_of(file_name(name)));
    files_.push_back(file);
    return {std::span(reinterpret_cast<T const*>(file->bytes().data()), file->bytes().size() / sizeof(T)), file};
  }

  workspace const& space_;
  std::vector<std::shared_ptr<formats::mapped_file const>>& files_;
  cpu_exec const& exec_;
};

}  // namespace

void fit_edges(graph_arrays& arrays, workspace const& space,
               std::vector<std::shared_ptr<formats::mapped_file const>>& files, cpu_exec const& exec)
{
  edge_fitter const fitter(space, files, exec);
  if (arrays.compressed.words.empty()) {
    place::widen(arrays, [&]<class T>(T, char const* name, std::int64_t size, auto const& number) {
      return fitter.unpacked<T>(name, size, number);
    });
    return;
  }
  place::narrow_plan const plan = place::narrow_plan::of(arrays, place::edge_facts::of(arrays, exec));
  place::narrow(arrays, plan, plan.dictionary.slots().data(),
                [&](char const* name, std::int64_t size, int width, auto const& number) {
                  return fitter.pack(name, size, width, number);
                });
}

}  // namespace tendril::convert
