// tag: D_ARGS_IDX
syscall::read:entry { trace(args[99]); }
