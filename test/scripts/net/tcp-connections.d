#!/usr/sbin/dtrace -s
// run: -e -Z
/* TCP: connections made, accepted and refused per second. */

#pragma D option quiet

BEGIN { out = 0; in = 0; refused = 0; }

tcp:::connect-established { out++; }
tcp:::accept-established { in++; }
tcp:::connect-refused, tcp:::accept-refused { refused++; }

tick-1s
{
	printf("%-22Y out %d, in %d, refused %d\n", walltimestamp, out, in, refused);
	out = in = refused = 0;
}
