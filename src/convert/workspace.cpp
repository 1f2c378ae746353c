#include "convert/workspace.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <tendril/error.hpp>
#include <tendril/file.hpp>  // atomic_file

#include "base/checksum.hpp"
#include "base/file_room.hpp"
#include "formats/mapped_file.hpp"

namespace tendril::convert {
namespace {

using json = nlohmann::json;
constexpr char const* record_name = "record.json";
constexpr int record_version = 2;

json to_json(file_record const& file)
{
  return {{"name", file.name}, {"bytes", file.num_bytes}, {"crc32", file.checksum}};
}

file_record to_file(json const& from) { return {from.at("name"), from.at("bytes"), from.at("crc32")}; }

json to_json(run_record const& run)
{
  return {{"file", to_json(run.file)}, {"rows", run.num_rows},
          {"arcs", run.num_arcs},      {"offset", run.end.offset},
          {"line", run.end.line},      {"edges", run.end.edges},
          {"ids", run.num_ids},        {"largest_label", run.largest_label}};
}

run_record to_run(json const& from)
{
  return {to_file(from.at("file")), from.at("rows"),
          from.at("arcs"),          {from.at("offset"), from.at("line"), from.at("edges")},
          from.at("ids"),           from.at("largest_label")};
}

/// Names that a conversion gives its files.
bool is_own(std::string const& name)
{
  return name.starts_with("run-") || name.starts_with("part-") || name.starts_with(record_name);
}

}  // namespace

workspace::workspace(std::string const& output, std::map<std::string, std::string> job, bool restart)
    : folder_(output + ".unfinished"), job_(std::move(job))
{
  std::error_code failure;
  std::filesystem::create_directory(folder_, failure);
  lock_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0) {
    throw io_error(fmt::format("{}: cannot create: {}", folder_, failure ? failure.message() : std::strerror(errno)));
  }
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    close(lock_);
    throw io_error(
        fmt::format("{}: another process works there, expected one conversion to {} at a time", folder_, output));
  }
  if (restart || !load()) {
    record = {};
    remove_files();
    save();
  }
}

workspace::~workspace() { close(lock_); }

void workspace::save() const
{
  json document{{"version", record_version},    {"job", job_},
                {"runs", json::array()},        {"is_read", record.is_read},
                {"parts", json::array()},       {"num_vertices", record.num_vertices},
                {"num_edges", record.num_edges}};
  auto const& encoded = record.encoded;
  document["encoded"] = {{"vertex", encoded.vertex}, {"edges", encoded.num_edges}, {"parts", json::array()}};
  for (auto const& part : encoded.parts) { document["encoded"]["parts"].push_back(to_json(part)); }
  for (auto const& run : record.runs) { document["runs"].push_back(to_json(run)); }
  for (auto const& part : record.parts) { document["parts"].push_back(to_json(part)); }
  std::string const text = document.dump(1, ' ', false, json::error_handler_t::replace);
  atomic_file file(path_of(record_name));
  file.write(text.data(), text.size());
  file.commit();
}

bool workspace::load()
{
  std::ifstream file(path_of(record_name));
  if (!file) { return false; }
  try {
    json const document = json::parse(file);
    // Names may hold any bytes: compare as they were written.
    json const own = json::parse(json(job_).dump(-1, ' ', false, json::error_handler_t::replace));
    if (document.at("version") != record_version || document.at("job") != own) { return false; }
    for (json const& run : document.at("runs")) { record.runs.push_back(to_run(run)); }
    record.is_read = document.at("is_read");
    for (json const& part : document.at("parts")) { record.parts.push_back(to_file(part)); }
    record.num_vertices = document.at("num_vertices");
    record.num_edges = document.at("num_edges");
    json const& encoded = document.at("encoded");
    record.encoded.vertex = encoded.at("vertex");
    record.encoded.num_edges = encoded.at("edges");
    for (json const& part : encoded.at("parts")) { record.encoded.parts.push_back(to_file(part)); }
  } catch (json::exception const&) {
    return false;
  }
  // What the disk lost is made again, with all that follows from it.
  for (auto const& part : record.parts) {
    if (is_intact(part)) { continue; }
    record.parts.clear();
    break;
  }
  if (!record.parts.empty()) { return true; }  // the runs may be gone
  for (std::size_t i = 0; i < record.runs.size(); ++i) {
    if (is_intact(record.runs[i].file)) { continue; }
    record.runs.resize(i);
    record.is_read = false;
    record.encoded = {};
  }
  auto const& begun = record.encoded.parts;
  if (!std::ranges::all_of(begun, [&](file_record const& part) { return is_intact(part, false); })) {
    record.encoded = {};
  }
  return true;
}

bool workspace::is_intact(file_record const& file, bool is_complete) const
{
  std::string const path = path_of(file.name);
  std::error_code failure;
  auto const size = std::filesystem::file_size(path, failure);
  if (!is_own(file.name) || failure || file.num_bytes < 0) { return false; }
  auto const expected = static_cast<std::uintmax_t>(file.num_bytes);
  if (is_complete ? size != expected : size < expected) { return false; }
  auto const mapped = formats::mapped_file::open(path);
  constexpr std::size_t piece = std::size_t{1} << 22U;
  std::uint32_t sum = 0;
  for (std::size_t at = 0; at < expected; at += piece) {
    sum = base::checksum_after(sum, mapped->bytes().data() + at, std::min<std::size_t>(piece, expected - at));
    mapped->release_pages();
  }
  return sum == file.checksum;
}

void workspace::remove_file(std::string const& name) const { unlink(path_of(name).c_str()); }

void workspace::remove_files() const
{
  std::error_code failure;
  for (auto const& entry : std::filesystem::directory_iterator(folder_, failure)) {
    if (is_own(entry.path().filename().string())) { unlink(entry.path().c_str()); }
  }
}

void workspace::remove()
{
  remove_files();
  rmdir(folder_.c_str());  // stays if somebody put other files there
}

work_file::work_file(workspace const& space, std::string name)
    : space_(&space), record_{std::move(name)}, file_(std::fopen(space.path_of(record_.name).c_str(), "wbe"))
{
  if (file_ == nullptr) { fail(); }
  std::setvbuf(file_, nullptr, _IOFBF, std::size_t{1} << 18U);
}

work_file::work_file(workspace const& space, file_record kept)
    : space_(&space),
      record_(std::move(kept)),
      file_(std::fopen(space.path_of(record_.name).c_str(), "r+be")),
      is_kept_(true)
{
  if (file_ == nullptr) { fail(); }
  std::setvbuf(file_, nullptr, _IOFBF, std::size_t{1} << 18U);
  if (ftruncate(fileno(file_), record_.num_bytes) != 0 || std::fseek(file_, 0, SEEK_END) != 0) {
    int const reason = errno;
    std::fclose(std::exchange(file_, nullptr));
    errno = reason;
    fail();
  }
}

work_file::~work_file()
{
  if (file_ == nullptr) { return; }
  std::fclose(file_);
  if (!is_kept_) { space_->remove_file(record_.name); }
}

void work_file::fail()
{
  throw io_error(fmt::format("{}: cannot write: {}", space_->path_of(record_.name), std::strerror(errno)));
}

void work_file::write(void const* data, std::size_t size)
{
  if (size == 0) { return; }
  base::expect_file_size(space_->path_of(record_.name), record_.num_bytes + static_cast<std::int64_t>(size),
                         base::file_size_limit());
  if (std::fwrite(data, 1, size, file_) != size) { fail(); }
  record_.num_bytes += static_cast<std::int64_t>(size);
  record_.checksum = base::checksum_after(record_.checksum, data, size);
}

file_record work_file::keep()
{
  if (std::fflush(file_) != 0) { fail(); }
  is_kept_ = true;
  return record_;
}

file_record work_file::close()
{
  if (std::fclose(std::exchange(file_, nullptr)) != 0) {
    int const reason = errno;
    if (!is_kept_) { space_->remove_file(record_.name); }
    errno = reason;
    fail();
  }
  return record_;
}

}  // namespace tendril::convert
