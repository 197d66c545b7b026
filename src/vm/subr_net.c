/*
 * subr_net: byte order, and network addresses as text.
 *
 * The text forms are those of inet_ntop(3): the longest run of zeros as "::", an embedded IPv4
 * address dotted.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <net/if_arp.h>

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

/* An IPv4 address that is embedded in an IPv6 one is shown alone, unless the second argument says otherwise. */
DT_VM_SUBR(INET_NTOA6)
{
	static const uint8_t zeros[10];
	const uint8_t *p = dt_vm_readable(vm, arg[0].value, 16);
	uint32_t high, low;

	if (!p)
		return 0;
	high = (uint32_t)p[10] << 8 | p[11];
	low = (uint32_t)p[12] << 24 | (uint32_t)p[13] << 16 | (uint32_t)p[14] << 8 | p[15];
	if (!arg[1].value && memcmp(p, zeros, sizeof(zeros)) == 0 &&
	    (high == 0xffff || (high == 0 && low > 1)))
		return address_text(vm, AF_INET, arg[0].value + 12);
	return address_text(vm, AF_INET6, arg[0].value);
}

DT_VM_SUBR(LINK_NTOP)
{
	uint32_t n = arg[0].value == ARPHRD_ETHER ? 6 : arg[0].value == ARPHRD_INFINIBAND ? 20 : 0;
	const uint8_t *p;
	dt_buf text = {0};
	uint64_t at;

	if (n == 0)
		return dt_vm_fault(vm, DT_FLT_ILLOP, 0);
	p = dt_vm_readable(vm, arg[1].value, n);
	if (!p)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		dt_buf_printf(&text, "%s%02x", i ? ":" : "", p[i]);
	at = dt_vm_str_result(vm, text.s, text.n);
	dt_buf_free(&text);
	return at;
}
