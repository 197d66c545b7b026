/*
 * vminfo: the counters of virtual memory, as probes. Names are those of DTrace; arg0 is the
 * increment.
 *
 * Page faults. The processor's fault (tracepoints page_fault_user, page_fault_kernel, which not every CPU
 * has; else the kernel's functions) tells the cause; that it was resolved, and whether that took a device, is known at its end, from the
 * software counters that getrusage() and perf use. So the first saves data for the second: as_fault
 * and cow_fault together are all resolved faults.
 *
 * Pages. Pages read from and written to devices are seen in the queue of the block layer, where
 * Linux also counts pgpgin and pgpgout; pages that the kernel reclaims, in its scanning of pages.
 */
#include "arch/dtext.h"
#include "probe/providers/counter.h"

/* Was the fault a write to a present page? */
#define NOTE_KIND                                                                                   \
	AT(TRACEPOINT, "page_fault_user", .when = "(self->dt_vminfo_write = " DT_FAULT_IS_WRITE ", 0)"),      \
	    ELSE(FUNC_ENTRY, "handle_mm_fault", .when = "(self->dt_vminfo_write = 0, 0)"),                    \
	    AT(TRACEPOINT, "page_fault_kernel",                                                   \
	       .when = "(self->dt_vminfo_write = " DT_FAULT_IS_WRITE ", 0)"),                                 \
	    ELSE(FUNC_ENTRY, "do_wp_page", .when = "(self->dt_vminfo_write = 1, 0)")
#define MINOR(...) AT(PERF, "minor faults", .number = 5 /* PERF_COUNT_SW_PAGE_FAULTS_MIN */, ##__VA_ARGS__)
#define MAJOR(...) AT(PERF, "major faults", .number = 6 /* PERF_COUNT_SW_PAGE_FAULTS_MAJ */, ##__VA_ARGS__)

/* Pages for processes, of zeros: __GFP_ZERO | __GFP_MOVABLE; large ones are zeroed later:
 * __GFP_COMP | __GFP_NOMEMALLOC | __GFP_MOVABLE. Kernel threads (khugepaged) have no mm. */
#define ZEROED                                                                                     \
	"((args[2] & 0x108) == 0x108 || (args[2] & 0xc0008) == 0xc0008) && curthread->mm != 0 && arg0 != 0"

/* It belongs to a file if its mapping is aligned (anonymous memory and others mark it). */
#define OF_FILE "((uint64_t)" HEAD "->mapping & 3) == 0 && " HEAD "->mapping != 0"
#define PAGES	"(args[0]->bi_iter.bi_size + 4095) / 4096"

/* mm_vmscan_lru_shrink_inactive(node, scanned, reclaimed, stat, priority, file) */
#define FREED(...) AT(TRACEPOINT, "mm_vmscan_lru_shrink_inactive", __VA_ARGS__, COUNT("args[2]"))

/*
 * Swap, as Linux counts pswpin and pswpout: what goes to a device, not what zswap keeps in memory. Going out, the request says
 * so. Coming in, its page is one for swap and has no owner yet; memory that a process reads into directly has one.
 */
#define TO_SWAP	  WRITE " && (args[0]->bi_opf & 1 << __REQ_SWAP)"
#define FROM_SWAP                                                                                  \
	READ " && " HEAD "->mapping == NULL && ((" HEAD "->flags.f ?? " HEAD "->flags) & 1 << PG_swapbacked)"

static const dt_stable_probe rows[] = {
    {"as_fault", COUNTER, .sites = SITES(NOTE_KIND, MINOR(.when = "!self->dt_vminfo_write", COUNT("1")), MAJOR(.when = "!self->dt_vminfo_write", COUNT("1")))},
    {"cow_fault", COUNTER, .sites = SITES(NOTE_KIND, MINOR(.when = "self->dt_vminfo_write", COUNT("1")), MAJOR(.when = "self->dt_vminfo_write", COUNT("1")))},
    {"maj_fault", COUNTER, .sites = SITES(MAJOR(COUNT("1")))},
    /* SIGSEGV for an access that the mapping does not allow: SEGV_ACCERR, SEGV_PKUERR */
    {"prot_fault",
     COUNTER,
     .sites = SITES(AT(TRACEPOINT, "signal_generate",
		       .when = "args[0] == 11 && (uint64_t)args[1] > 1 && (args[1]->si_code == 2 || args[1]->si_code == 4) && args[2] == curthread",
		       COUNT("1")))},
    {"kernel_asflt", COUNTER, .sites = SITES(AT(TRACEPOINT, "page_fault_kernel", .when = "(int64_t)args[0] < 0", COUNT("1")))},
    {"zfod", COUNTER, .sites = SITES(AT(TRACEPOINT, "mm_page_alloc", .when = ZEROED, COUNT("1 << args[1]")))},
    {"pgin", COUNTER, .sites = SITES(BIO(READ, COUNT("1")))},
    {"pgpgin", COUNTER, .sites = SITES(BIO(READ, COUNT(PAGES)))},
    {"pgout", COUNTER, .sites = SITES(BIO(WRITE, COUNT("1")))},
    {"pgpgout", COUNTER, .sites = SITES(BIO(WRITE, COUNT(PAGES)))},
    {"fspgin", COUNTER, .sites = SITES(BIO(READ " && " OF_FILE, COUNT(PAGES)))},
    {"fspgout", COUNTER, .sites = SITES(BIO(WRITE " && " OF_FILE, COUNT(PAGES)))},
    {"anonpgin", COUNTER, .sites = SITES(BIO(FROM_SWAP, COUNT(PAGES)))},
    {"anonpgout", COUNTER, .sites = SITES(BIO(TO_SWAP, COUNT(PAGES)))},
    {"pgswapin", COUNTER, .sites = SITES(BIO(FROM_SWAP, COUNT(PAGES)))},
    {"pgswapout", COUNTER, .sites = SITES(BIO(TO_SWAP, COUNT(PAGES)))},
    {"pgrec", COUNTER, .sites = SITES(AT(TRACEPOINT, "mm_lru_activate", COUNT("1")))},
    {"scan", COUNTER, .sites = SITES(AT(TRACEPOINT, "mm_vmscan_lru_isolate", COUNT("args[3]")))},
    {"pgrrun",
     COUNTER,
     .sites = SITES(AT(TRACEPOINT, "mm_vmscan_kswapd_wake", COUNT("1")), AT(TRACEPOINT, "mm_vmscan_direct_reclaim_begin", COUNT("1")),
		    AT(TRACEPOINT, "mm_vmscan_memcg_reclaim_begin", COUNT("1")))},
    {"dfree", COUNTER, .sites = SITES(FREED(.when = "args[2] != 0"))},
    {"fsfree", COUNTER, .sites = SITES(FREED(.when = "args[2] != 0 && args[5]"))},
    {"anonfree", COUNTER, .sites = SITES(FREED(.when = "args[2] != 0 && !args[5]"))},
};

DT_STABLE_PROVIDER(vminfo, "vminfo", rows, COUNTER_STABILITY);
