// tag: D_ARGS_IDX 2
syscall::read:entry { trace(args[pid]); }
