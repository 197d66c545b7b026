/*
 * io: what disks are asked to do, and threads that wait for it.
 *
 * start is when a request is given to the driver, done when all of it has ended. Disks that have no
 * requests (device mapper, RAID, RAM disks; no mq_ops) get bios: there start is when one is
 * submitted, and done when it ends. A bio for a disk with requests becomes part of one, and does
 * not count by itself. A logical volume and the disk below it are two disks, and each has its
 * probes, as each has a line in /proc/diskstats.
 *
 * wait-start and wait-done are about a thread that sleeps until some I/O is done (what makes
 * "iowait"). The kernel does not say which, so their arguments are empty. A thread that was asleep
 * before tracing began is not seen to come back.
 */
#include "probe/providers/stable.h"

/* native arguments: bio, device, request, status + 1, bytes; lib/io.d knows them too */
#define IO_ARGS                                                                                    \
	{                                                                                          \
		{2, "struct __iobuf *", "bufinfo_t *"},                                            \
		    {1, "struct block_device *", "devinfo_t *"},                                   \
		{                                                                                  \
			0, "struct bio *", "fileinfo_t *"                                          \
		}                                                                                  \
	}

#define PART "args[0]->part != NULL ? (uint64_t)args[0]->part : (uint64_t)args[0]->q->disk->part0"
#define REQUEST(status)                                                                            \
	{                                                                                          \
		"(uint64_t)args[0]->bio", PART, "arg0", status, "args[0]->__data_len"              \
	}
#define BIO(bio, status)                                                                           \
	{                                                                                          \
		"(uint64_t)" bio, "(uint64_t)" bio "->bi_bdev", "0", status,                       \
		    bio "->bi_iter.bi_size"                                                        \
	}
#define NO_REQUESTS(bio) bio "->bi_bdev->bd_disk->queue->mq_ops == NULL"

/* A driver that has no room gives a request back, and gets it once more. */
#define GIVEN_BACK "(dt_io_back[arg0] = 1, 0)"
#define FIRST_TIME "dt_io_back[arg0] ? (dt_io_back[arg0] = 0, 0) : 1"

/*
 * A request may end in parts. Around a write that must not pass others the kernel puts flushes,
 * requests of their own, and ends the write once more when all of it is over, empty then.
 */
#define ENDS                                                                                       \
	"args[2] >= args[0]->__data_len && (args[0]->__data_len != 0 || (args[0]->cmd_flags & "    \
	"0xff) > 1)"

/* the thread that sched_switch leaves: not preempted, but asleep until I/O is done */
#define FALLS_ASLEEP "args[1]->in_iowait && !args[0] && args[3] != 0"

static const dt_stable_probe rows[] = {
    {"start", .args = IO_ARGS,
     .sites = {AT(TRACEPOINT, "block_rq_requeue", .when = GIVEN_BACK),
	       AT(TRACEPOINT, "block_rq_issue", .when = FIRST_TIME, .arg = REQUEST("0")),
	       AT(TRACEPOINT, "block_bio_queue", .when = NO_REQUESTS("args[0]"),
		  .arg = BIO("args[0]", "0"))}},
    {"done", .args = IO_ARGS,
     .sites = {AT(TRACEPOINT, "block_rq_complete", .when = ENDS, .arg = REQUEST("args[1] + 1")),
	       AT(TRACEPOINT, "block_bio_complete", .when = NO_REQUESTS("args[1]"),
		  .arg = BIO("args[1]", "args[1]->bi_status + 1"))}},
    {"wait-start", .args = IO_ARGS,
     .sites = {AT(TRACEPOINT, "sched_switch", .when = FALLS_ASLEEP)}},
    {"wait-done", /* what is never 0 again is not given back, and need not be had again */ .args = IO_ARGS,
     .sites = {AT(TRACEPOINT, "sched_switch",
		  .when = FALLS_ASLEEP " ? (self->dt_io_wait = 2, 0) : 0"),
	       AT(TRACEPOINT, "sched_switch", .task_arg = 3,
		  .when = "self->dt_io_wait == 2 ? (self->dt_io_wait = 1, 1) : 0")}},
};

DT_STABLE_PROVIDER(io, "io", 40200, rows, DT_STABLE_EVOLVING);
