#include <tendril/features.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <tendril/checked.hpp>
#include <tendril/several_gpus.hpp>  // spread_rows

#include "base/expects.hpp"
#include "formats/array_view.hpp"  // dtype, size_of, to_string

namespace tendril {
namespace {

std::int64_t element_bytes(std::string const& type)
{
  for (int i = 0; i < static_cast<int>(formats::dtype::other); ++i) {
    auto const known = static_cast<formats::dtype>(i);
    if (type == formats::to_string(known)) { return formats::size_of(known); }
  }
  throw argument_error(
      fmt::format("features of type '{}', expected bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32 or "
                  "float64",
                  type));
}

std::int64_t bytes_of_row(feature_rows const& rows)
{
  std::int64_t bytes = element_bytes(rows.type);
  std::span<std::int64_t const> const extents = std::span(rows.shape).subspan(1);
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) { return 0; }  // whatever the others are
  for (std::int64_t const extent : extents) { bytes = checked_product("bytes of a row of features", bytes, extent); }
  return bytes;
}

/// Bytes from the beginning of the first row to the end of the last one.
std::int64_t extent_of(std::int64_t num_rows, std::int64_t row_stride, std::int64_t row_bytes)
{
  if (num_rows == 0) { return 0; }
  return checked_sum("bytes of a feature table", checked_product("bytes of a feature table", num_rows - 1, row_stride),
                     row_bytes);
}

}  // namespace

feature_table::feature_table(std::span<std::byte const> bytes, feature_rows rows, std::shared_ptr<void const> owner,
                             bool mapped)
    : data_(bytes.data()), rows_(std::move(rows)), owner_(std::move(owner))
{
  TENDRIL_EXPECTS(!rows_.shape.empty(), "features without dimensions, expected rows");
  for (std::int64_t const extent : rows_.shape) {
    TENDRIL_EXPECTS(extent >= 0, "features with an extent of {}, expected 0 or more", extent);
  }
  row_bytes_ = bytes_of_row(rows_);
  (void)checked_product("bytes of a feature table", num_rows(), row_bytes_);
  if (rows_.row_stride == 0) { rows_.row_stride = row_bytes_; }
  TENDRIL_EXPECTS(rows_.row_stride >= row_bytes_, "{} bytes from one row of features to the next, expected at least {}",
                  rows_.row_stride, row_bytes_);
  std::int64_t const extent = extent_of(num_rows(), rows_.row_stride, row_bytes_);
  TENDRIL_EXPECTS(std::ssize(bytes) >= extent, "{} bytes of features, expected at least {} for {} rows of {}",
                  bytes.size(), extent, num_rows(), row_bytes_);
  if (mapped) { misses_pages_ = std::make_shared<std::atomic<bool>>(true); }
}

feature_table feature_table::on_gpu(int device, std::span<std::byte const> bytes, feature_rows rows,
                                    std::shared_ptr<void const> owner)
{
  feature_table table(bytes, std::move(rows), std::move(owner));
  table.device_ = device;
  return table;
}

feature_table feature_table::over_gpus(std::shared_ptr<spread_rows const> spread, std::span<std::byte const> bytes,
                                       feature_rows rows)
{
  feature_table table = on_gpu(spread->devices[0], bytes, std::move(rows), spread);
  table.spread_ = std::move(spread);
  return table;
}

bool feature_table::is_on_gpu(int device) const noexcept
{
  if (device < 0) { return false; }
  return spread_ == nullptr ? device_ == device : std::ranges::count(spread_->devices, device) > 0;
}

std::span<std::byte const> feature_table::bytes() const noexcept
{
  if (num_rows() == 0) { return {}; }
  return {data_, static_cast<std::size_t>((num_rows() - 1) * row_stride() + row_bytes_)};
}

}  // namespace tendril
