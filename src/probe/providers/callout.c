/*
 * callout_execute: the functions that timers call, from callout-start to callout-end.
 *
 * Linux has two kinds of timers, those of the tick (struct timer_list) and those of high resolution (struct hrtimer). Native
 * arguments are the address, 1 for a high-resolution timer, the function, and when it was due; lib/callout.d makes a
 * callout_t of them. At the end the timer may no longer exist: its function may have freed it. So
 * the function is remembered: in a thread-local variable of the interrupted thread, one for each
 * kind, since one kind can interrupt the other.
 */
#include "probe/providers/stable.h"

/* timer_list.expires is in ticks, hrtimer's in ns of its clock */
#define TIMER	"args[0]->expires"
#define HRTIMER "args[0]->node.expires"

/* Not in an argument, since only those that a clause uses are computed: .when stores it */
#define START(event, kind, due)                                                                    \
	AT(TRACEPOINT, event, .when = "(self->dt_callout_f" kind " = (uint64_t)args[0]->function, 1)",     \
	   .arg = {"arg0", kind, "(uint64_t)args[0]->function", due})
#define NOTE(event, kind) AT(TRACEPOINT, event, .when = "(self->dt_callout_f" kind " = (uint64_t)args[0]->function, 0)")
#define END(event, kind)  AT(TRACEPOINT, event, .arg = {"arg0", kind, "self->dt_callout_f" kind, "0"})

static const dt_stable_probe rows[] = {
    {"callout-start",
     .args = {{0, "uintptr_t", "callout_t *"}},
     .sites = SITES(START("timer_expire_entry", "0", TIMER), START("hrtimer_expire_entry", "1", HRTIMER))},
    {"callout-end",
     .args = {{0, "uintptr_t", "callout_t *"}},
     .sites = SITES(NOTE("timer_expire_entry", "0"), NOTE("hrtimer_expire_entry", "1"), END("timer_expire_exit", "0"),
		    END("hrtimer_expire_exit", "1"))},
};

DT_STABLE_PROVIDER(callout, "callout_execute", rows, DT_STABLE_FBSD);
