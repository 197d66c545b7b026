#!/usr/sbin/dtrace -s
/* Distributions by key, printed at the end without being asked. */

#pragma D option quiet

BEGIN
{
	@["read"] = quantize(100); @["read"] = quantize(120); @["read"] = quantize(3000);
	@["write"] = quantize(0); @["write"] = quantize(-5); @["write"] = quantize(1 << 20);
	@lin = lquantize(3, 0, 10, 2); @lin = lquantize(-1, 0, 10, 2); @lin = lquantize(99, 0, 10, 2);
	@log = llquantize(7, 10, 0, 2, 10); @log = llquantize(70, 10, 0, 2, 10); @log = llquantize(700, 10, 0, 2, 10);
	exit(0);
}
