// Messages between the processes of an MPI job: each is one non-blocking send of its blocks. The receiver looks for what has
// come, and takes in several at a time.

#include <algorithm>
#include <list>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <mpi.h>

#include <tendril/error.hpp>
#include <tendril/mpi.hpp>

namespace tendril {
namespace {

constexpr int the_tag = 7;

void check(int code, char const* what)
{
  if (code == MPI_SUCCESS) { return; }
  char text[MPI_MAX_ERROR_STRING] = {};
  int size = 0;
  MPI_Error_string(code, text, &size);
  throw io_error(fmt::format("MPI: {}: {}", what, text));
}

class mpi_engine final : public message_engine {
 public:
  mpi_engine()
  {
    check(MPI_Comm_dup(MPI_COMM_WORLD, &job_), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(job_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(job_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(job_, &size_), "MPI_Comm_size");
    // Counts are ints: of blocks they reach 128 GiB.
    check(MPI_Type_contiguous(sizeof(message_header), MPI_BYTE, &block_), "MPI_Type_contiguous");
    check(MPI_Type_commit(&block_), "MPI_Type_commit");
  }

  ~mpi_engine() override
  {
    // What is still on its way belongs to ranks that don't listen any more.
    for (transfer& t : going_) { MPI_Request_free(&t.request); }
    for (transfer& t : coming_) {
      MPI_Cancel(&t.request);
      MPI_Request_free(&t.request);
    }
    // MPI may still read the messages until it is finalised.
    for (transfer& t : going_) { (void)new message(std::move(t.content)); }  // NOLINT
    MPI_Type_free(&block_);
  }

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }

  void send(int to, message sent, message_pool& pool) override
  {
    collect(pool);
    going_.push_back({std::move(sent), MPI_REQUEST_NULL});
    transfer& t = going_.back();
    check(
        MPI_Isend(t.content.blocks(), static_cast<int>(t.content.num_blocks()), block_, to, the_tag, job_, &t.request),
        "MPI_Isend");
  }

  [[nodiscard]] std::optional<message> receive(message_pool& pool) override
  {
    for (;;) {
      int there = 0;
      MPI_Message found = MPI_MESSAGE_NULL;
      MPI_Status status;
      check(MPI_Improbe(MPI_ANY_SOURCE, the_tag, job_, &there, &found, &status), "MPI_Improbe");
      if (there == 0) { break; }
      int blocks = 0;
      check(MPI_Get_count(&status, block_, &blocks), "MPI_Get_count");
      auto const room = std::max<std::int64_t>(blocks - 1, 0) * static_cast<std::int64_t>(sizeof(message_header));
      coming_.push_back({pool.take(room), MPI_REQUEST_NULL});
      transfer& t = coming_.back();
      check(MPI_Imrecv(t.content.blocks(), blocks, block_, &found, &t.request), "MPI_Imrecv");
    }
    for (auto t = coming_.begin(); t != coming_.end(); ++t) {
      if (!is_done(*t)) { continue; }
      std::optional<message> out(std::move(t->content));
      coming_.erase(t);
      return out;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool all_sent(message_pool& pool) override
  {
    collect(pool);
    return going_.empty();
  }

 private:
  struct transfer {
    message content;
    MPI_Request request;
  };

  static bool is_done(transfer& t)
  {
    int done = 0;
    check(MPI_Test(&t.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  }

  void collect(message_pool& pool)
  {
    for (auto t = going_.begin(); t != going_.end();) {
      if (is_done(*t)) {
        pool.give_back(std::move(t->content));
        t = going_.erase(t);
      } else {
        ++t;
      }
    }
  }

  MPI_Comm job_ = MPI_COMM_NULL;
  MPI_Datatype block_ = MPI_DATATYPE_NULL;
  int rank_ = 0, size_ = 1;
  std::list<transfer> going_, coming_;
};

}  // namespace

bool has_mpi() noexcept { return true; }

mpi_session::mpi_session(transport::seconds deadline)
{
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (initialised == 0) {
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    initialised_here_ = true;
  }
  ranks_ = std::make_unique<transport>(std::make_unique<mpi_engine>(), deadline);
}

mpi_session::~mpi_session()
{
  ranks_->leave();
  // A rank that does not answer would not come to MPI_Finalize, either.
  bool const aborts = ranks_->has_failed() && !ranks_->all_ended();
  ranks_.reset();
  if (!initialised_here_) { return; }
  if (aborts) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  } else {
    MPI_Finalize();
  }
}

}  // namespace tendril
