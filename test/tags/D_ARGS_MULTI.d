// tag: D_ARGS_MULTI 3
syscall::read:entry,syscall::read:return { trace(1); }
syscall::read: { trace(args[0]); }
