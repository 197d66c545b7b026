/*
 * io: requests to disks, and threads that wait for them.
 *
 * start fires when a request is given to the driver, done when all of it has ended. Disks that have
 * no requests (device mapper, RAID, RAM disks; no mq_ops) get bios: there start fires when one is
 * submitted, and done when it ends. A bio for a disk with requests becomes part of one, and does
 * not count separately. A logical volume and the disk below it are two disks, and each fires its
 * probes, as each has a line in /proc/diskstats.
 *
 * wait-start and wait-done are about a thread that sleeps until some I/O is done (what makes
 * "iowait"). The kernel does not say which; it is assumed to be the last one that the thread itself
 * issued, if that has not ended. A thread that waits for I/O of others (a page that is being
 * written, the journal) has none, and neither has one whose bio ends on another CPU while it is
 * going to sleep: the memory of a bio may be reused as soon as it has ended. The arguments of a
 * wait are determined once and kept, so that wait-start and wait-done agree. For a thread that was
 * asleep before tracing began, wait-done does not fire.
 */
#include "probe/providers/stable.h"

/*
 * native arguments: bio, device, request, status + 1, bytes, operation, sector, page, what is
 * called at the end, and with what. Above the 32 bits of the operation is where in the page the
 * bytes begin. lib/io.d uses the same.
 */
#define IO_ARGS                                                                                    \
	{                                                                                          \
		{2, "struct __iobuf *", "bufinfo_t *"},                                            \
		    {1, "struct block_device *", "devinfo_t *"},                                   \
		{                                                                                  \
			7, "struct __iofile *", "fileinfo_t *"                                     \
		}                                                                                  \
	}

/* The first bytes of a bio; a flush has none. A vector may be of many pages. */
#define VECTOR(bio) bio "->bi_io_vec[" bio "->bi_iter.bi_size == 0 ? 0 : " bio "->bi_iter.bi_idx]"
#define OPERATION(opf, bio)                                                                        \
	opf " | (" bio " == NULL || " bio                                                          \
	    "->bi_io_vec == NULL ? 0 : (uint64_t)(" VECTOR(bio) ".bv_offset & 4095) << 32)"
#define PAGE(bio)                                                                                  \
	bio "->bi_io_vec == NULL ? 0 : (uint64_t)(" VECTOR(bio) ".bv_page + (" VECTOR(             \
	    bio) ".bv_offset >> 12))"
#define AT_END(bio) "(uint64_t)" bio "->bi_end_io", "(uint64_t)" bio "->bi_private"

#define PART "args[0]->part != NULL ? (uint64_t)args[0]->part : (uint64_t)args[0]->q->disk->part0"
#define REQUEST(status)                                                                            \
	{                                                                                          \
		"(uint64_t)args[0]->bio", PART, "arg0", status, "args[0]->__data_len",             \
		    OPERATION("args[0]->cmd_flags", "args[0]->bio"), "args[0]->__sector",          \
		    PAGE("args[0]->bio"), AT_END("args[0]->bio")                                   \
	}
#define BIO(bio, status)                                                                           \
	{                                                                                          \
		"(uint64_t)" bio, "(uint64_t)" bio "->bi_bdev", "0", status,                       \
		    bio "->bi_iter.bi_size", OPERATION(bio "->bi_opf", bio),                       \
		    bio "->bi_iter.bi_sector", PAGE(bio), AT_END(bio)                              \
	}
#define NO_REQUESTS(bio) bio "->bi_bdev->bd_disk->queue->mq_ops == NULL"

/* A driver whose queue is full returns a request, and gets it again later. One that was returned before the driver
 * had it (its state is still idle, 0) has not been started yet. */
#define GIVEN_BACK "args[0]->state != 0 && (dt_io_back[arg0] = 1, 0)"
#define FIRST_TIME "dt_io_back[arg0] ? (dt_io_back[arg0] = 0, 0) : 1"

/*
 * A request may end in parts. Around a write that must be ordered the kernel issues flushes as
 * separate requests, and completes the write a second time, empty, when all are done.
 */
#define ENDS                                                                                       \
	"args[2] >= args[0]->__data_len && (args[0]->__data_len != 0 || (args[0]->cmd_flags & "    \
	"0xff) > 1)"

/* the thread that sched_switch leaves: not preempted, but asleep until I/O is done */
#define FALLS_ASLEEP "args[1]->in_iowait && !args[0] && args[3] != 0"

/* The last bio of a thread, and its owner until it ends: the memory of one that has ended may be
 * another bio by now. */
#define NOTE_BIOS                                                                                  \
	AT(TRACEPOINT, "block_bio_queue",                                                          \
	   .when = "(self->dt_io_bio = arg0, self->dt_io_nth = (uint64_t)0, "                      \
		   "dt_io_of[arg0] = (uint64_t)curthread, 0)"),                            \
	    AT(TRACEPOINT, "block_bio_complete",                                                   \
	       .when = "dt_io_of[arg1] != 0 && (dt_io_of[arg1] = 0, 0)")
#define IS_MINE "(self->dt_io_bio != 0 && dt_io_of[self->dt_io_bio] == (uint64_t)curthread)"
#define MINE	"((struct bio *)self->dt_io_bio)"

/* Kept until the thread comes back. If one of them cannot be read, the device stays 0, which means
 * that nothing is known. Both probes do it, the first one for both: nvcsw counts the sleeps of the
 * thread. */
#define STORE(v, text) "self->dt_io_" v " = " text ", "
#define KEEP                                                                                       \
	"(self->dt_io_nth == args[1]->nvcsw ? 0 : (self->dt_io_nth = args[1]->nvcsw, "             \
	STORE("dev", "(uint64_t)0") IS_MINE                                                        \
	" ? (" STORE("bytes", MINE "->bi_iter.bi_size")                                            \
	STORE("op", OPERATION(MINE "->bi_opf", MINE))                                              \
	STORE("sector", MINE "->bi_iter.bi_sector")                                                \
	STORE("page", PAGE(MINE))                                                                  \
	STORE("end", "(uint64_t)" MINE "->bi_end_io")                                              \
	STORE("with", "(uint64_t)" MINE "->bi_private")                                            \
	STORE("dev", "(uint64_t)" MINE "->bi_bdev") "0) : 0))"
#define KEPT(v) "self->dt_io_dev ? self->dt_io_" v " : 0"
#define WAIT_ARGS(bio, status)                                                                     \
	{                                                                                          \
		bio, "self->dt_io_dev", "0", status, KEPT("bytes"), KEPT("op"), KEPT("sector"),    \
		    KEPT("page"), KEPT("end"), KEPT("with")                                        \
	}

static const dt_stable_probe rows[] = {
    {"start", .args = IO_ARGS,
     .sites = SITES(AT(TRACEPOINT, "block_rq_requeue", .when = GIVEN_BACK),
		    AT(TRACEPOINT, "block_rq_issue", .when = FIRST_TIME, .arg = REQUEST("0")),
		    AT(TRACEPOINT, "block_bio_queue", .when = NO_REQUESTS("args[0]"),
		       .arg = BIO("args[0]", "0")))},
    {"done", .args = IO_ARGS,
     .sites = SITES(AT(TRACEPOINT, "block_rq_complete", .when = ENDS, .arg = REQUEST("args[1] + 1")),
		    AT(TRACEPOINT, "block_bio_complete", .when = NO_REQUESTS("args[1]"),
		       .arg = BIO("args[1]", "args[1]->bi_status + 1")))},
    {"wait-start", .args = IO_ARGS,
     .sites = SITES(NOTE_BIOS, AT(TRACEPOINT, "sched_switch", .when = FALLS_ASLEEP " ? (" KEEP ", 1) : 0",
				  .arg = WAIT_ARGS(KEPT("bio"), "0")))},
    /* a variable that is never 0 again is not freed, and need not be allocated again */
    {"wait-done", .args = IO_ARGS,
     .sites = SITES(NOTE_BIOS, AT(TRACEPOINT, "sched_switch", .when = FALLS_ASLEEP " ? (" KEEP ", self->dt_io_wait = 2, 0) : 0"),
		    AT(TRACEPOINT, "sched_switch", .task_arg = 3,
		       .when = "self->dt_io_wait == 2 ? (self->dt_io_wait = 1, 1) : 0",
		       .arg = WAIT_ARGS("0", "self->dt_io_dev != 0")))},
};

DT_STABLE_PROVIDER(io, "io", rows, DT_STABLE_EVOLVING);
