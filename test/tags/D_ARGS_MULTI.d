// tag: D_ARGS_MULTI
syscall::read:entry,syscall::read:return { trace(1); }
syscall::read: { trace(args[0]); }
