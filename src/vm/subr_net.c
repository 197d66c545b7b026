/*
 * subr_net: byte order, and network addresses as text.
 *
 * The text forms are those of inet_ntop(3): the longest run of zeros as "::", an embedded IPv4
 * address dotted.
 */
#include <arpa/inet.h>
#include <endian.h>

#include "vm/machine.h"

DT_VM_SUBR(HTONS)
{
	return htobe16((uint16_t)arg[0].value);
}

DT_VM_SUBR(HTONL)
{
	return htobe32((uint32_t)arg[0].value);
}

DT_VM_SUBR(HTONLL)
{
	return htobe64(arg[0].value);
}

DT_VM_SUBR(NTOHS)
{
	return be16toh((uint16_t)arg[0].value);
}

DT_VM_SUBR(NTOHL)
{
	return be32toh((uint32_t)arg[0].value);
}

DT_VM_SUBR(NTOHLL)
{
	return be64toh(arg[0].value);
}

static uint64_t address_text(dt_vm *vm, int family, uint64_t addr)
{
	const void *p = dt_vm_readable(vm, addr, family == AF_INET ? 4 : 16);
	char text[INET6_ADDRSTRLEN];

	if (!p || !inet_ntop(family, p, text, sizeof(text)))
		return 0;
	return dt_vm_str_result(vm, text, strlen(text));
}

DT_VM_SUBR(INET_NTOP)
{
	int family = (int)arg[0].value;

	if (family != AF_INET && family != AF_INET6)
		return dt_vm_fault(vm, DT_FLT_ILLOP, 0);
	return address_text(vm, family, arg[1].value);
}

DT_VM_SUBR(INET_NTOA)
{
	return address_text(vm, AF_INET, arg[0].value);
}

DT_VM_SUBR(INET_NTOA6)
{
	return address_text(vm, AF_INET6, arg[0].value);
}
