// tag: D_SYNTAX 3
BEGIN /1/
